"""Play games with a memory and without one: one JSON line a context."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from benchmarks.quality import episodes_of
from benchmarks.yardstick import contexts
from benchmarks.yardstick.agent import Agent, Played
from benchmarks.yardstick.alfworld_agent import AlfworldAgent
from benchmarks.yardstick.contexts import Context
from benchmarks.yardstick.scienceworld_agent import ScienceWorldAgent
from benchmarks.yardstick.worlds import Game, alfworld_games, scienceworld_games
from deltamem_tui.text import count_tokens

_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
_EPISODES = {
    "alfworld": _DATA / "generated" / "alfworld_valid_train_experts.jsonl",
    "scienceworld": _DATA / "generated" / "scienceworld_train_variations.jsonl",
}
_AGENTS: dict[str, Callable[[Game], Agent]] = {
    "alfworld": AlfworldAgent,
    "scienceworld": ScienceWorldAgent,
}
_CONTEXTS = ("nothing", "raw", "weighted", "bank", "calibrated")
_RESAMPLED = 2000


def main() -> None:
    """Measure what the command line names."""
    options = _options()
    games = _games(options)[: options.most]
    for name in options.contexts:
        context = _context(name, options)
        rows = []
        for game in games:
            agent = _AGENTS[options.world](game)
            text = context(agent.start)
            played = agent.play(text)
            rows.append((played, count_tokens(text)))
            if options.verbose:
                print(f"{played.score:.2f} {played.steps:3} {game.name} | {agent.start.task}")
        print(orjson.dumps({"context": name, **_line(options, rows)}).decode(), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.yardstick", description=__doc__)
    parser.add_argument("world", choices=sorted(_AGENTS))
    parser.add_argument("contexts", nargs="+", choices=_CONTEXTS)
    parser.add_argument("--embedder", default="hashing", help="of `raw` and of the banks")
    parser.add_argument("--part", choices=["dev", "test"], default="dev")
    parser.add_argument("--most", type=int, help="how many games, all if not given")
    parser.add_argument("--episodes", type=Path, help="a log of rollouts to learn from")
    parser.add_argument("--games", type=Path, default=_DATA / "games" / "alfworld_games.tar.xz")
    parser.add_argument("--unpacked", type=Path, default=Path.home() / ".cache" / "deltamem-games")
    parser.add_argument("--verbose", action="store_true", help="a line a game")
    return parser.parse_args()


def _games(options: argparse.Namespace) -> list[Game]:
    if options.world == "scienceworld":
        return scienceworld_games(options.part)
    options.unpacked.mkdir(parents=True, exist_ok=True)
    return alfworld_games(options.games, options.unpacked, options.part)


def _context(name: str, options: argparse.Namespace) -> Context:
    if name == "nothing":
        return contexts.nothing
    episodes = episodes_of(options.episodes or _EPISODES[options.world])
    if name == "weighted":
        return contexts.weighted(episodes)
    embedder = contexts.embedder_named(options.embedder)
    if name == "raw":
        return contexts.raw(episodes, embedder)
    calibrated = name == "calibrated"
    bank = contexts.learnt(episodes, options.world, embedder, calibrated=calibrated)
    return contexts.of_bank(bank, embedder)


def _line(options: argparse.Namespace, rows: Sequence[tuple[Played, int]]) -> dict[str, Any]:
    scores = np.array([played.score for played, _ in rows])
    low, high = interval(scores)
    return {
        "world": options.world,
        "embedder": options.embedder,
        "part": options.part,
        "games": len(rows),
        "score": round(float(scores.mean()), 3),
        "interval": [round(low, 3), round(high, 3)],
        "steps": round(float(np.mean([played.steps for played, _ in rows])), 1),
        "tokens": round(float(np.mean([tokens for _, tokens in rows]))),
    }


def interval(scores: np.ndarray[Any, Any]) -> tuple[float, float]:
    """The middle 95 % of the means of samples drawn from the scores (bootstrap)."""
    drawn = np.random.default_rng(7).choice(scores, (_RESAMPLED, len(scores)))
    low, high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
