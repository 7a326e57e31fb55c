"""Estimates: what a run will take, found out by counting what it would ask.

Every episode is learnt into a copy of the bank that is thrown away. Where the response cache has no
answer, the rules write what the model would: other words, and they skip other episodes, so the
chains that later prompts show are only like the real ones.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

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
from deltamem_tui.memory.episodes.scenes import lacks_scene, with_scene
from deltamem_tui.memory.methods import method_of, settings_of
from deltamem_tui.memory.plan import Due
from deltamem_tui.memory.prompts.use import SCENE
from deltamem_tui.memory.vectors.embedder import LateEmbedder
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.trajectory.model import Trajectory


class _CountingWriter:
    """Counts the questions to a model; the rules write, unless nothing is to be kept."""

    def __init__(self, bank: Bank, extractor: ModelExtractor, *, writes: bool = True) -> None:
        self.name = extractor.name
        self.usage = Usage()
        self._asked: set[str | None] = set()
        self._extractor = extractor.of_method(method_of(bank))
        self._rules = writer_of(bank) if writes else None

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """Count a question, and answer it as the cache or the rules do."""
        took = self._extractor.estimate(purpose, episode, notes, inputs)
        if took.cached:
            with suppress(BudgetError):  # a first answer is there, and not one that can be used
                found = self._extractor.write(purpose, episode, notes, inputs)
                self.usage += found.usage
                return found
        prompt = self._extractor.prompt(purpose, episode, notes, inputs)
        is_repeated = prompt in self._asked and self._extractor.remembers
        self._asked.add(prompt)
        self.usage += Usage(cached=1) if is_repeated else took
        if self._rules is None or purpose == SCENE:
            return Extraction(None, "not asked")
        return self._rules.write(purpose, episode, notes, inputs)

    def with_scene(self, episode: Trajectory) -> Trajectory:
        """Return the episode with its scene: out of the cache, or one of a likely length."""
        found = self.write(SCENE, episode, ())
        if found.payload is None:
            words = episode.task.split()
            half = " ".join(words[: (len(words) + 1) // 2])
            found = Extraction({SCENE: half}, "of a likely length")
        return with_scene(episode, found)


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

    The extractor asks through a client with a `NoBudget`. `advance` is called after each episode;
    once `stopped` returns True, the estimate is of those so far.

    Returns:
        Calls to be made with their tokens and cost, and answers that the cache has already.

    Raises:
        LanguageModelError: The extractor's model cannot be asked at all.
        StorageError: There is no room for the copy.
    """
    writer = _CountingWriter(bank, extractor)
    draws = draw_scenes and method_of(bank).uses_scene(settings_of(bank))
    with tempfile.TemporaryDirectory(prefix="deltamem-estimate-") as folder:
        stage = copy_bank(bank, Path(folder) / bank.path.name)
        for trajectory in trajectories:
            if stopped():
                break
            with suppress(ExtractionError, TrajectoryError, VectorError):  # the run will report it
                kept = as_stored(bank, trajectory)
                if draws and lacks_scene(kept):
                    kept = writer.with_scene(kept)
                learn_stored(stage, kept, writer, embedder)
            advance()
    return writer.usage


def estimate_fusions(bank: Bank, chains: Iterable[Due], extractor: ModelExtractor) -> Usage:
    """Estimate what fusing chains that are due will take. Nothing is sent."""
    counting = _CountingWriter(bank, extractor, writes=False)
    for each in chains:
        with suppress(DeltaMemError):  # the run will report it
            method_of(bank).maintain(bank, each, counting, LateEmbedder(bank))
    return counting.usage
