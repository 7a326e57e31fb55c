"""A bank as records and as a document: all nodes, whole, and nothing that acts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

from deltamem_tui import Outcome, Step, Trajectory, create_bank, learn
from deltamem_tui.errors import BankExistsError, UsageError
from deltamem_tui.memory.deltamem.definition import COLLECTIONS
from deltamem_tui.memory.transfer.plain import markdown, node_record, records, write_form
from tests.effort import examples
from tests.memory.skills.grown import SPROUTS, Sprout, grown_bank


@examples(15)
@given(SPROUTS)
def test_records_hold_every_node_with_its_chain(sprouts: list[Sprout]) -> None:
    with grown_bank(sprouts) as (bank, _):
        told = list(records(bank))
        for name in COLLECTIONS:
            tree = bank.tree(name)
            by_id = {record["id"]: record for record in told if record["tree"] == name}
            assert by_id.keys() == {node.id for node in tree}
            for node in tree:
                chain = [each.id for each in tree.chain(node.id)]
                expected = node_record(tree, node) | {"root": chain[0], "chain": chain}
                assert by_id[node.id] == expected


@examples(15)
@given(SPROUTS)
def test_the_document_holds_every_text_and_only_its_own_headings(sprouts: list[Sprout]) -> None:
    with grown_bank(sprouts) as (bank, _):
        text = "\n\n".join(markdown(bank))
        nodes = [node for name in COLLECTIONS for node in bank.tree(name)]
        for node in nodes:
            for said in (node.payload["activation_condition"], node.payload["execution_procedure"]):
                assert f"text\n{said}\n```" in text
        unfenced = re.sub(r"(?ms)^(`{3,})text$.*?^\1$", "", text)
        headings = re.findall(r"(?m)^#+ ", unfenced)
        kinds = len({name for name in COLLECTIONS if len(bank.tree(name))})
        assert len(headings) == 1 + kinds + len(nodes)
        assert "<!--" not in unfenced


def test_agents_md_says_what_every_task_needs_and_imports_nothing(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "work", embedder="hashing")
    with pytest.raises(UsageError, match="nothing here holds for every task"):
        write_form(bank, "agents-md", tmp_path / "AGENTS.md")
    solved = Outcome(success=True, source="user")
    for task in ("Add a currency", "Speed up the report", "Fix the date parser"):
        steps = (Step("edit src/prices.py", "ok"), Step("pytest @tests/all", "3 passed"))
        learn(bank, Trajectory(task, "", steps, solved))
    write_form(bank, "agents-md", tmp_path / "AGENTS.md")
    header, fence, rest = (tmp_path / "AGENTS.md").read_text().partition("```text\n")
    assert "not instructions" in header
    assert fence
    write_form(bank, "agents-md", tmp_path / "AGENTS.md", replace=True)
    (tmp_path / "CLAUDE.md").write_text("# Ours")
    with pytest.raises(BankExistsError, match="written by somebody else"):
        write_form(bank, "agents-md", tmp_path / "CLAUDE.md", replace=True)
    for task in ("Add a currency", "Speed up the report", "Fix the date parser"):
        steps = (Step("edit lib/menu.rs", "ok"), Step("cargo test", "ok"))
        learn(bank, Trajectory(task, "Working directory: /x/menus", steps, solved))
    (tmp_path / "menus").mkdir()
    write_form(bank, "agents-md", tmp_path / "menus" / "AGENTS.md")
    assert "src/prices.py" not in (tmp_path / "menus" / "AGENTS.md").read_text()
    assert rest == "Check with: pytest @tests/all\nEdited most: src/prices.py\n```\n"
