"""Trying readers on a log: what each of those that claim it would make of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.detection import Claim, detect
from deltamem_tui.trajectory.readers.reader import Reader
from deltamem_tui.trajectory.readers.reading import read_log
from deltamem_tui.trajectory.reasons import ReasonTally
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.secrets.redaction import without_secrets


@dataclass(slots=True)
class Trial:
    """What one reader makes of a log.

    Attributes:
        format: The reader's name.
        sureness: How sure it is that the log is its own, from 0 to 1.
        episodes: How many episodes it finds.
        steps: How many steps they have together.
        successes: How many episodes ended in success.
        failures: How many did not.
        reasons: Why the outcomes of the others are unknown, where that is known.
        rejected: How many records it refuses.
        first_task: The first episode's task without its secrets; empty if there is none.
        first_rejection: The first record that it refuses, and why, if there is one.
    """

    format: str
    sureness: float
    episodes: int = 0
    steps: int = 0
    successes: int = 0
    failures: int = 0
    reasons: ReasonTally = field(default_factory=ReasonTally)
    rejected: int = 0
    first_task: str = ""
    first_rejection: RecordError | None = None

    @property
    def unknown(self) -> int:
        """How many episodes have no outcome."""
        return self.episodes - self.successes - self.failures

    def add(self, episode: Trajectory) -> None:
        """Count one more episode that it finds."""
        outcome = episode.outcome
        self.episodes += 1
        self.steps += len(episode.steps)
        self.successes += outcome.success is True
        self.failures += outcome.success is False
        if not self.first_task:  # people show it around, so it goes the way of an import
            self.first_task = redact(episode)[0].task
        if outcome.success is None:
            self.reasons.add(replace(outcome, reason=without_secrets(outcome.reason)))


def try_readers(log: Log, named: Reader | None = None) -> Iterator[Trial]:
    """Let every reader that claims a log read it, the surest first.

    Args:
        log: The log.
        named: A reader that is tried before the others, whether it claims the log or not.

    Raises:
        TrajectoryError: The log cannot be opened.
    """
    if named is not None:
        yield _tried(log, Claim(named, named.claims(log.preview())))
    for claim in detect(log):
        if named is None or claim.reader.name != named.name:
            yield _tried(log, claim)


def _tried(log: Log, claim: Claim) -> Trial:
    trial = Trial(claim.reader.name, claim.sureness)
    for reading in read_log(log, claim.reader):
        if isinstance(reading, RecordError):
            trial.rejected += 1
            trial.first_rejection = trial.first_rejection or reading
        elif isinstance(reading, Trajectory):
            trial.add(reading)
    return trial
