"""Trying readers on a log: what each of those that claim it would make of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.detection import Claim, detect
from deltamem_tui.trajectory.readers.reader import Reader
from deltamem_tui.trajectory.readers.reading import read_log


@dataclass(frozen=True, slots=True)
class Trial:
    """What one reader makes of a log.

    Attributes:
        format: The reader's name.
        sureness: How sure it is that the log is its own, from 0 to 1.
        episodes: How many episodes it finds.
        steps: How many steps they have together.
        rejected: How many records it refuses.
        first_task: The first episode's task; empty if there is none.
        first_rejection: The first record that it refuses, and why, if there is one.
    """

    format: str
    sureness: float
    episodes: int = 0
    steps: int = 0
    rejected: int = 0
    first_task: str = ""
    first_rejection: RecordError | None = None


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
    episodes = steps = rejected = 0
    first_task = ""
    first_rejection = None
    for reading in read_log(log, claim.reader):
        if isinstance(reading, RecordError):
            rejected += 1
            first_rejection = first_rejection or reading
        elif isinstance(reading, Trajectory):
            episodes += 1
            steps += len(reading.steps)
            first_task = first_task or reading.task
    return Trial(
        format=claim.reader.name,
        sureness=claim.sureness,
        episodes=episodes,
        steps=steps,
        rejected=rejected,
        first_task=first_task,
        first_rejection=first_rejection,
    )
