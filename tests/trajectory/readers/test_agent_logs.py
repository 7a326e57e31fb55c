"""Every sample is told from all other formats, and every published sample is read or refused."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

import pytest

from deltamem_tui.errors import DeltaMemError, LogFormatError, RecordError
from deltamem_tui.trajectory.logs.limits import LogLimits
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs, readers
from tests.places import PUBLISHED
from tests.trajectory.readers.agent_logs import INSPECT_ARCHIVE
from tests.trajectory.readers.samples import archive, notices, readings, refusals


def test_an_archive_that_is_no_evaluation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogFormatError, match=r"a zip archive of no format.*unpack it"):
        readings(tmp_path, archive({"a.json": {}}))
    with pytest.raises(LogFormatError, match="a damaged zip archive"):
        readings(tmp_path, archive({"a.json": {}})[:-10])
    (tmp_path / "log.zip").write_bytes(archive({"header.json": {}}))
    (told,) = read_logs([tmp_path / "log.zip"], format="aider")
    assert isinstance(told, RecordError)
    assert "zip" in str(told)


def test_a_zip_bomb_is_stopped(tmp_path: Path) -> None:
    bomb = {**INSPECT_ARCHIVE, "samples/z_epoch_1.json": "x" * 3_000_000}
    path = tmp_path / "log.eval"
    path.write_bytes(archive(bomb))
    limits = LogLimits(expansion=100, expansion_free_bytes=100_000)
    *good, told = read_logs([path], limits=limits)
    assert len(good) == 2
    assert isinstance(told, RecordError)
    assert "unpacks to more than 100 times its size" in str(told)


def test_a_member_that_cannot_be_unpacked_is_told_and_passed_over(tmp_path: Path) -> None:
    stored = archive(INSPECT_ARCHIVE, zipfile.ZIP_STORED)
    # One letter inside the first sample's data: its checksum no longer fits.
    found = readings(tmp_path, stored.replace(b"Fix the parser.", b"Fix the parses.", 1))
    assert len(refusals(found)) == 1
    assert "samples/calc-7_epoch_10.json" in str(refusals(found)[0])
    assert len(found) == 2


def _deep(inner: str) -> str:
    return f'[{{"content": {inner}}}]'


_DEEP_RECORDS = """
{"messages": DEEP, "sessionId": "x"}
{"role": "user", "content": DEEP}
{"type": "assistant", "uuid": "x", "message": {"content": DEEP}}
{"eval": {"task": 1}, "samples": [{"messages": DEEP, "input": DEEP, "attachments": {"a": "b"}}]}
{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "x", "attributes": [VALUE]}]}]}]}
{"name": "x", "trace_id": "x", "attributes": {"llm.input_messages.DOTS": 1}}
{"trace": {"id": "x", "input": DEEP}, "observations": [{"type": "GENERATION", "input": DEEP}]}
{"id": "x", "run_type": "llm", "inputs": {"messages": DEEP}, "outputs": DEEP}
{"attempts": DEEP}
"""


@pytest.mark.parametrize("record", _DEEP_RECORDS.strip().splitlines())
def test_deep_values_break_no_reader(tmp_path: Path, record: str) -> None:
    deep, values = '"end"', '{"stringValue": "end"}'
    for _ in range(450):
        deep = _deep(deep)
    for _ in range(300):
        values = f'{{"arrayValue": {{"values": [{values}]}}}}'
    value = f'{{"key": "gen_ai.input.messages", "value": {values}}}'
    content = record.replace("DEEP", deep).replace("VALUE", value).replace("DOTS", "a." * 3000)
    path = tmp_path / "deep.json"
    path.write_text(content)
    for reader in readers():
        for found in read_logs([path], format=reader.name):
            assert isinstance(found, Trajectory | RecordError)


# The files of each format, how many episodes they hold, and how many of what they hold is none.
_PUBLISHED = {
    "SWE-agent+SWE-agent": {"swe-agent": 18},
    "SWE-agent+mini-swe-agent": {"mini-swe-agent": 2, "refused": 1},
    "All-Hands-AI+OpenHands": {"openhands": 5},
    "d-kimuson+claude-code-viewer": {"claude-code": 4, "left out": 1},
    "daaain+claude-code-log": {"claude-code": 4, "refused": 6},
    "AcidicSoil+codex-session-view": {"codex": 1},
    "specstoryai+getspecstory": {"specstory": 5, "refused": 2},
    "Aider-AI+aider": {"aider": 97, "refused": 200},
    "Arize-ai+phoenix": {"atif": 6, "otel": 1},
    "UKGovernmentBEIS+inspect_ai": {"inspect-ai": 4},
    "langfuse+langfuse": {"langfuse": 4, "left out": 1},
    "letta-ai+agent-file": {"refused": 3},
    "open-telemetry+semantic-conventions": {"refused": 3},
}


@pytest.mark.parametrize("repository", _PUBLISHED)
def test_published_samples(repository: str) -> None:
    folder = PUBLISHED / repository
    if not folder.exists():
        pytest.skip("the sample data are not here")
    counts: Counter[str] = Counter()
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.startswith("LICENSE"):
            continue
        try:
            found = list(read_logs([path]))
        except DeltaMemError:
            counts["refused"] += 1
            continue
        for item in found:
            kind = "left out" if notices([item]) else "refused"
            name = item.source.format if isinstance(item, Trajectory) else kind
            counts[name] += 1
            assert isinstance(item, Trajectory) or (item.message and item.source)
    assert counts == _PUBLISHED[repository]
