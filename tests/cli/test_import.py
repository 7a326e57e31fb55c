"""`deltamem import`: redaction, declared formats, and what the report says."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes import importer
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.trajectory.readers import reading
from tests.bank.support import file_bytes
from tests.cli.support import Program, heat, write_log

SECRET = "sk-" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7xC0uF"
ADDRESS = "ada@lovelace.org"
LEAKY = heat("bread") | {"environment": f"A shell. OPENAI_API_KEY={SECRET} by {ADDRESS}"}


def kept(program: Program) -> bytes:
    return b"".join(file_bytes(program.bank).values())


def test_secrets_never_reach_the_bank_and_are_counted(program: Program) -> None:
    log = program.log(LEAKY, heat("soup"))
    answer = program("import", "kitchen", log)
    assert answer.code == 0
    assert "redacted openai key\t1\n" in answer.out
    assert SECRET.encode() not in kept(program)
    assert ADDRESS.encode() in kept(program)
    again = program.json("import", "kitchen", log).data
    assert (again["duplicates"], again["redaction"]) == (2, "secrets")
    assert again["redactions"] == again["files"][0]["redactions"] == {"openai key": 1}


def test_secrets_stay_only_when_asked_and_it_is_said(program: Program) -> None:
    answer = program("import", "kitchen", program.log(LEAKY), "--no-redact")
    assert answer.code == 0
    assert "nothing was redacted" in answer.err
    assert SECRET.encode() in kept(program)
    both = program("import", "kitchen", program.log(), "--no-redact", "--redact-personal")
    assert both.code == 2
    assert "contradict" in both.error


def test_the_report_has_a_row_per_file(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_log(folder / "one.jsonl", [heat("bread"), heat("bread"), LEAKY])
    broken = write_log(folder / "two.jsonl", [heat("soup", success=None), heat("tea")])
    broken.write_text(broken.read_text() + '{"task": "cut\n')
    (folder / "odd.md").write_text("no log at all")
    answer = program.json("import", "kitchen", str(folder), "--outcome", "failure")
    assert answer.code == 3
    rows = {row["source"]: row for row in answer.data["files"]}
    assert rows["one.jsonl"] == {
        "source": "one.jsonl",
        "formats": ["native"],
        "episodes": 3,
        "steps": 12,
        "successes": 3,
        "failures": 0,
        "outcomes": {"stated": 3},
        "duplicates": 1,
        "redactions": {"openai key": 1},
        "rejected": 0,
    }
    assert rows["two.jsonl"]["outcomes"] == {"user": 1, "stated": 1}
    assert (rows["two.jsonl"]["failures"], rows["two.jsonl"]["rejected"]) == (1, 1)
    assert "odd.md" not in rows
    told = [(error["source"], error.get("position")) for error in answer.document["errors"]]
    assert told == [("two.jsonl", "line 3")]
    plain = program("import", "kitchen", str(folder), "--dry-run")
    assert "native\tone.jsonl\t3\t12\t3\t0\t0\tfrom log 3\t3\t1\t0\n" in plain.out
    assert plain.err.count("error: ") == 1
    assert "odd.md: skipped, not a log" in plain.err


def declare(program: Program, text: str) -> str:
    (program.folder / "my.toml").write_text(text)
    return "my.toml"


TOML = 'name = "mine"\ntask = "q"\nsteps = "s"\n[step]\naction = "a"\n[outcome]\nsuccess = "ok"\n'


def test_a_declared_format_is_read(program: Program) -> None:
    log = program.folder / "runs.jsonl"
    run = {"q": "go home", "s": [{"a": "walk"}], "ok": True}
    log.write_text(json.dumps(run) + "\n" + json.dumps(run | {"s": [{}]}) + "\n")
    answer = program.json(
        "import", "kitchen", str(log), "--format", declare(program, TOML), "--domain", "town"
    )
    assert answer.code == 3
    (record,) = answer.data["trajectories"]
    assert (record["task"], record["format"], record["success"]) == ("go home", "mine", True)
    assert answer.document["errors"][0]["position"] == "line 2"
    assert list(episodes(Bank.open(program.bank)))[-1].domain == "town"


def test_a_folder_without_files_is_no_import(program: Program) -> None:
    (program.folder / "nothing").mkdir()
    answer = program("import", "kitchen", "nothing")
    assert answer.code == 1
    assert answer.error == "nothing: there is no file in this folder"


def test_the_table_of_files_is_headed_on_a_pipe_too(program: Program) -> None:
    lines = program("import", "kitchen", program.log()).out.splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("format\t")]
    head, row = lines[at].split("\t"), lines[at + 1].split("\t")
    assert dict(zip(head, row, strict=True))["duplicates"] == "4"


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_says_how_many_episodes_were_kept(
    program: Program, monkeypatch: pytest.MonkeyPatch, presses: int
) -> None:
    real = reading.read_logs

    def pressed(*args: Any, **named: Any) -> Iterator[Any]:
        for index, each in enumerate(real(*args, **named)):
            for _ in range(presses if index == 3 else 0):
                signal.raise_signal(signal.SIGINT)
            yield each

    monkeypatch.setattr(reading, "read_logs", pressed)
    monkeypatch.setattr(importer, "_BATCH_EPISODES", 2)
    before = len(Bank.open(program.bank).episodes)
    at_ctrl_c = signal.getsignal(signal.SIGINT)
    try:
        answer = program("import", "kitchen", program.log(*map(heat, "abcdef")))
    finally:
        signal.signal(signal.SIGINT, at_ctrl_c)
    assert answer.code == 130
    new = 3 if presses == 1 else 2
    assert f"interrupted ({new} new episodes are kept; import again" in answer.err
    assert len(Bank.open(program.bank).episodes) == before + new
