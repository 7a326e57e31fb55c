"""Runs: many episodes learnt one after another, their questions to a model asked side by side.

Episodes are committed strictly in order, each by itself, so a run that is stopped or killed
leaves a bank that the next one goes on from. What is wrong with one episode stops no other: it
stays waiting, and the journal remembers why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import (
    DeltaMemError,
    ExtractionError,
    TrajectoryError,
    VectorError,
)
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.deltamem.episode_query import Encounter
from deltamem_tui.memory.engine import as_kept, learn_kept
from deltamem_tui.memory.learn_result import REASON_WIDTH, LearnResult
from deltamem_tui.memory.runs.account import Account, Entry
from deltamem_tui.memory.runs.ahead import GRACE, Ahead, StoppedError
from deltamem_tui.memory.runs.ledger import tell_debts
from deltamem_tui.memory.runs.lookahead import Lookahead, Turn
from deltamem_tui.memory.runs.recorder import Recorder
from deltamem_tui.memory.runs.scenes import Scenes
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.memory.writers.extraction import (
    AskedInVainError,
    AskingExtractor,
    Call,
    Drawer,
    Extractor,
    ExtractorWriter,
)
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

# How many calls that came to nothing are told to the journal in one line.
_WASTE_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Refusal:
    """An episode that could not be learnt. It stays waiting.

    Attributes:
        trajectory: The episode's id.
        error: Why.
        calls: The questions to a language model that it took all the same.
    """

    trajectory: str
    error: DeltaMemError
    calls: tuple[Call, ...] = ()


class LearningRun:
    """One run over episodes that wait. It is made for one thread, and closed at the end.

    Attributes:
        recovered: What earlier runs had paid that were killed before the journal could tell it;
            it tells now. Known when the first episode was learnt.
    """

    def __init__(
        self,
        bank: Bank,
        extractor: Extractor,
        *,
        embedder: Embedder | None = None,
        drawer: Drawer | None = None,
        concurrency: int = 1,
        stopped: Callable[[], bool] = lambda: False,
        grace: float = GRACE,
    ) -> None:
        """Nothing is asked or written yet.

        Args:
            bank: The bank; its handle shows the new state after each episode.
            extractor: What distils the episodes.
            embedder: The bank's embedder; loaded if not given.
            drawer: Draws the scenes of episodes whose logs have none, through the same client
                as the extractor; they stay without one if not given.
            concurrency: The most questions to a model at once. What is learnt is the same.
            stopped: Whether somebody wants the run to end; asked between episodes and while a
                model is waited for. The episode whose turn it is stays waiting then.
            grace: The most seconds that `close` waits for calls that are on their way.
        """
        self._bank = bank
        self._extractor = extractor
        self._embedder = embedder_of(bank, embedder)
        self._concurrency = concurrency
        self._stopped = stopped
        self._ahead: Ahead | None = None
        self._lookahead: Lookahead | None = None
        self._scenes: Scenes | None = None
        self._before = Usage()
        if isinstance(extractor, AskingExtractor):
            self._ahead = Ahead(extractor, concurrency, stopped, drawer)
            self._before = extractor.usage
        self._account = Account(bank, extractor if isinstance(extractor, AskingExtractor) else None)
        if self._ahead and concurrency > 1:
            self._lookahead = Lookahead(bank, self._ahead, self._encounter)
        if self._ahead and drawer:
            self._scenes = Scenes(bank, self._ahead, self._kept)
        self._grace = grace
        self._closed = False
        self.recovered = Usage()

    def __enter__(self) -> LearningRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def usage(self) -> Usage:
        """What the run took so far, whether it was used or not."""
        extractor = self._extractor
        if not isinstance(extractor, AskingExtractor):
            return Usage()
        return extractor.usage - self._before

    @property
    def used(self) -> Usage:
        """What the questions took whose answers were used, refused ones included."""
        return self._account.used

    @property
    def wasted(self) -> Usage:
        """What was asked and not used, mostly ahead of its turn. Full only after `close`."""
        return self.usage - self.used

    @property
    def scenes_drawn(self) -> int:
        """How many scenes were drawn and kept."""
        return self._scenes.drawn if self._scenes else 0

    @property
    def on_their_way(self) -> int:
        """How many calls have no answer yet. After `close`, what they take is told nowhere."""
        return self._ahead.on_their_way if self._ahead else 0

    def close(self) -> None:
        """Ask nothing more, and tell the journal of every call that came to nothing.

        Calls that are on their way are paid for, so their answers are waited for a little while
        and kept for the next run. A `KeyboardInterrupt` ends the wait and goes on.
        """
        if self._ahead is None or self._closed:
            return
        self._closed = True
        try:
            self._ahead.close(self._grace)
        finally:
            unused = self._ahead.take_unused()
            self._account.close(unused, on_their_way=self._ahead.on_their_way)

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
        waiting = iter(trajectories)
        window: deque[Turn] = deque()
        number = 0
        if self._ahead:
            self.recovered = tell_debts(self._bank)
        while not self._stopped():
            while len(window) < self._width and (next_one := next(waiting, None)) is not None:
                window.append(Turn(number, next_one))
                number += 1
            if not window:
                return
            try:
                yield self._learnt(window)
            except StoppedError:
                return
            window.popleft()

    @property
    def _width(self) -> int:
        """How many episodes are looked at together."""
        return self._concurrency if self._lookahead else 1

    def _learnt(self, window: Sequence[Turn]) -> LearnResult | Refusal:
        """Learn the first of some episodes, with the questions of the others sent ahead."""
        turn = window[0]
        if self._ahead:
            self._ahead.turn = turn.number
        try:
            with self._account.telling(self._id_of(turn)) as entry:
                outcome = self._outcome(window, entry)
        finally:
            if self._ahead:
                self._ahead.forget(turn.trajectory.id)
        if self._ahead:
            self._account.tell_waste(self._ahead.take_unused(), least=_WASTE_AT_ONCE)
        return outcome

    def _outcome(self, window: Sequence[Turn], entry: Entry) -> LearnResult | Refusal:
        turn = window[0]
        recorder = Recorder(self._ahead or self._extractor, entry)
        try:
            self._prepare(window, entry)
            episode = self._encounter(turn).trajectory
            lesson = learn_kept(self._bank, episode, ExtractorWriter(recorder), self._embedder)
        except (ExtractionError, VectorError, TrajectoryError) as error:
            if isinstance(error, AskedInVainError):
                entry.asked(error.call)
            return self._refused(Refusal(turn.trajectory.id, error, tuple(entry.calls)), entry)
        entry.told(lesson.calls)
        return lesson

    def _prepare(self, window: Sequence[Turn], entry: Entry) -> None:
        """See to the first episode's scene, and send ahead what can be asked of all."""
        ready = list(window)
        if self._scenes:
            self._scenes.look(window)
            self._scenes.have(window[0], entry)
            ready = self._scenes.look(window)
        if self._lookahead:
            self._lookahead.look(ready)

    def _id_of(self, turn: Turn) -> str:
        """What commits call the episode; its own id if the bank cannot keep it at all."""
        try:
            return self._kept(turn).id
        except TrajectoryError:
            return turn.trajectory.id

    def _kept(self, turn: Turn) -> Trajectory:
        if turn.kept is None:
            turn.kept = as_kept(self._bank, turn.trajectory)
        return turn.kept

    def _encounter(self, turn: Turn) -> Encounter:
        if turn.encounter is None:
            shown = turn.foreseen or self._kept(turn)
            turn.encounter = Encounter(self._bank, shown, self._embedder)
        return turn.encounter

    def _refused(self, refusal: Refusal, entry: Entry) -> Refusal:
        """Tell the journal why an episode that the bank has stays waiting."""
        with self._bank.writing() as batch:
            known = self._bank.episodes.state(refusal.trajectory) is not None
            if known:
                batch.log("refuse", refusal_record(refusal))
        if known:
            entry.told(refusal.calls)
        return refusal


def refusal_record(refusal: Refusal) -> dict[str, Any]:
    """What the journal tells of an episode that could not be learnt, bounded in size."""
    record = {
        "trajectory": refusal.trajectory,
        "reason": one_line(str(refusal.error), REASON_WIDTH),
        "calls": [call.record() for call in refusal.calls] or None,
    }
    return {key: value for key, value in record.items() if value is not None}
