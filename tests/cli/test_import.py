"""`deltamem import`: redaction, declared formats, and what the report says."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes import importer
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
    assert "openai key mentions redacted\t1\n" in answer.out
    assert SECRET.encode() not in kept(program)
    assert ADDRESS.encode() in kept(program)
    again = program.json("import", "kitchen", log).data
    assert (again["duplicates"], again["redaction"]) == (2, "secrets")
    assert again["redactions"] == {"openai key": 1}


def test_secrets_stay_only_when_asked_and_it_is_said(program: Program) -> None:
    answer = program("import", "kitchen", program.log(LEAKY), "--no-redact")
    assert answer.code == 0
    assert "nothing was redacted" in answer.err
    assert SECRET.encode() in kept(program)
    both = program("import", "kitchen", program.log(), "--no-redact", "--redact-personal")
    assert both.code == 2
    assert "contradict" in both.error


def test_the_report_counts_what_was_read(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_log(folder / "one.jsonl", [heat("bread"), heat("bread"), LEAKY])
    broken = write_log(folder / "two.jsonl", [heat("soup", success=None), heat("tea")])
    broken.write_text(broken.read_text() + '{"task": "cut\n')
    (folder / "odd.md").write_text("no log at all")
    answer = program.json("import", "kitchen", str(folder), "--outcome", "failure")
    assert answer.code == 3
    counts = ("formats", "episodes", "steps", "successes", "failures", "outcomes", "duplicates")
    assert [answer.data[name] for name in counts] == [
        *(["native"], 5, 20, 4, 1, {"stated": 4, "user": 1}, 1)
    ]
    told = [(error["source"], error.get("position")) for error in answer.document["errors"]]
    assert told == [("two.jsonl", "line 3")]
    plain = program("import", "kitchen", str(folder), "--dry-run")
    assert "read as\tnative\nsteps\t20\n" in plain.out
    assert plain.err.count("error: ") == 1
    assert "odd.md: skipped, not a log" in plain.err


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


def test_what_waits_for_an_outcome_is_named_with_the_command_that_gives_it(
    program: Program,
) -> None:
    log = program.log(*(heat(t, success=None) for t in "abcdef"))
    dry = program("import", "kitchen", log, "--dry-run")
    assert not any(line.startswith("  ") for line in dry.err.splitlines()), "others wait there"
    answer = program("import", "kitchen", log)
    named = [line.split() for line in answer.err.splitlines() if line.startswith("  ")]
    assert len(named) == 6  # five, and how many there are
    first = named[1][0]
    assert "`deltamem episode outcome kitchen ID… success|failure`" in answer.err
    assert program("outcome", "kitchen", first, "success").code == 0
