"""Recall, learn and maintain for any method.

A method plans on what the bank shows, without the lock, because a writer may take minutes.
Then the plan is committed as one commit; if another process wrote in between, the method plans
again on what the bank shows then, and no writer is asked the same thing twice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.ledger import count_learnt
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import (
    BankRewrittenError,
    TrajectoryError,
    UsageError,
)
from deltamem_tui.memory.episodes.outcomes import forget_lessons, weighed, with_facts_of
from deltamem_tui.memory.episodes.stored_episodes import domain_of, episode, put_episode, unmarked
from deltamem_tui.memory.forgetting import forget_if_due
from deltamem_tui.memory.method import RulesExtractor, method_of, settings_of
from deltamem_tui.memory.plan import (
    Add,
    Change,
    Count,
    Due,
    LearnResult,
    MaintenanceResult,
    Revise,
)
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.vectors.search import (
    EmbeddingCache,
    embedder_of,
    ranked,
    weighting_of,
)
from deltamem_tui.memory.writers.extraction import (
    NO_INPUTS,
    Extraction,
    FunctionWriter,
    Inputs,
    Notes,
)
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory, chosen_domain
from deltamem_tui.trajectory.receipt import Receipt, made, together


def recall(
    bank: Bank,
    task: str,
    environment: str = "",
    *,
    embedder: Embedder | None = None,
    candidates: int = 1,
    folders: Sequence[Path] | None = None,
) -> RecallResult:
    """Recall what a bank knows about a task and a scene. Nothing is written.

    The scene, `environment`, is that part of the instruction or the first observation, without the
    goal. The answer's `receipt` says what was shown. Give it back when the episode is learnt, here
    or in another bank, and the nodes get the credit. `candidates` are nodes to return per
    collection, runners-up included; `folders` hold the context's header, else the usual places.

    Raises:
        UsageError: There is nothing to ask.
        EmbedderUnavailableError: The bank's embedding model cannot be loaded.
        EmbedderMismatchError: The embedder is not the bank's.
        BankCorruptError: The bank breaks the rules of the format.
    """
    if not clean(task).strip() and not clean(environment).strip():
        raise UsageError("task and environment are both empty", hint="say what the agent is to do")
    query = Query(task, environment, candidates, None, None if folders is None else tuple(folders))
    found = method_of(bank).recall(bank, query, embedder_of(bank, embedder))
    counts_as, commit = bank.manifest.counts_as, bank.commit.sequence
    receipt = made(counts_as, commit, found.shown, task, environment)
    return dataclasses.replace(found, receipt=receipt)


def search(
    bank: Bank,
    text: str,
    collections: Iterable[str] | None = None,
    count: int = 10,
    *,
    embedder: Embedder | None = None,
) -> list[CollectionRecall]:
    """Return the nodes that fit a text best, per collection, whether they match or not.

    Every collection that is named, or all, is asked the same, and answers by similarity, keys of
    other nodes left out; the embedder is loaded if not given.
    """
    text, depths = clean(text).strip(), method_of(bank).key_depths
    vector = embedder_of(bank, embedder).embed_queries([text])[0]
    weighting = weighting_of(bank)

    def answer(name: str) -> CollectionRecall:
        tree, keys = bank.tree(name), depths.get(name)
        keyed = None if keys is None else lambda tree: tree.depth >= keys
        found = ranked(tree, vector, weighting, 0.0, count, keyed)
        chains = tuple(tree.chain(each.node.id) for each in found)
        return CollectionRecall(name, text, -1.0, tuple(found), chains)

    return [answer(name) for name in (bank.trees if collections is None else collections)]


def learn(
    bank: Bank,
    trajectory: Trajectory,
    extractor: Writer | None = None,
    *,
    embedder: Embedder | None = None,
    receipt: Receipt | None = None,
) -> LearnResult:
    """Learn from one episode whose outcome is known. It is written whole or not at all.

    It is added to the bank's episodes if it is not among them: without its secrets, and of the
    bank's domain if it names none. The `extractor` puts it into words, the rules if none is given;
    `receipt` is what the agent was shown in it: the `receipt` of a recall.

    Raises:
        TrajectoryError: How the episode ended is not known.
        RecordError: It has no task, no step, or a text of more characters than are taken.
        ExtractionError: Nothing could be made of it.
        LanguageModelError: The writer's model cannot be asked at all.
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; the bank is as it was.
    """
    if receipt is not None:
        trajectory = trajectory.with_facts(receipts=together((*trajectory.receipts, receipt)))
    writer = writer_of(bank, extractor)
    if paying := getattr(writer, "paying", None):  # it asks a model
        writer = paying(lambda call: usage_log.append(bank.path, call.bill()))
    trajectory = as_stored(bank, trajectory)
    embedder = embedder_of(bank, embedder)
    return learn_stored(bank, trajectory, writer, embedder)


def writer_of(bank: Bank, given: Writer | None = None) -> Writer:
    """Return what writes for a bank's method: what is given, or the rules, which need no model."""
    method = method_of(bank)
    if given is None:
        return RulesExtractor(method)
    of_method: Callable[..., Writer] | None = getattr(given, "of_method", None)
    return of_method(method) if of_method else given


def learn_stored(
    bank: Bank, trajectory: Trajectory, writer: Writer, embedder: Embedder
) -> LearnResult:
    """Learn from an episode in the form that `as_stored` gives it."""
    method, trajectory = method_of(bank), unmarked(trajectory)
    answers, vectors = _remembering(writer), EmbeddingCache(embedder)
    while True:
        bank.refresh()
        state = bank.episodes.state(trajectory.id)
        if state in (EpisodeState.LEARNT, EpisodeState.REPLACED):
            return LearnResult(trajectory.id, new=False, trees={})
        bank.require_writable()  # before a model is paid for nothing
        embedder_of(bank, embedder)  # the bank may have been given another meanwhile
        if state == EpisodeState.WAITING:
            forget_lessons(bank, trajectory.id)
        planned_on = bank.commit.sequence
        try:
            plan = method.plan(bank, trajectory, answers, vectors)
        except BankRewrittenError:
            continue  # by another process that compacted it or gave it new vectors
        with bank.writing() as batch:
            if bank.commit.sequence != planned_on:
                continue
            _apply(batch, plan.changes)
            counts = {
                (each.collection, each.node): (each.hits, each.recalls, each.successes)
                for each in plan.changes
                if isinstance(each, Count)
            }
            if counts:
                count_learnt(batch, bank.snapshots, trajectory.id, counts)
            kept, known = plan.episode or trajectory, episode(bank, trajectory.id)
            kept = weighed(with_facts_of(kept, known)) if known else kept
            told = {known.outcome, *known.receipts} if known else set()
            if plan.episode or not {kept.outcome, *kept.receipts} <= told:
                put_episode(batch, bank, kept)
            batch.set_state(trajectory.id, EpisodeState.LEARNT)
            batch.log("learn", plan.result.record(trajectory))
        if settings_of(bank).forget_every:
            forget_if_due(bank)
        return dataclasses.replace(plan.result, written=plan.written)


def as_stored(bank: Bank, trajectory: Trajectory) -> Trajectory:
    """Return the episode as the bank keeps it. One of the bank's own is as it is already.

    Raises:
        TrajectoryError: How the episode ended is not known.
        RecordError: It has no task, no step, or a text of more characters than are taken.
    """
    from deltamem_tui.trajectory.validation import admitted, checked, redact

    trajectory = admitted(checked(trajectory))
    if not trajectory.outcome.known:
        raise TrajectoryError(
            f"episode {trajectory.id} has no outcome",
            hint="import it again with `--outcome success`, `failure` or a FILE",
        )
    bank.refresh()
    if bank.episodes.state(trajectory.id) is None:
        domain = chosen_domain(trajectory.domain, otherwise=domain_of(bank))
        trajectory, redactions = redact(replace(trajectory, domain=domain))
        if redactions:  # marks may be longer than what they stand for
            trajectory = admitted(trajectory)
    return trajectory


def due(bank: Bank) -> Sequence[Due]:
    """Return the maintenance that the bank's method finds due."""
    return method_of(bank).due(bank)


def maintain(bank: Bank, task: Due, writer: Writer, embedder: Embedder) -> MaintenanceResult | None:
    """Do one piece of maintenance in one commit; None if it is no longer due. Raises as `learn`.

    Where the writer could make nothing of it, the journal notes what that took, and it stays due.
    """
    method = method_of(bank)
    answers, vectors = _remembering(writer), EmbeddingCache(embedder)
    while True:
        bank.require_writable()  # before a model is paid for nothing
        planned_on = bank.commit.sequence
        try:
            plan = method.maintain(bank, task, answers, vectors)
        except BankRewrittenError:
            bank.refresh()
            continue
        if plan is None:
            return None
        if not plan.changes and not plan.result.calls:
            return plan.result
        with bank.writing() as batch:
            if plan.changes and bank.commit.sequence != planned_on:
                continue
            _apply(batch, plan.changes)
            batch.log("consolidate" if plan.changes else "refuse", plan.result.record())
        return dataclasses.replace(plan.result, done=bool(plan.changes))


def _apply(batch: Batch, changes: Iterable[Change]) -> None:
    for each in changes:
        if isinstance(each, Add):
            batch.add_node(each.collection, each.node, each.vector)
        elif isinstance(each, Revise):
            batch.revise_node(each.collection, each.node, each.vector)


def _remembering(writer: Writer) -> Writer:
    """Return a writer whose answers are kept: planning again asks nothing twice."""
    known: dict[tuple[Hashable, ...], Extraction] = {}

    def write(
        purpose: str, episode: Trajectory | None, notes: Notes, inputs: Inputs = NO_INPUTS
    ) -> Extraction:
        revisions = tuple((node.id, node.revision) for node in notes)
        key = purpose, episode.id if episode else None, revisions, tuple(sorted(inputs.items()))
        if key not in known:
            known[key] = writer.write(purpose, episode, notes, inputs)
        return known[key]

    return FunctionWriter(writer.name, write)
