"""Nodes, trees and recalls as a line of text or as plain data for the JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltamem_tui.memory.transfer.plain import node_record
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.node import Node
    from deltamem_tui.bank.tree import Counts, Tree
    from deltamem_tui.memory.method import CollectionRecall
    from deltamem_tui.memory.vectors.search import Candidate


def node_line(node: Node, counts: Counts) -> str:
    """A node on one line: id, marks, hits, and when it applies."""
    marks = "✗" if node.label == "failure" else "●" if node.kind == "root" else "△"
    fused = " ⊕" if node.consolidated else ""
    hits = f" ×{counts.hits}" if counts.hits else ""
    return f"{node.id[:8]} {marks}{fused}{hits} {one_line(node.title)}"


NODE_LINE_LEGEND = "● root  △ residual  ✗ failure  ⊕ consolidated  ×n hits"


def candidate_record(tree: Tree, candidate: Candidate, threshold: float) -> dict[str, Any]:
    """A node and how well it fits a query."""
    return {
        "node": node_record(tree, candidate.node),
        "similarity": candidate.similarity,
        "penalty": candidate.penalty,
        "score": candidate.score,
        "threshold": threshold,
    }


def recall_record(
    tree: Tree, answer: CollectionRecall | None, *, explain: bool
) -> dict[str, Any] | None:
    """The answer of one tree; None if nothing matched, unless `explain` asks why."""
    if answer is None or not (answer.chain or explain):
        return None
    match = answer.match
    record: dict[str, Any] = {
        "match": match.node.id if match else None,
        "score": match.score if match else None,
        "chain": [node_record(tree, node) for node in answer.chain],
    }
    if explain:
        record |= {
            "query": answer.query,
            "threshold": answer.threshold,
            "candidates": [
                candidate_record(tree, candidate, answer.threshold)
                for candidate in answer.candidates
            ],
        }
    return record
