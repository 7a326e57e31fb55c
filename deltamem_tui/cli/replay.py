"""`deltamem replay`: one log through several methods and policies, measured."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui import paths
from deltamem_tui.cli import options
from deltamem_tui.cli.interruption import Interruption, interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.logs import episodes_of_bank, read_logs_once
from deltamem_tui.cli.models import ModelOptions, extractor_for, writer_key
from deltamem_tui.cli.result import InterruptionError, Result
from deltamem_tui.errors import BankNotFoundError, DeltaMemError, UsageError
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.replay.contest import ReplayTools
    from deltamem_tui.memory.replay.contestants import Contestant
    from deltamem_tui.memory.replay.replay import ReplayPlan
    from deltamem_tui.memory.replay.result import ReplayResult
    from deltamem_tui.trajectory.model import Trajectory

Logs = Annotated[
    list[str],
    typer.Argument(
        metavar="LOG…", help="Files, folders, patterns, or - for stdin; or a bank, by name or path."
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", metavar="NAME", help="A memory method, or several; all if not given."),
]
Admissions = Annotated[
    list[str] | None,
    typer.Option(
        "--admit",
        metavar="NAME",
        help="Whose word admits an episode, as a bank's `admission`, or several; `unjudged` learns "
        "every episode as if it had succeeded. strict if not given.",
    ),
]
Forgettings = Annotated[
    list[str] | None,
    typer.Option(
        "--forget",
        metavar="RULE",
        help="What is forgotten, or several: none, periodical, history, combined, a preset of "
        "`deltamem forget`, or capacity=N; then numbers, as in periodical,period=100,recalls=0 "
        "(period, recalls, judged, utility, capacity, every). none if not given.",
    ),
]
Orders = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        metavar="recorded|shifted|shuffled",
        help="As recorded, in blocks of one kind of task each (shifted), or shuffled; the first "
        "two if not given.",
    ),
]
JudgeError = Annotated[
    float | None,
    typer.Option(
        "--judge-error",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Simulate a judge that is wrong so often, in place of the log's, for --admit coarse.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="What that judge and --order shuffled draw with.")
]
KindField = Annotated[
    str,
    typer.Option(
        "--kind-field",
        metavar="NAME",
        help="The field of the log's metadata that has the kind of task; where no episode has it, "
        "the rules say.",
    ),
]


def run(
    context: typer.Context,
    logs: Logs,
    method: Methods = None,
    admit: Admissions = None,
    forget: Forgettings = None,
    order: Orders = None,
    judge_error: JudgeError = None,
    seed: Seed = 0,
    kind_field: KindField = "task_type",
    format: options.Format = None,  # noqa: A002 - the word that people type
    domain: options.Domain = None,
    embedder: options.Embedder = None,
    extractor: options.Extractor = None,
    model: options.Model = None,
    api_base: options.ApiBase = None,
    max_cost: options.MaxCost = None,
    no_cache: options.NoCache = False,
    prompts: options.Prompts = None,
    timeout: options.Timeout = None,
    dry_run: options.DryRun = False,
) -> Result:
    """Replay a log to several methods and policies, and compare what each keeps and recalls.

    Every method is tried with every --admit and every --forget, on the same episodes in the same
    order, each in a bank that is thrown away. Options with several values are repeated. No
    agent acts on what is recalled, so none of the numbers is a success rate.

    An interrupted replay goes on when the same command is given again: what one contestant
    recorded in one order is kept until all are done, and answers of models are kept anyway.
    --dry-run says how much there is to do, and what a model would be asked at most.
    """
    from deltamem_tui.embedding.load import load
    from deltamem_tui.memory.methods import names
    from deltamem_tui.memory.replay.contest import ReplayTools
    from deltamem_tui.memory.replay.contestants import contestants
    from deltamem_tui.memory.replay.episodes import orders_named
    from deltamem_tui.memory.replay.replay import ReplayPlan

    invocation = Invocation.of(context)
    orders = orders_named(order or ("recorded", "shifted"))
    found = contestants(method or names(), admit or ["strict"], forget or ["none"])
    wanted = ModelOptions(model, api_base, max_cost, no_cache, prompts, dry_run, timeout)
    if extractor is not None or not invocation.settings(model=model).model:
        extractor_for(invocation, "generic", [], extractor, wanted)  # before a log is read
    with ExitStack() as stack:
        stop = stack.enter_context(interruptible())
        source = _bank_of(invocation, logs)
        given = domain or (source.manifest.domain if source else None)
        if source is None:
            episodes, excluded, errors = read_logs_once(
                invocation, logs, format, given, stop, "nothing was replayed yet"
            )
        else:
            episodes, excluded, errors = episodes_of_bank(source), {}, []
            embedder = embedder or str(source.manifest.embedder.get("model") or "") or None
        chosen = given or _domain_of(episodes)
        tools = ReplayTools(
            chosen,
            load(invocation.settings(embedder=embedder).embedder),
            extractor_for(invocation, chosen, [each.method for each in found], extractor, wanted),
        )
        plan = ReplayPlan(
            found,
            orders,
            judge_error,
            seed,
            kind_field,
            writer_key(invocation, wanted, extractor),
        )
        if dry_run:
            from deltamem_tui.cli.replay_estimate import estimated

            return estimated(episodes, plan, tools, errors, stop)
        result = _replayed(invocation, episodes, plan, tools, excluded, stop)
    return _shown(result, errors)


def _bank_of(invocation: Invocation, logs: Sequence[str]) -> Bank | None:
    """The bank that was named in place of a log, if one was."""
    from deltamem_tui.bank.bank import Bank

    if len(logs) != 1 or (Path(logs[0]).exists() and not paths.is_bank(Path(logs[0]))):
        return None
    try:
        return Bank.open(invocation.bank(logs[0]))
    except (BankNotFoundError, UsageError):
        return None


def _domain_of(episodes: Sequence[Trajectory]) -> str:
    """The domain that all episodes have; `generic` if they have several or none."""
    domains = {each.domain for each in episodes}
    return (domains.pop() if len(domains) == 1 else "") or "generic"


def _replayed(
    invocation: Invocation,
    episodes: Sequence[Trajectory],
    plan: ReplayPlan,
    tools: ReplayTools,
    excluded: Mapping[str, int],
    stop: Interruption,
) -> ReplayResult:
    from deltamem_tui.memory.replay.replay import replay

    pieces = len(plan.contestants) * len(plan.orders)
    with invocation.output.progress("replaying", pieces * len(episodes)) as advance:

        def between(contestant: Contestant, order: str, steps: int) -> None:
            if stop:
                raise KeyboardInterrupt
            advance(steps, f"{_name(contestant)}, {order}")

        try:
            return replay(episodes, plan, tools, excluded=excluded, between=between)
        except KeyboardInterrupt as error:
            hint = "what was recorded is kept; the same command goes on"
            raise InterruptionError("interrupted", hint=hint) from error


def _name(contestant: Contestant) -> str:
    return f"{contestant.method} {contestant.admission} {contestant.forgetting}"


def _shown(found: ReplayResult, errors: Sequence[DeltaMemError]) -> Result:
    from msgspec import to_builtins

    from deltamem_tui.cli.replay_view import show

    data: Any = to_builtins(found)
    excluded = [f"{why}: {count:,}" for why, count in found.excluded.items()]
    notes = [f"not replayed: {', '.join(excluded)}"] if excluded else []
    rejects, accepts = found.judge.false_rejects, found.judge.false_accepts
    if rejects.judged or accepts.judged:
        notes.append(
            f"the judge refused {rejects.successes:,} of "
            f"{counted(rejects.judged, 'success', 'successes')} and let "
            f"{accepts.successes:,} of {counted(accepts.judged, 'failure')} pass"
        )
    if not found.kinds:
        notes.append("no kind of task is known; name the field that has it with --kind-field")
    notes += found.limits
    status = Result.verdict(found.episodes, errors)
    return Result("replay", data, errors, status, view=lambda page: show(page, found), notes=notes)
