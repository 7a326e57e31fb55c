"""Lift: how episodes ended with memory and without, and after which nodes they ended badly.

Worked out on columns; nothing is read or written here. It compares episodes that happened, and
none was drawn by lot: what is said of a node is where to look first, not what it caused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.memory.credit.intervals import Share

Numbers64 = NDArray[np.int64]
Flags = NDArray[np.bool_]

Look = Literal["harmful", "helpful", "unclear"]
LOOKS: tuple[Look, ...] = get_args(Look)

CHANCE = 0.025
"""The share of nodes without any effect that an interval puts on the harmful side by chance."""


@dataclass(frozen=True, slots=True)
class EpisodeColumns:
    """The episodes of a bank.

    Attributes:
        kind: The number of the kind of its task. int64 [episodes].
        end: 1 for a success, 0 for a failure, -1 if that is not known. int64 [episodes].
        memory: Whether it was shown any node. bool [episodes].
        receipt: Whether it has a receipt, be it an empty one. bool [episodes].
        kinds: The names of the kinds.
    """

    kind: Numbers64
    end: Numbers64
    memory: Flags
    receipt: Flags
    kinds: Sequence[str]


@dataclass(frozen=True, slots=True)
class NodeLift:
    """What became of the episodes that were shown one node.

    Attributes:
        node: Its number.
        shown: The episodes that were shown it.
        share: How the judged ones of them ended.
        expected: How often episodes of the same kinds succeed, whatever they were shown.
    """

    node: int
    shown: int
    share: Share
    expected: float

    @property
    def look(self) -> Look:
        """`unclear` unless the interval leaves out what was expected."""
        low, high = self.share.interval
        if high < self.expected:
            return "harmful"
        return "helpful" if low > self.expected else "unclear"


def by_kind(episodes: EpisodeColumns) -> Mapping[str, tuple[Share, Share]]:
    """Per kind of task, the judged episodes with memory and those that were shown nothing.

    Episodes without a receipt are left out: what they were shown is not known.
    """
    count = len(episodes.kinds)
    known = episodes.receipt & (episodes.end >= 0)
    sides = [_shares(episodes, known & side, count) for side in (episodes.memory, ~episodes.memory)]
    return {
        name: (with_memory, without)
        for name, with_memory, without in zip(episodes.kinds, *sides, strict=True)
        if with_memory.judged or without.judged
    }


def by_node(episodes: EpisodeColumns, node: Numbers64, episode: Numbers64) -> list[NodeLift]:
    """Per node that judged episodes were shown: the clearly harmful first, then the helpful.

    A pair of `node` and `episode`, int64 [uses], is a node and an episode that was shown it, each
    pair once.
    """
    receipts = episodes.receipt & (episodes.end >= 0)
    expected = np.array(
        [each.mean or 0.0 for each in _shares(episodes, receipts, len(episodes.kinds))]
    )
    count = int(node.max()) + 1 if len(node) else 0
    shown = np.bincount(node, minlength=count)
    judged = episodes.end[episode] >= 0
    at, ended = node[judged], episode[judged]
    judgements = np.bincount(at, minlength=count)
    successes = np.bincount(at, episodes.end[ended], minlength=count)
    likely = np.bincount(at, expected[episodes.kind[ended]], minlength=count)
    found = [
        NodeLift(
            number,
            int(shown[number]),
            Share(int(judgements[number]), int(successes[number])),
            float(likely[number] / judgements[number]),
        )
        for number in np.flatnonzero(judgements).tolist()
    ]
    return sorted(found, key=_worst_first)


def _shares(episodes: EpisodeColumns, mask: Flags, count: int) -> list[Share]:
    """Per kind, how the episodes of a mask ended."""
    judged = np.bincount(episodes.kind[mask], minlength=count)
    successes = np.bincount(episodes.kind[mask], episodes.end[mask], minlength=count)
    return [Share(int(n), int(k)) for n, k in zip(judged, successes, strict=True)]


def _worst_first(each: NodeLift) -> tuple[int, float, int]:
    """By look, then by how many successes are missing, or are more than expected if it helped."""
    more = each.share.successes - each.expected * each.share.judged
    return LOOKS.index(each.look), -more if each.look == "helpful" else more, each.node
