"""What a replay came to, as plain data: what commands print, JSON keeps and a browser can draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct

from deltamem_tui.memory.credit.shares import JudgeErrors
from deltamem_tui.memory.replay.alignment import MisalignedReplay
from deltamem_tui.memory.replay.bootstrap import Estimate, Numbers, Ratio, difference, interval
from deltamem_tui.memory.replay.contestants import Contestant
from deltamem_tui.memory.replay.episodes import Order
from deltamem_tui.memory.replay.measures import Replayed, measured, standing
from deltamem_tui.memory.replay.recording import MemoryRecord, Recording

POINTS = 100
"""The most points of a curve."""
CURVES = ("coverage", "same_kind", "precision", "exposure")
"""The measures that are drawn over time, each over the episodes so far."""

LIMITS = (
    "no agent acted on what is recalled here, so none of the numbers is a success rate",
    "what a policy would gain shows only where agents act with it, in a simulator or live",
    "forgetting by history takes the recorded outcome as if it had come of what is recalled here",
    "that wrong records breed wrong episodes is not seen: no agent copied them",
)
"""What a replay cannot show."""


class Measure(Struct, frozen=True):
    """A measure of a contestant.

    Attributes:
        estimate: Its value, with its interval.
        difference: How much more it is than the first contestant's in the same order.
    """

    estimate: Estimate
    difference: Estimate


class StoreSizes(Struct, frozen=True):
    """How much a contestant kept; nodes that are only keys of others are not counted.

    Attributes:
        nodes: After the log; `peak` the most that there were, `mean` over the episodes.
        tokens: Of the nodes after the log.
        by_label: Nodes by label, after the log.
        by_kind: Nodes by the kind of task of their episodes, each for every kind that it has.
        births: Nodes that were ever written; `deletions` of them; `rebirths` of deleted ones.
    """

    nodes: int
    peak: int
    mean: float
    tokens: int
    by_label: Mapping[str, int]
    by_kind: Mapping[str, int]
    births: int
    deletions: int
    rebirths: int


class Curves(Struct, frozen=True):
    """What is drawn over time.

    Attributes:
        episodes: How many episodes had been replayed, at each point.
        nodes: How many nodes there were then.
        measures: Per measure its value over the episodes so far; None until one counts.
    """

    episodes: tuple[int, ...]
    nodes: tuple[int, ...]
    measures: Mapping[str, tuple[float | None, ...]]


class ContestantResult(Struct, frozen=True):
    """What one contestant came to in one order.

    Attributes:
        learnt: Episodes that were learnt, and `refused`, those that nothing could be made of.
        calls: Questions to a model.
        context_tokens: How long the context was in the mean.
        measures: By name, as `measures.MEASURES` has them.
    """

    contestant: Contestant
    order: Order
    learnt: int
    refused: int
    calls: int
    context_tokens: float
    measures: Mapping[str, Measure]
    sizes: StoreSizes
    misaligned: MisalignedReplay
    curves: Curves


class ReplayResult(Struct, frozen=True):
    """What a replay came to.

    Attributes:
        episodes: How many were replayed.
        excluded: How many were not, by the reason.
        kinds: How many kinds of task they have.
        judge: How often the judge is wrong, of nothing if there is none.
        seed: What the simulated judge and a shuffled order were drawn with.
        embedder: The model of the vectors.
        contestants: An entry a contestant and order; of each order, the first is the one that
            the others are compared with.
        limits: What a replay cannot show.
    """

    episodes: int
    excluded: Mapping[str, int]
    kinds: int
    judge: JudgeErrors
    seed: int
    domain: str
    embedder: str
    writer: str
    contestants: tuple[ContestantResult, ...]
    limits: tuple[str, ...] = LIMITS


@dataclass(frozen=True, slots=True)
class ContestEntry:
    """A recording that a result is made of.

    Attributes:
        twin: The recording of the contestant that differs in never forgetting.
    """

    contestant: Contestant
    order: Order
    replayed: Replayed
    misaligned: MisalignedReplay
    twin: Replayed | None = None


def results(entries: Sequence[ContestEntry]) -> tuple[ContestantResult, ...]:
    """The results of contestants in one order, compared with the first of them."""
    ratios = [measured(each.replayed, each.twin) for each in entries]
    return tuple(_result(each, own, ratios[0]) for each, own in zip(entries, ratios, strict=True))


def _result(
    entry: ContestEntry, ratios: Mapping[str, Ratio], first: Mapping[str, Ratio]
) -> ContestantResult:
    recording = entry.replayed.recording
    return ContestantResult(
        entry.contestant,
        entry.order,
        sum(each is not None for each in recording.learnt_as),
        recording.refused,
        recording.calls,
        float(np.mean(recording.context_tokens)) if recording.context_tokens else 0.0,
        {
            name: Measure(
                interval(ratio), difference(ratio, first[name]) if name in first else Estimate()
            )
            for name, ratio in ratios.items()
        },
        _sizes(entry.replayed),
        entry.misaligned,
        _curves(recording, ratios),
    )


def _sizes(replayed: Replayed) -> StoreSizes:
    recording = replayed.recording
    numbers = standing(recording, [1.0] * len(recording.records))
    left = [number for number, each in enumerate(recording.records) if each.end is None]
    labels = Counter(
        "success" if recording.records[number].success else "failure" for number in left
    )
    kinds = Counter(kind for number in left for kind in replayed.kinds[number])
    births, deletions, rebirths = _lives(recording.records)
    return StoreSizes(
        int(numbers[-1]),
        int(numbers.max()),
        float(numbers[:-1].mean()) if len(numbers) > 1 else 0.0,
        sum(recording.records[number].tokens for number in left),
        dict(sorted(labels.items())),
        dict(sorted(kinds.items())),
        births,
        deletions,
        rebirths,
    )


def _lives(records: Sequence[MemoryRecord]) -> tuple[int, int, int]:
    """How many nodes were written, deleted, and written again after that."""
    ends: dict[str, int | None] = {}
    gone, births, rebirths = 0, 0, 0
    for each in records:
        before = ends.get(each.node)
        births += each.node not in ends
        gone -= before is not None and before == each.begin  # a revision
        rebirths += before is not None and before < each.begin
        gone += each.end is not None
        ends[each.node] = each.end
    return births, gone, rebirths


def _curves(recording: Recording, ratios: Mapping[str, Ratio]) -> Curves:
    count = len(recording.recalled)
    places = np.unique(np.linspace(1, count, min(count, POINTS)).astype(int)).tolist()
    nodes = standing(recording, [1.0] * len(recording.records))
    return Curves(
        tuple(places),
        tuple(int(nodes[place]) for place in places),
        {name: _thinned(ratios[name].so_far(), places) for name in CURVES},
    )


def _thinned(values: Numbers, places: Sequence[int]) -> tuple[float | None, ...]:
    found = (float(values[place - 1]) for place in places)
    return tuple(None if np.isnan(each) else each for each in found)
