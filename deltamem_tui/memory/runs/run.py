"""Runs: many episodes learnt one after another, their questions to a model asked side by side.

Episodes are committed strictly in order, each by itself, so a run that is stopped or killed
leaves a bank that the next one goes on from. What is wrong with one episode stops no other: it
stays waiting, and the journal remembers why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import DeltaMemError, ExtractionError, TrajectoryError, VectorError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.engine import as_stored, learn_stored, set_first_thresholds, writer_of
from deltamem_tui.memory.episodes.scenes import drawn_text, lacks_scene, with_scene, with_scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.learn_result import REASON_WIDTH, LearnResult
from deltamem_tui.memory.methods import method_of, settings_of
from deltamem_tui.memory.prompts.use import SCENE
from deltamem_tui.memory.runs.payments import Payments
from deltamem_tui.memory.runs.prefetch import (
    GRACE,
    Key,
    PlannedQuestions,
    Prefetcher,
    PrefetchingWriter,
    Question,
    StoppedError,
)
from deltamem_tui.memory.threshold_proposal import Proposal
from deltamem_tui.memory.vectors.embedder import EmbeddingCache, embedder_of
from deltamem_tui.memory.writers.extraction import (
    Call,
    Extraction,
    Extractor,
    ExtractorWriter,
    FailedCallError,
)
from deltamem_tui.memory.writers.writer import ModelWriter, Writer
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import to_record


@dataclass(frozen=True, slots=True)
class Refusal:
    """An episode that could not be learnt. It stays waiting.

    Attributes:
        trajectory: The episode's id.
        error: Why.
        calls: The question to a language model that failed, if one was asked.
    """

    trajectory: str
    error: DeltaMemError
    calls: tuple[Call, ...] = ()


@dataclass(slots=True)
class _Turn:
    """An episode and its place in the order."""

    number: int
    trajectory: Trajectory
    kept: Trajectory | None = None  # as the bank keeps it, once that was looked up
    shown: Trajectory | None = None  # with the scene that it will have, as it was planned last
    vectors: EmbeddingCache | None = None


class LearningRun:
    """One run over episodes that wait. It is made for one thread, and closed at the end.

    Attributes:
        scenes_drawn: How many scenes were drawn and kept.
        calibrated: The thresholds that the bank got before it learnt, because it had none.
    """

    def __init__(
        self,
        bank: Bank,
        extractor: Writer | Extractor,
        *,
        embedder: Embedder | None = None,
        draw_scenes: bool = False,
        concurrency: int = 1,
        stopped: Callable[[], bool] = lambda: False,
        grace: float = GRACE,
    ) -> None:
        """Nothing is asked or written yet.

        A model draws the scenes of episodes whose logs have none if `draw_scenes`. What is learnt
        is the same at any `concurrency`. `stopped` is asked between episodes and while a model is
        waited for; the episode whose turn it is stays waiting then. `close` waits up to `grace`
        seconds for calls that are under way.
        """
        self._bank = bank
        self._writer = writer_of(bank, extractor)
        self._cancel: Callable[[], object] = lambda: None
        self._embedder = embedder_of(bank, embedder)
        self._width = 1
        self._stopped = stopped
        self._grace = grace
        self._payments = Payments(bank)
        self._prefetcher: Prefetcher | None = None
        self._draws = draw_scenes
        if isinstance(self._writer, ModelWriter):
            self._width = concurrency
            self._model = self._writer.paying(self._payments)
            self._cancel = self._model.cancel
            self._prefetcher = Prefetcher(concurrency, stopped)
            self._writer = PrefetchingWriter(self._model, self._prefetcher)
        elif isinstance(self._writer, ExtractorWriter):
            self._writer = self._writer.paying(self._payments)
        self._closed = False
        self.scenes_drawn = 0
        self.calibrated: Sequence[Proposal] = ()

    def __enter__(self) -> LearningRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def usage(self) -> Usage:
        """What the run took so far, whether it was used or not."""
        return self._payments.usage

    @property
    def used(self) -> Usage:
        """What the questions took whose answers were used, refused ones included."""
        return self._prefetcher.used if self._prefetcher else self.usage

    @property
    def wasted(self) -> Usage:
        """What was asked and not used, mostly ahead of its turn. Full only after `close`."""
        return self.usage - self.used

    @property
    def in_flight(self) -> int:
        """How many calls have no answer yet."""
        return self._prefetcher.under_way if self._prefetcher else 0

    def close(self) -> None:
        """Ask nothing more.

        Calls that are under way are paid for, so their answers are waited for a little while
        and kept for the next run. A `KeyboardInterrupt` ends the wait and goes on.

        Raises:
            StorageError: The disk does not take what was paid for into `usage.jsonl`.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if self._prefetcher:
                self._prefetcher.close(self._cancel, self._grace)
        finally:
            self._payments.close()

    def learn(self, trajectories: Iterable[Trajectory]) -> Iterator[LearnResult | Refusal]:
        """Learn from episodes, in their order.

        Args:
            trajectories: Episodes whose outcomes are known. They are read a little ahead.

        Yields:
            Each episode's lesson, or why there is none. The last one if the run was stopped.

        Raises:
            LanguageModelError: The model cannot be asked at all. What was learnt stays.
            BankError: The bank cannot be written. What was learnt stays.
        """
        waiting = (_Turn(number, each) for number, each in enumerate(trajectories))
        window: deque[_Turn] = deque()
        if not self._stopped():
            self._bank.refresh()
            self.calibrated = set_first_thresholds(self._bank, self._embedder)
        while not self._stopped():
            while len(window) < self._width and (turn := next(waiting, None)) is not None:
                window.append(turn)
            if not window:
                return
            try:
                yield self._learnt(window)
            except StoppedError:
                return
            window.popleft()

    def _learnt(self, window: Sequence[_Turn]) -> LearnResult | Refusal:
        """Learn the first of some episodes, with the questions of the others sent ahead."""
        self._bank.require_writable()  # before a model is paid for nothing
        turn = window[0]
        try:
            if self._prefetcher:
                self._prefetcher.begin(turn.number)
                self._prefetcher.look_ahead(self._questions(window, self._prefetcher))
                if self._draw(turn, self._prefetcher):
                    self._prefetcher.look_ahead(self._questions(window, self._prefetcher))
            shown = self._shown(turn, self._kept(turn))
            return learn_stored(self._bank, shown, self._writer, self._vectors(turn))
        except (ExtractionError, VectorError, TrajectoryError) as error:
            calls = (error.call,) if isinstance(error, FailedCallError) else ()
            return self._refused(Refusal(turn.trajectory.id, error, calls))

    def _questions(self, window: Iterable[_Turn], prefetcher: Prefetcher) -> Iterator[Question]:
        """What the bank as it stands makes some episodes ask."""
        self._bank.refresh()
        for turn in window:
            with suppress(DeltaMemError):  # its turn will report it
                yield from self._questions_of(turn, prefetcher)

    def _questions_of(self, turn: _Turn, prefetcher: Prefetcher) -> list[Question]:
        shown = self._kept(turn)
        if self._draws and self._lacks_scene(shown):
            key, draw = self._scene_question(shown)
            question = Question(turn.number, key, draw)
            extraction = prefetcher.answered(key)
            if extraction is None:
                return [question]  # the episode's other questions show its scene
            shown = with_scene(shown, extraction)
        noting = PlannedQuestions(self._model, turn.number)
        method_of(self._bank).plan(
            self._bank, self._shown(turn, shown), noting, self._vectors(turn)
        )
        return noting.noted

    def _draw(self, turn: _Turn, prefetcher: Prefetcher) -> bool:
        """Give the episode whose turn it is a scene that the bank keeps; whether it got one."""
        kept = self._kept(turn)
        if not (self._draws and self._lacks_scene(kept)):
            return False
        self._bank.refresh()
        known = episode(self._bank, kept.id)
        if known is not None and not lacks_scene(known):  # another process was quicker
            turn.kept = with_scene_of(kept, known)
            return True
        if self._bank.episodes.state(kept.id) == EpisodeState.LEARNT:
            return False
        extraction = prefetcher.answer(*self._scene_question(kept))
        turn.kept = take_scene(self._bank, kept, extraction)
        self.scenes_drawn += 1
        return True

    def _scene_question(self, shown: Trajectory) -> tuple[Key, Callable[[], Extraction]]:
        """The question for an episode's scene."""
        prompt = self._model.prompt(SCENE, shown, ())
        return (SCENE, prompt or ""), partial(self._model.write, SCENE, shown, ())

    def _lacks_scene(self, trajectory: Trajectory) -> bool:
        used = method_of(self._bank).uses_scene(settings_of(self._bank))
        return used and lacks_scene(trajectory)

    def _kept(self, turn: _Turn) -> Trajectory:
        if turn.kept is None:
            turn.kept = as_stored(self._bank, turn.trajectory)
        return turn.kept

    def _shown(self, turn: _Turn, shown: Trajectory) -> Trajectory:
        """The same object as long as it says the same: prompts are made once for each."""
        if turn.shown != shown:
            turn.shown = shown
        return turn.shown

    def _vectors(self, turn: _Turn) -> EmbeddingCache:
        turn.vectors = turn.vectors or EmbeddingCache(self._embedder)
        return turn.vectors

    def _refused(self, refusal: Refusal) -> Refusal:
        """Note in the journal why an episode that the bank has stays waiting."""
        with self._bank.writing() as batch:
            if self._bank.episodes.state(refusal.trajectory) is not None:
                batch.log("refuse", refusal_record(refusal))
        return refusal


def refusal_record(refusal: Refusal) -> dict[str, Any]:
    """An episode that could not be learnt as the journal has it, bounded in size."""
    record = {
        "trajectory": refusal.trajectory,
        "reason": one_line(str(refusal.error), REASON_WIDTH),
        "calls": [call.record() for call in refusal.calls] or None,
    }
    return {key: value for key, value in record.items() if value is not None}


def take_scene(bank: Bank, trajectory: Trajectory, extraction: Extraction) -> Trajectory:
    """Keep the scene that was drawn for an episode; returns the episode with its scene.

    A scene that another process drew meanwhile stays. An episode that the bank does not have
    yet is not added: it comes with its scene when it is learnt.

    Raises:
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; the bank is as it was.
    """
    bank.require_writable()
    with bank.writing() as batch:
        known = episode(bank, trajectory.id)
        if known is not None and not lacks_scene(known):
            trajectory = with_scene_of(trajectory, known)
        else:
            trajectory = with_scene(trajectory, extraction)
        if known is not None and lacks_scene(known):
            batch.put_episode(to_record(with_scene(known, extraction)))
        detail = {
            "trajectory": trajectory.id,
            "scene": one_line(drawn_text(extraction), REASON_WIDTH),
            "calls": [each.record() for each in extraction.calls("draw", "env")],
        }
        batch.log("draw", detail)
    return trajectory
