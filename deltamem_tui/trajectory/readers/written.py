"""An episode written out, as the one line of JSON that a bank keeps of it."""

from __future__ import annotations

from typing import NamedTuple

import orjson

from deltamem_tui.trajectory.model import LogSource, Outcome, Trajectory
from deltamem_tui.trajectory.readers import native
from deltamem_tui.trajectory.secrets.redaction import NOTHING, Redactions


class Written(NamedTuple):
    """An episode as it shall be kept, and what is reported of it.

    Attributes:
        id: Its id.
        line: Its record as one line of JSON, newline included.
        task: Its task.
        steps: How many steps it has.
        outcome: How it ended, and who says so.
        source: Where it was read.
        domain: Its domain; empty if nobody names one.
        redactions: What was taken out of it.
        given: Whether the user's file says that it was a success; None if that is silent.
    """

    id: str
    line: bytes
    task: str
    steps: int
    outcome: Outcome
    source: LogSource
    domain: str = ""
    redactions: Redactions = NOTHING
    given: bool | None = None


def written(trajectory: Trajectory, source: LogSource, redactions: Redactions = NOTHING) -> Written:
    """An episode written out.

    Args:
        trajectory: The episode, admitted and redacted.
        source: Where it was read, as a report shall name it.
        redactions: What was taken out of it.
    """
    record = native.to_record(trajectory)
    return Written(
        id=str(record["id"]),
        line=orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE),
        task=trajectory.task,
        steps=len(trajectory.steps),
        outcome=trajectory.outcome,
        source=source,
        domain=trajectory.domain,
        redactions=redactions,
    )
