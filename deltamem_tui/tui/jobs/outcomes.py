"""Verdicts on one episode or on all that are shown; ask before what was learnt is marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes.outcomes import give_outcomes, known_episode, overturned_by
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.job import BankChange, Progress, WorkPlan
from deltamem_tui.tui.models.sections import Section

_ENDS = {
    True: ("a success", "successes"),
    False: ("a failure", "failures"),
    None: ("unclear to you", "unclear to you"),
}


def plan_for_one(
    path: Path, episode_id: str, *, success: bool | None, note: str = ""
) -> WorkPlan | BankChange:
    """Write an episode's outcome, or ask first if it was learnt as having ended otherwise.

    Args:
        path: The bank.
        episode_id: The episode.
        success: None if the user cannot tell.
        note: What else to say once it is written.

    Raises:
        TrajectoryError: The bank does not have the episode.
        BankError: The bank cannot be read or written.
    """
    bank = Bank.open(path)
    known = known_episode(bank, episode_id)
    found = overturned_by(bank, [episode_id], success=success)
    end = _ENDS[success][0]

    def give(_: Progress) -> BankChange:
        give_outcomes(Bank.open(path), [episode_id], success=success, expected=found)
        marked = f"; {found.text}" if found else ""
        return BankChange(path, f"{episode_id} is {end} now{marked}{note}")

    if found is None or not found.episodes:
        return give(Progress("writing the outcome"))
    task, question = one_line(known.task, 60), f"Mark a learnt episode as {end}?"
    return WorkPlan(
        "writing the outcome",
        question,
        [Section(task, found.text)],
        give,
        later=f"{one_line(path.name, 40)}: {task}: {question}",
    )


def plan_for_all(path: Path, ids: Sequence[str], shown_by: str, *, success: bool) -> WorkPlan:
    """Say what a verdict on all these episodes of the bank at `path` would change, and ask.

    Args:
        path: The bank.
        ids: The episodes.
        shown_by: The filter that shows them; empty for none.
        success: The verdict.

    Raises:
        BankError: The bank cannot be read.
        TrajectoryError: It does not have one of them any more.
    """
    bank, count = Bank.open(path), counted(len(ids), "episode")
    found = overturned_by(bank, ids, success=success)
    ends = _ENDS[success][len(ids) != 1]

    def give(_: Progress) -> BankChange:
        give_outcomes(Bank.open(path), ids, success=success, expected=found)
        marked = f"; {found.text}" if found else ""
        return BankChange(path, f"{count} {'is' if len(ids) == 1 else 'are'} {ends} now{marked}")

    title = f"{one_line(shown_by, 60)} shows {count}"
    if not shown_by:
        title = f"No filter is on: this is every episode of the bank, {count}"
    before = [known_episode(bank, each).outcome for each in ids]
    facts = [
        f"{sum(not each.known for each in before):,} without an outcome until now",
        f"{sum(each.success is (not success) for each in before):,} ended otherwise so far",
    ]
    question = f"Mark {count} as {ends}?"
    return WorkPlan(
        "writing the outcomes",
        question,
        [
            Section(title, "\n".join(facts), warning=not shown_by),
            Section("In the bank", found.text if found else "no node is marked", quiet=not found),
        ],
        give,
        later=f"{one_line(path.name, 40)}: {question}",
    )
