"""What the small logs of the benchmarks' formats are written with."""

from __future__ import annotations

import json
from typing import NamedTuple

from deltamem_tui.trajectory.model import LogSource, Outcome, Trajectory

YES, NO = Outcome(True, source="stated"), Outcome(False, source="stated")

PIXELS = "data:image/png;base64," + "iVBORw0KGgo" * 40


class Sample(NamedTuple):
    data: bytes
    episodes: list[Trajectory]


def dumped(*values: object, indent: int | None = None) -> bytes:
    return "\n".join(json.dumps(v, ensure_ascii=False, indent=indent) for v in values).encode()


def paid(reward: float) -> Outcome:
    return Outcome(reward >= 1.0, reward, "stated")


def at(position: str) -> LogSource:
    return LogSource(position=position)


def called(name: str, identity: str, arguments: str) -> dict[str, object]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}
