"""A set of nodes is replaced as a whole, and what persists stays."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.memory.plan import Add, Revise, addition, deletion, normal_text, set_change
from deltamem_tui.memory.vectors.search import nodes_with_key
from tests.memory.support import ChosenEmbedder, new_bank, unit

TEXTS = st.lists(st.sampled_from(["a b", "A  b", "c", "d", " C"]), max_size=6)


def node(text: str, number: int) -> Node:
    return born("set", None, "success", {"text": text}, Origin(trajectory=f"{number:016x}"))


@given(TEXTS, TEXTS)
def test_afterwards_there_is_what_was_wanted_once(before: list[str], wanted: list[str]) -> None:
    nodes = [node(text, number) for number, text in enumerate(before)]
    gone, new = set_change(nodes, [{"text": text} for text in wanted])
    if not wanted:
        assert not gone
        return
    kept = [each for each in nodes if each not in gone]
    there = [normal_text(each.payload) for each in kept] + [*map(normal_text, new)]
    assert sorted(there) == sorted({normal_text({"text": text}) for text in wanted})


def test_what_comes_back_has_its_id_again_and_kinds_are_found_by_their_text(
    tmp_path: Path,
) -> None:
    bank, vector = new_bank(tmp_path / "bank"), unit((1, 2, 3))
    embedder = ChosenEmbedder()

    def grown(key: str, text: str) -> Node:
        payload = dict(zip(bank.collections["task"].fields, (key, text, ""), strict=True))
        return born("task", None, "success", payload, Origin(sources=("0" * 16, "1" * 16)))

    first, second, other = grown("1 2 3", "go"), grown("1 2 3", "stay"), grown("1 2 3 ", "rest")
    with bank.writing() as batch:
        for each in (first, second, other):
            assert isinstance(addition(bank.tree("task"), each, embedder), Add)
            batch.add_node("task", each, vector)
        batch.log("test")
    with bank.writing() as batch:
        batch.revise_node("task", deletion("task", first).node)
        batch.log("test")
    tree = bank.tree("task")
    asked = embedder.embed_passages(["1 2 3"])[0]
    assert nodes_with_key(tree, "1 2 3", asked) == [second]
    assert nodes_with_key(tree, "1 2 3", unit((3, 2, 1))) == []
    change = addition(tree, first, embedder)
    assert isinstance(change, Revise)
    with bank.writing() as batch:
        batch.revise_node("task", change.node, change.vector)
        batch.log("test")
    found = nodes_with_key(bank.tree("task"), "1 2 3", asked)
    assert [each.id for each in found] == [first.id, second.id]
    assert found[0].origin.episodes == ("0" * 16, "1" * 16)
