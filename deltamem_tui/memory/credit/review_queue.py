"""The review queue: which episodes a person should look at first, and which are drawn.

Worked out on facts of episodes; nothing is read or written here.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

Reason = Literal[
    "disagreement", "unconfirmed", "low utility", "upstream", "downstream", "random sample"
]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why an episode is to be reviewed, the most urgent first.

Log and judge disagree; a success that only a judge saw waits to be learnt; a node of little use
was learnt from it; a node from it was shown to an episode that a person found to be wrong; it was
shown a node from such an episode; or it was drawn.
"""

NodePlace = tuple[str, str]
"""Collection and id of a node."""

_DRAWN = 0.05
"""The share of episodes that are drawn, for the judge's errors."""


@dataclass(frozen=True, slots=True)
class EpisodeFacts:
    """What the queue looks at of an episode.

    Attributes:
        kind: The kind of its task.
        stated: How it ended as the log says; None if it does not. So `judge` and `user`.
        reviewed: Whether a person said anything of it, also that they cannot tell.
        learnt: Whether it was learnt.
        shown: The nodes that it was shown.
    """

    id: str
    kind: str = ""
    stated: bool | None = None
    judge: bool | None = None
    user: bool | None = None
    reviewed: bool = False
    learnt: bool = False
    shown: frozenset[NodePlace] = frozenset()

    @property
    def is_contradicted(self) -> bool:
        """Whether a person says the opposite of what log, or else judge, does."""
        before = self.judge if self.stated is None else self.stated
        return None not in (before, self.user) and before != self.user


@dataclass(frozen=True, slots=True)
class Suspect:
    """A node that speaks for reviewing some episodes, and why."""

    reason: Reason
    node: NodePlace
    episodes: Sequence[str]


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """An episode to be reviewed.

    Attributes:
        reasons: All reasons that there are, the most urgent first.
        nodes: The nodes that some of them are about.
    """

    episode: str
    kind: str
    reasons: tuple[Reason, ...]
    nodes: tuple[NodePlace, ...] = ()


@dataclass(slots=True)
class _Entry:
    """An episode's reasons with its place among those that have the same, and the nodes."""

    places: dict[Reason, int] = field(default_factory=dict)
    nodes: dict[NodePlace, None] = field(default_factory=dict)


def queue(
    episodes: Sequence[EpisodeFacts], suspects: Iterable[Suspect] = (), seed: int = 0
) -> list[ReviewItem]:
    """The episodes to review, the most urgent first.

    Args:
        episodes: All of the bank, in order of import.
        suspects: What nodes say, of each reason the worst first.
        seed: What the random sample is drawn by.
    """
    asked = Counter(each.kind for each in episodes)
    entries = {each.id: _Entry() for each in episodes if not each.reviewed}
    for each in episodes:
        if (entry := entries.get(each.id)) is None:
            continue
        if None not in (each.stated, each.judge) and each.stated != each.judge:
            entry.places["disagreement"] = 0
        if each.judge and each.stated is None and not each.learnt:
            entry.places["unconfirmed"] = -asked[each.kind]
    for drawn in sample(episodes, seed):
        if drawn in entries:
            entries[drawn].places["random sample"] = 0
    for place, suspect in enumerate(suspects):
        for episode in suspect.episodes:
            if (entry := entries.get(episode)) is not None:
                entry.places.setdefault(suspect.reason, place)
                entry.nodes[suspect.node] = None
    kinds = {each.id: each.kind for each in episodes}
    found = [
        ReviewItem(name, kinds[name], tuple(sorted(each.places, key=REASONS.index)), (*each.nodes,))
        for name, each in entries.items()
        if each.places
    ]
    return sorted(found, key=lambda item: _urgency(item, entries[item.episode].places))


def _urgency(item: ReviewItem, places: Mapping[Reason, int]) -> tuple[int, int]:
    return REASONS.index(item.reasons[0]), places[item.reasons[0]]


def sample(episodes: Sequence[EpisodeFacts], seed: int = 0) -> set[str]:
    """The episodes that are drawn: by their ids, so that more episodes change none of them.

    They are drawn from what a judge judged; where none did, from all whose end the log states.
    """
    judged = [each for each in episodes if each.judge is not None]
    known = judged or [each for each in episodes if each.stated is not None]
    return {each.id for each in known if is_drawn(each.id, seed, _DRAWN)}


def is_drawn(name: str, seed: int, share: float) -> bool:
    """Whether a name is among a share of all that looks random, always the same of one seed."""
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return int.from_bytes(digest[:7]) / 2**56 < share
