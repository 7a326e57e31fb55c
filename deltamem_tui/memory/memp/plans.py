"""MemP's plans: an episode is credited and written, or waits until the next update is due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.episodes import stored_episodes
from deltamem_tui.memory.learn_result import CollectionResult, LearnResult
from deltamem_tui.memory.memp.collections import PROCEDURES, WAITING
from deltamem_tui.memory.memp.recall import recalled
from deltamem_tui.memory.memp.settings import MempNumbers
from deltamem_tui.memory.memp.update import Update
from deltamem_tui.memory.plan import Count, Due, MaintenanceResult, Plan, Revise
from deltamem_tui.memory.record_sets import addition
from deltamem_tui.memory.writers.extraction import FailedCallError
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean, counted
from deltamem_tui.trajectory.model import Trajectory


def plan(
    bank: Bank, episode: Trajectory, numbers: MempNumbers, writer: Writer, embedder: Embedder
) -> Plan[LearnResult]:
    """What an episode changes.

    Raises:
        ExtractionError: The writer could make nothing of it.
    """
    shown, score = _shown_to(bank, episode, numbers, embedder)
    solved = int(bool(episode.outcome.success))
    counts = tuple(
        Count(PROCEDURES, each, solved if each == shown[0] else 0, 1, solved)
        for each in shown
        if bank.tree(PROCEDURES).find(each)
    )
    waiting = tuple(bank.tree(WAITING))
    update = Update(bank, numbers, writer, embedder, _credit(bank, episode, shown, solved))
    match = shown[0] if shown else None
    if len(waiting) + 1 < numbers.every:
        node = _waiting(episode, shown)
        vector = embedder.embed_passages([node.payload["task"]])[0]
        left = counted(numbers.every - len(waiting) - 1, "further episode")
        result = CollectionResult(
            WAITING, "wait", f"the update comes after {left}", node, match, score
        )
        changes = (*counts, addition(bank.tree(WAITING), node, vector))
        return Plan(LearnResult(episode.id, new=True, trees={WAITING: result}), changes)
    done = [_of_waiting(update, each) for each in waiting]
    node_or_none, reason = update.take(episode, shown)
    all_shown = [*(each for node in waiting for each in _shown(node)), *shown]
    deleted = update.delete_useless(all_shown)
    decision = _decision(node_or_none)
    if waiting:
        reason += f"; {sum(done)} of {counted(len(waiting), 'waiting episode')} taken up"
    if deleted:
        reason += f"; {counted(deleted, 'record')} deleted that mostly failed"
    result = CollectionResult(
        PROCEDURES, decision, reason, node_or_none, match, score, calls=tuple(update.calls)
    )
    learnt = LearnResult(episode.id, new=True, trees={PROCEDURES: result})
    return Plan(learnt, (*counts, *update.changes))


def _shown_to(
    bank: Bank, episode: Trajectory, numbers: MempNumbers, embedder: Embedder
) -> tuple[list[str], float | None]:
    """The records that an episode was shown, best first, and the score of the best one.

    Its receipts say that, if it has any of this memory; else it is what would be recalled now.
    """
    receipts = [
        [each for each in receipt.entries if each.collection == PROCEDURES]
        for receipt in episode.receipts
        if receipt.bank == bank.manifest.counts_as
        or any(each.collection == PROCEDURES for each in receipt.entries)
    ]
    if receipts:
        known = bank.tree(PROCEDURES).snapshot.first_row
        scores = {
            each.node: each.score
            for entries in receipts
            for each in entries
            if known(each.node) is not None
        }
        return list(scores), next(iter(scores.values()), None)
    found = recalled(bank, episode.task, numbers, embedder)
    score = found.candidates[0].score if found and found.candidates else None
    return [chain[0].id for chain in found.chains] if found else [], score


def _credit(
    bank: Bank, episode: Trajectory, shown: Sequence[str], solved: int
) -> Mapping[str, tuple[int, int]]:
    """What the episode's receipts add to the bank's credit, if that does not have it yet."""
    known = stored_episodes.episode(bank, episode.id)
    if not episode.receipts or (known and known.receipts):
        return {}
    return dict.fromkeys(shown, (1, solved))


def _decision(node: Node | None) -> str:
    if node is None:
        return "skip"
    return "repair" if node.origin.nodes else "record"


def _waiting(episode: Trajectory, shown: Sequence[str]) -> Node:
    payload = {"task": clean(episode.task).strip(), "shown": " ".join(shown)}
    origin = Origin(trajectory=episode.id, outcome_source=episode.outcome.source)
    label: Label = "success" if episode.outcome.success else "failure"
    return born(WAITING, None, label, payload, origin)


def _shown(node: Node) -> list[str]:
    return node.payload["shown"].split()


def _of_waiting(update: Update, node: Node) -> bool:
    """Take up an episode that waited; it waits on if the writer can make nothing of it."""
    episode = stored_episodes.episode(update.bank, node.origin.trajectory)
    try:
        if episode is not None:
            update.take(episode, _shown(node))
    except ExtractionError as error:
        update.calls += [error.call] if isinstance(error, FailedCallError) else []
        return False
    update.changes.append(Revise(WAITING, replace(node, deleted=True)))
    return True


def due(bank: Bank, numbers: MempNumbers) -> Sequence[Due]:
    """The update, if more episodes wait than may: the writer could make nothing of some."""
    waiting = tuple(bank.tree(WAITING))
    return [Due(WAITING, waiting)] if waiting and len(waiting) >= numbers.every else []


def maintain(
    bank: Bank, numbers: MempNumbers, writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult] | None:
    """The update that is due; None if none is."""
    if not due(bank, numbers):
        return None
    waiting = tuple(bank.tree(WAITING))
    update = Update(bank, numbers, writer, embedder)
    done = [_of_waiting(update, each) for each in waiting]
    update.delete_useless([each for node in waiting for each in _shown(node)])
    reason = f"{sum(done)} of {counted(len(waiting), 'waiting episode')} taken up"
    changes = tuple(update.changes) if any(done) else ()
    result = MaintenanceResult(WAITING, waiting, None, reason, tuple(update.calls))
    return Plan(result, changes)
