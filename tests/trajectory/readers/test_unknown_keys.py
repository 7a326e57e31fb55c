"""Keys of the project's own records that nobody knows are told, once a log, and refuse nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.notice import Notice
from deltamem_tui.trajectory.readers import from_record, read_logs, to_record
from deltamem_tui.trajectory.readers.reading import read_written
from deltamem_tui.trajectory.readers.written import Written
from tests.trajectory.readers.log_files import lines

STEP = {"action": "look", "observation": "a room"}
FINE = {"task": "t", "steps": [STEP], "outcome": {"success": True}}
WAYS = pytest.mark.parametrize("read", [read_logs, read_written])


@WAYS
def test_each_is_told_once_where_it_first_stands(
    tmp_path: Path, read: Callable[[Path], list[object]]
) -> None:
    odd = {
        **FINE,
        "env": "a hall",
        "outcome": {"succes": True},
        "source": {"line": "3"},
        "steps": [STEP, {**STEP, "tool": "eyes"}, {**STEP, "tool": "hands"}],
    }
    (tmp_path / "log.jsonl").write_bytes(lines(FINE, odd, odd))
    found = list(read(tmp_path / "log.jsonl"))
    assert sum(isinstance(each, Trajectory | Written) for each in found) == 3
    assert [str(each) for each in found if isinstance(each, Notice)] == [
        f"log.jsonl, line 2: an unknown key `{name}` is left out ({hint})"
        for name, hint in (
            ("env", "did you mean environment?"),
            ("outcome.succes", "did you mean success?"),
            ("source.line", "known are file, position, format"),
            ("steps[].tool", "known are action, observation, thought, reward"),
        )
    ]


@WAYS
def test_a_log_of_many_keys_is_not_told_for_ever(
    tmp_path: Path, read: Callable[[Path], list[object]]
) -> None:
    (tmp_path / "log.jsonl").write_bytes(lines(*({**FINE, f"x{n}": n} for n in range(60))))
    told = [str(each) for each in read(tmp_path / "log.jsonl") if isinstance(each, Notice)]
    assert len(told) == 41
    assert told[-1] == "log.jsonl, line 41: more unknown keys are left out, and not told"


def test_what_the_project_writes_has_none(tmp_path: Path) -> None:
    full = {
        **FINE,
        "environment": "a hall",
        "outcome": {"success": False, "reward": 0.5, "source": "judge", "reason": "why"},
        "source": {"file": "f", "position": "line 1", "format": "react"},
        "steps": [{**STEP, "thought": "hm", "reward": 0.0}],
        "domain": "alfworld",
        "agent": "a",
        "metadata": {"anything": "goes"},
    }
    (tmp_path / "log.jsonl").write_bytes(lines(to_record(from_record(full))))
    (found,) = read_logs(tmp_path / "log.jsonl")
    assert isinstance(found, Trajectory)
