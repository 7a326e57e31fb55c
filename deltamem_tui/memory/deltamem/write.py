"""Learning: one episode in, a root, a residual or nothing out (DeltaMem, equations 4 and 5).

For each tree: recall, extract, write or skip, count, and fuse a chain that was hit often
enough. All of it is decided on what the bank shows, without the lock, because an extractor
may take minutes. Then it is committed together; if another writer came in between, it is
decided again on what the bank shows then, and no extraction is repeated whose chain is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.batch import Batch
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.node import TEXT_LIMIT, Label, Node, Origin, born
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import (
    BankRewrittenError,
    ExtractionError,
    OutcomeUnknownError,
    wrong_argument,
)
from deltamem_tui.memory.deltamem.collections import COLLECTIONS, Payload
from deltamem_tui.memory.deltamem.consolidation_due import is_due
from deltamem_tui.memory.deltamem.duplicates import Twin, twin_of
from deltamem_tui.memory.deltamem.episode_query import Encounter
from deltamem_tui.memory.deltamem.recall import TreeRecall
from deltamem_tui.memory.deltamem.settings import TreeParameters, of_bank
from deltamem_tui.memory.episodes.domains import domain_of
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.learn_result import CollectionResult, LearnResult
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.memory.writers.extraction import (
    AskedInVainError,
    Extraction,
    Extractor,
    known_calls,
)
from deltamem_tui.text import clean
from deltamem_tui.trajectory.domains import chosen
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import from_record, to_record
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.validation import admitted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class _Plan:
    """What shall be written to one tree, with the vectors it takes."""

    lesson: CollectionResult
    chain: tuple[Node, ...] = ()
    vector: NDArray[np.float32] | None = None
    fused_vector: NDArray[np.float32] | None = None
    fused_before: bool = False  # the chain's root is there, or was deleted: mark it as fused


def learn(
    bank: Bank,
    trajectory: Trajectory,
    extractor: Extractor | None = None,
    *,
    embedder: Embedder | None = None,
) -> LearnResult:
    """Learn from one episode. It is written whole or not at all.

    Args:
        bank: The bank; its handle shows the new state afterwards.
        trajectory: An episode whose outcome is known. It is added to the bank's episodes if
            it is not among them: without its secrets, and of the bank's domain if it names
            none.
        extractor: What distils the episode; the rules if not given.
        embedder: The bank's embedder; loaded if not given.

    Raises:
        UsageError: An argument is of the wrong kind.
        OutcomeUnknownError: Nobody said how the episode ended.
        RecordError: It has no task, no step, or a text of more characters than are taken.
        ExtractionError: Nothing could be made of it.
        LanguageModelError: The extractor's model cannot be asked at all.
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; the bank is as it was.
    """
    if not isinstance(bank, Bank):
        raise wrong_argument("bank", "an open bank", bank)
    if not isinstance(trajectory, Trajectory):
        raise wrong_argument("trajectory", "a Trajectory", trajectory)
    extractor = _rules() if extractor is None else extractor
    if not isinstance(extractor, Extractor):
        raise wrong_argument("extractor", "an Extractor", extractor)
    trajectory = as_kept(bank, trajectory)
    embedder = embedder_of(bank, embedder)
    return learn_from(bank, Encounter(bank, trajectory, embedder), extractor, embedder)


def learn_from(
    bank: Bank, encounter: Encounter, extractor: Extractor, embedder: Embedder
) -> LearnResult:
    """Learn from an episode that has met the bank already, in the form that `as_kept` gives it.

    Raises:
        DeltaMemError: Whatever `learn` raises.
    """
    trajectory = encounter.trajectory
    planner = _Planner(bank, encounter, extractor, embedder)
    while True:
        bank.refresh()
        if bank.episodes.state(trajectory.id) == EpisodeState.LEARNT:
            return LearnResult(trajectory.id, new=False, trees={})
        embedder_of(bank, embedder)  # somebody may have given the bank another meanwhile
        decided_on = bank.commit.sequence
        try:
            plans = planner.plan()
        except BankRewrittenError:
            continue  # by somebody who made it compact, or gave it new vectors: look again
        with bank.writing() as batch:
            if bank.commit.sequence == decided_on:
                return _write(batch, bank, trajectory, plans)


def as_kept(bank: Bank, trajectory: Trajectory) -> Trajectory:
    """The episode as the bank keeps it. One of the bank's own is as it is already.

    Raises:
        OutcomeUnknownError: Nobody said how the episode ended.
        RecordError: It has no task, no step, or a text of more characters than are taken.
    """
    if not trajectory.outcome.known:
        raise OutcomeUnknownError(
            f"episode {trajectory.id} has no outcome",
            hint="import it again with `--outcome success`, `failure` or a FILE",
        )
    trajectory = admitted(trajectory)
    bank.refresh()
    if bank.episodes.state(trajectory.id) is None:
        domain = chosen(trajectory.domain, otherwise=domain_of(bank))
        trajectory = admitted(redact(replace(trajectory, domain=domain))[0])
    return from_record(to_record(trajectory))


def _rules() -> Extractor:
    from deltamem_tui.memory.writers.rules import RulesExtractor

    return RulesExtractor()


class _Planner:
    """Decides what an episode teaches a bank as it stands, asking for each extraction once."""

    def __init__(
        self, bank: Bank, encounter: Encounter, extractor: Extractor, embedder: Embedder
    ) -> None:
        self._bank = bank
        self._encounter = encounter
        self._trajectory = encounter.trajectory
        self._extractor = extractor
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._extractions: dict[tuple[str, str, tuple[tuple[str, int], ...]], Extraction] = {}

    def plan(self) -> list[_Plan]:
        parameters = of_bank(self._bank)
        return [self._plan_tree(name, parameters[name]) for name in COLLECTIONS]

    def _plan_tree(self, name: str, parameters: TreeParameters) -> _Plan:
        if unasked := self._encounter.unasked(name, parameters):
            return _Plan(CollectionResult(name, "unasked", unasked))
        found = self._encounter.recall(name, parameters)
        extraction = self._extract(name, found.chain)
        node = self._new_node(name, parameters, found, extraction)
        twin = self._twin(name, node)
        lesson = CollectionResult(
            tree=name,
            decision="skip" if twin else _decision(found, extraction),
            reason=twin.reason if twin else extraction.reason,
            node=None if twin else node,
            match=found.match.node.id if found.match else None,
            score=found.candidates[0].score if found.candidates else None,
            calls=known_calls(extraction.call("extract", name)),
        )
        return self._with_fusion(_Plan(lesson, found.chain), parameters)

    def _new_node(
        self, name: str, parameters: TreeParameters, found: TreeRecall, extraction: Extraction
    ) -> Node | None:
        if extraction.payload is None:
            return None
        label: Label = "success" if self._trajectory.outcome.success else "failure"
        origin = self._origin(extraction)
        parent = parent_of(found.chain, parameters.d_max)
        return born(name, parent, label, cleaned(extraction.payload), origin)

    def _with_fusion(self, plan: _Plan, parameters: TreeParameters) -> _Plan:
        """Add the vectors, and the fused root if the chain of the match is due (equation 8)."""
        lesson = plan.lesson
        match = plan.chain[-1] if plan.chain else None
        if match and self._is_due(lesson.tree, match, parameters):
            lesson = self._fused(lesson, plan.chain)
        twin = self._twin(lesson.tree, lesson.consolidated)
        if twin:
            lesson = _unfused(replace(lesson, consolidated=None), twin.reason)
        return replace(
            plan,
            lesson=lesson,
            vector=self._passage_vector(lesson.node),
            fused_vector=self._passage_vector(lesson.consolidated),
            fused_before=twin is not None,
        )

    def _twin(self, name: str, node: Node | None) -> Twin | None:
        """What makes a new node needless, if something does."""
        vector = self._passage_vector(node)
        if node is None or vector is None:
            return None
        return twin_of(self._bank.tree(name), node, vector)

    def _is_due(self, name: str, match: Node, parameters: TreeParameters) -> bool:
        hits = self._bank.tree(name).counts(match.id).hits + bool(self._trajectory.outcome.success)
        return is_due(match, hits, parameters)

    def _fused(self, lesson: CollectionResult, chain: tuple[Node, ...]) -> CollectionResult:
        try:
            extraction = self._fuse(lesson.tree, chain)
        except AskedInVainError as error:
            return _unfused(replace(lesson, calls=(*lesson.calls, error.call)), str(error))
        except ExtractionError as error:
            return _unfused(lesson, str(error))
        calls = (*lesson.calls, *known_calls(extraction.call("fuse", lesson.tree)))
        lesson = replace(lesson, calls=calls)
        if extraction.payload is None:
            return _unfused(lesson, extraction.reason)
        return replace(
            lesson,
            consolidated=fused_root(lesson.tree, chain, extraction, self._extractor.name),
        )

    def _extract(self, name: str, chain: tuple[Node, ...]) -> Extraction:
        key = ("extract", name, _key(chain))
        if key not in self._extractions:
            self._extractions[key] = self._extractor.extract(name, self._trajectory, chain)
        return self._extractions[key]

    def _fuse(self, name: str, chain: tuple[Node, ...]) -> Extraction:
        key = ("fuse", name, _key(chain))
        if key not in self._extractions:
            self._extractions[key] = self._extractor.fuse(name, chain)
        return self._extractions[key]

    def _origin(self, extraction: Extraction) -> Origin:
        return Origin(
            trajectory=self._trajectory.id,
            outcome_source=self._trajectory.outcome.source,
            extractor=self._extractor.name,
            model=extraction.model,
            prompt=extraction.prompt,
        )

    def _passage_vector(self, node: Node | None) -> NDArray[np.float32] | None:
        if node is None:
            return None
        text = node.payload["activation_condition"]
        if text not in self._vectors:
            self._vectors[text] = self._embedder.embed_passages([text])[0]
        return self._vectors[text]


def _key(chain: Sequence[Node]) -> tuple[tuple[str, int], ...]:
    return tuple((node.id, node.revision) for node in chain)


def _unfused(lesson: CollectionResult, why: str) -> CollectionResult:
    return replace(lesson, reason=f"{lesson.reason}; not consolidated: {why}")


def _decision(found: TreeRecall, extraction: Extraction) -> str:
    if extraction.payload is None:
        return "skip"
    return "residual" if found.match else "root"


def parent_of(chain: Sequence[Node], d_max: int) -> Node | None:
    """Where a new node goes (equation 5).

    Args:
        chain: Root → match, or nothing: then the new node is a root.
        d_max: The deepest level of the tree.

    Returns:
        The match if the new node may be below it; else the node of the chain above the
        deepest level, so that the new node becomes the match's sibling; None for a root.
    """
    return chain[min(len(chain), d_max - 1) - 1] if chain else None


def fused_root(name: str, chain: Sequence[Node], extraction: Extraction, extractor: str) -> Node:
    """The new root of a fused chain. It is a failure only if the whole chain is.

    It comes from the chain's nodes and from no episode, so that it has the same id whether
    it is made while learning or later.

    Args:
        name: The tree.
        chain: Root → the residual that is due.
        extraction: What the extractor made of the chain.
        extractor: The extractor's name.

    Raises:
        ExtractionError: The extractor gave nothing to write.
    """
    if extraction.payload is None:
        raise ExtractionError(f"nothing was fused: {extraction.reason}")
    label: Label = "failure" if all(node.label == "failure" for node in chain) else "success"
    origin = Origin(
        extractor=extractor,
        model=extraction.model,
        prompt=extraction.prompt,
        nodes=tuple(node.id for node in chain),
    )
    return born(name, None, label, cleaned(extraction.payload), origin)


def cleaned(payload: Mapping[str, str]) -> Payload:
    """The payload without control characters and outer white space.

    Raises:
        ExtractionError: It says nothing, or far too much.
    """
    fields = (payload.get(name, "") for name in Payload("", ""))
    condition, procedure, termination = (clean(text).strip() for text in fields)
    if not condition or not procedure:
        raise ExtractionError("the payload has no activation condition or no procedure")
    if max(len(condition), len(procedure), len(termination)) > TEXT_LIMIT:
        raise ExtractionError(f"the payload is longer than {TEXT_LIMIT:,} characters")
    return Payload(condition, procedure, termination)


def _write(batch: Batch, bank: Bank, trajectory: Trajectory, plans: Sequence[_Plan]) -> LearnResult:
    """Put the decisions into one batch: nodes, counts, consolidation, the episode's state."""
    for plan in plans:
        _write_tree(batch, trajectory, plan)
    known = episode(bank, trajectory.id)
    if known is None or known.outcome != trajectory.outcome:
        batch.put_episode(to_record(trajectory))
    batch.set_state(trajectory.id, EpisodeState.LEARNT)
    lesson = LearnResult(
        trajectory.id, new=True, trees={plan.lesson.tree: plan.lesson for plan in plans}
    )
    batch.log("learn", lesson.record(trajectory))
    return lesson


def _write_tree(batch: Batch, trajectory: Trajectory, plan: _Plan) -> None:
    lesson, success = plan.lesson, bool(trajectory.outcome.success)
    if lesson.node is not None and plan.vector is not None:
        batch.add_node(lesson.tree, lesson.node, plan.vector)
    for node in plan.chain:
        hit = success and node is plan.chain[-1]
        batch.count(lesson.tree, node.id, hits=hit, recalls=1, successes=success)
    if lesson.consolidated is not None and plan.fused_vector is not None:
        batch.add_node(lesson.tree, lesson.consolidated, plan.fused_vector)
    if lesson.consolidated is not None or plan.fused_before:
        batch.revise_node(lesson.tree, structs.replace(plan.chain[-1], consolidated=True))
