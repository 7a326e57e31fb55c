"""Two banks that parted, and what is done to them before they are merged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.merge import MergePlan, merge_into, merge_to
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.verify import verify
from tests.bank.support import node, vector


def nodes(bank: Bank) -> dict[str, Node]:
    bank.refresh()
    return {
        each.payload["activation_condition"].removeprefix("when "): each
        for each in bank.tree("task")
    }


def change(bank: Bank, *changed: Node) -> None:
    with bank.writing() as batch:
        for each in changed:
            batch.revise_node("task", each)
        batch.log("edit")


def append_all(bank: Bank, text: str, parent: Node | None) -> Node:
    with bank.writing() as batch:
        grown = node(text, parent)
        batch.add_node("task", grown, vector(3))
        batch.log("learn")
    return grown


def merged_into(first: Bank, *others: Bank) -> MergePlan:
    plan = merge_into(first, lambda: MergePlan([first, *others]))
    assert verify(Bank.open(first.path)) == []
    return plan


def new(folder: str, name: str, banks: Sequence[Bank]) -> Bank:
    merged = merge_to(Path(folder) / name, MergePlan(banks))
    assert verify(merged) == []
    return merged
