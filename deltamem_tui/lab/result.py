"""Results of a contest: measures with paired bootstrap intervals, in words and tables.

A measure is the mean over the games that have it. Games are drawn with what all contestants did
in them; for a difference the same games are drawn for both, which is what makes it paired.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from deltamem_tui.lab.contestants import Contestant, MemorySize
from deltamem_tui.lab.plan import LOG, ModelCost, StartPoint, TrialResult
from deltamem_tui.text import counted

SAMPLES = 2000
_MIDDLE = (2.5, 97.5)
_SEED = 7

Numbers = NDArray[np.float64]


class Estimate(Struct, frozen=True):
    """A value and the middle 95 % of its bootstrap; None where there is nothing."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


class Measure(Struct, frozen=True):
    """A measure of a contestant, and how much more it is than the first contestant's."""

    estimate: Estimate
    difference: Estimate = Estimate()


class ContestantResult(Struct, frozen=True):
    """A contestant's measures by name, its memory's size, and every game."""

    contestant: Contestant
    measures: Mapping[str, Measure]
    start: StartPoint
    size: MemorySize
    writer: ModelCost
    results: tuple[TrialResult, ...]


class ContestResult(Struct, frozen=True):
    """The result of a contest; the others are compared with the first contestant.

    Attributes:
        excluded: Records of the log that do not count, by the reason.
    """

    environment: str
    split: str
    protocol: str
    agent: str
    games: int
    seed: int
    limit: int
    domain: str
    embedder: str
    writer: str
    contestants: tuple[ContestantResult, ...]
    excluded: Mapping[str, int] = {}

    @property
    def of_log(self) -> bool:
        """True if no agent acted."""
        return self.environment == LOG


def measured(results: Sequence[TrialResult], first: Sequence[TrialResult]) -> dict[str, Measure]:
    """Measure what a contestant did, and compare it with the first over the same games."""
    one, other = _columns(results), _columns(first)
    found = {}
    for name, values in one.items():
        difference = Estimate()
        if name in other:
            apart = _mean(values) - _mean(other[name])
            difference = _estimate(apart, _samples(values) - _samples(other[name]))
        found[name] = Measure(_estimate(_mean(values), _samples(values)), difference)
    return found


def _columns(results: Sequence[TrialResult]) -> dict[str, Numbers]:
    """Return the values of each measure by game; NaN where a game does not have it."""
    names = list(dict.fromkeys(name for each in results for name in each.measures))
    found = {
        name: np.array([each.measures.get(name, np.nan) for each in results]) for name in names
    }
    if any(each.calls for each in results):
        found["calls"] = np.array([float(each.calls) for each in results])
        found["tokens"] = np.array([float(each.tokens) for each in results])
        costs = [each.cost for each in results]
        if None not in costs:
            found["cost"] = np.array(costs, dtype=np.float64)
    return found


def _mean(values: Numbers) -> float:
    return float(np.nanmean(values))


def _samples(values: Numbers) -> Numbers:
    """Return the mean in each sample; NaN where no drawn game counts. float64 [samples]."""
    weights, known = _weights(len(values)), ~np.isnan(values)
    whole = weights @ known
    parts = weights @ np.where(known, values, 0.0)
    found: Numbers = np.divide(parts, whole, out=np.full(len(parts), np.nan), where=whole > 0)
    return found


@lru_cache(maxsize=2)
def _weights(games: int) -> Numbers:
    """Return how often each sample draws each game. float64 [samples, games]."""
    picks = np.random.default_rng(_SEED).integers(0, max(games, 1), (SAMPLES, games))
    return np.array([np.bincount(each, minlength=games) for each in picks], dtype=np.float64)


def _estimate(value: float, samples: Numbers) -> Estimate:
    known = samples[~np.isnan(samples)]
    if not len(known):
        return Estimate(value)
    low, high = np.percentile(known, _MIDDLE)
    return Estimate(value, float(low), float(high))


Cell = str | int | float | None

COMPARED = ("score", "final", "success", "steps", "same_kind", "precision")
"""The measures whose differences are shown."""

_PLACES = {"steps": 1, "memory_tokens": 0, "calls": 1, "tokens": 0, "cost": 5}
LIMITS = (
    "no agent acted on what is recalled here: none of the numbers is a success rate",
    "what a policy gains shows only where agents act with it, in a simulator or live",
)
"""Limits of a contest over a log."""


def signed(estimate: Estimate) -> str:
    """Return `-.05 (-.20 +.10)`: a difference with its interval; empty if there is none."""
    parts = (estimate.value, estimate.low, estimate.high)
    texts = [re.sub(r"^(.)0", r"\1", f"{each:+.2f}") for each in parts if each is not None]
    return f"{texts[0]} ({' '.join(texts[1:])})" if len(texts) > 1 else "".join(texts)


def interval(estimate: Estimate) -> str:
    """Return `.50 (.42 .58)`: a share with its interval; empty if there is none."""
    return signed(estimate).replace("+", "")


def value_of(each: ContestantResult, measure: str) -> float | None:
    """Return a measure of a contestant, rounded as it is shown; None if it is not known."""
    value = each.measures[measure].estimate.value if measure in each.measures else None
    return None if value is None else round(value, _PLACES.get(measure, 3))


def title_of(found: ContestResult) -> str:
    """Return what was played, in a line."""
    what = f"{found.environment} {found.split}".strip()
    parts = [what, found.protocol, counted(found.games, "episode" if found.of_log else "game")]
    return ", ".join(parts) + (f", played by {found.agent}" if found.agent else "")


def warnings(found: ContestResult) -> list[str]:
    """Return what to know before believing the numbers."""
    told = [f"not counted: {count:,} {why}" for why, count in found.excluded.items()]
    for each in found.contestants:
        start, name = each.start, each.contestant.name
        learns = found.protocol in ("online", "unfrozen") and each.contestant.method != "nothing"
        if learns and each.size == start.size:
            told.append(f"{name}: learnt nothing from its games")
        if start.seen:
            of = counted(found.games, "game")
            told.append(f"{name}: had learnt from {start.seen} of the {of} before")
        if start.unknown and not found.of_log:
            of = counted(start.learnt, "episode")
            told.append(f"{name}: {start.unknown:,} of the {of} learnt do not name their game")
    return told + list(LIMITS if found.of_log else ())


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table of a contest; the first one has no title."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def tables(found: ContestResult) -> Iterator[ReportTable]:
    """Yield what the contestants came to, and the differences."""
    some, first = found.contestants, found.contestants[0]
    names = list(dict.fromkeys(name for each in some for name in each.measures))
    writes = any(each.writer.calls for each in some)
    head = ["contestant", *map(_spaced, names), "nodes", "node tokens"]
    rows: list[list[Cell]] = [
        [
            each.contestant.name,
            *(value_of(each, name) for name in names),
            *(each.size.nodes, each.size.tokens),
            *((each.writer.calls, each.writer.cost) if writes else ()),
        ]
        for each in some
    ]
    yield ReportTable("", head + ["writer calls", "writer cost"] * writes, rows)
    compared = [name for name in COMPARED if name in first.measures]
    if len(some) > 1:
        title = f"less {first.contestant.name}, with 95 % intervals"
        rows = [
            [
                each.contestant.name,
                *(
                    signed(each.measures[name].difference)
                    for name in compared
                    if name in each.measures
                ),
            ]
            for each in some[1:]
        ]
        yield ReportTable(title, ["contestant", *map(_spaced, compared)], rows)


def _spaced(name: str) -> str:
    return name.replace("_", " ")
