"""Groups: the workflows and the solved tasks of one kind, and kinds that wait for an induction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.awm.collections import SOLVED, WORKFLOWS
from deltamem_tui.memory.vectors.exact import nodes_with_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class WorkflowGroup:
    """What a bank has of one kind of task.

    Attributes:
        vector: The kind's, as a passage. float32 [dimensions], of unit length.
        workflows: In order of birth.
        solved: In order of birth.
    """

    kind: str
    vector: NDArray[np.float32]
    workflows: tuple[Node, ...]
    solved: tuple[Node, ...]

    @classmethod
    def of(cls, bank: Bank, kind: str, embedder: Embedder) -> WorkflowGroup:
        """The group of a kind, empty if it is new."""
        vector = embedder.embed_passages([kind])[0]
        workflows, solved = (
            tuple(nodes_with_key(bank.tree(name), kind, vector)) for name in (WORKFLOWS, SOLVED)
        )
        return cls(kind, vector, workflows, solved)


def known_kinds(bank: Bank) -> list[str]:
    """The kinds that have workflows, or wait for them."""
    pending = bank.tree(SOLVED)
    nodes = [*bank.tree(WORKFLOWS), *(pending.node_at(row) for row in waiting_rows(pending))]
    return list(dict.fromkeys(node.payload["group"] for node in nodes))


def waiting(solved: Sequence[Node]) -> list[Node]:
    """Those that were not induced from yet."""
    return [each for each in solved if not each.consolidated]


def waiting_rows(solved: Tree) -> list[int]:
    """The rows of all such nodes, in order of birth."""
    rows = solved.rows
    found: list[int] = rows[~solved.snapshot.index["consolidated"][rows]].tolist()
    return found


def due_rows(solved: Tree, every: int) -> dict[str, list[int]]:
    """Per kind that is due for an induction, the rows that wait for it."""
    of_kind: dict[str, list[int]] = {}
    for row in waiting_rows(solved):
        of_kind.setdefault(solved.node_at(row).payload["group"], []).append(row)
    return {kind: rows for kind, rows in of_kind.items() if len(rows) >= every}


def stale_workflows(bank: Bank) -> dict[str, list[Node]]:
    """The workflows of the kinds that a solved task was deleted from since their last induction.

    Each induction writes a line of a solved task: what was deleted since stands behind those of
    its kind. A compaction takes the texts of what was deleted, and so forgets that.
    """
    solved = bank.tree(SOLVED)
    index, snapshot = solved.snapshot.index, solved.snapshot
    rows = snapshot.current[snapshot.births]
    rows = rows[index["consolidated"][rows]]
    deleted = index["deleted"][rows]
    gone: dict[str, int] = {}
    for row in sorted(rows[deleted].tolist()):
        gone[solved.node_at(row).payload.get("group", "")] = row
    since = rows[~deleted & (rows > min(gone.values()))] if gone else rows[:0]
    for row in since.tolist():
        kind = solved.node_at(row).payload["group"]
        if row > gone.get(kind, row):
            del gone[kind]
    found: dict[str, list[Node]] = {}
    for node in bank.tree(WORKFLOWS) if gone else ():
        if (kind := node.payload["group"]) in gone:
            found.setdefault(kind, []).append(node)
    return found
