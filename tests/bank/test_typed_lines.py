"""Many lines at once: they say what `codec` reads in them one by one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank import codec, typed_lines
from deltamem_tui.bank.node import Node, Origin, Payload, born
from tests.bank.support import node
from tests.bank.written import IDS, TEXTS, as_node, nodes


@given(st.lists(nodes(), max_size=4))
def test_typed_lines_are_the_nodes_that_were_written(written: list[Node]) -> None:
    lines = [codec.to_line(each) for each in written]
    assert list(map(as_node, typed_lines.decode(lines, range(len(lines)), "f"))) == written
    outline = typed_lines.outline(lines, range(len(lines)), "f")
    assert outline.ids == [each.id for each in written]
    assert outline.parents == [each.parent for each in written]
    assert outline.depths == [each.depth for each in written]
    assert outline.revisions == [each.revision for each in written]
    assert outline.failures == [each.label == "failure" for each in written]
    assert outline.residuals == [each.kind == "residual" for each in written]
    assert outline.consolidated == [each.consolidated for each in written]
    assert outline.deleted == [each.deleted for each in written]


@pytest.mark.parametrize("said", [{"parent": None}, {"parent": "0" * 16, "deleted": True}, {}])
def test_claims_are_read_as_codec_reads_them(said: dict[str, object]) -> None:
    record = {**json.loads(codec.to_line(node("a"))), "meant": said}
    line = json.dumps(record).encode()
    (typed,) = typed_lines.decode([line], [0], "f")
    assert typed.meant == typed_lines.Claims(**said)  # type: ignore[arg-type]
    assert codec.meant(record, line) == said


def test_a_long_line_of_texts_that_are_not_too_long_is_read() -> None:
    text = "x" * (codec.TEXT_LIMIT // 2)
    long = replace(node("a"), payload=Payload(text, text, text))
    (typed,) = typed_lines.decode([codec.to_line(long)], [0], "f")
    assert as_node(typed) == long


@given(st.sampled_from(["task", "env"]), st.booleans(), st.tuples(*[TEXTS] * 5), st.lists(IDS))
def test_a_node_that_still_says_what_it_was_born_with_is_not_altered(
    tree: str, below: bool, texts: tuple[str, ...], fused: list[str]
) -> None:
    parent = node("parent") if below else None
    origin = Origin(texts[3], "stated", "rules", texts[4], "", tuple(fused))
    child = born(tree, parent, "failure", Payload(*texts[:3]), origin)  # type: ignore[arg-type]
    other = replace(child, payload=Payload(texts[0] + "!", *texts[1:3]))
    lines = [codec.to_line(each) for each in (child, other, replace(other, revision=1))]
    assert typed_lines.outline(lines, range(3), "f", tree).altered == [1]
    assert typed_lines.outline(lines, range(3), "f").altered == ()


def test_a_root_that_a_merge_made_one_is_known_by_the_parent_it_was_born_below() -> None:
    child = node("child", node("parent"))
    loose = replace(child, parent=None, kind="root", depth=1)
    kept = {**json.loads(codec.to_line(loose)), "meant": {"parent": child.parent}}
    lines = [codec.to_line(child), codec.to_line(loose), json.dumps(kept).encode()]
    assert typed_lines.outline(lines, range(3), "f", "task").altered == [1]
