"""What the review queue says to people, in every face."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from deltamem_tui.memory.credit.intervals import Share
from deltamem_tui.memory.credit.review_queue import Reason, ReviewItem
from deltamem_tui.memory.methods import display_of
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Outcome

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.episodes.outcomes_together import JointVerdict
    from deltamem_tui.memory.review import Review
    from deltamem_tui.memory.second_looks import SecondLook
    from deltamem_tui.memory.verdict_effects import TouchedByVerdict, TouchedTogether

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
    """All reasons of an item, the most urgent first."""
    return "; ".join(REASON_TEXTS[each] for each in item.reasons)


def word_text(word: Outcome) -> str:
    """`judge: failure, the mug is not on the desk`."""
    reason = one_line(word.reason, _REASON)
    said = f"{_WHO.get(word.source, word.source)}: {_ENDS[word.success]}"
    return f"{said}, {reason}" if reason and reason != _ENDS[None] else said


def node_titles(bank: Bank, item: ReviewItem) -> Iterator[str]:
    """The nodes that brought an episode into the queue."""
    for tree, node_id in item.nodes:
        node = bank.tree(tree).node(node_id)
        yield f"{tree} {node_id[:8]}: {one_line(display_of(bank, tree).of_title(node), _TITLE)}"


def touched_text(found: TouchedByVerdict) -> str:
    """What a verdict touches, as one sentence; empty if nothing but the episode."""
    parts = []
    if found.credited:
        parts.append(f"moves the credit of {counted(found.credited, 'node')} that it was shown")
    if found.deleted:
        parts.append(f"deletes {counted(found.deleted, 'node')} that came of it")
    if found.relabelled:
        parts.append(f"relabels {counted(found.relabelled, 'node')} that others hang below")
    if found.withdrawn:
        parts.append("lets the episode wait to be learnt anew")
    if found.joining:
        parts.append(f"{counted(found.joining, 'episode')} that were shown those join the queue")
    if found.admits:
        parts.append("lets the episode be learnt")
    return "; ".join(parts)


def touched_together_text(found: TouchedTogether) -> str:
    """What a verdict on several episodes touches beside them, a line each; empty if nothing."""
    parts = []
    if found.credited:
        parts.append(f"the credit of {counted(found.credited, 'node')} that they were shown moves")
    if found.deleted:
        parts.append(f"{counted(found.deleted, 'node')} learnt from them: deleted")
    if found.relabelled:
        others = "relabelled, since others hang below"
        parts.append(f"{counted(found.relabelled, 'node')} learnt from them: {others}")
    if found.withdrawn:
        parts.append(f"{counted(found.withdrawn, 'learnt episode')}: waiting to be learnt anew")
    if found.joining:
        joining = counted(found.joining, "other episode")
        parts.append(f"{joining}, shown what goes: added to the review queue")
    if found.admits:
        parts.append(f"{counted(found.admits, 'waiting episode')}: ready to be learnt from")
    return "\n".join(parts)


def joint_verdict_lines(verdict: JointVerdict) -> Iterator[str]:
    """How the episodes of a verdict ended so far, but for those that it overturns."""
    now = _ENDS[verdict.success]
    if verdict.first:
        yield f"{verdict.first:,} without an outcome until now"
    if verdict.confirmed:
        yield f"{verdict.confirmed:,} already a {now} by log or judge; your verdict is added"
    if verdict.unsure:
        yield f"{verdict.unsure:,} of which you said that you cannot tell"
    if same := len(verdict.asked) - len(verdict.given):
        yield f"{same:,} already a {now} by your verdict; left as they are"


def overturned_lines(verdict: JointVerdict) -> Iterator[str]:
    """Whose words a verdict on several episodes overturns."""
    other = _ENDS[not verdict.success]
    for source, text in (("user", "your own verdict"), ("stated", "the log"), ("judge", "a judge")):
        if count := verdict.overturned[source]:
            yield f"{count:,} so far a {other} by {text}"


def error_notes(review: Review) -> list[object]:
    """How often the judge was wrong; nothing where no person and judge spoke of one episode."""
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
    same = review.second.same
    if same.judged:
        share = f"{same.successes:,} of {same.judged:,}"
        notes.append(f"you, on a second look, said the same {share}: {_interval(same)}")
    return notes


def second_look_text(look: SecondLook) -> str:
    """What a second look came to, for who took it."""
    if look.is_same:
        return "as you said before"
    return f"before you said {_ENDS[look.first]}, which stays; `deltamem outcome` changes it"


def _drawn(review: Review) -> str:
    reviewed = sum(review.facts[each].reviewed for each in review.drawn)
    return f"the {reviewed:,} of {len(review.drawn):,} drawn at random that were reviewed"


def _interval(share: Share) -> str:
    low, high = share.interval
    return f"{share.mean or 0:.2f} ({low:.2f} to {high:.2f})"
