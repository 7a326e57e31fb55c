"""Bytes written for one more episode, in a bank of 100 nodes and in one of 100,000.

The same episodes are learnt in both. What differs by a few bytes is the number of digits:
the journal states how many rows and bytes count now, and these numbers are longer.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from string import ascii_lowercase
from time import perf_counter
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from benchmarks import big_bank, goals
from benchmarks.goals import Goal
from deltamem_tui.memory.learn import learn
from deltamem_tui.memory.rules import RulesExtractor
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

SIZES = (100, 100_000)
EPISODES = 20


def run() -> str:
    """Learn the same episodes in banks of both sizes."""
    found = {rows: _learnt(rows) for rows in SIZES}
    small, big = (found[rows]["bytes_per_episode"] for rows in SIZES)
    measured: dict[str, Any] = {f"{rows}_nodes": found[rows] for rows in SIZES}
    measured["bytes_more"] = big - small
    goal = Goal("big_to_small", round(big / small, 2), "at most", 1.0)
    return goals.line("written", [goal], measured)


class _FirstRow:
    """An embedder for which every text is the text of the first node."""

    card = big_bank.EMBEDDER

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.repeat(big_bank.unit_rows(1), len(texts), axis=0)

    embed_queries = embed_passages


def _learnt(rows: int) -> dict[str, float]:
    """Learn some episodes, the first to warm up, and count what each writes."""
    written: list[int] = []
    seconds: list[float] = []
    with tempfile.TemporaryDirectory(prefix="deltamem-written-") as folder:
        bank = big_bank.build(Path(folder) / "bank", rows)
        for number in range(EPISODES + 1):
            started = perf_counter()
            with _counting() as sizes:
                learn(bank, _episode(number), RulesExtractor(), embedder=_FirstRow())
            written.append(sum(sizes))
            seconds.append(perf_counter() - started)
    return {
        "bytes_per_episode": sum(written[1:]) / EPISODES,
        "learn_ms": 1000 * median(seconds[1:]),
    }


class _counting:  # noqa: N801 - reads as a verb
    """Collects the size of everything that the bank writes."""

    def __enter__(self) -> list[int]:
        sizes: list[int] = []
        write = os.pwrite

        def pwrite(descriptor: int, data: bytes, position: int) -> int:
            count = write(descriptor, data, position)
            sizes.append(count)
            return count

        self._patch = mock.patch("os.pwrite", pwrite)
        self._patch.start()
        return sizes

    def __exit__(self, *_: object) -> None:
        self._patch.stop()


def _episode(number: int) -> Trajectory:
    """An episode with something new to tell both trees, as long as any other."""
    thing = f"{ascii_lowercase[number]}cup"
    return Trajectory(
        task=f"put the {thing} on the shelf",
        environment="You are in a kitchen.",
        steps=(
            Step(f"unlock {thing} drawer", f"The {thing} drawer is open. In it is a {thing}."),
            Step(f"take {thing}", f"You take the {thing}."),
            Step(f"put {thing} on shelf", f"The {thing} is on the shelf."),
        ),
        outcome=Outcome(success=True, source="stated"),
    )
