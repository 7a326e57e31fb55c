"""Lines of nodes: what is written is read back, and a stranger's line is told what is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank import codec, typed_lines
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import BankCorruptError
from tests.bank.support import node
from tests.bank.written import as_node, nodes


@given(nodes())
def test_a_node_comes_back_as_it_was_written(written: Node) -> None:
    line = codec.to_line(written)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert codec.from_line(line, "file", "line 1") == written


@pytest.mark.parametrize("of", ["node", "origin"])
def test_a_field_that_nobody_knows_is_refused(of: str) -> None:
    record = json.loads(codec.to_line(node("a")))
    (record if of == "node" else record["origin"])["note"] = "ghp_" + "a" * 36
    line = json.dumps(record).encode()
    assert "'note' is none of its fields" in refusal(line)


def refusal(line: bytes) -> str:
    with pytest.raises(BankCorruptError) as caught:
        codec.from_line(line, "task.nodes.jsonl", "line 7")
    text = str(caught.value)
    assert text.startswith("task.nodes.jsonl, line 7: not a node: ")
    assert "\n" not in text
    # Who reads many lines at once is told the same.
    with pytest.raises(BankCorruptError) as again:
        typed_lines.decode([line], [6], "task.nodes.jsonl")
    assert str(again.value) == text
    return text


ROOT = json.loads(codec.to_line(node("root")))
LONG = "x" * (codec.TEXT_LIMIT + 1)


@pytest.mark.parametrize("key", sorted(ROOT))
def test_a_missing_field_is_named(key: str) -> None:
    record = {name: value for name, value in ROOT.items() if name != key}
    assert key in refusal(json.dumps(record).encode())


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("id", "abc", "'abc' is not an id"),
        ("id", 7, "'7' is not an id"),
        ("id", ROOT["id"].upper() + "", "is not an id"),
        ("parent", "nobody", "'nobody' is not an id"),
        ("parent", "0" * 16, "contradict"),
        ("kind", "twig", "'kind' is 'twig', not one of root, residual"),
        ("kind", ["root"], "'kind' is"),
        ("kind", "residual", "contradict"),
        ("label", None, "'label' is 'None', not one of success, failure"),
        ("depth", 2, "contradict"),
        ("depth", -1, "'depth' is not a number"),
        ("depth", True, "'depth' is not a number"),
        ("depth", 1.0, "'depth' is not a number"),
        ("depth", 10**9, "'depth' is not a number"),
        ("activation_condition", None, "'activation_condition' is not text"),
        ("execution_procedure", ["go"], "'execution_procedure' is not text"),
        ("execution_procedure", LONG, "4,000,001 characters"),
        ("termination_condition", 0, "'termination_condition' is not text"),
        ("consolidated", 1, "'consolidated' is not true or false"),
        ("deleted", "yes", "'deleted' is not true or false"),
        ("revision", -3, "'revision' is not a number"),
        ("meant", None, "'meant' is not what a node claims"),
        ("meant", {"parent": "nobody"}, "'meant' is not what a node claims"),
        ("meant", {"deleted": 0}, "'meant' is not what a node claims"),
        ("meant", {"depth": 3}, "'meant' is not what a node claims"),
        ("origin", "here", "'origin'"),
        ("origin", {"trajectory": ""}, "'outcome_source' is missing"),
        ("origin", {**ROOT["origin"], "model": 3}, "'model' is not text"),
        ("origin", {**ROOT["origin"], "nodes": ["x"]}, "'x' is not an id"),
        ("origin", {**ROOT["origin"], "nodes": 5}, "not iterable"),
    ],
)
def test_a_wrong_field_is_named(key: str, value: object, reason: str) -> None:
    record: dict[str, Any] = {**ROOT, key: value}
    if key == "id" and value == ROOT["id"]:
        pytest.skip("the digest has no letters")
    assert reason in refusal(json.dumps(record).encode())


def test_a_claim_that_a_search_would_not_find_is_refused() -> None:
    line = json.dumps({**ROOT, "meant": {"deleted": False}}).encode()
    assert codec.from_line(line, "f", "1").id == ROOT["id"]
    assert typed_lines.decode([line], [0], "f")[0].meant == typed_lines.Claims(deleted=False)
    hidden = line.replace(b'"meant"', rb'"\u006deant"')
    assert json.loads(hidden) == json.loads(line)
    assert "'meant' is not what a node claims" in refusal(hidden)


def test_a_residual_at_depth_nought_is_refused() -> None:
    record = {**ROOT, "kind": "residual", "parent": "0" * 16, "depth": 0}
    assert "'depth' counts from 1" in refusal(json.dumps(record).encode())


@pytest.mark.parametrize(
    "line", [b"", b"{", b"null", b"[]", b"3", b'"text"', b"\xff\xfe", b"[" * 3000, b'{"id": NaN}']
)
def test_what_is_no_object_is_refused(line: bytes) -> None:
    refusal(line)


@given(st.binary(max_size=40), st.integers(0, 300))
def test_no_damage_ends_in_anything_but_a_node_or_an_error(damage: bytes, at: int) -> None:
    line = codec.to_line(node("root"))
    broken = line[:at] + damage + line[at + len(damage) :]
    try:
        found = codec.from_line(broken, "file", "line 1")
    except BankCorruptError:
        with pytest.raises(BankCorruptError):
            typed_lines.decode([broken], [0], "file")
        return
    (typed,) = typed_lines.decode([broken], [0], "file")
    assert as_node(typed) == found
    assert codec.from_line(codec.to_line(found), "file", "line 1") == found


def test_a_tombstone_says_so_and_a_living_node_does_not() -> None:
    assert b"deleted" not in codec.to_line(node("root"))
    assert codec.from_line(codec.to_line(replace(node("root"), deleted=True)), "f", "1").deleted
