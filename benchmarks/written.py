"""What one more episode writes, in a bank of 100 nodes and in one of 100,000: the same.

The same episodes are learnt in both, and their bytes compared one by one. The journal states
how many rows and bytes count now, and these numbers are longer in a bigger bank: so many
bytes more, digit for digit, are allowed, and none beside them.

On Linux the kernel says how many bytes the process handed over, whatever way it took. Elsewhere
those are counted that go through `os`, as all of the bank's do.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from string import ascii_lowercase
from time import perf_counter
from typing import Any
from unittest import mock

import numpy as np
import orjson
from numpy.typing import NDArray

from benchmarks import big_bank, goals
from benchmarks.goals import Goal
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

SIZES = (100, 100_000)
EPISODES = 20


_WRITES = ("pwrite", "write")
_EFFECTS = (*_WRITES, "truncate", "ftruncate", "replace", "rename", "unlink", "fsync")
_KERNEL = Path("/proc/self/io")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one episode cost.

    Attributes:
        written: Bytes that were written.
        effects: How often the disk was asked to change or keep anything.
        digits: Digits of the numbers in the episode's line of the journal.
        seconds: How long it took.
    """

    written: int
    effects: int
    digits: int
    seconds: float


def run() -> str:
    """Learn the same episodes in banks of both sizes."""
    small, big = (_learnt(rows) for rows in SIZES)
    pairs = list(zip(small, big, strict=True))
    measured: dict[str, Any] = {
        f"{rows}_nodes": {
            "bytes_per_episode": sum(each.written for each in costs) / EPISODES,
            "effects_per_episode": sum(each.effects for each in costs) / EPISODES,
            "learn_ms": 1000 * median(each.seconds for each in costs),
        }
        for rows, costs in zip(SIZES, (small, big), strict=True)
    }
    measured["bytes_more"] = sum(b.written - a.written for a, b in pairs) / EPISODES
    measured["digits_more"] = sum(b.digits - a.digits for a, b in pairs) / EPISODES
    measured["counted_by"] = "the kernel" if _KERNEL.exists() else "os"
    wanted = [
        Goal("bytes_more_than_digits", max(_unexplained(a, b) for a, b in pairs), "at most", 0),
        Goal("effects_more", max(b.effects - a.effects for a, b in pairs), "at most", 0),
    ]
    return goals.line("written", wanted, measured)


def _unexplained(small: Cost, big: Cost) -> int:
    """Return the bytes that are more by something else than longer numbers."""
    return (big.written - small.written) - (big.digits - small.digits)


class _FirstRow:
    """An embedder for which every text is the text of the first node."""

    card = big_bank.EMBEDDER

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.repeat(big_bank.unit_rows(1), len(texts), axis=0)

    embed_queries = embed_passages


def _learnt(rows: int) -> list[Cost]:
    """Learn some episodes, one to warm up, and tell what each of the others cost."""
    costs: list[Cost] = []
    with tempfile.TemporaryDirectory(prefix="deltamem-written-") as folder:
        bank = big_bank.build(Path(folder) / "bank", rows)
        for number in range(EPISODES + 1):
            started = perf_counter()
            with _counting() as counted:
                learn(bank, _episode(number), RulesExtractor(), embedder=_FirstRow())
            seconds = perf_counter() - started
            digits = _digits(orjson.loads(bank.commit.line()))
            costs.append(Cost(counted.written, counted.effects, digits, seconds))
    return costs[1:]


def _digits(value: Any) -> int:
    """Return how many characters the numbers in a JSON value take."""
    if isinstance(value, dict):
        return sum(map(_digits, value.values()))
    if isinstance(value, list):
        return sum(map(_digits, value))
    return len(orjson.dumps(value)) if type(value) in (int, float) else 0


@dataclass(slots=True)
class _Counted:
    written: int = 0
    effects: int = 0


@contextmanager
def _counting() -> Iterator[_Counted]:
    """Count every effect on the disk, by whichever function of `os`, and every byte."""
    counted = _Counted()

    def watched(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def effect(*arguments: Any, **options: Any) -> Any:
            result = real(*arguments, **options)
            counted.effects += 1
            if name in _WRITES:
                counted.written += result
            return result

        return effect

    with ExitStack() as patches:
        for name in _EFFECTS:
            patches.enter_context(mock.patch.object(os, name, watched(name)))
        before = _by_kernel()
        yield counted
        if before is not None:
            counted.written = (_by_kernel() or 0) - before


def _by_kernel() -> int | None:
    """Return all bytes that this process ever handed to a write; None if the system does not
    tell.
    """
    if not _KERNEL.exists():
        return None
    (told,) = [line for line in _KERNEL.read_text().splitlines() if line.startswith("wchar:")]
    return int(told.split()[1])


def _episode(number: int) -> Trajectory:
    """Return an episode with something new to tell both trees, as long as any other."""
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
