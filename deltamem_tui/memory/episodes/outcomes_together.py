"""One verdict of a person on several episodes: planned, given in one commit, and taken back.

What is given is what was planned: if the bank says otherwise by then of one of the episodes, or of
what was learnt from them, nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.undo import UNDO, commits_since, last_not_undone
from deltamem_tui.errors import BankError, TrajectoryError
from deltamem_tui.memory.credit.crediting import put_uses
from deltamem_tui.memory.episodes.outcomes import (
    TOGETHER,
    before_verdict,
    judged_by,
    known_episode,
    superseded_error,
    with_verdict,
    without_verdict,
)
from deltamem_tui.memory.episodes.overturning import (
    Overturning,
    give_lessons_again,
    label_of,
    overturning,
    take_back_lessons,
)
from deltamem_tui.memory.episodes.verdicts import words_on
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.readers.native import to_record


@dataclass(frozen=True, slots=True)
class JointVerdict:
    """What one verdict on several episodes would do.

    Attributes:
        success: The verdict.
        asked: The ids of all the episodes.
        given: Those of them that get it: a person has not said the same of them yet.
        before: How each of these ended, by what counts so far.
        unsure: On how many of these a person said that they cannot tell.
        found: What it does to nodes; None if nothing.
    """

    success: bool
    asked: tuple[str, ...]
    given: tuple[str, ...]
    before: tuple[Outcome, ...]
    unsure: int
    found: Overturning | None

    @property
    def first(self) -> int:
        """How many have no outcome so far."""
        return sum(not each.known for each in self.before)

    @property
    def confirmed(self) -> int:
        """How many ended so already, by another's word."""
        return sum(each.success == self.success for each in self.before)

    @property
    def overturned(self) -> Counter[str]:
        """How many ended otherwise so far, by whose word that was."""
        wrong = (each for each in self.before if each.known and each.success != self.success)
        return Counter(each.source for each in wrong)


def joint_verdict(bank: Bank, ids: Sequence[str], *, success: bool) -> JointVerdict:
    """What a verdict on some episodes would do. Nothing is written.

    Raises:
        TrajectoryError: The bank does not have one of them.
        BankCorruptError: What the bank has under an id is not that episode.
    """
    known = [known_episode(bank, each) for each in ids]
    given = [each for each in known if _of_person(each) != (success,)]
    return JointVerdict(
        success,
        tuple(ids),
        tuple(each.id for each in given),
        tuple(each.outcome for each in given),
        sum(_of_person(each) == (None,) for each in given),
        overturning(bank, *given, success=success),
    )


def _of_person(episode: Trajectory) -> tuple[bool | None, ...]:
    return tuple(each.success for each in words_on(episode) if each.source == "user")


def give_outcomes(bank: Bank, verdict: JointVerdict) -> None:
    """Give all episodes of a verdict this outcome, in one commit.

    Raises:
        BankError: The bank says otherwise of them by now.
        BankFrozenError: The bank is frozen.
    """
    bank.require_writable()
    with bank.writing() as batch:
        if joint_verdict(bank, verdict.asked, success=verdict.success) != verdict:
            raise BankError(
                "the episodes, or what was learnt from them, changed since you were asked; "
                "nothing was written",
                source=str(bank.path),
                hint="look at them again, then repeat",
            )
        known = [known_episode(bank, each) for each in verdict.given]
        judged = [with_verdict(each, success=verdict.success) for each in known]
        for each in judged:
            batch.put_episode(to_record(each))
        put_uses(batch, bank, judged)
        found = verdict.found
        detail = {
            "success": verdict.success,
            "episodes": {each.id: before_verdict(bank, each, found) for each in known},
        }
        if found is not None:
            label = label_of(success=verdict.success)
            detail["taken_back"] = take_back_lessons(bank, batch, found, label)
        batch.log(TOGETHER, detail)


def take_back_outcomes(bank: Bank, expected: Commit) -> int:
    """Take back a verdict on several episodes; returns how many they are.

    Raises:
        TrajectoryError: It was taken back already; or one of them was given another outcome, or
            learnt, since: then all of it stays.
        BankError: A node that they had taught was changed since.
        BankFrozenError: The bank is frozen.
    """
    bank.require_writable()
    bank.refresh()
    seen, judged = bank.commit.sequence, frozenset(judged_by(expected))
    later: set[str] = set()

    def is_it(commit: Commit) -> bool:
        if commit == expected:
            return True
        later.update(judged.intersection(judged_by(commit)))
        return commit.sequence <= expected.sequence

    if last_not_undone(bank, is_it) != expected:
        raise TrajectoryError("that verdict was taken back already", source=str(bank.path))
    with bank.writing() as batch:
        for commit in commits_since(bank, seen):
            later.update(judged.intersection(judged_by(commit)))
        if later:
            raise superseded_error(min(later))
        details, success = _details(bank, expected), expected.detail.get("success")
        restored = [
            without_verdict(bank, known_episode(bank, each), success, detail)
            for each, detail in details.items()
        ]
        for each in restored:
            batch.put_episode(to_record(each))
        put_uses(batch, bank, restored)
        give_lessons_again(bank, batch, expected)
        what = {"undoes": expected.sequence, "what": TOGETHER, "episodes": list(details)}
        batch.log(UNDO, what)
    return len(details)


def _details(bank: Bank, commit: Commit) -> dict[str, dict[str, Any]]:
    """What the journal has of each episode of a verdict."""
    details = commit.detail.get("episodes")
    if isinstance(details, dict) and all(isinstance(each, dict) for each in details.values()):
        return details
    raise TrajectoryError(
        "the journal does not say how these episodes ended before", source=str(bank.journal.path)
    )
