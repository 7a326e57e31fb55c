"""Estimates: what a run will take, found out by doing it without the model.

Every episode is learnt into a copy of the bank that is thrown away. Where the response cache has
the model's answer, that is used; where it has none, the prompt that would be sent is counted and
the rules write in the model's place. They write other words and skip other episodes, so the
chains that later prompts show are only like the real ones: it is an estimate.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.transfer.copying import copy_bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import BudgetError, ExtractionError, TrajectoryError, VectorError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.deltamem.recall import questions_of
from deltamem_tui.memory.engine import as_stored, learn_stored
from deltamem_tui.memory.episodes.scenes import goal_of, lacks_scene, with_scene
from deltamem_tui.memory.method import Due
from deltamem_tui.memory.methods import method_of, settings_of
from deltamem_tui.memory.writers.extraction import Extraction, tree_of
from deltamem_tui.memory.writers.model.extractor import ModelExtractor
from deltamem_tui.memory.writers.model.scene_extraction import SCENE
from deltamem_tui.memory.writers.rules import RulesExtractor
from deltamem_tui.trajectory.model import Trajectory

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_TRIGGER_WORDS = 40


def estimate_learning(
    bank: Bank,
    trajectories: Iterable[Trajectory],
    extractor: ModelExtractor,
    embedder: Embedder,
    *,
    draw_scenes: bool = False,
    advance: Callable[[], object] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Usage:
    """Estimate what learning from episodes will take. Nothing is sent, the bank stays as it is.

    The extractor asks through a client with a `NoBudget`, so that nothing can be sent. `advance` is
    called after each episode; once `stopped` returns True, the estimate is of those so far.

    Returns:
        Calls to be made with their tokens and cost, and answers that the cache has already.

    Raises:
        LanguageModelError: The extractor's model cannot be asked at all.
        StorageError: There is no room for the copy.
    """
    writer = _EstimatingWriter(extractor)
    of_scenes = draw_scenes and method_of(bank).uses_scene(settings_of(bank))
    with tempfile.TemporaryDirectory(prefix="deltamem-estimate-") as folder:
        stage = copy_bank(bank, Path(folder) / bank.path.name)
        for trajectory in trajectories:
            if stopped():
                break
            try:
                kept = as_stored(bank, trajectory)
                if of_scenes and lacks_scene(kept):
                    kept = writer.with_scene(kept)
                learn_stored(stage, kept, writer, embedder)
            except (ExtractionError, TrajectoryError, VectorError):
                pass  # the run will report it
            advance()
    return writer.usage


def estimate_fusions(bank: Bank, chains: Iterable[Due], extractor: ModelExtractor) -> Usage:
    """Estimate what fusing chains that are due will take. Nothing is sent."""
    estimates = (
        extractor.estimate(
            f"{each.tree}_consolidation", None, bank.tree(each.tree).chain(each.nodes[-1].id)
        )
        for each in chains
    )
    return sum(estimates, Usage())


class _EstimatingWriter:
    """Takes the model's place: answers from the cache, else counts and lets the rules write."""

    def __init__(self, extractor: ModelExtractor) -> None:
        self.name = extractor.name
        self._extractor = extractor
        self._scene_prompts: set[str] = set()
        self._rules = RulesExtractor()
        self.usage = Usage()

    def write(self, purpose: str, episode: Trajectory | None, notes: Sequence[Node]) -> Extraction:
        try:
            return self._known(self._extractor.write(purpose, episode, notes))
        except BudgetError:
            self.usage += self._extractor.estimate(purpose, episode, notes)
        if episode is None:
            return self._rules.write(purpose, None, notes)
        # A model names the kind of task, and leaves out of it what it knows as the scene.
        read = structs.replace(episode, task=goal_of(episode))
        return _with_trigger(tree_of(purpose), read, self._rules.write(purpose, read, notes))

    def _known(self, extraction: Extraction) -> Extraction:
        self.usage += extraction.usage
        return extraction

    def with_scene(self, trajectory: Trajectory) -> Trajectory:
        """The episode with its scene: out of the cache, or one of a likely length."""
        try:
            extraction = self._known(self._extractor.write(SCENE, trajectory, ()))
        except BudgetError:
            self.usage += self._scene_estimate(trajectory)
            words = trajectory.task.split()
            half = " ".join(words[: (len(words) + 1) // 2])
            extraction = Extraction({SCENE: half}, "a scene of a likely length")
        return with_scene(trajectory, extraction)

    def _scene_estimate(self, trajectory: Trajectory) -> Usage:
        """The same instruction is often given several times; the cache knows it by then."""
        prompt = self._extractor.prompt(SCENE, trajectory, ()) or ""
        if prompt in self._scene_prompts and self._extractor.remembers:
            return Usage(cached=1)
        self._scene_prompts.add(prompt)
        return self._extractor.estimate(SCENE, trajectory, ())


def _with_trigger(tree: str, trajectory: Trajectory, extraction: Extraction) -> Extraction:
    """The same lesson under a trigger of the words, not the numbers, of its tree's question."""
    # Which chains later prompts show hangs on the triggers. Those of the rules follow the dialect
    # of one world; of a model's, nothing is known but what they are to be found by.
    question = questions_of(trajectory).get(tree, "")
    trigger = " ".join(_NUMBER.sub(" ", question).split()[:_TRIGGER_WORDS])
    if extraction.payload is None or not trigger:
        return extraction
    return replace(extraction, payload={**extraction.payload, "activation_condition": trigger})
