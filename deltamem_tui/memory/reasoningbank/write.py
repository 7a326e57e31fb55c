"""ReasoningBank's write: an episode in, an entry with its lessons out, in one commit.

What the episode was shown is credited first; then a writer makes lessons of it, and the entry is
written with them: there is never an entry that nothing can be learnt from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.findings import normalised
from deltamem_tui.memory.kinds import exact_env
from deltamem_tui.memory.learn_result import CollectionResult, LearnResult
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import Add, Change, Count, Plan, Revise
from deltamem_tui.memory.reasoningbank.definition import (
    CONTRAST,
    DIFFERENCES,
    FAILURE,
    FIELDS,
    LESSONS,
    PROMPTS,
    SUCCESS,
    TRIALS,
    ReasoningBankSettings,
)
from deltamem_tui.memory.reasoningbank.recall import recall_lessons
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.record_sets import addition, set_change
from deltamem_tui.memory.rules_extractor import skimmed
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.exact import nodes_with_key
from deltamem_tui.memory.wording import condense, distinct, listed
from deltamem_tui.memory.writers.extraction import Extraction, Inputs
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


def plan(
    bank: Bank,
    episode: Trajectory,
    writer: Writer,
    embedder: Embedder,
) -> Plan[LearnResult]:
    """Plan an entry with lessons, and credit for the lessons that are recalled.

    Raises:
        ExtractionError: The writer could make nothing of it.
    """
    settings = of_bank(bank, ReasoningBankSettings)
    tree, task = bank.tree(LESSONS), clean(episode.task).strip()
    question = embedder.embed_queries([task])[0]
    shown = recall_lessons(tree, task, question, settings, weighting_of(bank))
    builder = _Builder(tree, episode, task, writer.name, embedder)
    trials = _trials(bank, builder, settings.trials)
    if trials is None:
        purpose = SUCCESS if episode.outcome.success else FAILURE
        written = writer.write(purpose, episode, ())
    else:
        purpose = CONTRAST
        written = writer.write(
            purpose, episode, trials.lessons, inputs_of(episode, trials.episodes)
        )
    payloads = _payloads(written, PROMPTS[purpose].items)
    built: Sequence[Change] = ()
    entry, decision = None, "skip"
    if payloads and trials is None:
        entry, built = builder.new_entry(written, payloads)
        decision = "entry"
    elif payloads and trials is not None:
        entry, built = builder.compared(written, payloads, trials)
        decision = "contrast"
    result = CollectionResult(
        LESSONS,
        decision,
        written.reason,
        entry,
        match=shown.match.node.id if shown.match else None,
        score=shown.match.score if shown.match else None,
        calls=written.calls("extract", LESSONS),
    )
    changes = (*_credits(shown, success=bool(episode.outcome.success)), *built)
    return Plan(LearnResult(episode.id, new=True, trees={LESSONS: result}), changes)


def placement(collection: str, found: CollectionRecall | None, settings: Settings) -> str:  # noqa: ARG001
    """Say that each episode has an entry, unless trials are compared."""
    several = isinstance(settings, ReasoningBankSettings) and settings.trials > 1
    shared = ", unless the task was tried here before" if several else ""
    return f"would become an entry with its lessons{shared}"


def _trials(bank: Bank, builder: _Builder, most: int) -> Trials | None:
    """Return what is known of earlier trials, where they are to be compared."""
    if most == 1:
        return None
    same = nodes_with_key(builder.tree, builder.task, builder.vector(builder.task))
    entries = [node for node in same if node.parent is None]
    return earlier_trials(bank, entries, builder.episode, most - 1)


def _payloads(written: Extraction, most: int) -> tuple[Mapping[str, str], ...]:
    """Return the lessons as they are stored: complete, clean, each once."""
    texts = [cleaned(payload, FIELDS) for payload in written.payloads[:most]]
    return set_change((), texts).added


def _credits(shown: CollectionRecall, *, success: bool) -> Iterator[Count]:
    """Yield what the episode counts for: each lesson that it would be shown, and their entries."""
    lessons = {chain[-1].id for chain in shown.chains}
    for node in dict.fromkeys(node.id for chain in shown.chains for node in chain):
        yield Count(LESSONS, node, success and node in lessons, 1, success)


@dataclass(frozen=True, slots=True)
class _Builder:
    """Makes the nodes of one episode."""

    tree: Tree
    episode: Trajectory
    task: str
    writer: str
    embedder: Embedder

    def new_entry(
        self, written: Extraction, payloads: Sequence[Mapping[str, str]]
    ) -> tuple[Node, list[Change]]:
        """Return an entry of the episode's own, and its lessons."""
        label: Label = "success" if self.episode.outcome.success else "failure"
        origin = written.origin(self.writer, self.episode)
        task = {"description": self.task, "title": "", "content": ""}
        entry = born(LESSONS, None, label, task, origin)
        lessons = [born(LESSONS, entry, label, payload, origin) for payload in payloads]
        return entry, [self._added(entry), *map(self._added, lessons)]

    def compared(
        self, written: Extraction, payloads: Sequence[Mapping[str, str]], trials: Trials
    ) -> tuple[Node, list[Change]]:
        """Return the entry of the earlier trials as one of this one too, with the lessons of all.

        What the lessons say as before stays the node that it was.
        """
        entry, change = trials.entry, set_change(trials.lessons, payloads)
        solved = entry.label == "success" or self.episode.outcome.success
        label: Label = "success" if solved else "failure"
        sources = tuple(each.id for each in reversed(trials.episodes))
        origin = written.origin(self.writer, self.episode, sources)
        joined = replace(entry.origin, sources=(*entry.origin.sources, self.episode.id))
        entry = replace(entry, label=label, origin=joined)
        lessons = [born(LESSONS, entry, label, payload, origin) for payload in change.added]
        return entry, [
            Revise(LESSONS, entry),
            *change.deletions(LESSONS),
            *map(self._added, lessons),
        ]

    def vector(self, text: str) -> Vector:
        """Return a text as a key. float32 [dimensions], of unit length."""
        # One by one: a vector's last bits depend on the texts that are embedded beside it.
        vector: Vector = self.embedder.embed_passages([text])[0]
        return vector

    def _added(self, node: Node) -> Add | Revise:
        return addition(self.tree, node, self.vector(node.payload["description"]))


_ANSWER_WORDS = 60
_SHOWN = 8


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


def earlier_trials(
    bank: Bank, entries: Sequence[Node], episode: Trajectory, most: int
) -> Trials | None:
    """Return the trials that the newest entry of an episode's task and scene knows of.

    `entries` are those of the task, in order of birth; `most` is how many trials are wanted.

    Returns:
        None if the task was not tried in this scene, or the bank does not have those episodes.
    """
    scene = _scene(bank, episode)
    for entry in reversed(entries):
        known = (stored_episode(bank, each) for each in reversed(entry.origin.episodes))
        found = [each for each in known if each is not None and _scene(bank, each) == scene]
        if found:
            lessons = tuple(bank.tree(LESSONS).children(entry.id))
            return Trials(entry, lessons, tuple(found[:most]))
    return None


def _scene(bank: Bank, episode: Trajectory) -> str:
    """Return what tells an episode's environment from others: the exact one if known."""
    scene = scene_of(episode)
    return exact_env(episode.domain or bank.manifest.domain, scene) or scene


def inputs_of(episode: Trajectory, earlier: Sequence[Trajectory]) -> Inputs:
    """Return what a writer is given of the trials beside the present episode."""
    return {
        TRIALS: tuple(_log_of(each) for each in earlier),
        DIFFERENCES: "\n".join(differences([episode, *earlier])),
    }


def differences(trials: Sequence[Trajectory]) -> list[str]:
    """Return what each trial did that ended one way, and none that ended the other; names left
    open.
    """
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
