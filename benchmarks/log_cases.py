"""Print which logs are read as the expectations beside them say.

`python -m benchmarks.log_cases [FOLDER]`: `NAME.expected.json` beside `NAME.*` holds the episodes
(task, steps, outcome, and what else it names), and `rejected` where some of it is to be refused.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.samples import BESIDE
from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reading import read_logs

CASES = BESIDE.parent / "cases" / "logs"
_OUTCOMES = {None: "unknown", True: "success", False: "failure"}


def main(folder: Path) -> int:
    """Print a line a case, what differs, and how many are right.

    Args:
        folder: The folder of the cases.

    Returns:
        The exit code: 0 if all are right.
    """
    right = 0
    expectations = sorted(folder.rglob("*.expected.json"))
    for path in expectations:
        faults = differences(path)
        right += not faults
        print(f"{'wrong' if faults else 'right'}  {path.name.removesuffix('.expected.json')}")
        for fault in faults:
            print(f"       {fault}")
    print(f"{right} of {len(expectations)} right", file=sys.stderr)
    return 0 if right == len(expectations) else 1


def differences(path: Path) -> list[str]:
    """Return what a log is read as otherwise than its expectation says, a line each."""
    expected = json.loads(path.read_text("utf-8"))
    stem = path.name.removesuffix(".expected.json")
    (log,) = (each for each in path.parent.glob(f"{stem}.*") if each != path)
    try:
        found = list(read_logs([log]))
    except TrajectoryError as error:
        found = [RecordError(str(error))]
    episodes = [_record(each) for each in found if isinstance(each, Trajectory)]
    faults = [
        f"{name}: expected {want!r}, got {got!r}"
        for name, want, got in _compared(expected, episodes)
        if want != got
    ]
    refused = [each for each in found if isinstance(each, RecordError)]
    told = [expected, *expected["episodes"]]
    most = sum(each.get("rejected", 0) for each in told) if told[1:] else len(refused)
    if len(refused) != most:
        faults += [f"refused: {each}" for each in refused] or [f"expected {most} refusals"]
    return faults


def _record(episode: Trajectory) -> dict[str, Any]:
    steps = [
        {"action": each.action, "observation": each.observation, "thought": each.thought}
        for each in episode.steps
    ]
    return {
        "task": episode.task,
        "steps": steps,
        "outcome": _OUTCOMES[episode.outcome.success],
        "id": episode.metadata.get("id", ""),
        "domain": episode.domain,
        "environment": episode.environment,
        "agent": episode.agent,
    }


def _compared(
    expected: dict[str, Any], episodes: list[dict[str, Any]]
) -> list[tuple[str, object, object]]:
    rows: list[tuple[str, object, object]] = [
        ("episodes", len(expected["episodes"]), len(episodes))
    ]
    for want, got in zip(expected["episodes"], episodes, strict=False):
        rows += [
            (key, want[key], got[key])
            for key in want
            if key in got and key not in ("steps", "note")
        ]
        rows.append(("steps", len(want["steps"]), len(got["steps"])))
        for number, (step, read) in enumerate(zip(want["steps"], got["steps"], strict=False), 1):
            full = {"thought": "", **step}
            rows += [(f"step {number} {key}", full[key], read[key]) for key in full]
    return rows


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else CASES))
