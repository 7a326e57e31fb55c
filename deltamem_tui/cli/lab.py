"""`deltamem lab`: a contest of memories, in games that an agent plays or over a log."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui import paths
from deltamem_tui.cli import options
from deltamem_tui.cli.interruption import Interruption, interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.logs import episodes_of_bank, read_logs_once
from deltamem_tui.cli.models import (
    ModelOptions,
    checked_prompts,
    extractor_for,
    model_client,
    writer_key,
)
from deltamem_tui.cli.option_struct import with_options
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import BankNotFoundError, DeltaMemError, UsageError
from deltamem_tui.lab.environment import ENVIRONMENTS
from deltamem_tui.llm.cost import Budget

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.embedding.protocol import Embedder
    from deltamem_tui.lab.contest import Tools
    from deltamem_tui.lab.contestants import Contestant
    from deltamem_tui.lab.grounds import GameGround, Ground, LogGround
    from deltamem_tui.lab.plan import ContestPlan
    from deltamem_tui.lab.play import Agent
    from deltamem_tui.lab.result import ContestResult
    from deltamem_tui.trajectory.model import Trajectory

RULES, EXPLORER, REPLAY = "rules", "explorer", "replay"


def _option(name: str, metavar: str, text: str, **limits: Any) -> Any:
    return typer.Option(name, metavar=metavar, help=text, **limits)


def _argument(metavar: str, text: str) -> Any:
    return typer.Argument(metavar=metavar, help=text)


@dataclass(frozen=True, slots=True)
class LabOptions:
    """A parameter of the command for each field."""

    what: Annotated[
        str,
        _argument("WHAT", f"{', '.join(ENVIRONMENTS)}, FILE.py:NAME of your own; or replay LOG…"),
    ]
    logs: Annotated[
        list[str] | None,
        _argument("[LOG…]", "With replay: files, folders, patterns, or - for stdin; or a bank."),
    ] = None
    agent: Annotated[
        str,
        _option(
            "--agent",
            "rules|explorer|MODEL",
            "Who plays: the agent without a model, which does what a text says; one that then "
            "explores; or a model as litellm names it.",
        ),
    ] = RULES
    agent_command: Annotated[
        str | None, _option("--agent-command", "CMD", "A program that plays, in JSON lines.")
    ] = None
    protocol: Annotated[
        str | None,
        _option(
            "--protocol",
            "none|online|frozen|unfrozen",
            "No memories; memories that begin empty and learn from each game; that have learnt and "
            "are not written; or that go on learning. If not given: frozen where something was "
            "learnt, else online.",
        ),
    ] = None
    method: Annotated[
        list[str] | None,
        _option(
            "--method",
            "NAME[:PARAMETER=VALUE,…]",
            "A memory method with parameters of its bank, or nothing, raw, weighted, kind; or "
            "several. The others are compared with the first.",
        ),
    ] = None
    bank: Annotated[
        list[str] | None, _option("--bank", "BANK", "A bank that competes, by name or path.")
    ] = None
    learn_from: Annotated[
        list[str] | None, _option("--learn-from", "LOG", "A log that methods learn before.")
    ] = None
    format: options.Format = None
    domain: options.Domain = None
    split: Annotated[
        str | None, _option("--split", "NAME", "The games that count; the first if not given.")
    ] = None
    games: Annotated[
        int | None,
        _option("--games", "N", "How many, evenly of all kinds; all if not given.", min=1),
    ] = None
    games_from: Annotated[
        Path | None, _option("--games-from", "PATH", "Where the games are, if not as usual.")
    ] = None
    order: Annotated[
        str,
        _option(
            "--order", "recorded|kinds|shuffled", "As they are, in blocks of one kind, or shuffled."
        ),
    ] = "recorded"
    seed: Annotated[int, _option("--seed", "N", "The seed of --games, --order, --judge-error.")] = 0
    judge_error: Annotated[
        float | None,
        _option(
            "--judge-error",
            "SHARE",
            "Simulate a judge that is wrong so often, for admission=coarse.",
            min=0.0,
            max=1.0,
        ),
    ] = None
    kind_field: Annotated[
        str, _option("--kind-field", "NAME", "The field of a log's metadata with the kind of task.")
    ] = "task_type"
    out: Annotated[
        Path | None, _option("--out", "DIR", "Where the contest is kept, to go on with it.")
    ] = None
    parallel: Annotated[
        int,
        _option(
            "--parallel",
            "N",
            "Play N games at once; N contestants where they learn.",
            min=1,
            max=64,
        ),
    ] = 1
    dry_run: options.DryRun = False
    markdown: Annotated[
        Path | None, _option("--markdown", "FILE", "Write the result as a page, too.")
    ] = None
    embedder: options.Embedder = None
    extractor: options.Extractor = None
    model: options.Model = None
    api_base: options.ApiBase = None
    max_cost: options.MaxCost = None
    no_cache: options.NoCache = False
    prompts: options.Prompts = None
    timeout: options.Timeout = None


@with_options(LabOptions)
def run(context: typer.Context, wishes: LabOptions) -> Result:
    """Compare memories: by games that an agent plays with them, or by what they recall of a log.

    All contestants meet the same games in the same order. Options with several values are
    repeated. What is finished is kept: the same command goes on with a contest that was
    interrupted, and shows one that is done. `deltamem browse DIR` opens it.
    """
    with interruptible() as stop, ExitStack() as stack:
        setup = _Setup(Invocation.of(context), wishes, stop, stack)
        plan, tools = setup.ready()
        folder = (wishes.out or paths.contests_folder() / plan.digest).expanduser()
        if wishes.dry_run:
            return _estimated(setup, plan, tools, folder)
        found, is_new = _held(setup, plan, tools, folder)
    if wishes.markdown is not None:
        from deltamem_tui.bank.disk import files
        from deltamem_tui.lab.report import markdown_page

        files.replace(wishes.markdown, markdown_page(found).encode())
    return _shown(found, setup.errors, folder, is_new=is_new)


class _Setup:
    """The parts of a contest, from the options of its command."""

    def __init__(
        self, invocation: Invocation, wishes: LabOptions, stop: Interruption, stack: ExitStack
    ) -> None:
        self.invocation, self.wishes, self.stop, self._stack = invocation, wishes, stop, stack
        self.log: list[Trajectory] = []
        self.source: Bank | None = None
        self.excluded: dict[str, int] = {}
        self.errors: list[DeltaMemError] = []
        self.models = ModelOptions(
            *(wishes.model, wishes.api_base, wishes.max_cost, wishes.no_cache, wishes.prompts),
            *(wishes.dry_run, wishes.timeout),
            budget=Budget(wishes.max_cost),
        )

    def ready(self) -> tuple[ContestPlan, Tools]:
        """Return the plan and its tools; processes that are started end with the stack."""
        from dataclasses import asdict

        from msgspec import json

        from deltamem_tui.lab.contest import Tools
        from deltamem_tui.lab.plan import (
            ORDERS,
            PROTOCOLS,
            ContestPlan,
            chosen,
            digest_of_bank,
            digest_of_episodes,
        )

        wishes = self.wishes
        contestants, banks = self._contestants()
        usual = "frozen" if wishes.learn_from or banks else "online"
        self.protocol = chosen("protocol", wishes.protocol or usual, PROTOCOLS)
        self.order = chosen("order", wishes.order, ORDERS)
        of_log = wishes.what == REPLAY
        ground: Ground
        facts, ground = self._over_log(contestants) if of_log else self._over_games()
        writer, key = self._writer(facts["domain"], contestants, banks)
        embedder = self._embedder(contestants, [*banks, *([self.source] if self.source else [])])
        plan = ContestPlan(
            contestants=contestants,
            protocol=self.protocol,
            order=self.order,
            seed=wishes.seed,
            judge_error=wishes.judge_error,
            banks=tuple(digest_of_bank(each) for each in banks),
            embedder=embedder.card.model,
            vectors=hashlib.sha256(json.encode(asdict(embedder.card))).hexdigest()[:16],
            writer=key,
            learnt_from=digest_of_episodes(self.log),
            **facts,
        )
        plan.check()
        give_up = getattr(ground, "give_up", lambda: None)
        return plan, Tools(ground, embedder, writer, wishes.parallel, give_up)

    def _over_games(self) -> tuple[dict[str, Any], GameGround]:
        from deltamem_tui.lab.environment import no_such_split
        from deltamem_tui.lab.grounds import GameGround
        from deltamem_tui.lab.plan import drawn, in_order
        from deltamem_tui.lab.workers import Workers

        wishes = self.wishes
        if wishes.logs:
            raise UsageError("only replay takes logs", hint="--learn-from names what is learnt")
        made = Workers(wishes.what, wishes.parallel, games=wishes.games_from)
        workers = self._stack.enter_context(made)
        environment = workers.environment
        split = wishes.split or environment.splits[0]
        if split not in environment.splits:  # a user's own need not look at the name
            raise no_such_split(split, environment.splits)
        games = drawn(workers.games(split), wishes.games, wishes.seed)
        agent = self._agent(environment.domain)
        self.log = [each for each in self._learn_from(environment.domain) if each.outcome.known]
        facts: dict[str, Any] = {
            "environment": environment.name,
            "split": split,
            "games": in_order(games, self.order, wishes.seed),
            "limit": environment.limit,
            "agent": agent.name,
            "own": _own_file(wishes.what),
            "domain": environment.domain,
        }
        return facts, GameGround(workers, agent, environment.limit, environment.domain)

    def _over_log(self, contestants: Sequence[Contestant]) -> tuple[dict[str, Any], LogGround]:
        from deltamem_tui.lab.contestants import judged_by_chance, true_outcome
        from deltamem_tui.lab.environment import GameInfo
        from deltamem_tui.lab.grounds import LogGround, kinds_of
        from deltamem_tui.lab.plan import LOG, drawn, in_order

        wishes = self.wishes
        if wishes.agent != RULES or wishes.agent_command or wishes.split or wishes.games_from:
            hint = "leave out --agent, --agent-command, --split and --games-from"
            raise UsageError("no agent plays a log", hint=hint)
        read = self._read_log()
        stated = self.source.manifest.domain if self.source else _common_domain(read)
        domain = wishes.domain or stated
        asked = [each for each in read if true_outcome(each)]
        self.log = [each for each in self._learn_from(domain) if true_outcome(each)]
        if missing := len(read) - len(asked):
            self.excluded["without an outcome"] = missing
        if not asked:
            hint = "`deltamem import --outcome` can give one"
            raise UsageError("no episode has an outcome from the log or a person", hint=hint)
        if (error := wishes.judge_error) is not None:
            asked = [judged_by_chance(each, error, wishes.seed) for each in asked]
            self.log = [judged_by_chance(each, error, wishes.seed) for each in self.log]
        verdicts = (each for e in (*asked, *self.log) for each in (e.outcome, *e.verdicts))
        coarse = any(each.admission == "coarse" for each in contestants)
        if coarse and all(each.source != "judge" for each in verdicts):
            hint = "`--judge-error .2` simulates one; or replay a bank after `deltamem judge --all`"
            what = 'no episode has a judge\'s verdict; "coarse" would admit nothing'
            raise UsageError(what, hint=hint)
        kinds = kinds_of((*self.log, *asked), domain, wishes.kind_field)
        games = [GameInfo(each.id, "", kinds[each.id]) for each in asked]
        ordered = in_order(drawn(games, wishes.games, wishes.seed), self.order, wishes.seed)
        by_id = {each.id: each for each in asked}
        learns = self.protocol in ("online", "unfrozen")
        ground = LogGround(self.log, [by_id[e.name] for e in ordered], kinds, learns=learns)
        return {"environment": LOG, "split": "", "games": ordered, "domain": domain}, ground

    def _contestants(self) -> tuple[tuple[Contestant, ...], list[Bank]]:
        from deltamem_tui.bank.bank import Bank
        from deltamem_tui.lab.contestants import BASELINES, contestants
        from deltamem_tui.memory.methods import names

        wishes = self.wishes
        methods: Sequence[str] | None = wishes.method
        if methods is None:
            alone = wishes.bank or wishes.protocol == "none"
            methods = ["nothing"] if alone else [*BASELINES, *names()]
        places = {name: self.invocation.bank(name) for name in wishes.bank or ()}
        found = contestants(methods, places)
        return found, [Bank.open(each.bank) for each in found if each.bank]

    def _agent(self, domain: str) -> Agent:
        """Return who plays: a program, an agent without a model, or a model."""
        wishes, timeout = self.wishes, self.models.timeout
        if wishes.agent_command is not None:
            from deltamem_tui.lab.agents.program import ProgramAgent

            if wishes.agent != RULES:
                raise UsageError("--agent and --agent-command are two agents: leave one out")
            return ProgramAgent(wishes.agent_command, **({"timeout": timeout} if timeout else {}))
        if wishes.agent in (RULES, EXPLORER):
            from deltamem_tui.lab.agents.rules import RulesAgent

            return RulesAgent(domain, explores=wishes.agent == EXPLORER)
        from deltamem_tui.lab.agents.react import ReActAgent

        folders = checked_prompts(self.invocation, self.models.prompts)
        client = model_client(self.invocation, replace(self.models, model=wishes.agent))
        return ReActAgent(client, domain, folders)

    def _writer(
        self, domain: str, contestants: Sequence[Contestant], banks: Sequence[Bank]
    ) -> tuple[Any, str]:
        """Return what puts experience into words, and its key: rules unless a model is named."""
        extractor = self.wishes.extractor
        if self.models.model is None and extractor in (None, RULES):
            from deltamem_tui.memory.rules_extractor import RulesExtractor

            return RulesExtractor(), RULES
        methods = [each.method for each in contestants if each.sort == "method"]
        wanted = [*methods, *(each.manifest.method for each in banks)] or ["deltamem"]
        made = extractor_for(self.invocation, domain, wanted, extractor, self.models)
        return made, writer_key(self.invocation, self.models, extractor)

    def _embedder(self, contestants: Sequence[Contestant], banks: Sequence[Bank]) -> Embedder:
        from deltamem_tui.embedding.load import load

        fitting = str(banks[0].manifest.embedder.get("model") or "") if banks else ""
        if all(each.method == "nothing" for each in contestants):
            fitting = "hashing"  # it is not asked for any vector: no weights need be there
        wanted = self.wishes.embedder or fitting or None
        return load(self.invocation.settings(embedder=wanted).embedder)

    def _read(self, logs: Sequence[str], domain: str | None) -> list[Trajectory]:
        found, excluded, errors = read_logs_once(
            self.invocation, logs, self.wishes.format, domain, self.stop, "nothing was played yet"
        )
        self.errors += errors
        for why, count in excluded.items():
            if count:
                self.excluded[why] = self.excluded.get(why, 0) + count
        return found

    def _learn_from(self, domain: str) -> list[Trajectory]:
        return self._read(self.wishes.learn_from, domain) if self.wishes.learn_from else []

    def _read_log(self) -> list[Trajectory]:
        """Return the episodes of a log, or of a bank that is named in its place."""
        from deltamem_tui.bank.bank import Bank

        logs = self.wishes.logs or []
        if not logs:
            raise UsageError("name a log", hint="`deltamem lab replay LOG…`")
        if len(logs) == 1 and (paths.is_bank(Path(logs[0])) or not Path(logs[0]).exists()):
            try:
                self.source = Bank.open(self.invocation.bank(logs[0]))
            except (BankNotFoundError, UsageError):
                pass
            else:
                return episodes_of_bank(self.source)
        return self._read(logs, self.wishes.domain)


def _common_domain(episodes: Sequence[Trajectory]) -> str:
    domains = {each.domain for each in episodes}
    return (domains.pop() if len(domains) == 1 else "") or "generic"


def _own_file(spec: str) -> str:
    """Return a digest of the user's own file that defines an environment; empty for ours."""
    file = Path(spec.rpartition(":")[0]).expanduser()
    if file.suffix != ".py" or not file.is_file():
        return ""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def _held(
    setup: _Setup, plan: ContestPlan, tools: Tools, folder: Path
) -> tuple[ContestResult, bool]:
    """Return what came of it, and True if anything was played for that now."""
    from deltamem_tui.lab.contest import hold

    begun: list[bool] = []

    def between() -> None:
        begun[:] = [True]
        if setup.stop:
            raise KeyboardInterrupt

    total = len(plan.games) * len(plan.contestants)
    with setup.invocation.output.progress("playing", total) as advance:
        calls: dict[str, Any] = {"between": between, "advance": lambda each: advance(1, each.name)}
        try:
            found = hold(plan, tools, folder, log=setup.log, excluded=setup.excluded, **calls)
        except KeyboardInterrupt as error:
            hint = "what is finished is kept; the same command goes on"
            raise InterruptionError("interrupted", source=str(folder), hint=hint) from error
    return found, bool(begun)


def _estimated(setup: _Setup, plan: ContestPlan, tools: Tools, folder: Path) -> Result:
    from msgspec.structs import asdict

    from deltamem_tui.lab.contest import estimate, writer_usage

    written = writer_usage(plan, tools, setup.log)
    data = {"folder": folder, **asdict(estimate(plan, tools, folder, len(setup.log)))}
    if written is not None:
        data |= {"writer_calls": written.calls, "writer_cost": written.cost}
    notes = ["dry run: nothing was played"]
    if data["calls"] and not data["played"]:
        notes.append("costs are those of games that take all actions, without a memory's text")
    return Result("lab", data, view=lambda page: page.facts(_facts(data)), notes=notes)


def _facts(data: Mapping[str, Any]) -> dict[str, Any]:
    of_models = ("calls", "tokens", "cost", "cost_left")
    asked = any(data[name] for name in of_models)
    return {
        name.replace("_", " "): "unknown" if value is None else value
        for name, value in data.items()
        if name != "folder" and (asked or name not in of_models)
    }


def _shown(
    found: ContestResult, errors: Sequence[DeltaMemError], folder: Path, *, is_new: bool
) -> Result:
    from msgspec import to_builtins

    from deltamem_tui.lab.report import tables, title_of, warnings

    def view(page: Any) -> None:
        page.text(title_of(found), style="bold")
        for table in tables(found):
            if table.title:
                page.text("")
                page.text(table.title, style="bold")
            page.table(table.head, table.rows, headed=True)

    earlier = "" if is_new else "; all of it was played before: remove it to play it again"
    notes = [*warnings(found), f"kept in {folder}{earlier}"]
    data = {**to_builtins(found), "folder": str(folder)}
    return Result("lab", data, errors, Result.verdict(1, errors), view=view, notes=notes)
