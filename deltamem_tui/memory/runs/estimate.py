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
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.transfer.package import copy_bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import (
    BudgetError,
    DeltaMemError,
    ExtractionError,
    TrajectoryError,
    VectorError,
)
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.engine import as_stored, learn_stored, writer_of
from deltamem_tui.memory.episodes.scenes import goal_of, lacks_scene, with_scene
from deltamem_tui.memory.methods import method_of, settings_of
from deltamem_tui.memory.plan import Due
from deltamem_tui.memory.prompts.use import SCENE
from deltamem_tui.memory.vectors.embedder import LateEmbedder
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.trajectory.model import Trajectory

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_KEY_WORDS = 40


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
    writer = _GuessingWriter(bank, extractor)
    of_scenes = draw_scenes and method_of(bank).uses_scene(settings_of(bank))
    with tempfile.TemporaryDirectory(prefix="deltamem-estimate-") as folder:
        stage = copy_bank(bank, Path(folder) / bank.path.name)
        for trajectory in trajectories:
            if stopped():
                break
            with suppress(ExtractionError, TrajectoryError, VectorError):  # the run will report it
                kept = as_stored(bank, trajectory)
                if of_scenes and lacks_scene(kept):
                    kept = writer.with_scene(kept)
                learn_stored(stage, kept, writer, embedder)
            advance()
    return writer.usage


def estimate_fusions(bank: Bank, chains: Iterable[Due], extractor: ModelExtractor) -> Usage:
    """Estimate what fusing chains that are due will take. Nothing is sent."""
    method, counting = method_of(bank), _CountingWriter(extractor.of_method(method_of(bank)))
    for each in chains:
        with suppress(DeltaMemError):  # the run will report it
            method.maintain(bank, each, counting, LateEmbedder(bank))
    return counting.usage


class _CountingWriter:
    """Counts what a model would be asked, and writes nothing."""

    def __init__(self, extractor: ModelExtractor) -> None:
        self.name = extractor.name
        self.usage = Usage()
        self._extractor = extractor

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        self.usage += self._extractor.estimate(purpose, episode, notes, inputs)
        return Extraction(None, "not asked")


class _GuessingWriter:
    """Takes the model's place: answers from the cache, else lets the rules write, and counts."""

    def __init__(self, bank: Bank, extractor: ModelExtractor) -> None:
        self.name = extractor.name
        self.usage = Usage()
        self._method = method_of(bank)
        self._extractor = extractor.of_method(self._method)
        self._rules = writer_of(bank)
        self._scene_prompts: set[str] = set()

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """Write what the model said, or a guess.

        Raises:
            ExtractionError: Neither the model nor the rules could make anything of it.
        """
        found = self._answer(purpose, episode, notes, inputs)
        if found is not None:
            return found
        if episode is None:
            return self._rules.write(purpose, None, notes, inputs)
        # A model names the kind of task, and leaves out of it what it knows as the scene.
        read = structs.replace(episode, task=goal_of(episode))
        written = self._rules.write(purpose, read, notes, inputs)
        return self._with_key(self._method.use_of(purpose).collection, read, written)

    def with_scene(self, trajectory: Trajectory) -> Trajectory:
        """Return the episode with its scene: out of the cache, or one of a likely length."""
        extraction = self._answer(SCENE, trajectory, (), NO_INPUTS)
        if extraction is None:
            words = trajectory.task.split()
            half = " ".join(words[: (len(words) + 1) // 2])
            extraction = Extraction({SCENE: half}, "a scene of a likely length")
        return with_scene(trajectory, extraction)

    def _answer(
        self, purpose: str, episode: Trajectory | None, notes: Sequence[Node], inputs: Inputs
    ) -> Extraction | None:
        """Return the model's answer if the cache has it; count what it takes in any case."""
        try:
            found = self._extractor.write(purpose, episode, notes, inputs)
        except BudgetError:
            self.usage += self._asked(purpose, episode, notes, inputs)
            return None
        self.usage += found.usage
        return found

    def _asked(
        self, purpose: str, episode: Trajectory | None, notes: Sequence[Node], inputs: Inputs
    ) -> Usage:
        if purpose == SCENE and episode is not None:
            # The same instruction is often given several times; the cache knows it by then.
            prompt = self._extractor.prompt(SCENE, episode, ()) or ""
            if prompt in self._scene_prompts and self._extractor.remembers:
                return Usage(cached=1)
            self._scene_prompts.add(prompt)
        return self._extractor.estimate(purpose, episode, notes, inputs)

    def _with_key(self, name: str, episode: Trajectory, written: Extraction) -> Extraction:
        """Return the lesson under a key of the words, without numbers, of its question.

        Which notes later prompts show hangs on the keys. Those of the rules follow the dialect of
        one world; of a model's, nothing is known but what they are to be found by.
        """
        question = self._method.questions(episode).get(name, "")
        text = " ".join(_NUMBER.sub(" ", question).split()[:_KEY_WORDS])
        collection = self._method.collections.get(name)
        if not (text and collection and written.payload and collection.key in written.payload):
            return written
        return replace(written, payload={**written.payload, collection.key: text})
