"""ReasoningBank's write: an episode in, an entry with its lessons out, in one commit.

What the episode was shown is credited first; then a writer makes lessons of it, and the entry is
written with them: there is never an entry that nothing can be learnt from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, born
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.findings import normalised
from deltamem_tui.memory.kinds import exact_env
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import (
    Change,
    CollectionResult,
    Count,
    LearnResult,
    Plan,
    Revise,
    addition,
    deletion,
    set_change,
)
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
from deltamem_tui.memory.reasoningbank.recall import rank
from deltamem_tui.memory.rules_extractor import skimmed
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.vectors.search import nodes_with_key
from deltamem_tui.memory.wording import condense, distinct, listed
from deltamem_tui.memory.writers.extraction import Inputs
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

_ANSWER_WORDS = 60
_SHOWN = 8


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
    tree, task = bank.tree(LESSONS), clean(episode.task).strip()
    success = bool(episode.outcome.success)
    label: Label = "success" if success else "failure"
    shown = rank(bank, LESSONS, task, embedder.embed_queries([task])[0], 1)
    lessons = {chain[-1].id for chain in shown.chains}
    changes: list[Change] = [
        Count(LESSONS, each, success and each in lessons, 1, success)
        for each in dict.fromkeys(node.id for chain in shown.chains for node in chain)
    ]
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
        new = [born(LESSONS, entry, label, each, origin) for each in change.added]
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
    """Return the trials that the newest entry of an episode's task and scene knows of.

    None if trials are not compared, the task was not tried in this scene, or the bank does not
    have those episodes.
    """
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
    return exact_env(episode.domain or bank.manifest.domain, scene) or scene


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
