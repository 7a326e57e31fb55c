"""Lines of nodes: what is written is read back, what is wrong with a stranger's line is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from deltamem_tui.bank import node as codec
from deltamem_tui.bank.node import (
    Collection,
    Line,
    Meant,
    Node,
    Origin,
    born,
)
from deltamem_tui.errors import BankCorruptError
from deltamem_tui.memory.deltamem.definition import COLLECTIONS
from deltamem_tui.memory.deltamem.rules import Payload
from tests.bank.support import node

TREE = COLLECTIONS["task"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
IDS = st.text("0123456789abcdef", min_size=16, max_size=16)
ORIGINS = st.builds(
    Origin,
    trajectory=TEXTS,
    outcome_source=TEXTS,
    extractor=TEXTS,
    model=TEXTS,
    prompt=TEXTS,
    nodes=st.lists(IDS, max_size=3).map(tuple),
    sources=st.lists(IDS, max_size=3).map(tuple),
)


@st.composite
def nodes(draw: st.DrawFn, collection: Collection = TREE) -> Node:
    depth = draw(st.integers(1, collection.depth))
    return Node(
        id=draw(IDS),
        parent=None if depth == 1 else draw(IDS),
        kind="root" if depth == 1 else "residual",
        label=draw(st.sampled_from(["success", "failure"])),
        depth=depth,
        payload={name: draw(TEXTS) for name in collection.fields},
        consolidated=draw(st.booleans()),
        revision=draw(st.integers(0, 100)),
        deleted=draw(st.booleans()),
        origin=draw(ORIGINS),
    )


def read(*lines: bytes, collection: Collection = TREE) -> list[Line]:
    return codec.read_lines(lines, map(str, range(len(lines))), collection, "file")


def read_node(line: bytes, collection: Collection = TREE) -> Node:
    return codec.from_line(line, collection, "file", "line 1")


def refusal(record: object, collection: Collection = TREE) -> str:
    line = record if isinstance(record, bytes) else json.dumps(record).encode()
    sound = codec.to_line(structs.replace(node("a"), payload=dict.fromkeys(collection.fields, "")))
    with pytest.raises(BankCorruptError) as caught:
        codec.read_lines([sound, line], ["line 6", "line 7"], collection, "task.nodes.jsonl")
    text = str(caught.value)
    assert text.startswith("task.nodes.jsonl, line 7: not a node: ")
    assert text.isprintable()
    return text


@given(st.lists(nodes(), max_size=4))
def test_nodes_come_back_as_they_were_written(written: list[Node]) -> None:
    lines = [codec.to_line(each) for each in written]
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    assert [read_node(line) for line in lines] == written


ROOT = json.loads(codec.to_line(node("root")))


@pytest.mark.parametrize("key", ROOT)
def test_a_missing_field_is_named(key: str) -> None:
    record = json.loads(json.dumps(ROOT))
    del record[key]
    assert f"missing required field `{key}`" in refusal(record)


@pytest.mark.parametrize("kept", [{"parent": None}, {"parent": "0" * 16, "deleted": True}, {}])
def test_what_a_node_claims_beside_its_line_is_read(kept: dict[str, Any]) -> None:
    (record,) = read(json.dumps({**ROOT, "meant": kept}).encode())
    assert record.meant == Meant(**kept)


def test_a_claim_that_a_search_would_not_find_is_refused() -> None:
    line = json.dumps({**ROOT, "meant": {"deleted": False}}).encode()
    assert read_node(line).id == ROOT["id"]
    hidden = line.replace(b'"meant"', rb'"\u006deant"')
    assert json.loads(hidden) == json.loads(line)
    assert "`meant`" in refusal(hidden)


@given(st.binary(max_size=40), st.integers(0, 300))
def test_no_damage_ends_in_anything_but_a_node_or_an_error(damage: bytes, at: int) -> None:
    line = codec.to_line(node("root"))
    broken = line[:at] + damage + line[at + len(damage) :]
    try:
        found = read_node(broken)
    except BankCorruptError:
        return
    assert read_node(codec.to_line(found)) == found


@given(st.sampled_from(list(COLLECTIONS)), st.booleans(), st.tuples(*[TEXTS] * 5), st.lists(IDS))
def test_a_node_is_as_born_while_it_says_what_its_id_was_made_from(
    tree: str, below: bool, texts: tuple[str, ...], fused: list[str]
) -> None:
    parent = node("parent") if below else None
    origin = Origin(texts[3], "stated", "rules", texts[4], "", tuple(fused))
    child = born(tree, parent, "failure", Payload(*texts[:3]), origin)
    other = structs.replace(child, payload=Payload(texts[0] + "!", *texts[1:3]))
    records = read(codec.to_line(child), codec.to_line(other))
    assert [codec.is_as_born(tree, each, TREE) for each in records] == [True, False]


def test_a_root_that_a_merge_made_one_is_known_by_the_parent_it_was_born_below() -> None:
    child = node("child", node("parent"))
    loose = structs.replace(child, parent=None, kind="root", depth=1)
    kept = {**json.loads(codec.to_line(loose)), "meant": {"parent": child.parent}}
    records = read(codec.to_line(child), codec.to_line(loose), json.dumps(kept).encode())
    assert [codec.is_as_born("task", each, TREE) for each in records] == [True, False, True]
