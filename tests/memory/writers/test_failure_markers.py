"""The marks of failure records, found in a text that anybody may have written."""

from __future__ import annotations

import pytest

from deltamem_tui.memory.deltamem.definition import Payload
from deltamem_tui.memory.writers.failure_markers import marks_in


@pytest.mark.parametrize(
    ("procedure", "marks"),
    [
        ("", ()),
        ("1. take it\n2. heat it", ()),
        ("[TRIED] a; b\n[FAILED] c → no\n[TRIED] d", ("[TRIED]", "[FAILED]")),
        (
            "- [FAILED] a\n  * [UNEXPLORED] b\n1. [PARTIAL] half",
            ("[FAILED]", "[UNEXPLORED]", "[PARTIAL]"),
        ),
        ("[TRAP] bought at once\n[FIX] compare first", ("[TRAP]",)),
        ("press the key that says [FAILED]", ()),
        ("[failed] is no mark", ()),
    ],
)
def test_marks_stand_at_the_beginning_of_a_line(procedure: str, marks: tuple[str, ...]) -> None:
    assert marks_in(Payload("when", procedure)) == marks


def test_a_mark_stands_at_the_beginning_of_its_own_line() -> None:
    payload = Payload("when", "1\n\n - 2) [TRIED] go\nthen [FAILED] stay\n\n\n[TRAP] fall")
    assert marks_in(payload) == ("[TRIED]", "[TRAP]")


@pytest.mark.parametrize("line", ["1\n", "\n", "1 2 3 4 5 6 7 8 9\n", "=" * 1000 + "\n"])
def test_very_many_lines_without_a_letter_are_looked_at_once(line: str) -> None:
    """From every line's beginning on it would be hours, in which no key answers."""
    text = line * (1_000_000 // len(line))
    assert marks_in(Payload("when", text + "[TRAP]")) == ("[TRAP]",)
