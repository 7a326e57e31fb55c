"""DeltaMem's write: one episode in, a root, a residual or nothing out (equations 4 and 5).

For each tree: recall, write or skip, count, and fuse a chain that was hit often enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.deltamem import general
from deltamem_tui.memory.deltamem.consolidate import duplicate_of, fuse, is_due
from deltamem_tui.memory.deltamem.definition import (
    COLLECTIONS,
    OPTIONAL,
    Parameters,
    TreeParameters,
)
from deltamem_tui.memory.deltamem.recall import question_to, questions_of, recall_tree
from deltamem_tui.memory.learn_result import CollectionResult, LearnResult
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import Change, Count, MaintenanceResult, Plan
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.record_sets import addition
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.work.writing import with_facts
from deltamem_tui.memory.writers.extraction import Extraction
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.trajectory.model import Trajectory


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Plan what an episode changes in both trees: equations 4 and 5, and 8 where a chain is due.

    Raises:
        ExtractionError: The writer could make nothing of it.
    """
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
    from deltamem_tui.memory.domain import GENERAL, domain_for

    found = {}
    dialect = domain_for(episode.domain)
    weighting = weighting_of(bank)
    by_scene = writer == "rules" and dialect is GENERAL and settings.task.recall != "paper"
    for name, text in questions_of(episode).items():
        if text and settings[name].enabled:
            question = question_to(name, text, settings[name], embedder, dialect)
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

    def plan(self, found: CollectionRecall) -> tuple[CollectionResult, tuple[Change, ...]]:
        """Return the decision, and what it changes."""
        name, chain = self.tree.name, found.chain
        # A node may not be below all of its chain (equation 5), and holds what it lacks there.
        known = chain[: self.parameters.d_max - 1]
        purpose = purpose_of(name, self.episode, known)
        extraction = self.writer.write(purpose, self.episode, known)
        node, reason, added = self._new_node(chain, extraction)
        result = CollectionResult(
            tree=name,
            decision=("residual" if chain else "root") if node else "skip",
            reason=reason,
            node=node,
            match=chain[-1].id if chain else None,
            score=found.candidates[0].score if found.candidates else None,
            calls=extraction.calls("extract", name),
        )
        changes = (*added, *self._counts(chain))
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
        origin = Origin(
            trajectory=self.episode.id,
            outcome_source=self.episode.outcome.source,
            extractor=self.writer.name,
            model=extraction.model,
            prompt=extraction.prompt,
        )
        parent = parent_of(chain, self.parameters.d_max)
        payload = self._completed(extraction.payload)
        node = born(
            self.tree.name,
            parent,
            label,
            cleaned(payload, COLLECTIONS[self.tree.name].fields, OPTIONAL),
            origin,
        )
        vector = self.embedder.embed_passages([node.payload["activation_condition"]])[0]
        if same := duplicate_of(self.tree, node, vector):
            return None, same.reason, ()
        return node, extraction.reason, (addition(self.tree, node, vector),)

    def _completed(self, payload: Mapping[str, str]) -> Mapping[str, str]:
        """Return what a model wrote of real work, with the facts of the log below it."""
        from deltamem_tui.memory.domain import GENERAL, domain_for

        by_model = self.tree.name == "task" and self.writer.name != "rules"
        if by_model and domain_for(self.episode.domain) is GENERAL:
            return with_facts(payload, self.episode)
        return payload

    def _counts(self, chain: Sequence[Node]) -> list[Count]:
        success = bool(self.episode.outcome.success)
        return [
            Count(self.tree.name, node.id, success and node is chain[-1], 1, success)
            for node in chain
        ]

    def _is_due(self, match: Node) -> bool:
        hits = self.tree.counts(match.id).hits + bool(self.episode.outcome.success)
        return is_due(match, hits, self.parameters)


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
