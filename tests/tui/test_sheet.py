"""A node's texts as a document, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.collection import Collection
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, DISPLAY, Payload
from deltamem_tui.memory.display import Display
from deltamem_tui.text import clean
from deltamem_tui.tui.screens.node_editing import read_document, write_document

TEXT = st.text(max_size=60) | st.sampled_from(
    ["==== execution procedure", "=====\n==== activation condition (x)", "a\n\nb", "=" * 9]
)


TASK, SHOWN = COLLECTIONS["task"], DISPLAY["task"]


@given(TEXT, TEXT, TEXT)
def test_a_document_left_alone_says_what_the_node_says(
    condition: str, procedure: str, termination: str
) -> None:
    texts = [condition, procedure, termination]
    read = read_document(write_document(Payload(*texts), TASK, SHOWN), TASK)
    assert read == Payload(*(clean(text).strip() for text in texts))


@pytest.mark.parametrize("fields", [("note", "note_more"), ("note_more", "note"), ("text",)])
def test_the_fields_are_the_collection_s(fields: tuple[str, ...]) -> None:
    collection, display = Collection(fields, fields[0]), Display("notes", "note")
    payload = {field: f"what {field} says" for field in fields}
    assert read_document(write_document(payload, collection, display), collection) == payload


@pytest.mark.parametrize("field", ["activation condition", "execution procedure", "termination"])
def test_a_heading_that_is_gone_is_reported(field: str) -> None:
    document = write_document(Payload("a", "b"), TASK, SHOWN)
    with pytest.raises(UsageError, match=field):
        read_document(document.replace(field, "something else"), TASK)
