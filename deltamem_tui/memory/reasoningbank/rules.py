"""Lessons without a model: a plan and what helped it, or why it failed and what did not help.

The task's names stand open in all of them (`[object]`), except in what only tells how an episode
went.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.memory.findings import (
    failure_of,
    found_at,
    fruitless,
    moves_of,
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

Item = Mapping[str, str]

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
    domain, _ = moves_of(episode)
    goal = domain.goal(episode)
    task = condense(goal.trigger, _GOAL_WORDS).rstrip(". ")
    of_outcome = _of_success if episode.outcome.success else _of_failure
    own = of_outcome(episode, task, dict(goal.slots))
    lessons, reason = own[:MOST_LESSONS], "what the episode shows"
    if purpose == CONTRAST:
        told = str(inputs.get(DIFFERENCES, ""))
        lessons = _of_trials(own, [node.payload for node in notes], task, told)
        reason = "what several trials show"
    if not lessons:
        return Extraction(None, "the episode shows nothing that could be told apart")
    return Extraction(lessons[0], reason, further=tuple(lessons[1:]))


def _lesson(title: str, description: str, content: str) -> Item:
    return {
        "description": description,
        "title": condense(title, _TITLE_WORDS),
        "content": content,
    }


def _of_success(episode: Trajectory, task: str, names: Mapping[str, str]) -> list[Item]:
    """Return the plan, what was refused and what worked instead, where the things were."""
    lessons = []
    if plan := shortcut(episode).plan:
        when = f"The task is: {task}. Not if it asks for more than that."
        lessons.append(_lesson(_PLAN, when, "\n".join(shortened(numbered(plan), _PLAN_LINES))))
    for each in recoveries(episode)[:1]:
        answer, instead = filled(each.answer, names).rstrip("."), "`, then `".join(each.instead)
        when = f"`{each.action}` is refused in: {task}. Not if it works at once."
        told = f"It was answered: {answer}. What worked instead: `{instead}`."
        lessons.append(_lesson(f"If {each.action} is refused", when, told))
    if places := found_at(episode):
        where = listed([f"{thing} at the {place}" for thing, place in places.items()], _SHOWN)
        when = f"{listed(list(places), _SHOWN)} must be found for: {task}. Not once it is in hand."
        lessons.append(_lesson("Where it was found", when, f"Found: {where}. Look there first."))
    return lessons


def _of_failure(episode: Trajectory, task: str, names: Mapping[str, str]) -> list[Item]:
    """Return why it failed and what to do about it, what was repeated, what was not tried."""
    cause = failure_of(episode)
    when = f"The task is: {task}. Not once the step that was missing is done."
    told = f"{cause.reflection} Next time: {cause.plan}"
    lessons = [_lesson(f"A failure of {cause.kind}", when, told)]
    if others := [each for each in fruitless(episode) if each.action != cause.action]:
        most = max(others, key=lambda each: each.times)
        # A refusal's words tell why; what was seen once more is of no use in another episode.
        answer = filled(most.answer, names).rstrip(".")
        how = f"was refused: {answer}" if most.refused else "changed nothing"
        when = f"`{most.action}` is answered as before in: {task}. Not if its answer changes."
        times = counted(most.times, "time").capitalize()
        told = f"{times} it {how}. Do something else after the first time."
        lessons.append(_lesson(f"Do not repeat {most.action}", when, told))
    domain, _ = moves_of(episode)
    if untried := domain.unexplored(episode, domain.goal(episode)):
        when = f"Only if all else fails in: {task}. Not while a plan that worked can be followed."
        told = f"These were offered and not tried: {listed(untried, _SHOWN)}."
        lessons.append(_lesson("What was not tried", when, told))
    return lessons


def _of_trials(own: list[Item], known: list[Item], task: str, told: str) -> list[Item]:
    """Return what separates the trials, then the present one's lessons, then earlier ones.

    Of two with one title the newer one stays; of two plans that of fewer lines.
    """
    when = f"The task is: {task}. Not if it asks for more than that."
    difference = [_lesson(_DIFFERENCE, when, told)] if told else []
    chosen: dict[str, Item] = {}
    for each in [*difference, *own, *known]:
        before = chosen.setdefault(each["title"], each)
        if each["title"] == _PLAN and each["content"].count("\n") < before["content"].count("\n"):
            chosen[_PLAN] = each
    if not difference:
        chosen.pop(_DIFFERENCE, None)
    return list(chosen.values())[:MOST_OF_TRIALS]
