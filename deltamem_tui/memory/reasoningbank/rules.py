"""Lessons without a model: a plan and what helped it, or why it failed and what did not help.

The task's names stand open in all of them (`[object]`), except in what only tells how an episode
went, and what no replay showed is marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.memory.domain import Diagnosis, domain_for
from deltamem_tui.memory.findings import (
    Attempt,
    Recovery,
    failure_of,
    found_at,
    fruitless,
    recoveries,
    shortcut,
)
from deltamem_tui.memory.procedure import filled, numbered
from deltamem_tui.memory.reasoningbank.definition import (
    CONTRAST,
    DIFFERENCES,
    MOST_LESSONS,
    MOST_OF_TRIALS,
)
from deltamem_tui.memory.wording import condense, listed, shortened
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.text import counted
from deltamem_tui.trajectory.model import Trajectory

Lesson = Mapping[str, str]

_TITLE_WORDS = 12
_GOAL_WORDS = 40
_PLAN_LINES = 40
_SHOWN = 6
_PLAN, _DIFFERENCE = "A plan that worked", "What made the difference"


def write_by_rules(
    purpose: str,
    episode: Trajectory | None,
    notes: Sequence[Node],
    inputs: Inputs = NO_INPUTS,
) -> Extraction:
    """Return the lessons of an episode, or of several trials of its task.

    Raises:
        ExtractionError: There is no episode.
        OutcomeUnknownError: How it ended is not known.
    """
    if episode is None:
        raise ExtractionError("lessons are written from an episode")
    if episode.outcome.success is None:
        raise OutcomeUnknownError(
            "what an episode teaches depends on its outcome",
            source=episode.id,
            hint="give the episode an outcome",
        )
    if not episode.steps:
        return Extraction(None, "the episode has no steps")
    goal = _goal(episode)
    own = (_of_success if episode.outcome.success else _of_failure)(episode, goal)
    lessons, reason = (
        own[:MOST_LESSONS],
        "what worked" if episode.outcome.success else "what failed",
    )
    if purpose == CONTRAST:
        told = str(inputs.get(DIFFERENCES, ""))
        lessons = _of_trials(own, [node.payload for node in notes], _difference(goal, told))
        reason = "what several trials show"
    if not lessons:
        return Extraction(None, "the episode shows nothing that could be told apart")
    return Extraction(lessons[0], reason, further=tuple(lessons[1:]))


def _goal(episode: Trajectory) -> str:
    """Return the kind of task, names left open, as the end of a sentence."""
    trigger = domain_for(episode.domain).goal(episode).trigger
    return condense(trigger, _GOAL_WORDS).rstrip(". ")


def _lesson(title: str, description: str, content: str) -> Lesson:
    return {
        "description": description,
        "title": condense(title, _TITLE_WORDS),
        "content": content,
    }


def _of_success(episode: Trajectory, goal: str) -> list[Lesson]:
    """Return the plan, what was refused and what worked instead, where the things were."""
    lessons = []
    way = shortcut(episode)
    if way.plan:
        lines = shortened(numbered(way.plan), _PLAN_LINES)
        when = f"The task is: {goal}. Not if it asks for more than that."
        lessons.append(_lesson(_PLAN, when, "\n".join(lines)))
    lessons += [_recovery(goal, each, _names(episode)) for each in recoveries(episode)[:1]]
    if places := found_at(episode):
        where = listed([f"{thing} at the {place}" for thing, place in places.items()], _SHOWN)
        when = f"{listed(list(places), _SHOWN)} must be found for: {goal}. Not once it is in hand."
        lessons.append(_lesson("Where it was found", when, f"Found: {where}. Look there first."))
    return lessons


def _names(episode: Trajectory) -> Mapping[str, str]:
    """Return what stood at each open place in the episode."""
    return dict(domain_for(episode.domain).goal(episode).slots)


def _recovery(goal: str, recovery: Recovery, names: Mapping[str, str]) -> Lesson:
    answer = filled(recovery.answer, names).rstrip(".")
    instead = "`, then `".join(recovery.instead)
    return _lesson(
        f"If {recovery.action} is refused",
        f"`{recovery.action}` is refused in: {goal}. Not if it works at once.",
        f"It was answered: {answer}. What worked instead: `{instead}`.",
    )


def _of_failure(episode: Trajectory, goal: str) -> list[Lesson]:
    """Return why it failed and what to do about it, what was repeated, what was not tried."""
    cause = failure_of(episode)
    lessons = [_cause(goal, cause)]
    others = [each for each in fruitless(episode) if each.action != cause.action]
    if others:
        most = max(others, key=lambda each: each.times)
        lessons.append(_repeated(goal, most, _names(episode)))
    domain = domain_for(episode.domain)
    if untried := domain.unexplored(episode, domain.goal(episode)):
        when = f"Only if all else fails in: {goal}. Not while a plan that worked can be followed."
        content = f"These were offered and not tried: {listed(untried, _SHOWN)}."
        lessons.append(_lesson("What was not tried", when, content))
    return lessons


def _cause(goal: str, cause: Diagnosis) -> Lesson:
    return _lesson(
        f"A failure of {cause.kind}",
        f"The task is: {goal}. Not once the step that was missing is done.",
        f"{cause.reflection} Next time: {cause.plan}",
    )


def _repeated(goal: str, attempt: Attempt, names: Mapping[str, str]) -> Lesson:
    # A refusal's words tell why; what was seen once more is of no use in another episode.
    answer = filled(attempt.answer, names).rstrip(".")
    how = f"was refused: {answer}" if attempt.refused else "changed nothing"
    return _lesson(
        f"Do not repeat {attempt.action}",
        f"`{attempt.action}` is answered as before in: {goal}. Not if its answer changes.",
        f"{counted(attempt.times, 'time').capitalize()} it {how}. Do something else after the "
        "first time.",
    )


def _difference(goal: str, told: str) -> list[Lesson]:
    when = f"The task is: {goal}. Not if it asks for more than that."
    return [_lesson(_DIFFERENCE, when, told)] if told else []


def _of_trials(own: list[Lesson], known: list[Lesson], difference: list[Lesson]) -> list[Lesson]:
    """Return what separates the trials, then the present one's lessons, then those of earlier
    ones.

    Of two with one title the newer one stays; of two plans that of fewer lines.
    """
    chosen: dict[str, Lesson] = {}
    for each in [*difference, *own, *known]:
        before = chosen.setdefault(each["title"], each)
        if each["title"] == _PLAN and _length(each) < _length(before):
            chosen[_PLAN] = each
    if not difference:
        chosen.pop(_DIFFERENCE, None)
    return list(chosen.values())[:MOST_OF_TRIALS]


def _length(lesson: Lesson) -> int:
    return len(lesson["content"].splitlines())
