"""The outline as plain data: whatever one expands and collapses, it says what the tree says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.filters import NODES, ORDERS, matching
from deltamem_tui.tui.models.outline import Family, Outline
from tests.effort import examples
from tests.tui.support import add_plain, bare_bank

SHAPE = (None, None, 0, 0, 2, 4, 1, 6, None, 3, 9)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    bank = bare_bank(tmp_path_factory.mktemp("outline") / "shape")
    nodes: list[Node] = []
    for number, parent in enumerate(SHAPE):
        above = None if parent is None else nodes[parent]
        label = "failure" if number % 4 == 3 else "success"
        nodes.append(born("task", above, label, Payload(f"node {number}", "do"), Origin()))  # type: ignore[arg-type]
    add_plain(bank, "task", nodes)
    return Bank.open(bank.path).tree("task")


def naive(family: Family, expanded: set[int]) -> list[int]:
    """The lines, the slow way."""
    lines: list[int] = []

    def visit(row: int) -> None:
        lines.append(row)
        if row in expanded:
            for child in family.children(row):
                visit(int(child))

    for root in family.roots:
        visit(int(root))
    return lines


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["expand", "collapse", "expand_below"]),
        st.integers(0, 20),
    ),
    max_size=30,
)


@examples(60, one_folder=True)
@given(steps=STEPS, order=st.sampled_from(ORDERS), text=st.sampled_from(["", "label:failure"]))
def test_the_lines_are_those_of_the_tree(
    tree: Tree, steps: list[tuple[str, int]], order: str, text: str
) -> None:
    kept = matching(tree, NODES.parse(text)) if text else None
    family = Family(tree, order, kept)  # type: ignore[arg-type]
    outline = Outline(family)
    for step, line in steps:
        getattr(outline, step)(line % len(outline))
        assert outline.rows.tolist() == naive(family, outline.expanded)
    again = Outline(family, outline.expanded)
    assert again.rows.tolist() == outline.rows.tolist()
    for line, row in enumerate(outline.rows):
        assert outline.line_of(int(row)) == line
        if outline.parent_line(line) != line:
            parent = outline.rows[outline.parent_line(line)]
            assert family.depth[parent] == family.depth[row] - 1


def test_a_filter_shows_what_fits_with_all_above_it(tree: Tree) -> None:
    family = Family(tree, kept=matching(tree, NODES.parse("7")))
    rows = Outline(family, family.parents()).rows
    shown = [tree.node_at(int(row)).payload["activation_condition"] for row in rows]
    assert shown == ["node 1", "node 6", "node 7"]


def test_an_index_that_names_no_parent_is_told(tree: Tree, tmp_path: Path) -> None:
    from deltamem_tui.errors import BankCorruptError

    bank = bare_bank(tmp_path / "broken")
    add_plain(bank, "task", [born("task", None, "success", Payload("a", "b"), Origin())])
    snapshot = bank.tree("task").snapshot
    lying = snapshot.index.copy()
    lying["parent"] = 99
    vars(snapshot)["index"] = lying
    with pytest.raises(BankCorruptError, match="parent that is not there"):
        Family(bank.tree("task"))
