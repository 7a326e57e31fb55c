"""ReasoningBank: lessons of each episode, found by its task.

An entry is written in one commit with its lessons: there is never an entry that nothing can be
learnt from. Recall takes the nearest entries with all their lessons, without a threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, TrajectoryError
from deltamem_tui.memory.domain import domain_for, goal_of
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.findings import failure_of, moves_of, way_of
from deltamem_tui.memory.flat.definitions import (
    CONTRAST,
    ENTRY_DEPTH,
    FAILURE,
    FIELDS,
    LESSONS,
    NEAREST,
    REASONINGBANK,
    SUCCESS,
    TRIALS,
    ReasoningBankSettings,
)
from deltamem_tui.memory.flat.nearest import asked, learnt, nearest, recalled
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import LearnResult, Plan, addition, credited, deletion, set_change
from deltamem_tui.memory.procedure import filled, numbered
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult, fenced
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.vectors.search import Candidate, nodes_with_key
from deltamem_tui.memory.writers.extraction import (
    NO_INPUTS,
    Extraction,
    Inputs,
    Notes,
    extraction_of,
)
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import condense, counted, one_line, shortened
from deltamem_tui.trajectory.model import Trajectory, scene_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ANSWER_WORDS = 60


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall the lessons of the nearest entries."""
    return recalled(bank, query, embedder, LESSONS, _ranked, _entries)


def _ranked(bank: Bank, query: Query, embedder: Embedder) -> CollectionRecall:
    """Return the lessons for a task, each with its entry as a chain."""
    tree, k = bank.tree(LESSONS), of_bank(bank, ReasoningBankSettings, query.settings).k
    lessons: list[list[Candidate]] = []
    for entry in nearest(bank, LESSONS, query, embedder, k, _without_lessons):
        of_entry = tree.children(entry.node.id)
        lessons.append([replace(entry, node=each) for each in of_entry])
    found = [each for of_entry in lessons for each in of_entry]
    told = sum(map(len, lessons[:k]))
    chains = tuple(tree.chain(each.node.id) for each in found[:told])
    candidates = tuple(found[: max(query.count, told)])
    return CollectionRecall(LESSONS, query.task, -1.0, candidates, chains, NEAREST)


def _without_lessons(tree: Tree) -> NDArray[np.bool_]:
    """Return the rows of entries without a lesson, and of lessons. bool [rows]."""
    import numpy as np

    index, left_out = tree.snapshot.index, np.ones(len(tree.dead), dtype=np.bool_)
    # A parent is named by the row of its first line, and found by that of its last.
    lessons = (tree.depth > ENTRY_DEPTH) & ~tree.dead
    left_out[tree.snapshot.current[index["parent"][lessons]]] = False
    return left_out


def _entries(domain: str, task: str, lessons: Sequence[Node]) -> list[str]:
    """Return the lessons as they stand in a prompt, in their order, each once."""
    names = dict(goal_of(domain, task).slots)
    return list(dict.fromkeys(_entry(lesson, names) for lesson in lessons))


def _entry(lesson: Node, names: Mapping[str, str]) -> str:
    description, title, content = (fenced(filled(lesson.payload[each], names)) for each in FIELDS)
    warning = " (learnt from a failure)" if lesson.label == "failure" else ""
    gap = "\n" if "\n" in content else " "
    lines = [
        f"### Lesson{warning}: {one_line(title)}".removesuffix(": "),
        f"When: {one_line(description)}",
        *([f"Do:{gap}{content}"] if content else []),
    ]
    return "\n".join(lines)


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Credit the lessons that would be recalled; then write an entry with lessons.

    Where trials of one task are compared, it takes the place of the entry that they had.
    """
    tree, query, success = bank.tree(LESSONS), asked(episode.task), episode.outcome.success
    task, found = query.task, _ranked(bank, query, embedder)
    changes = credited(found, success=bool(success))
    before, trials = _earlier_trials(bank, episode, task, embedder)
    purpose = CONTRAST if trials else SUCCESS if success else FAILURE
    inputs = {TRIALS: tuple(map(_log_of, trials))} if trials else NO_INPUTS
    written = writer.write(purpose, episode, before[1:], inputs)
    most = REASONINGBANK.prompts[purpose].items
    _, lessons = set_change((), [cleaned(each, FIELDS) for each in written.payloads[:most]])
    entry, decision = None, "skip"
    if lessons:
        decision = "contrast" if trials else "entry"
        of_all = Origin(sources=tuple(each.id for each in reversed(trials)))
        origin = written.origin(writer.name, episode, of_all)
        solved = any(each.outcome.success for each in (episode, *trials))
        label: Label = "success" if solved else "failure"
        payload = {"description": task, "title": "", "content": ""}
        entry = born(LESSONS, None, label, payload, origin)
        nodes = [entry, *(born(LESSONS, entry, label, each, origin) for each in lessons)]
        changes += [deletion(LESSONS, each) for each in before]
        changes += [addition(tree, each, embedder) for each in nodes]
    calls = written.calls("extract", LESSONS)
    return learnt(episode, decision, written.reason, entry, changes, found, calls)


def _earlier_trials(
    bank: Bank, episode: Trajectory, task: str, embedder: Embedder
) -> tuple[list[Node], list[Trajectory]]:
    """Return the newest entry of the task and scene with its lessons, and the latest trials."""
    most = of_bank(bank, ReasoningBankSettings).trials - 1
    if not most:
        return [], []
    tree, scene = bank.tree(LESSONS), _scene(bank, episode)
    same = nodes_with_key(tree, task, embedder.embed_passages([task])[0])
    for entry in reversed([node for node in same if node.parent is None]):
        latest, earlier = entry.origin.episodes[:1], entry.origin.episodes[1:]
        known = (stored_episode(bank, each) for each in (*latest, *reversed(earlier)))
        found = [each for each in known if each is not None and _scene(bank, each) == scene]
        if found:
            return [entry, *tree.children(entry.id)], found[:most]
    return [], []


def _scene(bank: Bank, episode: Trajectory) -> str:
    """Return what tells an episode's environment from others: the exact one if known."""
    scene = scene_of(episode)
    return domain_for(episode.domain or bank.manifest.domain).exact_env(scene) or scene


def _log_of(trial: Trajectory) -> str:
    solved = "solved" if trial.outcome.success else "not solved"
    steps = [
        f"{number}. {step.action}\n{condense(step.observation, _ANSWER_WORDS)}"
        for number, step in enumerate(trial.steps, 1)
    ]
    return "\n".join([f"In this trial the task was {solved}.", *steps])


# Lessons without a model

Item = Mapping[str, str]
_TITLE_WORDS = 12
_GOAL_WORDS = 40
_PLAN_LINES = 40


def write_by_rules(
    purpose: str, episode: Trajectory | None, notes: Notes, _inputs: Inputs = NO_INPUTS
) -> Extraction:
    """Return the lessons of an episode; after it those that its task's trials taught, if any."""
    if episode is None:
        raise ExtractionError("lessons are written from an episode")
    if episode.outcome.success is None:
        raise TrajectoryError(
            "what an episode teaches depends on its outcome",
            source=episode.id,
            hint="give the episode an outcome",
        )
    if not episode.steps:
        return Extraction(None, "the episode has no steps")
    goal = domain_for(episode.domain).goal(episode)
    task, names = condense(goal.trigger, _GOAL_WORDS).rstrip(". "), dict(goal.slots)
    of_outcome = _of_success if episode.outcome.success else _of_failure
    lessons: dict[str, Item] = {}
    for each in [*of_outcome(episode, task, names), *(node.payload for node in notes)]:
        lessons.setdefault(each["title"], each)
    most = REASONINGBANK.prompts[purpose].items
    return extraction_of([*lessons.values()][:most], "what the episode shows")


def _lesson(title: str, description: str, content: str) -> Item:
    return {"description": description, "title": condense(title, _TITLE_WORDS), "content": content}


def _of_success(episode: Trajectory, task: str, _names: Mapping[str, str]) -> list[Item]:
    """Return the plan."""
    when = f"The task is: {task}. Not if it asks for more than that."
    steps = "\n".join(shortened(numbered(way_of(episode)), _PLAN_LINES))
    return [_lesson("A plan that worked", when, steps)] if steps else []


def _of_failure(episode: Trajectory, task: str, names: Mapping[str, str]) -> list[Item]:
    """Return why it failed and what to do about it, and what was repeated."""
    cause = failure_of(episode)
    when = f"The task is: {task}. Not once the step that was missing is done."
    told = f"{cause.reflection} Next time: {cause.plan}"
    lessons = [_lesson(f"A failure of {cause.kind}", when, told)]
    domain, moves = moves_of(episode)
    if others := [each for each in domain.fruitless(moves) if each[0].action != cause.action]:
        most, tries = max(others, key=lambda each: each[1])
        # A refusal's words tell why; what was seen once more is of no use in another episode.
        answer = filled(most.answer, names).rstrip(".")
        how = f"was refused: {answer}" if most.failed else "changed nothing"
        when = f"`{most.action}` is answered as before in: {task}. Not if its answer changes."
        times = counted(tries, "time").capitalize()
        told = f"{times} it {how}. Do something else after the first time."
        lessons.append(_lesson(f"Do not repeat {most.action}", when, told))
    return lessons
