"""The options of `deltamem evaluate`, beside those that several commands have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.models import ModelOptions
from deltamem_tui.llm.cost import Budget

EnvironmentName = Annotated[
    str,
    typer.Argument(metavar="ENVIRONMENT", help="A game by its name, or FILE.py:NAME of your own."),
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


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """What was asked for: a parameter of the command for each field."""

    environment: EnvironmentName
    agent: AgentName = "rules"
    agent_command: AgentCommand = None
    protocol: ProtocolName = None
    method: Methods = None
    admit: Admissions = None
    forget: Forgettings = None
    bank: Banks = None
    contestants: Contestants = None
    learn_from: LearnFrom = None
    format: options.Format = None
    train: Train = None
    train_games: TrainGames = None
    split: Split = None
    games: Games = None
    games_from: GamesFrom = None
    order: Order = "environment"
    seed: Seed = 0
    tries: Tries = 1
    leave_one_out: LeaveOneOut = False
    judge_error: JudgeError = None
    out: Out = None
    parallel: Parallel = 1
    dry_run: options.DryRun = False
    markdown: MarkdownFile = None
    embedder: options.Embedder = None
    extractor: options.Extractor = None
    model: options.Model = None
    api_base: options.ApiBase = None
    max_cost: options.MaxCost = None
    no_cache: options.NoCache = False
    prompts: options.Prompts = None
    timeout: options.Timeout = None

    def for_models(self) -> ModelOptions:
        """Those that say how models are asked; all that are asked by them share a new budget."""
        return ModelOptions(
            self.model,
            self.api_base,
            self.max_cost,
            self.no_cache,
            self.prompts,
            self.dry_run,
            self.timeout,
            budget=Budget(self.max_cost),
        )
