"""Contests of memories: in games that an agent plays, or over a log."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from deltamem_tui import paths
from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Interruption, Invocation, interruptible
from deltamem_tui.cli.logs import logs_as_bank
from deltamem_tui.cli.models import checked_prompts, extractor_for, model_client
from deltamem_tui.cli.options import ModelOptions, argument, flag, option
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import BankNotFoundError, DeltaMemError, UsageError
from deltamem_tui.lab.environment import ENVIRONMENTS, is_own, own_digest
from deltamem_tui.llm.cost import Budget
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.embedding.protocol import Embedder
    from deltamem_tui.lab.grounds import Agent, Ground
    from deltamem_tui.lab.result import ContestResult
    from deltamem_tui.trajectory.model import Trajectory

RULES, EXPLORER = "rules", "explorer"


@dataclass(frozen=True, slots=True)
class ContestOptions(ModelOptions):
    """The options of both kinds of contests."""

    protocol: Annotated[
        Literal["online", "frozen", "unfrozen"] | None,
        flag("--protocol", "Learning from each game; learnt and read only; or learning on."),
    ] = None
    method: Annotated[
        list[str] | None,
        option(
            "--method",
            "NAME[:PARAMETER=VALUE,…]",
            "A memory method, or nothing, raw, kind; can be repeated.",
        ),
    ] = None
    bank: Annotated[list[str] | None, option("--bank", "BANK", "A bank to compare.")] = None
    learn_from: Annotated[
        list[str] | None, option("--learn-from", "LOG", "A log to learn first.")
    ] = None
    format: options.Format = None
    domain: options.Domain = None
    games: Annotated[int | None, option("--games", "N", "How many, of all kinds.", min=1)] = None
    seed: Annotated[int, option("--seed", "N", "The seed of --games, --judge-error.")] = 0
    judge_error: Annotated[
        float | None,
        option("--judge-error", "SHARE", "Simulate a judge with this error.", min=0.0, max=1.0),
    ] = None
    out: Annotated[Path | None, option("--out", "DIR", "Where the results are stored.")] = None
    parallel: Annotated[int, option("--parallel", "N", "How many run at once.", min=1, max=64)] = 1
    embedder: options.Embedder = None
    extractor: options.Extractor = None


What = Annotated[str, argument("GAMES", f"{', '.join(ENVIRONMENTS)}, or FILE.py:NAME of your own.")]


def play(
    invocation: Invocation,
    what: What,
    agent: Annotated[
        str, option("--agent", "rules|explorer|MODEL|FILE.py:NAME", "Who plays.")
    ] = RULES,
    split: Annotated[str | None, option("--split", "NAME", "The games that count.")] = None,
    games_from: Annotated[
        Path | None, option("--games-from", "PATH", "Where the games are.")
    ] = None,
    *,
    wishes: ContestOptions,
) -> Result:
    """Compare memories by games that an agent plays with them.

    All contestants meet the same games in the same order. Finished games are stored: the
    same command continues an interrupted contest, and shows a finished one.
    """
    from deltamem_tui.lab.grounds import GameGround
    from deltamem_tui.lab.plan import drawn
    from deltamem_tui.lab.workers import Workers

    with interruptible() as stop, ExitStack() as stack:
        contest = _Contest(invocation, wishes, stop)
        workers = stack.enter_context(Workers(what, wishes.parallel, games=games_from))
        environment = workers.environment
        chosen = split or environment.splits[0]
        if chosen not in environment.splits:  # a user's own need not look at the name
            hint = f"one of {', '.join(environment.splits)}"
            raise UsageError(f"unknown split {one_line(chosen, 40)!r}", hint=hint)
        games = drawn(workers.games(chosen), wishes.games, wishes.seed)
        player = contest.agent(agent, environment.domain)
        log = [each for each in contest.learn_from(environment.domain) if each.outcome.known]
        ground = GameGround(workers, player, environment.limit, environment.domain)
        given = {
            "environment": environment.name,
            "split": chosen,
            "games": tuple(games),
            "limit": environment.limit,
            "agent": player.name,
            "own": own_digest(what),
            "domain": environment.domain,
        }
        return contest.hold(ground, given, log, ground.give_up)


Logs = Annotated[list[str], argument("LOG...", "Files, folders, patterns, - for stdin; or a bank.")]


def replay(invocation: Invocation, logs: Logs, *, wishes: ContestOptions) -> Result:
    """Compare memories by what they recall for each episode of a log.

    No agent acts, so none of the numbers is a success rate; `deltamem lab work` measures whether
    a memory would have pointed to what the next sessions needed.
    """
    from deltamem_tui.lab.contestants import judged_by_chance, true_outcome
    from deltamem_tui.lab.environment import GameInfo
    from deltamem_tui.lab.grounds import LogGround, kinds_of
    from deltamem_tui.lab.plan import LOG, drawn

    with interruptible() as stop:
        contest = _Contest(invocation, wishes, stop)
        read, stated = contest.read_log(logs)
        common = {each.domain for each in read}
        domain = wishes.domain or stated or (common.pop() if len(common) == 1 else "") or "generic"
        asked = [each for each in read if true_outcome(each)]
        log = [each for each in contest.learn_from(domain) if true_outcome(each)]
        if missing := len(read) - len(asked):
            contest.excluded["without an outcome"] = missing
        if not asked:
            hint = "`deltamem import --outcome FILE` can give one"
            raise UsageError("no episode has an outcome from the log or a person", hint=hint)
        if (error := wishes.judge_error) is not None:
            asked = [judged_by_chance(each, error, wishes.seed) for each in asked]
            log = [judged_by_chance(each, error, wishes.seed) for each in log]
        verdicts = (each for e in (*asked, *log) for each in (e.outcome, *e.verdicts))
        coarse = any(each.admission == "coarse" for each in contest.contestants)
        if coarse and all(each.source != "judge" for each in verdicts):
            hint = "`--judge-error .2` simulates a judge; or replay a bank that one has judged"
            what = 'no episode has a judge\'s verdict; "coarse" would admit nothing'
            raise UsageError(what, hint=hint)
        kinds = kinds_of((*log, *asked), domain)
        games = [GameInfo(each.id, "", kinds[each.id]) for each in asked]
        ordered = tuple(drawn(games, wishes.games, wishes.seed))
        by_id = {each.id: each for each in asked}
        learns = contest.protocol in ("online", "unfrozen")
        ground = LogGround(log, [by_id[e.name] for e in ordered], kinds, learns=learns)
        given = {"environment": LOG, "split": "", "games": ordered, "domain": domain}
        return contest.hold(ground, given, log)


class _Contest:
    """The parts of a contest that do not depend on its ground."""

    def __init__(self, invocation: Invocation, wishes: ContestOptions, stop: Interruption) -> None:
        from deltamem_tui.bank.bank import Bank
        from deltamem_tui.lab.contestants import BASELINES, contestants
        from deltamem_tui.memory.method import names

        self.invocation, self.wishes, self.stop = invocation, wishes, stop
        self.excluded: dict[str, int] = {}
        self.errors: list[DeltaMemError] = []
        self.source: Bank | None = None
        self._budget = Budget(wishes.max_cost)
        methods: Sequence[str] | None = wishes.method
        if methods is None:
            methods = ["nothing"] if wishes.bank else [*BASELINES, *names()]
        places = {name: invocation.bank(name) for name in wishes.bank or ()}
        self.contestants = contestants(methods, places)
        self.banks = [Bank.open(each.bank) for each in self.contestants if each.bank]
        learnt = bool(wishes.learn_from or self.banks)
        self.protocol = wishes.protocol or ("frozen" if learnt else "online")

    def agent(self, name: str, domain: str) -> Agent:
        """Return who plays: an object of the user's own, an agent without a model, or a model."""
        if is_own(name):
            from deltamem_tui.lab.agents.own import OwnAgent

            return OwnAgent(name)
        if name in (RULES, EXPLORER):
            from deltamem_tui.lab.agents.rules import RulesAgent

            return RulesAgent(domain, explores=name == EXPLORER)
        from deltamem_tui.lab.agents.react import ReActAgent

        wanted = replace(self.wishes, model=name)
        client = model_client(self.invocation, wanted, budget=self._budget)
        return ReActAgent(client, domain, checked_prompts(self.invocation, wanted.prompts))

    def learn_from(self, domain: str) -> list[Trajectory]:
        """Return the episodes that are learnt before."""
        return self._read(self.wishes.learn_from, domain) if self.wishes.learn_from else []

    def read_log(self, logs: Sequence[str]) -> tuple[list[Trajectory], str]:
        """Return the episodes of a log, or of a bank in its place and that bank's domain."""
        from deltamem_tui.bank.bank import Bank
        from deltamem_tui.memory.episodes.stored_episodes import episodes

        if len(logs) == 1 and (paths.is_bank(Path(logs[0])) or not Path(logs[0]).exists()):
            try:
                self.source = Bank.open(self.invocation.bank(logs[0]))
            except (BankNotFoundError, UsageError):
                pass
            else:
                return [*episodes(self.source)], self.source.manifest.domain
        return self._read(logs, self.wishes.domain or ""), ""

    def hold(
        self,
        ground: Ground,
        given: dict[str, Any],
        log: Sequence[Trajectory],
        give_up: Any = lambda: None,
    ) -> Result:
        """Play what is left of the contest, and return what it came to."""
        from msgspec import json

        from deltamem_tui.lab import contest
        from deltamem_tui.lab.plan import ContestPlan, digest_of_bank, digest_of_episodes

        wishes = self.wishes
        writer, key = self._writer(given["domain"])
        embedder = self._embedder()
        plan = ContestPlan(
            contestants=self.contestants,
            protocol=self.protocol,
            seed=wishes.seed,
            judge_error=wishes.judge_error,
            banks=tuple(digest_of_bank(each) for each in self.banks),
            embedder=embedder.card.model,
            vectors=hashlib.sha256(json.encode(asdict(embedder.card))).hexdigest()[:16],
            writer=key,
            learnt_from=digest_of_episodes(log),
            **given,
        )
        plan.check()
        tools = contest.Tools(ground, embedder, writer, wishes.parallel, give_up)
        folder = paths.expanded(wishes.out or paths.user_folder("data") / "contests" / plan.digest)
        if wishes.dry_run:
            left = contest.games_left(plan, folder)
            notes = [f"dry run: {left:,} games are left to play in {folder}"]
            return Result("lab", {"folder": folder, "left": left}, notes=notes)

        def between() -> None:
            if self.stop():
                raise KeyboardInterrupt

        total = len(plan.games) * len(plan.contestants)
        with (
            redirect_stdout(sys.stderr),  # of an agent of the user's own that prints
            self.invocation.output.progress("playing", total) as advance,
        ):
            try:
                found = contest.hold(
                    plan,
                    tools,
                    folder,
                    log=log,
                    excluded=self.excluded,
                    between=between,
                    advance=lambda each: advance(1, each.name),
                )
            except KeyboardInterrupt as error:
                hint = "what is finished is kept; the same command goes on"
                raise InterruptionError("interrupted", source=str(folder), hint=hint) from error
        return _shown(found, self.errors, folder)

    def _writer(self, domain: str) -> tuple[Any, str]:
        """Return what puts experience into words, and its key: rules unless a model is named."""
        extractor, wishes = self.wishes.extractor, self.wishes
        if wishes.model is None and extractor in (None, RULES):
            from deltamem_tui.memory.method import RulesExtractor

            return RulesExtractor(), RULES
        methods = [each.method for each in self.contestants if each.sort == "method"]
        wanted = [*methods, *(each.manifest.method for each in self.banks)] or ["deltamem"]
        made = extractor_for(
            self.invocation, domain, wanted, extractor, wishes, budget=self._budget
        )
        digest = hashlib.sha256()
        for folder in checked_prompts(self.invocation, wishes.prompts):
            for path in sorted(folder.glob("*/*.md")):
                digest.update(path.read_bytes())
        model = self.invocation.settings(model=wishes.model).model
        return made, extractor or f"{model} {digest.hexdigest()}"

    def _embedder(self) -> Embedder:
        from deltamem_tui.embedding.load import load

        banks = [*self.banks, *([self.source] if self.source else [])]
        fitting = str(banks[0].manifest.embedder.get("model") or "") if banks else ""
        if all(each.method == "nothing" for each in self.contestants):
            fitting = "hashing"  # it is not asked for any vector: no weights need be there
        wanted = self.wishes.embedder or fitting or None
        return load(self.invocation.settings(embedder=wanted).embedder)

    def _read(self, logs: Sequence[str], domain: str) -> list[Trajectory]:
        from deltamem_tui.memory.episodes.stored_episodes import episodes

        choices = {"format": self.wishes.format, "domain": domain}
        with logs_as_bank(self.invocation, logs, self.stop, **choices) as (bank, report):
            found = [*episodes(bank)]
        self.errors += report.refusals
        duplicates = report.count("duplicate") + report.count("updated")
        left_out = {"recorded before": duplicates, "cannot be read": report.refused}
        for why, count in left_out.items():
            if count:
                self.excluded[why] = self.excluded.get(why, 0) + count
        return found


def _shown(found: ContestResult, errors: Sequence[DeltaMemError], folder: Path) -> Result:
    from msgspec import to_builtins

    from deltamem_tui.lab.result import tables, title_of, warnings

    def view(page: Page) -> None:
        page.text(title_of(found), style="bold")
        for table in tables(found):
            if table.title:
                page.text("")
                page.text(table.title, style="bold")
            page.table(table.head, table.rows)

    notes = [*warnings(found), f"kept in {folder}: remove it to play again"]
    data = {**to_builtins(found), "folder": str(folder)}
    return Result("lab", data, errors, Result.verdict(1, errors), view=view, notes=notes)
