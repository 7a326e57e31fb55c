"""ReasoningBank's write: an episode in, an entry with its lessons out, in one commit.

What the episode was shown is credited first; then a writer makes lessons of it, and the entry is
written with them: there is never an entry that nothing can be learnt from.

Recall takes the nearest entries with all their lessons, without a threshold. Of equal scores a
success comes first, then what was of use more often, then the newer one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.memory.context import fenced
from deltamem_tui.memory.domain import domain_for, goal_of
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.findings import (
    failure_of,
    found_at,
    fruitless,
    moves_of,
    normalised,
    recoveries,
    shortcut,
)
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import (
    CollectionResult,
    LearnResult,
    Plan,
    Revise,
    addition,
    credited,
    deletion,
    set_change,
)
from deltamem_tui.memory.procedure import filled, numbered
from deltamem_tui.memory.reasoningbank.definition import (
    BY_ENTRY,
    CONTRAST,
    DIFFERENCES,
    DISPLAY,
    ENTRY_DEPTH,
    FAILURE,
    FIELDS,
    LESSONS,
    MOST_LESSONS,
    MOST_OF_TRIALS,
    PROMPTS,
    SUCCESS,
    TRIALS,
    ReasoningBankSettings,
)
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.rules_extractor import skimmed
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import Candidate, nodes_with_key, scan_by_use
from deltamem_tui.memory.wording import condense, distinct, listed, shortened
from deltamem_tui.memory.work_context import with_context
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs, extraction_of
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean, counted, one_line
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ANSWER_WORDS = 60
_SHOWN = 8


def plan(
    bank: Bank,
    episode: Trajectory,
    writer: Writer,
    embedder: Embedder,
) -> Plan[LearnResult]:
    """Plan an entry with lessons, and credit for the lessons that are recalled."""
    tree, task = bank.tree(LESSONS), clean(episode.task).strip()
    success = bool(episode.outcome.success)
    label: Label = "success" if success else "failure"
    shown = rank(bank, LESSONS, task, embedder.embed_queries([task])[0], 1)
    changes = credited(shown, success=success)
    trials = _earlier_trials(bank, episode, task, embedder)
    purpose = CONTRAST if trials else SUCCESS if success else FAILURE
    notes = trials.lessons if trials else ()
    inputs = (trials.inputs(episode),) if trials else ()
    written = writer.write(purpose, episode, notes, *inputs)
    wanted = [cleaned(each, FIELDS) for each in written.payloads[: PROMPTS[purpose].items]]
    change = set_change(notes, wanted)
    entry, decision = None, "skip"
    if wanted:
        decision = "contrast" if trials else "entry"
        sources = tuple(each.id for each in reversed(trials.episodes)) if trials else ()
        origin = written.origin(writer.name, episode, sources)
        if trials:
            entry = trials.with_episode(episode)
            changes.append(Revise(LESSONS, entry))
        else:
            payload = {"description": task, "title": "", "content": ""}
            entry = born(LESSONS, None, label, payload, origin)
            changes.append(addition(tree, entry, embedder))
        changes += [deletion(LESSONS, each) for each in change.removed]
        # What lessons say as before stays the node that it was.
        new = [born(LESSONS, entry, entry.label, each, origin) for each in change.added]
        changes += [addition(tree, each, embedder) for each in new]
    result = CollectionResult(
        LESSONS,
        decision,
        written.reason,
        entry,
        match=shown.match.node.id if shown.match else None,
        score=shown.match.score if shown.match else None,
        calls=written.calls("extract", LESSONS),
    )
    return Plan(LearnResult(episode.id, new=True, trees={LESSONS: result}), tuple(changes))


@dataclass(frozen=True, slots=True)
class Trials:
    """Earlier trials of an episode's task in its scene, and the entry that they share.

    Attributes:
        lessons: The entry's, in order of birth.
        episodes: The latest trials, the newest first.
    """

    entry: Node
    lessons: tuple[Node, ...]
    episodes: tuple[Trajectory, ...]

    def with_episode(self, episode: Trajectory) -> Node:
        """Return the entry as one of a further trial too: a success if any was."""
        solved = self.entry.label == "success" or episode.outcome.success
        origin = self.entry.origin
        origin = replace(origin, sources=(*origin.sources, episode.id))
        return replace(self.entry, label="success" if solved else "failure", origin=origin)

    def inputs(self, episode: Trajectory) -> Inputs:
        """Return what a writer is given of the trials beside the present episode."""
        return {
            TRIALS: tuple(_log_of(each) for each in self.episodes),
            DIFFERENCES: "\n".join(differences([episode, *self.episodes])),
        }


def _earlier_trials(
    bank: Bank, episode: Trajectory, task: str, embedder: Embedder
) -> Trials | None:
    """Return the trials that the newest entry of an episode's task and scene knows of."""
    most = of_bank(bank, ReasoningBankSettings).trials - 1
    if not most:
        return None
    tree, scene = bank.tree(LESSONS), _scene(bank, episode)
    same = nodes_with_key(tree, task, embedder.embed_passages([task])[0])
    for entry in reversed([node for node in same if node.parent is None]):
        known = (stored_episode(bank, each) for each in reversed(entry.origin.episodes))
        found = [each for each in known if each is not None and _scene(bank, each) == scene]
        if found:
            return Trials(entry, tuple(tree.children(entry.id)), tuple(found[:most]))
    return None


def _scene(bank: Bank, episode: Trajectory) -> str:
    """Return what tells an episode's environment from others: the exact one if known."""
    scene = scene_of(episode)
    return domain_for(episode.domain or bank.manifest.domain).exact_env(scene) or scene


def differences(trials: Sequence[Trajectory]) -> list[str]:
    """Return what each trial did that ended one way, and none that ended the other."""
    actions: dict[bool, list[tuple[str, ...]]] = {True: [], False: []}
    for each in trials:
        actions[bool(each.outcome.success)].append(normalised(skimmed(each)))
    lines = []
    for solved, where in ((True, "was"), (False, "was not")):
        others = {action for each in actions[not solved] for action in each}
        first, *more = actions[solved] or [()]
        common = [
            action
            for action in distinct(first)
            if action not in others and all(action in each for each in more)
        ]
        if common and actions[not solved]:
            lines.append(f"Done only where the task {where} solved: {listed(common, _SHOWN)}.")
    return lines


def _log_of(trial: Trajectory) -> str:
    solved = "solved" if trial.outcome.success else "not solved"
    steps = [
        f"{number}. {step.action}\n{condense(step.observation, _ANSWER_WORDS)}"
        for number, step in enumerate(trial.steps, 1)
    ]
    return "\n".join([f"In this trial the task was {solved}.", *steps])


Item = Mapping[str, str]

_TITLE_WORDS = 12
_GOAL_WORDS = 40
_PLAN_LINES = 40
_LISTED = 6
_PLAN, _DIFFERENCE = "A plan that worked", "What made the difference"


def write_by_rules(
    purpose: str,
    episode: Trajectory | None,
    notes: Sequence[Node],
    inputs: Inputs = NO_INPUTS,
) -> Extraction:
    """Return the lessons of an episode, or of several trials of its task."""
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
    return extraction_of(lessons, reason)


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
        where = listed([f"{thing} at the {place}" for thing, place in places.items()], _LISTED)
        when = f"{listed(list(places), _LISTED)} must be found for: {task}. Not once it is in hand."
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
        told = f"These were offered and not tried: {listed(untried, _LISTED)}."
        lessons.append(_lesson("What was not tried", when, told))
    return lessons


def _of_trials(own: list[Item], known: list[Item], task: str, told: str) -> list[Item]:
    """Return what separates the trials, then the present one's lessons, then earlier ones."""
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


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall the lessons of the nearest entries."""
    task = clean(query.task).strip()
    if not task:
        return RecallResult({LESSONS: None}, "")
    vector = embedder.embed_queries([task])[0]
    found = rank(bank, LESSONS, task, vector, query.count, query.settings)
    entries = partial(context_entries, bank.manifest.domain, task)
    return with_context(bank, query, {LESSONS: found}, embedder, entries)


def rank(
    bank: Bank,
    collection: str,
    text: str,
    vector: NDArray[np.float32],
    count: int,
    settings: Settings | None = None,
) -> CollectionRecall:
    """Return the lessons for a text, each with its entry as a chain; see `Method.rank`."""
    tree, k = bank.tree(collection), of_bank(bank, ReasoningBankSettings, settings).k
    scan = scan_by_use(tree, weighting_of(bank), _without_lessons)
    found: list[Candidate] = []
    recalled = 0
    for place, (row, similarity, score) in enumerate(scan.best(vector, 0.0, max(k, count))):
        lessons = map(tree.node_at, map(int, tree.child_rows(row)))
        found += [Candidate(each, similarity, 0.0, score, BY_ENTRY) for each in lessons]
        recalled = len(found) if place < k else recalled
    chains = tuple(tree.chain(each.node.id) for each in found[:recalled])
    candidates = tuple(found[: max(count, recalled)])
    return CollectionRecall(collection, text, -1.0, candidates, chains, BY_ENTRY)


def _without_lessons(tree: Tree) -> NDArray[np.bool_]:
    """Return the rows of entries without a lesson. bool [rows]."""
    import numpy as np

    index, left_out = tree.snapshot.index, np.ones(len(tree.dead), dtype=np.bool_)
    # A parent is named by the row of its first line, and found by that of its last.
    lessons = (tree.depth > ENTRY_DEPTH) & ~tree.dead
    left_out[tree.snapshot.current[index["parent"][lessons]]] = False
    return left_out


def context_entries(domain: str, task: str, lessons: Sequence[Node]) -> list[str]:
    """Return the lessons as they stand in a prompt, in their order, each once."""
    names = dict(goal_of(domain, task).slots)
    return list(dict.fromkeys(_entry(lesson, names) for lesson in lessons))


def _entry(lesson: Node, names: Mapping[str, str]) -> str:
    texts = {name: fenced(filled(text, names)) for name, text in lesson.payload.items()}
    warning = f" ({DISPLAY[LESSONS].warning})" if lesson.label == "failure" else ""
    lines = [
        f"### Lesson{warning}: {one_line(texts['title'])}".removesuffix(": "),
        f"{DISPLAY[LESSONS].label('description')}: {one_line(texts['description'])}",
    ]
    if content := texts["content"]:
        gap = "\n" if "\n" in content else " "
        lines.append(f"{DISPLAY[LESSONS].label('content')}:{gap}{content}")
    return "\n".join(lines)
