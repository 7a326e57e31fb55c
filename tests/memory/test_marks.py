"""The marks of failure records, found in a text that anybody may have written."""

from __future__ import annotations

import pytest

from deltamem_tui.bank.node import Payload
from deltamem_tui.memory.marks import marks_in


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
