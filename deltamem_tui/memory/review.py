"""The review queue: which episodes a person should look at first, and why. Nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.credit.credit import usefulness
from deltamem_tui.memory.credit.shares import JudgeErrors, errors_among
from deltamem_tui.memory.episodes.outcomes import verdicts_on
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.lift import kind_of, share_text
from deltamem_tui.memory.method import display_of, settings_of
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome

if TYPE_CHECKING:
    from deltamem_tui.bank.node import Node

Reason = Literal["disagreement", "unconfirmed", "low utility"]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why an episode is to be reviewed, the most urgent first.

Log and judge disagree; a success that only a judge saw waits to be learnt, first where many tasks
are of its kind; or a node of little use was learnt from it, the worst first.
"""

NodePlace = tuple[str, str]
"""Collection and id of a node."""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """An episode that a person said nothing of, and what is known of it.

    Attributes:
        kind: The kind of its task.
        stated: How it ended as the log says; None if it does not. So `judge`.
        learnt: Whether it was learnt.
        reasons: Why it is to be reviewed, the most urgent first.
        nodes: The nodes of little use that come from it.
    """

    episode: str
    kind: str
    stated: bool | None
    judge: bool | None
    learnt: bool
    reasons: tuple[Reason, ...] = ()
    nodes: tuple[NodePlace, ...] = ()

    def record(self, *, blind: bool) -> dict[str, Any]:
        """As commands print it. If `blind`, without what log and judge say."""
        found: dict[str, Any] = {"episode": self.episode, "kind": self.kind, "learnt": self.learnt}
        if not blind:
            found |= {"reasons": self.reasons, "log": self.stated, "judge": self.judge}
            found["nodes"] = [{"tree": tree, "node": node} for tree, node in self.nodes]
        return found


@dataclass(frozen=True, slots=True)
class Review:
    """Everything to review in a bank at one commit.

    Attributes:
        items: The queue, the most urgent episode first.
        errors: How often the judge was wrong by all verdicts of persons. The queue puts errors
            first: only where all was reviewed this is without bias.
    """

    items: Sequence[ReviewItem]
    errors: JudgeErrors

    def record(self, *, blind: bool = False) -> dict[str, Any]:
        """As commands print it; see `ReviewItem.record`."""
        shares = {
            "false_accepts": self.errors.false_accepts.record(),
            "false_rejects": self.errors.false_rejects.record(),
        }
        return {
            "queue": [each.record(blind=blind) for each in self.items],
            "judge": {"all": shares},
        }


def review_of(bank: Bank) -> Review:
    """Work out the queue. Reads every episode once.

    Raises:
        BankCorruptError: An episode breaks the format.
    """
    useless: dict[str, dict[NodePlace, int]] = {}
    for place, (node, sources) in enumerate(_of_little_use(bank)):
        for source in sources:
            useless.setdefault(source, {})[node] = place
    kinds, pairs = Counter[str](), list[tuple[bool | None, bool | None]]()
    open_ones: list[ReviewItem] = []
    for each in episodes(bank):
        said = {verdict.source: verdict.success for verdict in verdicts_on(each)}
        kind, judge, stated = kind_of(bank, each), said.get("judge"), said.get("stated")
        kinds[kind] += 1
        pairs.append((said.get("user"), judge))
        if "user" in said:
            continue
        learnt = bank.episodes.state(each.id) == EpisodeState.LEARNT
        nodes = useless.get(each.id, {})
        reasons: list[Reason] = []
        if None not in (stated, judge) and stated != judge:
            reasons.append("disagreement")
        if judge and stated is None and not learnt:
            reasons.append("unconfirmed")
        if nodes:
            reasons.append("low utility")
        if reasons:
            item = ReviewItem(each.id, kind, stated, judge, learnt, (*reasons,), (*nodes,))
            open_ones.append(item)

    def urgency(item: ReviewItem) -> tuple[int, int]:
        first = item.reasons[0]
        places = {
            "disagreement": 0,
            "unconfirmed": -kinds[item.kind],
            "low utility": min(useless.get(item.episode, {}).values(), default=0),
        }
        return REASONS.index(first), places[first]

    return Review(sorted(open_ones, key=urgency), errors_among(pairs))


def _of_little_use(bank: Bank) -> Iterator[tuple[NodePlace, Sequence[str]]]:
    """Yield the successes' nodes whose mean utility is too little, the worst first.

    Each with the episodes that it comes from; of one that was fused, those of its chain.
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
        sources = dict.fromkeys(node.origin.episodes)
        for each in node.origin.nodes:
            with suppress(NodeNotFoundError):
                sources |= dict.fromkeys(bank.tree(name).node(each).origin.episodes)
        yield (name, node.id), [*sources]


# For a person

REASON_TEXTS: Mapping[Reason, str] = {
    "disagreement": "log and judge disagree",
    "unconfirmed": "a success by a judge's verdict alone",
    "low utility": "a node of little use comes from it",
}
_WHO = {"stated": "log", "judge": "judge", "user": "you"}
_ENDS = {True: "success", False: "failure", None: "cannot tell"}


def why(item: ReviewItem) -> str:
    """Return all reasons of an item, the most urgent first."""
    return "; ".join(REASON_TEXTS[each] for each in item.reasons)


def verdict_text(verdict: Outcome) -> str:
    """`judge: failure, the mug is not on the desk`."""
    reason = one_line(verdict.reason, 200)
    said = f"{_WHO.get(verdict.source, verdict.source)}: {_ENDS[verdict.success]}"
    return f"{said}, {reason}" if reason and reason != _ENDS[None] else said


def node_titles(bank: Bank, item: ReviewItem) -> Iterator[str]:
    """Return the nodes that brought an episode into the queue."""
    for tree, node_id in item.nodes:
        node = bank.tree(tree).node(node_id)
        yield f"{tree} {node_id[:8]}: {one_line(display_of(bank, tree).of_title(node), 60)}"


def error_notes(review: Review) -> list[object]:
    """Return how often the judge was wrong; nothing where no person and judge spoke of one
    episode.
    """
    parts = [
        f"{what} {share_text(share)}"
        for what, share in (
            ("took failures for successes", review.errors.false_accepts),
            ("successes for failures", review.errors.false_rejects),
        )
        if share.judged
    ]
    return [f"by your verdicts, the judge {' and '.join(parts)}"] if parts else []
