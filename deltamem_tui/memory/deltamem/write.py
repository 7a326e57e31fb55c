"""DeltaMem's write: one episode in, a root, a residual or nothing out (equations 4 and 5).

For each tree: recall, write or skip, count, and fuse a chain that was hit often enough into a new
root (equation 8). Nothing is deleted, and what is at the same place already is not written again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, NodeNotFoundError
from deltamem_tui.memory.deltamem import general
from deltamem_tui.memory.deltamem.definition import (
    COLLECTIONS,
    OPTIONAL,
    Parameters,
    TreeParameters,
)
from deltamem_tui.memory.deltamem.recall import question_to, questions_of, recall_tree
from deltamem_tui.memory.domain import GENERAL, domain_for
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import (
    Add,
    Change,
    CollectionResult,
    Count,
    Due,
    LearnResult,
    MaintenanceResult,
    Plan,
    Revise,
)
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import nodes_with_key
from deltamem_tui.memory.work.writing import with_facts
from deltamem_tui.memory.writers.extraction import Call, Extraction, FailedCallError
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Plan what an episode changes in both trees: equations 4 and 5, and 8 where a chain is due."""
    settings = of_bank(bank, Parameters)
    found = _recalled(bank, episode, settings, writer.name, embedder)
    results: dict[str, CollectionResult] = {}
    changes: list[Change] = []
    for name in questions_of(episode):
        if name not in found:
            enabled = settings[name].enabled
            reason = "the episode says nothing of its environment"
            reason = reason if enabled else "the tree is switched off"
            results[name] = CollectionResult(name, "unasked", reason)
            continue
        planner = _TreePlanner(bank.tree(name), episode, settings[name], writer, embedder)
        results[name], changed = planner.plan(found[name])
        changes += changed
    return Plan(LearnResult(episode.id, new=True, trees=results), tuple(changes))


def _recalled(
    bank: Bank, episode: Trajectory, settings: Parameters, writer: str, embedder: Embedder
) -> dict[str, CollectionRecall]:
    """Return what the trees know of an episode that are switched on and for which it has a
    question.
    """
    found = {}
    domain = domain_for(episode.domain)
    weighting = weighting_of(bank)
    by_scene = writer == "rules" and domain is GENERAL and settings.task.recall != "paper"
    for name, text in questions_of(episode).items():
        if text and settings[name].enabled:
            question = question_to(name, text, settings[name], embedder, domain)
            each = recall_tree(bank.tree(name), question, settings[name], weighting)
            if name == "env" and by_scene:
                each = general.by_scene(each, bank.tree(name), text, embedder, weighting)
            # The rules tell kinds apart by themselves: a new kind is a root.
            is_root = each.new_kind and writer == "rules"
            found[name] = replace(each, chains=()) if is_root else each
    return found


def purpose_of(tree: str, episode: Trajectory, chain: Sequence[Node]) -> str:
    """Return the prompt that an episode takes: by tree, by match, and in the task tree by
    outcome.
    """
    purpose = f"{tree}_{'residual' if chain else 'root'}"
    if tree == "task":
        purpose += "_success" if episode.outcome.success else "_failure"
    return purpose


@dataclass(frozen=True, slots=True)
class _TreePlanner:
    """Plans what an episode changes in one tree."""

    tree: Tree
    episode: Trajectory
    parameters: TreeParameters
    writer: Writer
    embedder: Embedder

    def plan(
        self, found: CollectionRecall, calls: tuple[Call, ...] = ()
    ) -> tuple[CollectionResult, tuple[Change, ...]]:
        """Return the decision, and what it changes; `calls` were made before."""
        name, chain = self.tree.name, found.chain
        # A node may not be below all of its chain (equation 5), and holds what it lacks there.
        known = chain[: self.parameters.d_max - 1]
        purpose = purpose_of(name, self.episode, known)
        extraction = self.writer.write(purpose, self.episode, known)
        calls = (*calls, *extraction.calls("extract", name))
        if extraction.unrelated and chain:
            return self.plan(replace(found, chains=()), calls)
        node, reason, added = self._new_node(chain, extraction)
        result = CollectionResult(
            tree=name,
            decision=("residual" if chain else "root") if node else "skip",
            reason=reason,
            node=node,
            match=chain[-1].id if chain else None,
            score=found.candidates[0].score if found.candidates else None,
            calls=calls,
        )
        success = bool(self.episode.outcome.success)
        counts = (Count(name, each.id, success and each is chain[-1], 1, success) for each in chain)
        changes = (*added, *counts)
        if not chain or not self._is_due(chain[-1]):
            return result, changes
        fused = fuse(self.tree, chain, self.writer, self.embedder)
        return _with_fusion(result, fused.result), (*changes, *fused.changes)

    def _new_node(
        self, chain: Sequence[Node], extraction: Extraction
    ) -> tuple[Node | None, str, tuple[Change, ...]]:
        """Return the node to write, why, and its addition; no node if there is nothing new."""
        if extraction.payload is None:
            return None, extraction.reason, ()
        label: Label = "success" if self.episode.outcome.success else "failure"
        origin = extraction.origin(self.writer.name, self.episode)
        parent = parent_of(chain, self.parameters.d_max)
        payload = _cleaned(self.tree.name, self._completed(extraction.payload))
        node = born(self.tree.name, parent, label, payload, origin)
        vector = self.embedder.embed_passages([node.payload["activation_condition"]])[0]
        if same := duplicate_of(self.tree, node, vector):
            return None, same.reason, ()
        return node, extraction.reason, (Add(self.tree.name, node, vector),)

    def _completed(self, payload: Mapping[str, str]) -> Mapping[str, str]:
        """Return what a model wrote of real work, with the facts of the log below it."""
        by_model = self.tree.name == "task" and self.writer.name != "rules"
        if by_model and domain_for(self.episode.domain) is GENERAL:
            return with_facts(payload, self.episode)
        return payload

    def _is_due(self, match: Node) -> bool:
        """Return whether the match is a residual that was hit often enough (equation 8)."""
        hits = self.tree.counts(match.id).hits + bool(self.episode.outcome.success)
        k_cons = self.parameters.k_cons
        is_open = match.kind == "residual" and not match.consolidated
        return is_open and k_cons is not None and hits >= k_cons


def _cleaned(tree: str, payload: Mapping[str, str]) -> dict[str, str]:
    return cleaned(payload, COLLECTIONS[tree].fields, OPTIONAL)


def _with_fusion(result: CollectionResult, fused: MaintenanceResult) -> CollectionResult:
    calls = (*result.calls, *fused.calls)
    if fused.written:
        return replace(result, consolidated=fused.root, calls=calls)
    reason = f"{result.reason}; not consolidated: {fused.reason}"
    return replace(result, reason=reason, calls=calls)


def parent_of(chain: Sequence[Node], d_max: int) -> Node | None:
    """Return where a new node goes (equation 5).

    The match if the new node may be below it; else the node of the chain above the deepest
    level, so that the new node becomes the match's sibling; None, a root, without a match.
    """
    return chain[min(len(chain), d_max - 1) - 1] if chain else None


def placement(collection: str, found: CollectionRecall | None, settings: Settings) -> str:
    """Say where equations 4 and 5 would put an episode with this question."""
    parameters: TreeParameters = settings.of(collection)
    if not parameters.enabled:
        return "the tree is switched off"
    if found is None:
        return "not asked"
    if found.match is None:
        if not found.candidates:
            return "would become the first root: the tree is empty"
        best = found.candidates[0].score
        return f"would become a new root: {best:.3f} is below {parameters.tau_base:g}"
    match = found.match.node
    parent = parent_of(found.chain, parameters.d_max)
    place = f"a residual below the match, at depth {match.depth + 1}"
    if parent is not None and parent.id != match.id:
        place = (
            f"a sibling of the match, at depth {match.depth}: "
            f"none lies deeper than D_max = {parameters.d_max}"
        )
    if found.new_kind:
        return f"would become a new root by the rules, as its kind is new; by a model {place}"
    return f"would become {place}"


def due(bank: Bank) -> list[Due]:
    """Return the chains that equation 8 wants fused."""
    settings = of_bank(bank, Parameters)
    return [
        Due(name, tree.chain_at(int(row)))
        for name, tree in bank.trees.items()
        for row in _due_rows(tree, settings.of(name))
    ]


def _due_rows(tree: Tree, parameters: TreeParameters) -> NDArray[np.integer]:
    """Return the rows of the living residuals that were hit often enough and not fused yet."""
    if parameters.k_cons is None or not parameters.enabled or not len(tree):
        return tree.rows[:0]
    rows, index = tree.rows, tree.snapshot.index
    rows = rows[index["residual"][rows] & ~index["consolidated"][rows]]
    hits = tree.snapshot.counters[tree.birth[rows], 0]
    due: NDArray[np.integer] = rows[hits >= parameters.k_cons]
    return due


def maintain(
    bank: Bank, task: Due, writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult] | None:
    """Fuse a chain; None if another process deleted its node or fused it meanwhile."""
    tree = bank.tree(task.collection)
    try:
        chain = tree.chain(task.nodes[-1].id)
    except NodeNotFoundError:
        return None
    return None if chain[-1].consolidated else fuse(tree, chain, writer, embedder)


def fuse(
    tree: Tree, chain: tuple[Node, ...], writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult]:
    """Return the plan that makes a chain a root, and marks its last node as consolidated."""
    name = tree.name
    calls: tuple[Call, ...] = ()
    try:
        extraction = writer.write(f"{name}_consolidation", None, chain)
        calls = extraction.calls("fuse", name)
        root = _fused_root(name, chain, extraction, writer.name)
    except FailedCallError as error:
        return Plan(MaintenanceResult(name, chain, None, str(error), (error.call,)))
    except ExtractionError as error:
        return Plan(MaintenanceResult(name, chain, None, str(error), calls))
    vector = embedder.embed_passages([root.payload["activation_condition"]])[0]
    changes: tuple[Change, ...] = (Revise(name, structs.replace(chain[-1], consolidated=True)),)
    if same := duplicate_of(tree, root, vector):
        return Plan(MaintenanceResult(name, chain, same.node, same.reason, calls), changes)
    result = MaintenanceResult(name, chain, root, extraction.reason, calls, written=True)
    return Plan(result, (Add(name, root, vector), *changes))


def _fused_root(name: str, chain: Sequence[Node], extraction: Extraction, writer: str) -> Node:
    """Return the new root of a fused chain. It is a failure only if the whole chain is."""
    if extraction.payload is None:
        raise ExtractionError(f"nothing was fused: {extraction.reason}")
    label: Label = "failure" if all(node.label == "failure" for node in chain) else "success"
    origin = Origin(
        extractor=writer,
        model=extraction.model,
        prompt=extraction.prompt,
        nodes=tuple(node.id for node in chain),
    )
    return born(name, None, label, _cleaned(name, extraction.payload), origin)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Why a node need not be written: the living node that says the same; None if deleted."""

    node: Node | None
    reason: str


def duplicate_of(tree: Tree, node: Node, vector: NDArray[np.float32]) -> Duplicate | None:
    """Return what makes a new node needless: its own id, or a sibling that says the same.

    The vector is its key's, float32 [dimensions], of unit length.
    """
    first = tree.snapshot.first_row(node.id)
    if first is not None:
        row = int(tree.snapshot.current[first])
        if tree.snapshot.index["deleted"][row]:
            return Duplicate(None, f"this node, {node.id}, was deleted before")
        return Duplicate(tree.node_at(row), f"the tree has this node, {node.id}, already")
    said = node.parent, node.label, node.payload
    for other in nodes_with_key(tree, node.payload["activation_condition"], vector):
        if (other.parent, other.label, other.payload) == said:
            return Duplicate(other, f"node {other.id} says exactly this already")
    return None
