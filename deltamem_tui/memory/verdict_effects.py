"""What a person's verdict would touch in a bank, told before it is given. Nothing is written."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.credit.review_queue import NodePlace
from deltamem_tui.memory.episodes.outcomes_together import JointVerdict
from deltamem_tui.memory.episodes.overturning import overturning
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.methods import settings_of
from deltamem_tui.memory.policies.admission import admitted_by
from deltamem_tui.memory.review import Review, facts_of, living
from deltamem_tui.trajectory.model import Outcome, Trajectory


@dataclass(frozen=True, slots=True)
class TouchedByVerdict:
    """What a person's verdict on an episode would touch.

    Attributes:
        overturns: Whether it is the opposite of what counts now.
        credited: How many living nodes the episode was shown: their credit moves.
        deleted: How many nodes that were learnt from the episode go.
        relabelled: How many of them stay under the other label, since others hang below them.
        withdrawn: Whether the episode was learnt and waits again.
        joining: How many learnt episodes were shown those nodes, and join the queue.
        admits: Whether the episode waits, and may be learnt by this verdict and not before.
    """

    overturns: bool
    credited: int
    deleted: int
    relabelled: int
    withdrawn: bool
    joining: int
    admits: bool

    def record(self) -> dict[str, Any]:
        """As data."""
        return asdict(self)


def touched(bank: Bank, review: Review, episode: Trajectory, success: bool) -> TouchedByVerdict:
    """What a verdict would touch. Nothing is written."""
    facts, before = review.facts[episode.id], episode.outcome
    overturns = before.known and before.success != success
    found = overturning(bank, episode, success=success)
    written = found.nodes if found else frozenset()
    joining = sum(
        each.learnt and not each.reviewed and not each.shown.isdisjoint(written)
        for each in review.facts.values()
    )
    policy = settings_of(bank).admission
    admits = (
        not facts.learnt
        and admitted_by(policy, Outcome(success, None, "user"))
        and not admitted_by(policy, before)
    )
    moves = facts.stated != success if facts.user is None else facts.user != success
    credited = len(living(bank, facts.shown)) if moves else 0
    return TouchedByVerdict(
        overturns,
        credited,
        len(found.deleted) if found else 0,
        len(found.relabelled) if found else 0,
        found is not None,
        joining,
        admits,
    )


@dataclass(frozen=True, slots=True)
class TouchedTogether:
    """What a person's verdict on several episodes would touch beside their outcomes.

    Attributes:
        credited: How many living nodes they were shown: their credit moves.
        deleted: How many nodes that were learnt from them go.
        relabelled: How many of those stay under the other label, since others hang below them.
        withdrawn: How many of the episodes were learnt and wait again.
        joining: How many other learnt episodes were shown those nodes, and join the queue.
        admits: How many wait, and may be learnt by this verdict and not before.
    """

    credited: int
    deleted: int
    relabelled: int
    withdrawn: int
    joining: int
    admits: int


def touched_together(bank: Bank, verdict: JointVerdict) -> TouchedTogether:
    """What a verdict on several episodes would touch. Reads every episode; nothing is written."""
    facts = {each.id: facts_of(bank, each) for each in episodes(bank)}
    found, policy = verdict.found, settings_of(bank).admission
    written = found.nodes if found else frozenset()
    shown: frozenset[NodePlace] = frozenset()
    admits = 0
    for each, before in zip(verdict.given, verdict.before, strict=True):
        known = facts[each]
        if known.user is not None or known.stated != verdict.success:
            shown |= known.shown
        admits += (
            not known.learnt
            and admitted_by(policy, Outcome(verdict.success, None, "user"))
            and not admitted_by(policy, before)
        )
    given = frozenset(verdict.given)
    return TouchedTogether(
        credited=len(living(bank, shown)),
        deleted=len(found.deleted) if found else 0,
        relabelled=len(found.relabelled) if found else 0,
        withdrawn=len(found.episodes) if found else 0,
        joining=sum(
            each.learnt and not each.reviewed and not each.shown.isdisjoint(written)
            for each in facts.values()
            if each.id not in given
        ),
        admits=admits,
    )
