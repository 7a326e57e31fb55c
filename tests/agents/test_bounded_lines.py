"""Lines that are too long are cut, and nothing else is."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.agents.bounded_lines import BoundedLines


@given(st.lists(st.binary(max_size=30)), st.integers(1, 20))
def test_lines_are_cut_and_nothing_else_is(lines: list[bytes], longest: int) -> None:
    lines = [line.replace(b"\n", b"").replace(b"\r", b"") for line in lines]
    text = b"".join(line + b"\n" for line in lines)
    read = io.BufferedReader(BoundedLines(io.BytesIO(text), longest), buffer_size=7).read()
    assert read == b"".join(line[:longest] + b"\n" for line in lines)
