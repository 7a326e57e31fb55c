"""Learning from many episodes, and maintenance: one after another, their questions asked ahead.

Episodes are committed strictly in order, each by itself, so a run that is stopped or killed
leaves a bank that the next one goes on from. What is wrong with one episode stops no other: it
stays waiting, and the journal remembers why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import (
    BankCorruptError,
    DeltaMemError,
    ExtractionError,
    StorageError,
    TrajectoryError,
    VectorError,
)
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory import engine
from deltamem_tui.memory.engine import as_stored, learn_stored, set_first_thresholds, writer_of
from deltamem_tui.memory.episodes.scenes import lacks_scene, with_scene, with_scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.methods import method_of, settings_of
from deltamem_tui.memory.plan import REASON_WIDTH, Due, LearnResult, MaintenanceResult, Proposal
from deltamem_tui.memory.policies.admission import Policy, as_admitted
from deltamem_tui.memory.prompts.use import SCENE
from deltamem_tui.memory.runs.run import (
    GRACE,
    AskingWriter,
    NotingWriter,
    Question,
    Run,
    StoppedError,
)
from deltamem_tui.memory.vectors.embedder import EmbeddingCache, embedder_of
from deltamem_tui.memory.writers.extraction import (
    Call,
    Extraction,
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

    def record(self) -> dict[str, Any]:
        """Return it as the journal has it, bounded in size."""
        record = {
            "trajectory": self.trajectory,
            "reason": one_line(str(self.error), REASON_WIDTH),
            "calls": [call.record() for call in self.calls] or None,
        }
        return {key: value for key, value in record.items() if value is not None}


@dataclass(slots=True)
class _Turn:
    """An episode; `stored` as the bank keeps it, `drawn` with a scene that was asked ahead."""

    trajectory: Trajectory
    vectors: EmbeddingCache
    stored: Trajectory | None = None
    drawn: Trajectory | None = None


class LearningRun:
    """One run over episodes that wait, or over due maintenance; for one thread, closed at the end.

    Attributes:
        scenes_drawn: How many scenes were drawn and kept.
        calibrated: The thresholds that the bank got before it learnt, because it had none.
    """

    def __init__(
        self,
        bank: Bank,
        extractor: Writer,
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
        self._bank, self._embedder = bank, embedder_of(bank, embedder)
        self._writer = writer_of(bank, extractor)
        self._model = self._writer if isinstance(self._writer, ModelWriter) else None
        self._run = Run(bank, concurrency if self._model else 1, stopped)
        if self._model:
            self._model = self._model.paying(self._run.payments)
            self._writer = AskingWriter(self._model, self._run.asking)
        self._draws, self._stopped, self._grace = draw_scenes, stopped, grace
        self.scenes_drawn = 0
        self.calibrated: Sequence[Proposal] = ()

    def __enter__(self) -> LearningRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def usage(self) -> Usage:
        """The usage of the run so far, whether its answers were used or not."""
        return self._run.payments.usage

    @property
    def used(self) -> Usage:
        """The usage of questions whose answers were used, refused ones included."""
        return self._run.asking.used if self._model else self.usage

    @property
    def wasted(self) -> Usage:
        """The usage of unused answers, mostly asked ahead of turn. Full only after `close`."""
        return self.usage - self.used

    @property
    def in_flight(self) -> int:
        """How many calls have no answer yet."""
        return self._run.asking.under_way

    def close(self) -> None:
        """Ask nothing more; see `Run.close`."""
        self._run.close(self._model.cancel if self._model else lambda: None, self._grace)

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
        if not self._stopped():
            self._bank.refresh()
            self.calibrated = set_first_thresholds(self._bank, self._embedder)
        items = (_Turn(each, EmbeddingCache(self._embedder)) for each in trajectories)
        for turn in self._run.turns(items, self._questions):
            self._bank.require_writable()  # before a model is paid for nothing
            try:
                yield self._learnt(turn)
            except StoppedError:
                return

    def consolidate(self) -> Iterator[MaintenanceResult]:
        """Do all maintenance that is due; see `consolidate`."""
        for task in self._run.turns(engine.due(self._bank), self._questions_of_due):
            try:
                result = engine.maintain(self._bank, task, self._writer, self._embedder)
            except StoppedError:
                return
            if result is not None:
                yield result

    def _questions_of_due(self, task: Due) -> list[Question]:
        if self._model is None:
            return []
        noting = NotingWriter(self._model)
        method_of(self._bank).maintain(self._bank, task, noting, self._embedder)
        return noting.noted

    def _learnt(self, turn: _Turn) -> LearnResult | Refusal:
        try:
            shown = self._with_scene(turn)
            return learn_stored(self._bank, shown, self._writer, turn.vectors)
        except (ExtractionError, VectorError, TrajectoryError) as error:
            calls = (error.call,) if isinstance(error, FailedCallError) else ()
            return self._refused(Refusal(turn.trajectory.id, error, calls))

    def _questions(self, turn: _Turn) -> list[Question]:
        """Return what the bank as it is makes an episode ask."""
        if self._model is None:
            return []
        self._bank.refresh()
        shown = self._stored(turn)
        if self._draws_scene_of(shown):
            question = _scene_question(self._model, shown)
            extraction = self._run.asking.known(question.key)
            if extraction is None:
                return [question]  # the episode's other questions show its scene
            shown = turn.drawn = turn.drawn or with_scene(shown, extraction)
        noting = NotingWriter(self._model)
        method_of(self._bank).plan(self._bank, shown, noting, turn.vectors)
        return noting.noted

    def _with_scene(self, turn: _Turn) -> Trajectory:
        """Return the episode whose turn it is, with a scene that the bank keeps."""
        stored = self._stored(turn)
        if self._model is None or not self._draws_scene_of(stored):
            return stored
        self._bank.refresh()
        known = episode(self._bank, stored.id)
        if known is not None and not lacks_scene(known):  # another process was quicker
            return with_scene_of(stored, known)
        if self._bank.episodes.state(stored.id) == EpisodeState.LEARNT:
            return stored
        extraction = self._run.asking.answer(*_scene_question(self._model, stored))
        found = _keep_scene(self._bank, stored, extraction)
        self.scenes_drawn += 1
        # The same object as it was planned with: prompts are made once for each.
        return turn.drawn if turn.drawn == found else found

    def _draws_scene_of(self, trajectory: Trajectory) -> bool:
        used = self._draws and method_of(self._bank).uses_scene(settings_of(self._bank))
        return used and lacks_scene(trajectory)

    def _stored(self, turn: _Turn) -> Trajectory:
        if turn.stored is None:
            turn.stored = as_stored(self._bank, turn.trajectory)
        return turn.stored

    def _refused(self, refusal: Refusal) -> Refusal:
        """Note in the journal why an episode that the bank has stays waiting."""
        with self._bank.writing() as batch:
            if self._bank.episodes.state(refusal.trajectory) is not None:
                batch.log("refuse", refusal.record())
        return refusal


def _scene_question(model: ModelWriter, shown: Trajectory) -> Question:
    prompt = model.prompt(SCENE, shown, ())
    return Question((SCENE, prompt or ""), partial(model.write, SCENE, shown, ()))


def _keep_scene(bank: Bank, trajectory: Trajectory, extraction: Extraction) -> Trajectory:
    """Keep a drawn scene where the bank has the episode without one; return the episode with it."""
    bank.require_writable()
    with bank.writing() as batch:
        known = episode(bank, trajectory.id)
        if known is not None and not lacks_scene(known):
            trajectory = with_scene_of(trajectory, known)
        else:
            trajectory = with_scene(trajectory, extraction)
            if known is not None:
                batch.put_episode(to_record(with_scene(known, extraction)))
        detail = {
            "trajectory": trajectory.id,
            "scene": one_line((extraction.payload or {}).get(SCENE, ""), REASON_WIDTH),
            "calls": [each.record() for each in extraction.calls("draw", "env")],
        }
        batch.log("draw", detail)
    return trajectory


@dataclass(slots=True)
class LearningReport:
    """The result of learning from some episodes, done or planned.

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
        broken: Why others cannot be read.
    """

    episodes: Sequence[Trajectory]
    not_admitted: int = 0
    broken: Sequence[BankCorruptError] = ()


def candidates(bank: Bank, policy: Policy | None = None, limit: int | None = None) -> Candidates:
    """Return the episodes to learn from.

    These are the first `limit` of those whose outcome the policy admits, by default the bank's.
    """
    policy = policy or settings_of(bank).admission
    known: list[Trajectory] = []
    broken: list[BankCorruptError] = []
    for each in bank.episodes.waiting():
        try:
            found = episode(bank, each)
        except BankCorruptError as error:
            broken.append(error)
        else:
            known += [found] if found and found.outcome.known else []
    admitted = [found for each in known if (found := as_admitted(policy, each))]
    return Candidates(admitted[:limit], len(known) - len(admitted), broken)


def learn_episodes(
    bank: Bank,
    extractor: Writer,
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
    report.usage, report.wasted, report.calibrated = run.usage, run.wasted, run.calibrated
    report.in_flight, report.scenes_drawn = run.in_flight, run.scenes_drawn
    return report


def without_scene(bank: Bank, episodes: Iterable[Trajectory], extractor: Writer) -> int:
    """Return how many episodes have no scene that a model could still draw."""
    asks = isinstance(extractor, ModelWriter) and method_of(bank).uses_scene(settings_of(bank))
    return sum(map(lacks_scene, episodes)) if asks else 0


def consolidate(
    bank: Bank,
    extractor: Writer,
    *,
    embedder: Embedder | None = None,
    concurrency: int = 1,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[MaintenanceResult]:
    """Do all maintenance that is due, as to fuse chains, one commit each.

    `stopped` is asked between chains and while a model is waited for; the chain whose turn it is
    stays due then.

    Raises:
        LanguageModelError: The model cannot be asked at all; what was committed before stays.
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; what was committed before stays.
    """
    with LearningRun(
        bank, extractor, embedder=embedder, concurrency=concurrency, stopped=stopped
    ) as run:
        yield from run.consolidate()
