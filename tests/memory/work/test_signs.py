"""Weak signs of how a session ended: what they say, and where they say nothing."""

from __future__ import annotations

from typing import Any

import pytest

from deltamem_tui.memory.work.signs import is_weak, weak_outcome
from deltamem_tui.trajectory.model import Step, Trajectory


def ran(command: str, status: Any = "ok") -> Step:
    return Step(command, "out", tool="Bash", arguments={"command": command}, status=status)


def said(words: str) -> Step:
    return Step("It is done.", words, kind="message", speaker="user")


EDIT = Step("Edit(a.py)", "ok", tool="Edit", arguments={"file_path": "a.py"}, status="ok")
PASSED, FAILED = ran("python3 -m pytest -q"), ran("python3 -m pytest -q", "error")
COMMIT = ran('git add -A && git commit -m "Fix it"')

CASES: list[tuple[list[Step], bool | None]] = [
    ([EDIT, PASSED], True),
    ([EDIT, PASSED, ran("git status")], True),
    ([PASSED, EDIT], None),
    ([EDIT, FAILED], False),
    ([FAILED, EDIT, PASSED], True),
    ([EDIT, COMMIT], True),
    ([EDIT, ran("git commit -m x", "error")], None),
    ([EDIT, FAILED, COMMIT], None),
    ([ran("ls")], None),
    ([ran("npm test", "error"), said("Thanks, that works.")], True),
    ([EDIT, said("Thank you! But can you also rename it?")], None),
    ([PASSED, said("No, that is not what I asked for.")], False),
    ([PASSED, said("It still fails on my machine")], False),
    ([PASSED, said("No problem, thanks!")], True),
    ([PASSED, said("It still works.")], True),
    ([PASSED, said("Stop here, perfect")], True),
    ([PASSED, said("This is not bad at all")], True),
    ([PASSED, said("Stop, that breaks the build")], False),
    ([EDIT, said("Now add a test")], None),
    ([EDIT, said("Nothing else")], None),
    ([EDIT, said("perfectly")], None),
    ([said("thanks"), EDIT], None),
    ([], None),
]


@pytest.mark.parametrize(("steps", "success"), CASES)
def test_signs_say_weakly_how_it_ended(steps: list[Step], success: bool | None) -> None:
    found = weak_outcome(Trajectory("Fix it", "", tuple(steps)))
    assert (found and found.success) == success
    if found:
        assert is_weak(found)
        assert found.source == "judge"


def test_a_check_that_is_not_there_says_nothing() -> None:
    missing = Step(
        "ruff check .",
        "bash: ruff: command not found",
        tool="Bash",
        arguments={"command": "ruff check ."},
        status="error",
    )
    assert weak_outcome(Trajectory("Lint it", "", (EDIT, missing))) is None
