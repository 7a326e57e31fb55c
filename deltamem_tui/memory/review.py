"""The review queue: which episodes a person should look at first, which are drawn, and why.

It is worked out on facts of episodes; nothing is written.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.credit.credit import use_of, usefulness
from deltamem_tui.memory.credit.shares import JudgeErrors, Share, errors_among
from deltamem_tui.memory.episodes.outcomes import verdicts_on
from deltamem_tui.memory.episodes.relearning import label_of, written_by
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.lift import kind_of
from deltamem_tui.memory.methods import display_of, settings_of
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory

if TYPE_CHECKING:
    from deltamem_tui.bank.node import Node

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
        """True if a person says the opposite of what log, or else judge, does."""
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
    """Return the episodes to review, the most urgent first.

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
    """Return the episodes that are drawn: by their ids, so that more episodes change none of them.

    They are drawn from what a judge judged; where none did, from all whose end the log states.
    """
    judged = [each for each in episodes if each.judge is not None]
    known = judged or [each for each in episodes if each.stated is not None]
    return {each.id for each in known if is_drawn(each.id, seed, _DRAWN)}


def is_drawn(name: str, seed: int, share: float) -> bool:
    """Return whether a name is among a share of all that looks random, always the same of one
    seed.
    """
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return int.from_bytes(digest[:7]) / 2**56 < share


@dataclass(frozen=True, slots=True)
class Review:
    """What is to be reviewed in a bank at one commit.

    Attributes:
        items: The queue, the most urgent episode first.
        facts: What is known of each episode, by its id.
        drawn: The episodes of the random sample, reviewed or not.
    """

    items: list[ReviewItem]
    facts: Mapping[str, EpisodeFacts]
    drawn: frozenset[str]

    def errors(self) -> JudgeErrors:
        """Return how often the judge was wrong by all verdicts of persons."""
        return _errors(self.facts.values())

    def sampled_errors(self) -> JudgeErrors:
        """Return the same over the random sample, which is without bias once all was reviewed."""
        return _errors(self.facts[each] for each in self.drawn)

    def record(self, *, blind: bool = False) -> dict[str, Any]:
        """As commands print it. If `blind`, without what log and judge say."""
        return {
            "queue": [_item_record(each, self.facts[each.episode], blind) for each in self.items],
            "judge": {
                "all": _errors_record(self.errors()),
                "sample": _errors_record(self.sampled_errors()),
            },
            "sampled": len(self.drawn),
            "sampled_reviewed": sum(self.facts[each].reviewed for each in self.drawn),
        }


def _item_record(item: ReviewItem, facts: EpisodeFacts, blind: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"episode": item.episode, "kind": item.kind, "learnt": facts.learnt}
    if not blind:
        found |= {"reasons": item.reasons, "log": facts.stated, "judge": facts.judge}
        found["nodes"] = [{"tree": tree, "node": node} for tree, node in item.nodes]
    return found


def _errors(facts: Iterable[EpisodeFacts]) -> JudgeErrors:
    return errors_among((each.user, each.judge) for each in facts)


def _errors_record(errors: JudgeErrors) -> dict[str, Any]:
    return {
        "false_accepts": errors.false_accepts.record(),
        "false_rejects": errors.false_rejects.record(),
    }


def review_of(bank: Bank, seed: int = 0) -> Review:
    """Work out the queue. Reads every episode once.

    Raises:
        BankCorruptError: An episode breaks the format.
    """
    facts = [facts_of(bank, each) for each in episodes(bank)]
    suspects = [*_of_little_use(bank), *_around_errors(bank, facts)]
    return Review(
        queue(facts, suspects, seed),
        {each.id: each for each in facts},
        frozenset(sample(facts, seed)),
    )


def facts_of(bank: Bank, episode: Trajectory) -> EpisodeFacts:
    """Return what the queue looks at of an episode of a bank."""
    verdicts = {each.source: each.success for each in verdicts_on(episode)}
    use = use_of(episode)
    return EpisodeFacts(
        episode.id,
        kind_of(bank, episode),
        verdicts.get("stated"),
        verdicts.get("judge"),
        verdicts.get("user"),
        reviewed="user" in verdicts,
        learnt=bank.episodes.state(episode.id) == EpisodeState.LEARNT,
        shown=frozenset((tree, node) for tree, node, _ in use.nodes) if use else frozenset(),
    )


def _of_little_use(bank: Bank) -> Iterator[Suspect]:
    """Return the nodes whose mean utility the bank's parameters call too little, the worst first.

    Utility is what log and person say, and the judge's where those say nothing. Nodes that a
    failure wrote are left out: they are shown where tasks are hard.
    """
    settings = settings_of(bank)
    found: list[tuple[float, str, Node]] = []
    for name in bank.trees:
        tree, useful = bank.tree(name), usefulness(bank, name)
        births = tree.birth[tree.rows]
        enough = useful.judged[births] >= settings.forget_judged
        little = useful.utility[births] <= settings.forget_utility
        found += [
            (float(useful.utility[tree.birth[row]]), name, tree.node_at(row))
            for row in tree.rows[enough & little & ~tree.failure[tree.rows]].tolist()
        ]
    for _, name, node in sorted(found, key=lambda each: each[0]):
        yield Suspect("low utility", (name, node.id), _sources(bank, name, node))


def _around_errors(bank: Bank, facts: Sequence[EpisodeFacts]) -> Iterator[Suspect]:
    """Yield what lies upstream of what a person overturned, and then what lies downstream."""
    wrong: set[NodePlace] = set()
    for each in facts:
        if not each.is_contradicted:
            continue
        written = _once_wrong(bank, each)
        wrong |= written
        if not each.learnt and not written:
            continue  # it never taught anything
        for tree, node_id in sorted(each.shown & living(bank, each.shown)):
            node = bank.tree(tree).node(node_id)
            yield Suspect("upstream", (tree, node_id), _sources(bank, tree, node))
    for each in facts:
        for place in sorted(each.shown & wrong if each.learnt else ()):
            yield Suspect("downstream", place, [each.id])


def _once_wrong(bank: Bank, episode: EpisodeFacts) -> set[NodePlace]:
    """Return the nodes that an episode wrote as having ended otherwise than a person says.

    Also those that are deleted or relabelled by now: they were shown as they were.
    """
    label = label_of(success=bool(episode.user))
    return {
        (tree.name, node.id)
        for tree in bank.trees.values()
        for row in written_by(tree, episode.id)
        if (node := tree.node_at(int(tree.birth[row]))).label != label
    }


def living(bank: Bank, places: frozenset[NodePlace]) -> set[NodePlace]:
    """Return those of some nodes that are in a bank and not deleted."""
    found = set()
    for tree, node in places:
        with suppress(NodeNotFoundError):
            if tree in bank.trees:
                bank.tree(tree).row(node)
                found.add((tree, node))
    return found


def _sources(bank: Bank, tree: str, node: Node) -> tuple[str, ...]:
    """Return the episodes that a node comes from; of one that was fused, those of its chain."""
    found = dict.fromkeys(node.origin.episodes)
    for each in node.origin.nodes:
        with suppress(NodeNotFoundError):
            found |= dict.fromkeys(bank.tree(tree).node(each).origin.episodes)
    return tuple(found)


# For a person

REASON_TEXTS: Mapping[Reason, str] = {
    "disagreement": "log and judge disagree",
    "unconfirmed": "a success by a judge's word alone",
    "low utility": "a node of little use comes from it",
    "upstream": "a node from it was shown to an episode that was overturned",
    "downstream": "it was shown a node from an episode that was overturned",
    "random sample": "drawn at random",
}
_WHO = {"stated": "log", "judge": "judge", "user": "you"}
_ENDS = {True: "success", False: "failure", None: "cannot tell"}
_TITLE = 60
_REASON = 200


def why(item: ReviewItem) -> str:
    """Return all reasons of an item, the most urgent first."""
    return "; ".join(REASON_TEXTS[each] for each in item.reasons)


def verdict_text(verdict: Outcome) -> str:
    """`judge: failure, the mug is not on the desk`."""
    reason = one_line(verdict.reason, _REASON)
    said = f"{_WHO.get(verdict.source, verdict.source)}: {_ENDS[verdict.success]}"
    return f"{said}, {reason}" if reason and reason != _ENDS[None] else said


def node_titles(bank: Bank, item: ReviewItem) -> Iterator[str]:
    """Return the nodes that brought an episode into the queue."""
    for tree, node_id in item.nodes:
        node = bank.tree(tree).node(node_id)
        yield f"{tree} {node_id[:8]}: {one_line(display_of(bank, tree).of_title(node), _TITLE)}"


def error_notes(review: Review) -> list[object]:
    """Return how often the judge was wrong; nothing where no person and judge spoke of one
    episode.
    """
    notes: list[object] = []
    for name, errors in (
        ("all verdicts", review.errors()),
        (_drawn(review), review.sampled_errors()),
    ):
        parts = [
            f"{what} {share.successes:,} of {share.judged:,}: {_interval(share)}"
            for what, share in (
                ("took failures for successes", errors.false_accepts),
                ("successes for failures", errors.false_rejects),
            )
            if share.judged
        ]
        if parts:
            notes.append(f"the judge, by {name}, {' and '.join(parts)}")
    return notes


def _drawn(review: Review) -> str:
    reviewed = sum(review.facts[each].reviewed for each in review.drawn)
    return f"the {reviewed:,} of {len(review.drawn):,} drawn at random that were reviewed"


def _interval(share: Share) -> str:
    low, high = share.interval
    return f"{share.mean or 0:.2f} ({low:.2f} to {high:.2f})"
