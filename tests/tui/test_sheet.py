"""A node's text as a sheet, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.deltamem.collections import Payload
from deltamem_tui.text import clean
from deltamem_tui.tui.models.edit_document import read_sheet, write_sheet

TEXT = st.text(max_size=60) | st.sampled_from(
    ["==== execution procedure", "=====\n==== activation condition (x)", "a\n\nb", "=" * 9]
)


@given(TEXT, TEXT, TEXT, st.sampled_from(["task", "env"]))
def test_a_sheet_left_alone_says_what_the_node_says(
    condition: str, procedure: str, termination: str, tree: str
) -> None:
    texts = [condition, procedure, termination]
    node = Node("0" * 16, None, "root", "success", 1, Payload(*texts))
    read = read_sheet(write_sheet(tree, node))
    assert read == Payload(*(clean(text).strip() for text in texts))


@pytest.mark.parametrize("field", ["activation condition", "execution procedure", "termination"])
def test_a_heading_that_is_gone_is_told(field: str) -> None:
    sheet = write_sheet("task", Node("0" * 16, None, "root", "success", 1, Payload("a", "b")))
    with pytest.raises(UsageError, match=field):
        read_sheet(sheet.replace(field, "something else"))
