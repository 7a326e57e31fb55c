"""Learning from the episodes that wait, or estimating what it takes, up to the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError, StorageError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.episodes.scenes import lacks_scene
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.memory.learn_result import LearnResult
from deltamem_tui.memory.methods import method_of, settings_of
from deltamem_tui.memory.policies.admission import Policy, as_admitted
from deltamem_tui.memory.runs.run import LearningRun, Refusal
from deltamem_tui.memory.threshold_proposal import Proposal
from deltamem_tui.memory.writers.extraction import Extractor
from deltamem_tui.memory.writers.writer import ModelWriter, Writer
from deltamem_tui.trajectory.model import Trajectory


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
    """The episodes to learn from.

    These are the first `limit` of those whose outcome the policy admits, by default the bank's.
    """
    policy = policy or settings_of(bank).admission
    known = [each for each in waiting(bank) if each.outcome.known]
    admitted = [found for each in known if (found := as_admitted(policy, each))]
    return Candidates(admitted[:limit], len(known) - len(admitted))


def learn_episodes(
    bank: Bank,
    extractor: Writer | Extractor,
    episodes: Sequence[Trajectory],
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
    """How many episodes have no scene that a model could still draw."""
    asks = isinstance(extractor, ModelWriter) and method_of(bank).uses_scene(settings_of(bank))
    return sum(map(lacks_scene, episodes)) if asks else 0
