"""Verdicts on one episode or on all that are shown: what they change, and taking them back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.memory.episodes.outcomes import (
    TOGETHER,
    give_outcome,
    known_episode,
    last_given,
    with_verdict,
)
from deltamem_tui.memory.episodes.outcomes_together import (
    JointVerdict,
    give_outcomes,
    joint_verdict,
    take_back_outcomes,
)
from deltamem_tui.memory.reports.review import touched_text
from deltamem_tui.memory.review import review_of
from deltamem_tui.memory.verdict_effects import touched
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.tui.core.job import BankChange, Info, Progress, WorkPlan
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.models.words import local_time

_ENDS = {True: ("a success", "successes"), False: ("a failure", "failures")}


def plan_for_one(
    path: Path, episode_id: str, given: Callable[[Outcome], str], *, success: bool | None
) -> WorkPlan | BankChange:
    """Write an episode's outcome, or ask first if the episode was learnt as having ended otherwise.

    Args:
        path: The bank.
        episode_id: The episode.
        given: Called with the outcome once it is written; returns how it is taken back.
        success: None if the user cannot tell.

    Raises:
        TrajectoryError: The bank does not have the episode.
        BankError: The bank cannot be read or written.
    """
    bank = Bank.open(path)
    known = known_episode(bank, episode_id)

    def give(_: Progress) -> BankChange:
        writing = Bank.open(path)
        before = writing.episodes.learnt()
        outcome = give_outcome(writing, episode_id, success=success).outcome
        taught = ""
        if writing.episodes.learnt() < before:
            taught = "; what it taught was taken back, and it waits to be learnt anew"
        end = "unclear to you" if success is None else _ENDS[success][0]
        return BankChange(path, f"{episode_id} is {end} now{taught}{given(outcome)}")

    after = with_verdict(known, success=success).outcome
    learnt = bank.episodes.state(episode_id) == EpisodeState.LEARNT
    if not learnt or after.success == known.outcome.success:
        return give(Progress("writing the outcome"))
    end = "of unknown outcome" if after.success is None else _ENDS[after.success][0]
    task = one_line(known.task, 60)
    question = f"Mark a learnt episode as {end}?"
    touches = (
        "" if success is None else touched_text(touched(bank, review_of(bank), known, success))
    )
    return WorkPlan(
        "writing the outcome",
        question,
        [Section(task, f"It touches: {touches or 'no node'}")],
        give,
        later=f"{one_line(path.name, 40)}: {task}: {question}",
    )


def plan_for_all(
    path: Path,
    ids: Sequence[str],
    shown_by: str,
    given: Callable[[Commit], str],
    *,
    success: bool,
) -> WorkPlan | Info:
    """Find out what a verdict on all these episodes of the bank at `path` would change, and ask.

    Args:
        path: The bank.
        ids: The episodes.
        shown_by: The filter that shows them; empty for none.
        given: Called with the commit once it is given; returns how it is taken back.
        success: The verdict.

    Raises:
        BankError: The bank cannot be read.
        TrajectoryError: It does not have one of them any more.
    """
    bank = Bank.open(path)
    verdict = joint_verdict(bank, ids, success=success)
    if not verdict.given:
        each = counted(len(ids), "episode")
        return Info(f"nothing to write: you called {each} {_ENDS[success][len(ids) != 1]} before")

    def give(_: Progress) -> BankChange:
        writing = Bank.open(path)
        give_outcomes(writing, verdict)
        return BankChange(path, f"{_summary(verdict)}; {given(writing.commit)}")

    question = f"Mark {_these(verdict, len(ids))}?"
    later = f"{one_line(path.name, 40)}: {question}"
    sections = _sections(bank, verdict, shown_by)
    return WorkPlan("writing the outcomes", question, sections, give, later=later)


def _these(verdict: JointVerdict, count: int) -> str:
    one, many = _ENDS[verdict.success]
    return f"{counted(count, 'episode')} as {one if count == 1 else many}"


def _summary(verdict: JointVerdict) -> str:
    count = len(verdict.given)
    one, many = _ENDS[verdict.success]
    text = f"{counted(count, 'episode')} {f'is {one}' if count == 1 else f'are {many}'} now"
    if verdict.found:
        withdrawn = counted(len(verdict.found.episodes), "episode")
        text += f"; what {withdrawn} had taught was taken back"
    return text


def _sections(bank: Bank, verdict: JointVerdict, shown_by: str) -> list[Section]:
    from deltamem_tui.memory.reports.review import (
        joint_verdict_lines,
        overturned_lines,
        touched_together_text,
    )
    from deltamem_tui.memory.verdict_effects import touched_together

    count = counted(len(verdict.asked), "episode")
    title = f"{one_line(shown_by, 60)} shows {count}"
    if not shown_by:
        title = f"No filter is on: this is every episode of the bank, {count}"
    facts = [f"{len(verdict.given):,} of them would change", *joint_verdict_lines(verdict)]
    sections = [Section(title, "\n".join(facts), warning=not shown_by)]
    if overturned := "\n".join(overturned_lines(verdict)):
        title = f"Overturned: {counted(verdict.overturned.total(), 'verdict')}"
        sections.append(Section(title, overturned, warning=True))
    touches = touched_together_text(touched_together(bank, verdict))
    return [*sections, Section("In the bank", touches or "no node is touched", quiet=not touches)]


def take_back_all(path: Path, commit: Commit) -> BankChange:
    """Take back a verdict on several episodes.

    Raises:
        TrajectoryError: It cannot be taken back.
        BankError: A node that the episodes had taught was changed since.
    """
    count = take_back_outcomes(Bank.open(path), commit)
    return BankChange(path, f"{counted(count, 'episode')} as before")


def plan_take_back(path: Path, episode_id: str) -> WorkPlan | None:
    """Ask before a verdict on several episodes is taken back that was not given here.

    Returns:
        The question; None if the episode's last verdict was given to it alone.
    """
    given, _ = last_given(Bank.open(path), episode_id)
    if given is None or given.event != TOGETHER:
        return None
    count = len(given.detail.get("episodes", ()))
    question = f"Take back the verdict on {counted(count, 'episode')}?"
    when = local_time(given.time)
    facts = f"{episode_id} was given it at {when}, and {count - 1:,} others with it."
    return WorkPlan(
        "taking the outcomes back",
        question,
        [Section("Given to all of them at once", facts)],
        lambda _: take_back_all(path, given),
        later=f"{one_line(path.name, 40)}: {question}",
    )
