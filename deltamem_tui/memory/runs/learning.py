"""Learning from many episodes, and maintenance: one after another, their questions asked ahead.

Episodes are committed strictly in order, each by itself, so a run that is stopped or killed
leaves a bank that the next one goes on from. What is wrong with one episode stops no other: it
stays waiting, and the journal remembers why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import (
    DeltaMemError,
    ExtractionError,
    StorageError,
    TrajectoryError,
    VectorError,
)
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory import engine
from deltamem_tui.memory.engine import as_stored, learn_stored, set_first_thresholds, writer_of
from deltamem_tui.memory.episodes.scenes import drawn_text, lacks_scene, with_scene, with_scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode, waiting
from deltamem_tui.memory.methods import method_of, settings_of
from deltamem_tui.memory.plan import REASON_WIDTH, Due, LearnResult, MaintenanceResult, Proposal
from deltamem_tui.memory.policies.admission import Policy, as_admitted
from deltamem_tui.memory.prompts.use import SCENE
from deltamem_tui.memory.runs.asking import (
    GRACE,
    Asking,
    AskingWriter,
    NotingWriter,
    Question,
    StoppedError,
    Turns,
)
from deltamem_tui.memory.runs.payments import Payments
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
    """An episode, as the bank keeps it once that was looked up."""

    trajectory: Trajectory
    kept: Trajectory | None = None
    shown: Trajectory | None = None  # with the scene that it will have, as it was planned last
    vectors: EmbeddingCache | None = None


class _Run:
    """What learning and maintaining share: a writer that asks ahead, the bill, and an end."""

    def __init__(
        self,
        bank: Bank,
        extractor: Writer | Extractor,
        embedder: Embedder | None,
        concurrency: int,
        stopped: Callable[[], bool],
        grace: float,
    ) -> None:
        self.bank, self.embedder = bank, embedder_of(bank, embedder)
        self.stopped = stopped
        self.payments = Payments(bank)
        self.writer = writer_of(bank, extractor)
        self.asking: Asking | None = None
        self.width = 1
        self._cancel: Callable[[], object] = lambda: None
        self._grace, self._closed = grace, False
        if isinstance(self.writer, ModelWriter):
            self.model = self.writer.paying(self.payments)
            self.asking, self.width = Asking(concurrency, stopped), concurrency
            self._cancel = self.model.cancel
            self.writer = AskingWriter(self.model, self.asking)
        elif isinstance(self.writer, ExtractorWriter):
            self.writer = self.writer.paying(self.payments)

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
            if self.asking:
                self.asking.close(self._cancel, self._grace)
        finally:
            self.payments.close()


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
        """Prepare; nothing is asked or written yet.

        A model draws the scenes of episodes whose logs have none if `draw_scenes`. What is learnt
        is the same at any `concurrency`. `stopped` is asked between episodes and while a model is
        waited for; the episode whose turn it is stays waiting then. `close` waits up to `grace`
        seconds for calls that are under way.
        """
        self._bank = bank
        self._run = _Run(bank, extractor, embedder, concurrency, stopped, grace)
        self._draws = draw_scenes
        self.scenes_drawn = 0
        self.calibrated: Sequence[Proposal] = ()

    def __enter__(self) -> LearningRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def usage(self) -> Usage:
        """What the run took so far, whether it was used or not."""
        return self._run.payments.usage

    @property
    def used(self) -> Usage:
        """What the questions took whose answers were used, refused ones included."""
        return self._run.asking.used if self._run.asking else self.usage

    @property
    def wasted(self) -> Usage:
        """What was asked and not used, mostly ahead of its turn. Full only after `close`."""
        return self.usage - self.used

    @property
    def in_flight(self) -> int:
        """How many calls have no answer yet."""
        return self._run.asking.under_way if self._run.asking else 0

    def close(self) -> None:
        """Ask nothing more; see `_Run.close`."""
        self._run.close()

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
        run = self._run
        if not run.stopped():
            self._bank.refresh()
            self.calibrated = set_first_thresholds(self._bank, run.embedder)
        turns = Turns(map(_Turn, trajectories), run.asking, self._questions, run.width, run.stopped)
        for turn in turns:
            self._bank.require_writable()  # before a model is paid for nothing
            try:
                yield self._learnt(turn)
            except StoppedError:
                return

    def _learnt(self, turn: _Turn) -> LearnResult | Refusal:
        try:
            if self._run.asking:
                self._draw(turn, self._run.asking)
            shown = self._shown(turn, self._kept(turn))
            return learn_stored(self._bank, shown, self._run.writer, self._vectors(turn))
        except (ExtractionError, VectorError, TrajectoryError) as error:
            calls = (error.call,) if isinstance(error, FailedCallError) else ()
            return self._refused(Refusal(turn.trajectory.id, error, calls))

    def _questions(self, turn: _Turn) -> list[Question]:
        """Return what the bank as it stands makes an episode ask."""
        self._bank.refresh()
        shown, asking = self._kept(turn), self._run.asking
        if asking and self._draws and self._lacks_scene(shown):
            question = self._scene_question(shown)
            extraction = asking.known(question.key)
            if extraction is None:
                return [question]  # the episode's other questions show its scene
            shown = with_scene(shown, extraction)
        noting = NotingWriter(self._run.model)
        method_of(self._bank).plan(
            self._bank, self._shown(turn, shown), noting, self._vectors(turn)
        )
        return noting.noted

    def _draw(self, turn: _Turn, asking: Asking) -> None:
        """Give the episode whose turn it is a scene that the bank keeps, if it lacks one."""
        kept = self._kept(turn)
        if not (self._draws and self._lacks_scene(kept)):
            return
        self._bank.refresh()
        known = episode(self._bank, kept.id)
        if known is not None and not lacks_scene(known):  # another process was quicker
            turn.kept = with_scene_of(kept, known)
        elif self._bank.episodes.state(kept.id) != EpisodeState.LEARNT:
            question = self._scene_question(kept)
            turn.kept = take_scene(self._bank, kept, asking.answer(*question.asked))
            self.scenes_drawn += 1

    def _scene_question(self, shown: Trajectory) -> Question:
        prompt = self._run.model.prompt(SCENE, shown, ())
        return Question((SCENE, prompt or ""), partial(self._run.model.write, SCENE, shown, ()))

    def _lacks_scene(self, trajectory: Trajectory) -> bool:
        used = method_of(self._bank).uses_scene(settings_of(self._bank))
        return used and lacks_scene(trajectory)

    def _kept(self, turn: _Turn) -> Trajectory:
        if turn.kept is None:
            turn.kept = as_stored(self._bank, turn.trajectory)
        return turn.kept

    def _shown(self, turn: _Turn, shown: Trajectory) -> Trajectory:
        """Return the same object as long as it says the same: prompts are made once for each."""
        if turn.shown != shown:
            turn.shown = shown
        return turn.shown

    def _vectors(self, turn: _Turn) -> EmbeddingCache:
        turn.vectors = turn.vectors or EmbeddingCache(self._run.embedder)
        return turn.vectors

    def _refused(self, refusal: Refusal) -> Refusal:
        """Note in the journal why an episode that the bank has stays waiting."""
        with self._bank.writing() as batch:
            if self._bank.episodes.state(refusal.trajectory) is not None:
                batch.log("refuse", refusal_record(refusal))
        return refusal


def refusal_record(refusal: Refusal) -> dict[str, Any]:
    """Return an episode that could not be learnt as the journal has it, bounded in size."""
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


@dataclass(slots=True)
class LearningReport:
    """What learning from some episodes came to, or would take.

    Attributes:
        lessons: What was learnt, an entry an episode.
        refusals: Why episodes could not be learnt; each names its episode as its source.
        failure: What ended the run before its last episode.
        usage: What calls of a model took, used or not.
        wasted: The part of it that was not used.
        in_flight: How many calls had no answer at the end, and may be paid for.
        calibrated: The thresholds that the bank got before it learnt, because it had none.
    """

    lessons: list[LearnResult] = field(default_factory=list)
    refusals: list[DeltaMemError] = field(default_factory=list)
    failure: DeltaMemError | KeyboardInterrupt | None = None
    usage: Usage = field(default_factory=Usage)
    wasted: Usage = field(default_factory=Usage)
    in_flight: int = 0
    scenes_drawn: int = 0
    calibrated: Sequence[Proposal] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """The waiting episodes with a known outcome, in the order of their import.

    Attributes:
        not_admitted: How many the policy keeps out.
    """

    episodes: Sequence[Trajectory]
    not_admitted: int = 0


def candidates(bank: Bank, policy: Policy | None = None, limit: int | None = None) -> Candidates:
    """Return the episodes to learn from.

    These are the first `limit` of those whose outcome the policy admits, by default the bank's.
    """
    policy = policy or settings_of(bank).admission
    known = [each for each in waiting(bank) if each.outcome.known]
    admitted = [found for each in known if (found := as_admitted(policy, each))]
    return Candidates(admitted[:limit], len(known) - len(admitted))


def learn_episodes(
    bank: Bank,
    extractor: Writer | Extractor,
    episodes: Iterable[Trajectory],
    *,
    draw_scenes: bool = False,
    concurrency: int = 1,
    advance: Callable[[Usage], object] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
    closing: Callable[[int], object] = lambda _: None,
) -> LearningReport:
    """Learn from episodes, one commit each, whatever is wrong with some of them.

    `advance` is called after each episode with what the run took so far, and `closing` with the
    number of calls in flight before they are waited for; a `KeyboardInterrupt` ends the wait.
    """
    report = LearningReport()
    if not episodes:
        return report
    run = LearningRun(
        bank, extractor, draw_scenes=draw_scenes, concurrency=concurrency, stopped=stopped
    )
    try:
        for outcome in run.learn(episodes):
            if isinstance(outcome, Refusal):
                outcome.error.source = outcome.trajectory
                report.refusals.append(outcome.error)
            else:
                report.lessons.append(outcome)
            advance(run.usage)
    except (DeltaMemError, KeyboardInterrupt) as error:
        report.failure = error
    finally:
        if run.in_flight:
            closing(run.in_flight)
        try:
            run.close()
        except StorageError as error:  # of what was paid, `usage.jsonl` lacks the last
            report.failure = report.failure or error
        except KeyboardInterrupt:
            pass
    report.usage, report.wasted = run.usage, run.wasted
    report.calibrated = run.calibrated
    report.in_flight, report.scenes_drawn = run.in_flight, run.scenes_drawn
    return report


def without_scene(bank: Bank, episodes: Iterable[Trajectory], extractor: Writer) -> int:
    """Return how many episodes have no scene that a model could still draw."""
    asks = isinstance(extractor, ModelWriter) and method_of(bank).uses_scene(settings_of(bank))
    return sum(map(lacks_scene, episodes)) if asks else 0


def consolidate(
    bank: Bank,
    extractor: Writer | Extractor,
    *,
    embedder: Embedder | None = None,
    concurrency: int = 1,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = GRACE,
) -> Iterator[MaintenanceResult]:
    """Do all maintenance that is due, as to fuse chains, one commit each.

    `stopped` is asked between chains and while a model is waited for; the chain whose turn it is
    stays due then. At the end, calls that are under way are waited for up to `grace` seconds.

    Raises:
        LanguageModelError: The model cannot be asked at all; what was committed before stays.
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; what was committed before stays.
    """
    run, method = _Run(bank, extractor, embedder, concurrency, stopped, grace), method_of(bank)

    def questions(task: Due) -> list[Question]:
        noting = NotingWriter(run.model)
        method.maintain(bank, task, noting, run.embedder)
        return noting.noted

    with closing(run):
        for task in Turns(engine.due(bank), run.asking, questions, run.width, stopped):
            try:
                result = engine.maintain(bank, task, run.writer, run.embedder)
            except StoppedError:
                return
            if result is not None:
                yield result
