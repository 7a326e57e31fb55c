"""The episodes that come with the project, as often as a benchmark needs them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import cycle
from pathlib import Path

from msgspec.structs import replace

from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs

SAMPLE = Path(__file__).parents[1] / "docs" / "sample"
BESIDE = Path(__file__).parents[2] / "shared" / "data"
"""Real logs, which are not part of the project and may not be there."""


@cache
def sample() -> tuple[Trajectory, ...]:
    """Return the sample episodes, once."""
    return tuple(each for each in read_logs([SAMPLE]) if isinstance(each, Trajectory))


def varied(trajectories: tuple[Trajectory, ...]) -> Iterator[Trajectory]:
    """Episodes without end, no two of which are the same: each has its number in its task."""
    for number, trajectory in enumerate(cycle(trajectories)):
        yield replace(trajectory, task=f"{trajectory.task} ({number})")


def written_log(name: str, size: int) -> bytes:
    """Return a log of a format, of about some bytes; empty if it is a database.

    Args:
        name: The format's reader.
        size: The bytes.
    """
    from tests.trajectory.readers.samples import first_logs

    file, data = first_logs()[name]
    if file.endswith(".db"):
        return b""
    return (data.rstrip(b"\n") + b"\n") * max(1, size // len(data))
