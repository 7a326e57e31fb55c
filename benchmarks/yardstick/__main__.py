"""Play games with a memory and without one: one JSON line a context."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import orjson

from benchmarks.quality import LOGS, episodes_of
from benchmarks.yardstick import contexts
from benchmarks.yardstick.contexts import Context
from benchmarks.yardstick.summary import Result, summary
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.evaluation.agent import Playthrough
from deltamem_tui.evaluation.agents.rules import RulesAgent
from deltamem_tui.evaluation.environment import Environment, GameInfo
from deltamem_tui.evaluation.registry import environment_named
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Trajectory

_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
_CONTEXTS = ("nothing", "raw", "weighted", "kind", "bank", "paper", "calibrated")
_WITHOUT_EMBEDDER = ("nothing", "weighted")

Row = tuple[str, str | None]  # a context and its embedder, if it has one


def main() -> None:
    """Measure what the command line names."""
    options = _options()
    try:
        results = _played(options)
    except DeltaMemError as error:
        sys.exit(f"yardstick: {error}")
    for (context, embedder), rows in results.items():
        head = {"world": options.world, "part": options.part, "context": context}
        print(orjson.dumps({**head, "embedder": embedder, **summary(rows)}).decode())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.yardstick", description=__doc__)
    parser.add_argument("world", choices=["alfworld", "scienceworld"])
    parser.add_argument("contexts", nargs="+", choices=_CONTEXTS)
    parser.add_argument("--embedder", nargs="+", default=["hashing"], help="one row for each")
    parser.add_argument("--part", choices=["dev", "test"], default="dev")
    parser.add_argument("--most", type=int, help="how many games, all if not given")
    parser.add_argument("--episodes", type=Path, help="a log of rollouts to learn from")
    parser.add_argument("--games", type=Path, default=_DATA / "games" / "alfworld_games.tar.xz")
    parser.add_argument("--verbose", action="store_true", help="a line a game, on stderr")
    return parser.parse_args()


def _played(options: argparse.Namespace) -> dict[Row, list[Result]]:
    """Every game with every context in turn: a game is loaded once."""
    environment, games = _games(options)
    known = _all_contexts(options)
    agent = RulesAgent(options.world)
    results: dict[Row, list[Result]] = {row: [] for row in known}
    for info in games:
        game = environment.load(info)
        for row, context in known.items():
            played = Playthrough(game, environment.limit)
            text = context(played.start)
            agent.play(played, text)
            steps = len(played.steps) if played.score >= 1 else played.limit
            results[row].append(Result(played.score, steps, count_tokens(text)))
            if options.verbose:
                line = f"{played.score:.2f} {steps:3} {' '.join(filter(None, row))}"
                print(f"{line} | {info.name} | {played.start.task}", file=sys.stderr, flush=True)
    return results


def _games(options: argparse.Namespace) -> tuple[Environment, Sequence[GameInfo]]:
    games = options.games if options.world == "alfworld" else None
    environment = environment_named(options.world, games=games)
    return environment, environment.games(options.part)[: options.most]


def _all_contexts(options: argparse.Namespace) -> dict[Row, Context]:
    log: Path = options.episodes or LOGS[options.world]
    if not log.is_file():
        raise UsageError(
            "there are no episodes here", source=str(log), hint="name a log: --episodes"
        )
    episodes = episodes_of(log)
    known: dict[Row, Context] = {}
    for name in options.contexts:
        if name in _WITHOUT_EMBEDDER:
            known[name, None] = (
                contexts.nothing if name == "nothing" else contexts.weighted(episodes)
            )
    for name in options.embedder:
        wanted = [each for each in options.contexts if each not in _WITHOUT_EMBEDDER]
        made = _contexts_of(name, wanted, episodes, options.world)
        known.update({(context, name): made[context] for context in wanted})
    return known


def _contexts_of(
    embedder_name: str, wanted: list[str], episodes: list[Trajectory], world: str
) -> dict[str, Context]:
    """The wanted contexts that embed; those of one bank share it."""
    embedder = contexts.embedder_named(embedder_name)
    made: dict[str, Context] = {}
    if "raw" in wanted:
        made["raw"] = contexts.raw(episodes, embedder)
    if "kind" in wanted:
        made["kind"] = contexts.kind(episodes, world, embedder)
    if {"bank", "paper"} & set(wanted):
        bank = contexts.learnt(episodes, world, embedder)
        made["bank"] = contexts.of_bank(bank, embedder)
        made["paper"] = contexts.by_the_paper(bank, embedder)
    if "calibrated" in wanted:
        bank = contexts.learnt(episodes, world, embedder, calibrated=True)
        made["calibrated"] = contexts.of_bank(bank, embedder)
    return made


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
