"""Every format by its samples: what is read of them, exactly, and whose they are.

`cases/FORMAT.jsonl` has a sample a line: `name`, the `log` as text, its `file` name, the `options`
of the call, and `expected`, all that is read of it in order. After a change that is meant,
`python -m tests.trajectory.readers.test_formats` writes what is read now: read the difference.
"""

from __future__ import annotations

import codecs
import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Notice
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import from_record
from deltamem_tui.trajectory.readers.reading import read_logs
from deltamem_tui.trajectory.readers.registry import READERS, detect
from deltamem_tui.trajectory.validation import redact
from tests.places import SHARED
from tests.trajectory.readers.samples import content

CASES = Path(__file__).with_name("cases")
Case = dict[str, Any]


def cases() -> Iterator[Case]:
    for path in sorted(CASES.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            yield {"format": path.stem, **json.loads(line)}


ALL = list(cases())
# The first of each format's samples, which is of its own making and no trap.
KNOWN = [case for case in ALL if case["format"] != "none"]
FIRST = list({case["format"]: case for case in reversed(KNOWN)}.values())
TEXTS = [case for case in FIRST if not case["file"].endswith(".db")]


def table(found: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "case", found, ids=[f"{case['format']}-{case['name']}" for case in found]
    )


def read(folder: Path, case: Case, data: bytes | None = None) -> list[Any]:
    path = folder / case.get("file", "log")
    path.write_bytes(content(case) if data is None else data)
    try:
        return [_told(each) for each in read_logs([path], **case.get("options", {}))]
    except TrajectoryError as error:
        return [f"refused: {error}"]


def _told(reading: object) -> Any:
    if isinstance(reading, Trajectory):
        record = reading.record()
        return {key: record[key] for key in record if key != "id"}
    kind = "notice" if isinstance(reading, Notice) else "refused"
    assert isinstance(reading, Notice | RecordError)
    return f"{kind}: {reading}"


@table(ALL)
def test_a_sample_is_read_exactly(tmp_path: Path, case: Case) -> None:
    assert read(tmp_path, case) == case["expected"]


def test_no_format_is_without_a_sample() -> None:
    assert {case["format"] for case in FIRST} >= {reader.name for reader in READERS}


@table(FIRST)
def test_a_sample_is_of_its_own_format_only(tmp_path: Path, case: Case) -> None:
    path = tmp_path / case.get("file", "log")
    path.write_bytes(content(case))
    surest, *others = detect(Log(path.name, path))
    assert surest.reader.name == case["format"]
    assert all(other.sureness < surest.sureness for other in others)


def _episodes(found: list[Any]) -> list[Any]:
    return [
        {**each, "source": {**each["source"], "position": ""}}
        for each in found
        if isinstance(each, dict)
    ]


@table(TEXTS)
@pytest.mark.parametrize("trap", ["mark", "gzip", "line breaks", "blank lines"])
def test_the_wrapping_of_a_log_changes_nothing(tmp_path: Path, case: Case, trap: str) -> None:
    data = case["log"].encode()
    wrapped = {
        "mark": codecs.BOM_UTF8 + data,
        "gzip": gzip.compress(data),
        "line breaks": data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
        "blank lines": data + b"\n\n",
    }[trap]
    assert _episodes(read(tmp_path, case, wrapped)) == _episodes(case["expected"])


@table(FIRST)
def test_a_log_cut_anywhere_ends_without_a_crash(tmp_path: Path, case: Case) -> None:
    data = content(case)
    whole = len(_episodes(case["expected"]))
    for share in (0.1, 0.35, 0.6, 0.85, 0.99):
        found = read(tmp_path, case, data[: int(len(data) * share)])
        assert len(_episodes(found)) <= max(whole, 1)


@table(FIRST)
def test_an_episode_is_kept_as_it_is_and_has_no_secret(case: Case) -> None:
    for record in case["expected"]:
        if isinstance(record, dict):
            episode = from_record(record)
            assert {"id": episode.id, **record} == msgspec.to_builtins(episode.record())
            assert redact(episode)[0] is episode


# What happens in the sessions beside the project, as read by a person: their format, and for each
# step its tool (`-` for words) and how it ended.
_SUM = "Write the sum of the numbers in numbers.txt into total.txt"
REAL = {
    "codex/*T11-41-21-*": (
        "codex",
        _SUM,
        "exec_command ok, exec_command error, exec_command ok, -",
    ),
    "codex/*T11-41-48-*": (
        "codex",
        _SUM,
        "exec_command ok, exec_command error, exec_command ok, -, exec_command ok, -",
    ),
    "codex/*T11-49-07-*": (
        "codex",
        "Please ask the memory",
        "exec_command ok, mcp__deltamem__recall, -",
    ),
    "copilot/events.jsonl": ("copilot-cli", _SUM, "bash ok, bash error, -"),
    "gemini-cli/*T11-48-*": (
        "gemini-cli",
        _SUM,
        "run_shell_command ok, run_shell_command error, write_file ok, -, run_shell_command ok, -",
    ),
    "gemini-cli/*T11-49-*": ("gemini-cli", "", ""),
    "opencode/*.json": ("opencode", _SUM, "bash ok, bash error, write ok, -"),
    "qwen-code/*.jsonl": (
        "qwen-code",
        _SUM,
        "run_shell_command ok, run_shell_command error, write_file error, -",
    ),
    "claude-code/0466a0e8*": ("claude-code", _SUM, "Bash ok, Bash error, Read, Write error, -"),
    "claude-code/bc11517a*": (
        "claude-code",
        _SUM,
        "Bash ok, Bash error, Read, Write, -, Bash ok, -, Bash ok, -, Bash ok, -, Bash ok, -",
    ),
    "claude-code/c2614063*.jsonl": ("claude-code", "Please use a subagent", "Agent, -"),
    "claude-code/faf42964*": ("claude-code", "Explain what a monad is", "-"),
}


@pytest.mark.parametrize("pattern", REAL)
def test_a_session_of_a_real_program_is_read_as_a_person_reads_it(pattern: str) -> None:
    found = sorted((SHARED / "real_sessions").glob(pattern))
    if not found:
        pytest.skip("the sample data are not here")
    name, task, steps = REAL[pattern]
    readings = list(read_logs(found[:1]))
    assert not [each for each in readings if isinstance(each, RecordError)]
    episodes = [each for each in readings if isinstance(each, Trajectory)]
    assert len(episodes) == bool(task)
    for each in episodes:
        assert (each.source.format, each.task, each.environment) == (
            name,
            task,
            "Working directory: ~/proj",
        )
        told = (f"{step.tool or '-'} {step.status or ''}".strip() for step in each.steps)
        assert ", ".join(told) == steps
        words = (step.observation for step in each.steps)
        assert not any("PGID" in text or "Chunk ID" in text for text in words)


def written() -> None:
    """Write what is read of every sample now."""
    for path in sorted(CASES.glob("*.jsonl")):
        found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        with tempfile.TemporaryDirectory() as folder:
            for case in found:
                case["expected"] = read(Path(folder), case)
        path.write_bytes(b"".join(orjson.dumps(case) + b"\n" for case in found))


if __name__ == "__main__":
    written()
