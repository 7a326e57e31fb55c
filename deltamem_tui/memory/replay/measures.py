"""The measures of a replay, worked out on a recording and the truth about its episodes.

R_t are the records that episode t was shown; a record is *wrong* if it comes from an episode that
was learnt as having ended otherwise than it did. None of these measures is a success rate: no agent
acted on what was recalled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.memory.replay.bootstrap import Numbers, Ratio
from deltamem_tui.memory.replay.episodes import Truth
from deltamem_tui.memory.replay.recording import MemoryRecord, RecalledRecord, Recording

MEASURES: Mapping[str, str] = {
    "coverage": "episodes that were shown anything",
    "same_kind": "episodes that were shown something of their kind, of those whose kind had "
    "succeeded before",
    "same_kind_first": "the same for what was presented first",
    "same_kind_share": "recalled records that come from an episode of the asked kind",
    "precision": "recalled records that are not wrong",
    "store_precision": "records of the bank that are not wrong, over all episodes",
    "source_success": "successes among the episodes behind the recalled records",
    "source_success_first": "the same for what was presented first",
    "exposure": "episodes for which what was presented first is wrong",
    "regret": "episodes that were shown nothing of their kind, and for which the best right "
    "record of it that never forgetting would have shown was forgotten",
}
"""What each measure is the share of."""


@dataclass(frozen=True)
class Replayed:
    """A recording with the truth about its episodes, and what follows for each record.

    Attributes:
        recording: What the contestant kept and recalled.
        truth: What is known of the episodes, in the order in which they were replayed.
    """

    recording: Recording
    truth: Truth

    @cached_property
    def wrong(self) -> list[bool]:
        """Per record, whether a source of it was learnt as having ended otherwise than it did."""
        learnt_as, ended = self.recording.learnt_as, self.truth.successes
        misjudged = {
            place
            for place, word in enumerate(learnt_as)
            if word is not None and word != ended[place]
        }
        return [not misjudged.isdisjoint(each.sources) for each in self.recording.records]

    @cached_property
    def kinds(self) -> list[frozenset[str]]:
        """Per record, the kinds of its sources."""
        kinds = self.truth.kinds
        return [
            frozenset(kinds[place] for place in each.sources) - {""}
            for each in self.recording.records
        ]

    @cached_property
    def success(self) -> list[float]:
        """Per record, the share of its sources that succeeded; 0 if it has none."""
        ended = self.truth.successes
        return [
            sum(ended[place] for place in each.sources) / max(len(each.sources), 1)
            for each in self.recording.records
        ]

    def known(self, shown: Sequence[RecalledRecord], *, first: bool = False) -> list[int]:
        """The numbers of recalled records whose sources are known."""
        records = self.recording.records
        return [
            each.record
            for each in shown
            if records[each.record].sources and (each.first or not first)
        ]

    def finds_kind(self, place: int, *, first: bool = False) -> bool:
        """Whether an episode was shown something of its kind."""
        kind = self.truth.kinds[place]
        shown = self.recording.recalled[place]
        return any(kind in self.kinds[each] for each in self.known(shown, first=first))


def measured(replayed: Replayed, twin: Replayed | None = None) -> dict[str, Ratio]:
    """Every measure by its name; `twin` is the contestant that differs in never forgetting."""
    kind, wrong, success = _askable(replayed.truth), replayed.wrong, replayed.success
    standing, right = store(replayed)
    found = {
        "coverage": Ratio.mean([bool(shown) for shown in replayed.recording.recalled]),
        "same_kind": _over(kind, replayed.finds_kind),
        "same_kind_first": _over(kind, lambda place: replayed.finds_kind(place, first=True)),
        "same_kind_share": _of_recalled(
            replayed, lambda each, place: replayed.truth.kinds[place] in replayed.kinds[each]
        ),
        "precision": _of_recalled(replayed, lambda each, _: not wrong[each]),
        "store_precision": Ratio(right[:-1], standing[:-1]),
        "source_success": _of_recalled(replayed, lambda each, _: success[each]),
        "source_success_first": _of_recalled(replayed, lambda each, _: success[each], first=True),
        "exposure": Ratio.mean(
            [
                any(wrong[each] for each in replayed.known(shown, first=True))
                for shown in replayed.recording.recalled
            ]
        ),
    }
    if twin is not None:
        found["regret"] = Ratio.mean(regretted(replayed, twin))
    return found


def _askable(truth: Truth) -> list[bool]:
    """Per episode, whether its kind is known and had succeeded earlier in the log."""
    seen: set[str] = set()
    found = []
    for kind, success in zip(truth.kinds, truth.successes, strict=True):
        found.append(bool(kind) and kind in seen)
        if success:
            seen.add(kind)
    return found


def _over(counted: Sequence[bool], holds: Callable[[int], bool]) -> Ratio:
    parts = [each and holds(place) for place, each in enumerate(counted)]
    return Ratio(np.array(parts, dtype=np.float64), np.array(counted, dtype=np.float64))


def _of_recalled(
    replayed: Replayed, worth: Callable[[int, int], float], *, first: bool = False
) -> Ratio:
    """A mean over recalled records, of each by its number and the place of the episode."""
    recalled = [replayed.known(shown, first=first) for shown in replayed.recording.recalled]
    parts = [sum(worth(each, place) for each in found) for place, found in enumerate(recalled)]
    wholes = [len(found) for found in recalled]
    return Ratio(np.array(parts, dtype=np.float64), np.array(wholes, dtype=np.float64))


def regretted(replayed: Replayed, twin: Replayed) -> NDArray[np.bool_]:
    """Per episode, whether forgetting cost it what it would have been shown of its kind."""
    lives: dict[str, list[MemoryRecord]] = {}
    for record in replayed.recording.records:
        lives.setdefault(record.node, []).append(record)
    found = np.zeros(len(twin.recording.recalled), dtype=np.bool_)
    for place, shown in enumerate(twin.recording.recalled):
        kind = twin.truth.kinds[place]
        right = [e for e in twin.known(shown) if kind in twin.kinds[e] and not twin.wrong[e]]
        if right and not replayed.finds_kind(place):
            node = twin.recording.records[right[0]].node
            found[place] = not any(each.stood_at(place) for each in lives.get(node, ()))
    return found


def store(replayed: Replayed) -> tuple[Numbers, Numbers]:
    """Records whose sources are known, and those of them that are right, before each episode.

    float64 [episodes + 1]; the last are those after the log.
    """
    of_known = [bool(each.sources) for each in replayed.recording.records]
    right = [known and not wrong for known, wrong in zip(of_known, replayed.wrong, strict=True)]
    return standing(replayed.recording, of_known), standing(replayed.recording, right)


def standing(recording: Recording, weights: Sequence[float]) -> Numbers:
    """The weights of the records that stand before each episode, and after the log.

    float64 [episodes + 1].
    """
    changes = np.zeros(len(recording.recalled) + 2)
    for record, weight in zip(recording.records, weights, strict=True):
        changes[record.begin + 1] += weight
        if record.end is not None:
            changes[record.end + 1] -= weight
    total: Numbers = changes.cumsum()[:-1]
    return total
