"""The review queue: which episodes a person should look at first, and why.

It is worked out on facts of episodes; nothing is written.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.credit.credit import lives, use_of, usefulness
from deltamem_tui.memory.credit.shares import JudgeErrors, errors_among
from deltamem_tui.memory.episodes.outcomes import verdicts_on
from deltamem_tui.memory.episodes.relearning import label_of, written_by
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.lift import kind_of, share_text
from deltamem_tui.memory.methods import display_of, settings_of
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory

if TYPE_CHECKING:
    from deltamem_tui.bank.node import Node

Reason = Literal["disagreement", "unconfirmed", "low utility", "upstream", "downstream"]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why an episode is to be reviewed, the most urgent first.

Log and judge disagree; a success that only a judge saw waits to be learnt; a node of little use
was learnt from it; a node from it was shown to an episode that a person found to be wrong; or it
was shown a node from such an episode.
"""

NodePlace = tuple[str, str]
"""Collection and id of a node."""


@dataclass(frozen=True, slots=True)
class EpisodeFacts:
    """The facts of an episode that the queue looks at.

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


def queue(episodes: Sequence[EpisodeFacts], suspects: Iterable[Suspect] = ()) -> list[ReviewItem]:
    """Return the episodes to review, the most urgent first.

    Args:
        episodes: All of the bank, in order of import.
        suspects: What nodes say, of each reason the worst first.
    """
    asked = Counter(each.kind for each in episodes)
    open_ones = {each.id: each for each in episodes if not each.reviewed}
    # Per episode its reasons, each with its place among those that have the same, and the nodes.
    places: defaultdict[str, dict[Reason, int]] = defaultdict(dict)
    nodes: defaultdict[str, dict[NodePlace, None]] = defaultdict(dict)
    for each in open_ones.values():
        if None not in (each.stated, each.judge) and each.stated != each.judge:
            places[each.id]["disagreement"] = 0
        if each.judge and each.stated is None and not each.learnt:
            places[each.id]["unconfirmed"] = -asked[each.kind]
    for place, suspect in enumerate(suspects):
        for episode in suspect.episodes:
            if episode in open_ones:
                places[episode].setdefault(suspect.reason, place)
                nodes[episode][suspect.node] = None
    found = [
        ReviewItem(name, each.kind, tuple(sorted(places[name], key=REASONS.index)), (*nodes[name],))
        for name, each in open_ones.items()
        if name in places
    ]

    def urgency(item: ReviewItem) -> tuple[int, int]:
        first = item.reasons[0]
        return REASONS.index(first), places[item.episode][first]

    return sorted(found, key=urgency)


@dataclass(frozen=True, slots=True)
class Review:
    """Everything to review in a bank at one commit.

    Attributes:
        items: The queue, the most urgent episode first.
        facts: What is known of each episode, by its id.
    """

    items: list[ReviewItem]
    facts: Mapping[str, EpisodeFacts]

    def errors(self) -> JudgeErrors:
        """Return how often the judge was wrong by all verdicts of persons.

        The queue puts errors first: only where all was reviewed this is without bias.
        """
        return errors_among((each.user, each.judge) for each in self.facts.values())

    def record(self, *, blind: bool = False) -> dict[str, Any]:
        """As commands print it. If `blind`, without what log and judge say."""
        errors = self.errors()
        return {
            "queue": [_item_record(each, self.facts[each.episode], blind) for each in self.items],
            "judge": {
                "all": {
                    "false_accepts": errors.false_accepts.record(),
                    "false_rejects": errors.false_rejects.record(),
                }
            },
        }


def _item_record(item: ReviewItem, facts: EpisodeFacts, blind: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"episode": item.episode, "kind": item.kind, "learnt": facts.learnt}
    if not blind:
        found |= {"reasons": item.reasons, "log": facts.stated, "judge": facts.judge}
        found["nodes"] = [{"tree": tree, "node": node} for tree, node in item.nodes]
    return found


def review_of(bank: Bank) -> Review:
    """Work out the queue. Reads every episode once.

    Raises:
        BankCorruptError: An episode breaks the format.
    """
    facts = [facts_of(bank, each) for each in episodes(bank)]
    suspects = [*_of_little_use(bank), *_around_errors(bank, facts)]
    return Review(queue(facts, suspects), {each.id: each for each in facts})


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
    """Return the successes' nodes whose mean utility is too little, the worst first."""
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
    """Yield what is upstream of what a person overturned, and then what is downstream."""
    wrong: set[NodePlace] = set()
    for each in facts:
        if not each.is_contradicted:
            continue
        written = _once_wrong(bank, each)
        wrong |= written
        if not each.learnt and not written:
            continue  # it never taught anything
        for tree, node_id in sorted(place for place in each.shown if lives(bank, *place)):
            node = bank.tree(tree).node(node_id)
            yield Suspect("upstream", (tree, node_id), _sources(bank, tree, node))
    for each in facts:
        for place in sorted(each.shown & wrong if each.learnt else ()):
            yield Suspect("downstream", place, [each.id])


def _once_wrong(bank: Bank, episode: EpisodeFacts) -> set[NodePlace]:
    """Return the nodes, deleted ones too, of episodes that a person says ended otherwise."""
    label = label_of(success=bool(episode.user))
    return {
        (tree.name, node.id)
        for tree in bank.trees.values()
        for row in written_by(tree, episode.id)
        if (node := tree.node_at(int(tree.birth[row]))).label != label
    }


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
    "unconfirmed": "a success by a judge's verdict alone",
    "low utility": "a node of little use comes from it",
    "upstream": "a node from it was shown to an episode that was overturned",
    "downstream": "it was shown a node from an episode that was overturned",
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
    errors = review.errors()
    parts = [
        f"{what} {share_text(share)}"
        for what, share in (
            ("took failures for successes", errors.false_accepts),
            ("successes for failures", errors.false_rejects),
        )
        if share.judged
    ]
    return [f"by your verdicts, the judge {' and '.join(parts)}"] if parts else []
