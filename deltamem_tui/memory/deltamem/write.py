"""DeltaMem's write: one episode in, a root, a residual or nothing out (equations 4 and 5).

For each tree: recall, write or skip, count, and fuse a chain that was hit often enough into a new
root (equation 8). Nothing is deleted, and what is at the same place already is not written again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.deltamem.definition import (
    FIELDS,
    METHOD,
    OPTIONAL,
    Parameters,
    TreeParameters,
)
from deltamem_tui.memory.deltamem.recall import (
    is_counted,
    notes_of_scene,
    question_to,
    questions,
    recall_tree,
)
from deltamem_tui.memory.domain import GENERAL, domain_for
from deltamem_tui.memory.method import RulesExtractor, cleaned
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
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.vectors.search import nodes_with_key, weighting_of
from deltamem_tui.memory.work.facts import with_facts
from deltamem_tui.memory.writers.extraction import Call, Extraction
from deltamem_tui.memory.writers.writer import Writer, written_of
from deltamem_tui.trajectory.model import Trajectory, scene_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Plan what an episode changes in both trees: equations 4 and 5, and 8 where a chain is due."""
    settings, domain = of_bank(bank, Parameters), domain_for(episode.domain)
    results: dict[str, CollectionResult] = {}
    changes: list[Change] = []
    for name, text in questions(episode.task, scene_of(episode)).items():
        tree, numbers = bank.tree(name), settings[name]
        if not text or not numbers.enabled:
            reason = "the episode says nothing of its environment"
            reason = reason if numbers.enabled else "the tree is switched off"
            results[name] = CollectionResult(name, "unasked", reason)
            continue
        question = question_to(name, text, numbers, embedder, domain)
        found = recall_tree(tree, question, numbers, weighting_of(bank))
        if found.new_kind and writer.name == "rules":  # which tell kinds apart by themselves
            found = replace(found, chains=())
        # Of a scene, the text of a recall by counted facts has what the rules write.
        by_rules = name == "env" and is_counted(settings, domain)
        its_writer = RulesExtractor(METHOD) if by_rules else writer
        of_scene = tuple(notes_of_scene(tree, question))
        planner = _TreePlanner(tree, episode, numbers, its_writer, embedder, of_scene)
        results[name], changed = planner.plan(found)
        changes += changed
    return Plan(LearnResult(episode.id, new=True, trees=results), tuple(changes))


def purpose_of(tree: str, episode: Trajectory, chain: Sequence[Node]) -> str:
    """Return an episode's prompt: by tree, by match, and in the task tree by outcome."""
    purpose = f"{tree}_{'residual' if chain else 'root'}"
    return purpose if tree == "env" else f"{purpose}_{_label(episode)}"


def _label(episode: Trajectory) -> Label:
    return "success" if episode.outcome.success else "failure"


@dataclass(frozen=True, slots=True)
class _TreePlanner:
    """Plans what an episode changes in one tree; `of_scene` is known beside what is recalled."""

    tree: Tree
    episode: Trajectory
    numbers: TreeParameters
    writer: Writer
    embedder: Embedder
    of_scene: tuple[Node, ...] = ()

    def plan(
        self, found: CollectionRecall, calls: tuple[Call, ...] = ()
    ) -> tuple[CollectionResult, list[Change]]:
        """Return the decision, and what it changes; `calls` were made before."""
        name, chain = self.tree.name, found.chain
        # A node may not be below all of its chain (equation 5), and holds what it lacks there.
        known = self.of_scene or chain[: self.numbers.d_max - 1]
        written = self.writer.write(purpose_of(name, self.episode, known), self.episode, known)
        calls = (*calls, *written.calls("extract", name))
        if written.unrelated and chain:
            return self.plan(replace(found, chains=()), calls)
        addition, reason = self._addition(chain, written)
        success = bool(self.episode.outcome.success)
        changes: list[Change] = [addition] if addition else []
        changes += [Count(name, e.id, success and e is chain[-1], 1, success) for e in chain]
        fused = None
        if chain and _is_due(self.tree, chain[-1], self.numbers, success):
            fusion = _fused(self.tree, chain, self.writer, self.embedder)
            changes += fusion.changes
            calls += fusion.result.calls
            fused = fusion.result.root if fusion.result.written else None
            reason += "" if fused else f"; not consolidated: {fusion.result.reason}"
        return CollectionResult(
            tree=name,
            decision=("residual" if chain else "root") if addition else "skip",
            reason=reason,
            node=addition.node if addition else None,
            match=chain[-1].id if chain else None,
            score=found.candidates[0].score if found.candidates else None,
            consolidated=fused,
            calls=calls,
        ), changes

    def _addition(self, chain: Sequence[Node], written: Extraction) -> tuple[Add | None, str]:
        """Return the node to write, and why, or why there is none."""
        name, payload = self.tree.name, written.payload
        if payload is None:
            return None, written.reason
        by_model = name == "task" and self.writer.name != "rules"
        if by_model and domain_for(self.episode.domain) is GENERAL:
            payload = with_facts(payload, self.episode)
        texts = cleaned(payload, FIELDS, OPTIONAL)
        origin = written.origin(self.writer.name, self.episode)
        parent = parent_of(chain, self.numbers.d_max)
        node = born(name, parent, _label(self.episode), texts, origin)
        vector = self.embedder.embed_passages([texts["activation_condition"]])[0]
        same = _duplicate(self.tree, node, vector)
        return (None, same[1]) if same else (Add(name, node, vector), written.reason)


def parent_of(chain: Sequence[Node], d_max: int) -> Node | None:
    """Return where a new node goes (equation 5).

    The match if the new node may be below it; else the node of the chain above the deepest
    level, so that the new node becomes the match's sibling; None, a root, without a match.
    """
    return chain[min(len(chain), d_max - 1) - 1] if chain else None


def _duplicate(
    tree: Tree, node: Node, vector: NDArray[np.float32]
) -> tuple[Node | None, str] | None:
    """Return the node that makes a new one needless, None if it was deleted, and why.

    That is its own id, or a sibling that says the same.
    """
    first = tree.snapshot.first_row(node.id)
    if first is not None:
        row = int(tree.snapshot.current[first])
        if tree.snapshot.index["deleted"][row]:
            return None, f"this node, {node.id}, was deleted before"
        return tree.node_at(row), f"the tree has this node, {node.id}, already"
    said = node.parent, node.label, node.payload
    for other in nodes_with_key(tree, node.payload["activation_condition"], vector):
        if (other.parent, other.label, other.payload) == said:
            return other, f"node {other.id} says exactly this already"
    return None


def _is_due(tree: Tree, node: Node, numbers: TreeParameters, more: int) -> bool:
    """Return whether a match is a residual that was hit often enough, with this episode."""
    is_open = node.kind == "residual" and not node.consolidated and numbers.k_cons is not None
    return is_open and tree.counts(node.id).hits + more >= (numbers.k_cons or 0)


def due(bank: Bank) -> list[Due]:
    """Return the chains that equation 8 wants fused."""
    settings, found = of_bank(bank, Parameters), []
    for name, tree in bank.trees.items():
        numbers = settings[name]
        if numbers.k_cons is not None and numbers.enabled and len(tree):
            index = tree.snapshot.index
            rows = tree.rows[index["residual"][tree.rows] & ~index["consolidated"][tree.rows]]
            hits = tree.snapshot.counters[tree.birth[rows], 0]
            found += [Due(name, tree.chain_at(int(row))) for row in rows[hits >= numbers.k_cons]]
    return found


def maintain(
    bank: Bank, task: Due, writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult] | None:
    """Fuse a chain; None if another process deleted its node or fused it meanwhile."""
    tree = bank.tree(task.collection)
    try:
        chain = tree.chain(task.nodes[-1].id)
    except NodeNotFoundError:
        return None
    return None if chain[-1].consolidated else _fused(tree, chain, writer, embedder)


def _fused(
    tree: Tree, chain: tuple[Node, ...], writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult]:
    """Return the plan that makes a chain a root, and marks its last node as consolidated."""
    name = tree.name
    written, payloads, calls = written_of(
        writer,
        f"{name}_consolidation",
        chain,
        lambda each: cleaned(each, FIELDS, OPTIONAL),
        ("fuse", name),
    )
    if not payloads:
        return Plan(MaintenanceResult(name, chain, None, written.reason, calls))
    label: Label = "failure" if all(node.label == "failure" for node in chain) else "success"
    of_all = Origin(nodes=tuple(node.id for node in chain))
    root = born(name, None, label, payloads[0], written.origin(writer.name, before=of_all))
    vector = embedder.embed_passages([root.payload["activation_condition"]])[0]
    mark = Revise(name, structs.replace(chain[-1], consolidated=True))
    if same := _duplicate(tree, root, vector):
        return Plan(MaintenanceResult(name, chain, *same, calls), (mark,))
    result = MaintenanceResult(name, chain, root, written.reason, calls, written=True)
    return Plan(result, (Add(name, root, vector), mark))
