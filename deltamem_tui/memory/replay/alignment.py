"""Alignment: how far an episode went the way that a record it was shown had gone.

Only episodes that succeeded say something: alignment is the longest common subsequence of their
abstracted actions by the length of the longer list, whichever policy led there. A record whose
question looks near and whose way is far misleads: a *misaligned replay*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from msgspec import Struct

from deltamem_tui.memory.findings import normalised
from deltamem_tui.memory.replay.measures import Replayed
from deltamem_tui.memory.rules_extractor import skimmed
from deltamem_tui.trajectory.model import Trajectory

LEAST_USES = 5
Alignment = Callable[[int, int], float]
"""How far two episodes, by their places, went the same way: from 0 to 1."""


class MisalignedReplay(Struct, frozen=True):
    """Nodes that were shown where questions were near and ways far.

    Attributes:
        tested: Nodes that were shown to so many episodes that succeeded that it can be told.
        misaligned: Those with a mean score of at least the median, and a mean alignment in the
            lowest quarter.
        misaligned_deleted: How many of these were deleted.
        others_deleted: How many of the others that were tested were.
    """

    tested: int = 0
    misaligned: int = 0
    misaligned_deleted: int = 0
    others_deleted: int = 0


def alignments(episodes: Sequence[Trajectory]) -> Alignment:
    """The alignment of any two episodes of a replay; each pair is compared once."""

    @cache
    def actions(place: int) -> tuple[str, ...]:
        return normalised(skimmed(episodes[place]))

    @cache
    def of_pair(one: int, other: int) -> float:
        longer = max(len(actions(one)), len(actions(other)))
        return common_length(actions(one), actions(other)) / longer if longer else 0.0

    return lambda one, other: of_pair(min(one, other), max(one, other))


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence; a bit of one number stands for each place.

    After Hyyrö, "Bit-parallel LCS-length computation revisited" (2004).
    """
    at: dict[str, int] = {}
    for place, action in enumerate(one):
        at[action] = at.get(action, 0) | 1 << place
    full = (1 << len(one)) - 1
    rest = full
    for action in other:
        same = rest & at.get(action, 0)
        rest = ((rest + same) | (rest - same)) & full
    return len(one) - rest.bit_count()


def misaligned(
    replayed: Replayed, alignment: Alignment, least_uses: int = LEAST_USES
) -> MisalignedReplay:
    """Which nodes mislead, and which of them were deleted."""
    records = replayed.recording.records
    uses: dict[str, list[tuple[float, float]]] = {}
    for place, shown in enumerate(replayed.recording.recalled):
        for each in shown if replayed.truth.successes[place] else ():
            if found := records[each.record].sources:
                near = sum(alignment(source, place) for source in found) / len(found)
                uses.setdefault(records[each.record].node, []).append((each.score, near))
    means = {
        node: np.mean(found, axis=0) for node, found in uses.items() if len(found) >= least_uses
    }
    if not means:
        return MisalignedReplay()
    scores, nearness = np.array([*means.values()]).T
    far = (scores >= np.median(scores)) & (nearness <= np.quantile(nearness, 0.25))
    last = {each.node: each for each in records}
    deleted = np.array([last[node].end is not None for node in means])
    return MisalignedReplay(
        len(means), int(far.sum()), int((far & deleted).sum()), int((~far & deleted).sum())
    )
