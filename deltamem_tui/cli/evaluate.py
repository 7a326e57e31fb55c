"""`deltamem evaluate`: what a memory is worth to an agent that acts."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.extractors import ModelOptions
from deltamem_tui.cli.interruption import Interruption, interruptible
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import InterruptionError, Result

if TYPE_CHECKING:
    from deltamem_tui.cli.evaluation_setup import Setup
    from deltamem_tui.evaluation.contestants.entrant import Entrant
    from deltamem_tui.evaluation.runs.result import EvaluationResult

EnvironmentName = Annotated[
    str,
    typer.Argument(
        metavar="ENVIRONMENT", help="alfworld, scienceworld, webshop, or FILE.py:NAME of your own."
    ),
]
AgentName = Annotated[
    str,
    typer.Option(
        "--agent",
        metavar="rules|explorer|MODEL",
        help="Who plays: the agent without a model, which does what a text says; one that then "
        "explores by itself; or a model as litellm names it.",
    ),
]
AgentCommand = Annotated[
    str | None,
    typer.Option(
        "--agent-command", metavar="CMD", help="A program of your own that plays, in JSON lines."
    ),
]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="none|online|frozen|unfrozen",
        help="Without memories; with memories that begin empty and learn from each game; with "
        "memories that have learnt, which are not written, or go on learning. If not given: frozen "
        "where something was learnt, else online.",
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="A memory method, or nothing, raw, weighted, kind; or several. The others are "
        "compared with the first.",
    ),
]
Admissions = Annotated[
    list[str] | None,
    typer.Option("--admit", metavar="NAME", help="Which episodes are learnt, as for `replay`."),
]
Forgettings = Annotated[
    list[str] | None,
    typer.Option("--forget", metavar="RULE", help="What is forgotten, as for `replay`."),
]
Banks = Annotated[
    list[str] | None,
    typer.Option("--bank", metavar="BANK", help="A bank that competes, by name or path."),
]
Contestants = Annotated[
    Path | None,
    typer.Option("--contestants", metavar="FILE.toml", help="Who competes, a [[contestant]] each."),
]
LearnFrom = Annotated[
    list[str] | None,
    typer.Option("--learn-from", metavar="LOG", help="A log that methods learn before the games."),
]
Train = Annotated[
    str | None,
    typer.Option("--train", metavar="SPLIT", help="Games that methods learn from by playing."),
]
TrainGames = Annotated[
    int | None, typer.Option("--train-games", metavar="N", min=1, help="How many of those.")
]
Split = Annotated[
    str | None,
    typer.Option("--split", metavar="NAME", help="The games that count; the first if not given."),
]
Games = Annotated[
    int | None,
    typer.Option("--games", metavar="N", min=1, help="How many, evenly of all kinds; all if not."),
]
GamesFrom = Annotated[
    Path | None,
    typer.Option(
        "--games-from",
        metavar="PATH",
        help="Where the games lie, if not where they are looked for.",
    ),
]
Order = Annotated[
    str,
    typer.Option(
        "--order",
        metavar="environment|kinds|shuffled",
        help="As the environment has them, in blocks of one kind of task each, or shuffled.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="What --games and --order shuffled draw with.")
]
Tries = Annotated[
    int,
    typer.Option("--tries", metavar="N", min=1, max=100, help="Play a game until it is solved."),
]
LeaveOneOut = Annotated[
    bool,
    typer.Option("--leave-one-out", help="Hide what was learnt from the game that is played."),
]
JudgeError = Annotated[
    float | None,
    typer.Option(
        "--judge-error",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Simulate a judge that is wrong so often, for --admit coarse.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Where the run is kept, to go on with it."),
]
Parallel = Annotated[
    int,
    typer.Option(
        "--parallel",
        metavar="N",
        min=1,
        max=64,
        help="Play N games at once; where memories learn, N contestants.",
    ),
]
MarkdownFile = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="Write the result as a page, too.")
]


def run(
    context: typer.Context,
    environment: EnvironmentName,
    agent: AgentName = "rules",
    agent_command: AgentCommand = None,
    protocol: ProtocolName = None,
    method: Methods = None,
    admit: Admissions = None,
    forget: Forgettings = None,
    bank: Banks = None,
    contestants: Contestants = None,
    learn_from: LearnFrom = None,
    format: options.Format = None,  # noqa: A002 - the word that people type
    train: Train = None,
    train_games: TrainGames = None,
    split: Split = None,
    games: Games = None,
    games_from: GamesFrom = None,
    order: Order = "environment",
    seed: Seed = 0,
    tries: Tries = 1,
    leave_one_out: LeaveOneOut = False,
    judge_error: JudgeError = None,
    out: Out = None,
    parallel: Parallel = 1,
    dry_run: options.DryRun = False,
    markdown: MarkdownFile = None,
    embedder: options.Embedder = None,
    extractor: options.Extractor = None,
    model: options.Model = None,
    api_base: options.ApiBase = None,
    max_cost: options.MaxCost = None,
    no_cache: options.NoCache = False,
    prompts: options.Prompts = None,
    timeout: options.Timeout = None,
) -> Result:
    """Let an agent play games with memories and without, and compare what they are worth to it.

    All contestants play the same games in the same order. Options with several values are
    repeated. What is finished is kept: the same command goes on with a run that was
    interrupted, and shows one that is done.
    """
    from deltamem_tui.cli.evaluation_setup import Wishes, set_up

    invocation = Invocation.of(context)
    wishes = Wishes(
        environment,
        agent,
        agent_command,
        protocol,
        method,
        admit or ["strict"],
        forget or ["none"],
        bank or [],
        contestants,
        learn_from or [],
        format,
        train,
        train_games,
        split,
        games,
        games_from,
        order,
        seed,
        tries,
        leave_one_out,
        judge_error,
        parallel,
        embedder,
        extractor,
        ModelOptions(model, api_base, max_cost, no_cache, prompts, dry_run, timeout),
    )
    with interruptible() as stop, ExitStack() as stack:
        setup = set_up(invocation, wishes, stop, stack)
        folder = (out or setup.default_folder).expanduser()
        if dry_run:
            return _estimated(setup, folder)
        found, is_new = _played(invocation, setup, folder, stop)
    if markdown is not None:
        _write(markdown, found)
    return _shown(found, setup, folder, is_new=is_new)


def _played(
    invocation: Invocation, setup: Setup, folder: Path, stop: Interruption
) -> tuple[EvaluationResult, bool]:
    """What came of it, and whether anything was played for that now."""
    from deltamem_tui.evaluation.runs.evaluation import evaluate
    from deltamem_tui.evaluation.runs.opening import pieces_before

    plan = setup.plan
    total = sum(
        len(plan.games) + pieces_before(plan, each, len(setup.log)) for each in plan.entrants
    )
    with invocation.output.progress("playing", total) as advance:
        begun: list[bool] = []

        def between() -> None:
            begun[:] = [True]
            if stop:
                raise KeyboardInterrupt

        def done(entrant: Entrant, pieces: int) -> None:
            advance(pieces, entrant.name)

        try:
            found = evaluate(
                plan, setup.tools, folder, log=setup.log, between=between, advance=done
            )
        except KeyboardInterrupt as error:
            hint = "what is finished is kept; the same command goes on"
            raise InterruptionError("interrupted", source=str(folder), hint=hint) from error
    return found, bool(begun)


def _estimated(setup: Setup, folder: Path) -> Result:
    from msgspec.structs import asdict, replace

    from deltamem_tui.evaluation.agents.react import ReActAgent
    from deltamem_tui.evaluation.runs.estimate import estimate

    plan, agent = setup.plan, setup.tools.agent
    found = estimate(plan, folder, len(setup.log))
    notes = ["dry run: nothing was played"]
    if not found.played and isinstance(agent, ReActAgent):
        with setup.tools.playing(plan.games[0]) as game:
            usage = agent.estimate(game.start(), "", plan.limit)
        found = replace(
            found,
            calls=float(usage.calls),
            tokens=float(usage.prompt_tokens + usage.completion_tokens),
            cost=usage.cost,
            cost_left=None if usage.cost is None else usage.cost * found.tries,
        )
        notes.append("costs are those of games that take all actions, without a memory's text")
    if setup.writes_by_model:
        notes.append("what the writer's model takes is not in it")
    data = asdict(found)
    facts = {name.replace("_", " "): value for name, value in data.items()}
    return Result(
        "evaluate", {"folder": folder, **data}, view=lambda page: page.facts(facts), notes=notes
    )


def _write(path: Path, found: EvaluationResult) -> None:
    from deltamem_tui.bank.disk import files
    from deltamem_tui.evaluation.runs.report import markdown_page

    files.replace(path, markdown_page(found).encode())


def _shown(found: EvaluationResult, setup: Setup, folder: Path, *, is_new: bool) -> Result:
    from msgspec import to_builtins

    from deltamem_tui.cli.evaluate_view import show
    from deltamem_tui.evaluation.runs.report import warnings

    earlier = "" if is_new else "; all of it was played before: remove it to play it again"
    notes = [*warnings(found), f"kept in {folder}{earlier}"]
    data = {**to_builtins(found), "folder": str(folder)}
    return Result(
        "evaluate",
        data,
        setup.errors,
        Result.verdict(1, setup.errors),
        view=lambda page: show(page, found),
        notes=notes,
    )
