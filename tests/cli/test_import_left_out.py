"""`deltamem import`: what readers leave out by design is told, and nothing is wrong with it."""

from __future__ import annotations

import pytest

from deltamem_tui.memory.episodes import import_report
from tests.cli.support import Program
from tests.trajectory.readers.samples import claude, lines

RETRIED = (
    claude("u1", None, "Fix it."),
    claude("a1", "u1", "Fixed the wrong one."),
    claude("u2", None, "Fix it."),
    claude("u8", None, "Search.", isSidechain=True),
    claude("a2", "u2", "Fixed it."),
)


def test_what_is_left_out_by_design_is_told_and_rejects_nothing(program: Program) -> None:
    log = _log(program, "session.jsonl", lines(*RETRIED))
    answer = program("import", "kitchen", log)
    assert answer.code == 0
    assert "rejected\t0\n" in answer.out
    assert "session.jsonl, line 1: 2 messages are left out: the conversation went" in answer.err
    assert "session.jsonl, line 1: 1 message is left out: the work of sub-agents" in answer.err
    (tried,) = program.json("formats", "try", log).data["logs"][0]["trials"]
    assert (tried["episodes"], tried["rejected"], tried["first_rejection"]) == (1, 0, None)
    again = program.json("import", "kitchen", log)
    assert (again.code, again.document["status"]) == (0, "success")
    assert (again.data["rejected"], again.data["duplicates"]) == (0, 1)
    assert again.data["left_out"]["total"] == 2
    assert again.data["left_out"]["listed"][1] == {
        "message": "1 message is left out: the work of sub-agents is not the session's",
        "source": "session.jsonl",
        "position": "line 1",
        "hint": None,
    }


def test_it_is_told_in_a_line_a_reason(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """To people a few, to programs many, to both how many there are."""
    sessions = ([{**line, "sessionId": f"s{i}"} for line in RETRIED] for i in range(4))
    log = _log(program, "sessions.jsonl", b"".join(lines(*session) for session in sessions))
    answer = program("import", "kitchen", log)
    assert answer.code == 0
    assert answer.err.count("left out:") == 2
    assert answer.err.count(" and 3 more: ") == 2
    monkeypatch.setattr(import_report, "LISTED", 7)
    told = program.json("import", "kitchen", log, "--dry-run").data["left_out"]
    assert (told["total"], len(told["listed"])) == (8, 7)
    assert "more was left out in 1 other place" in program("import", "kitchen", log).err


def _log(program: Program, name: str, content: bytes) -> str:
    path = program.folder / name
    path.write_bytes(content)
    return str(path)
