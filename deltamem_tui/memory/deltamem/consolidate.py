"""Consolidation: often-hit chains become new roots (DeltaMem, equation 8). Nothing is deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, NodeNotFoundError
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.memory.deltamem.consolidation_due import due_rows
from deltamem_tui.memory.deltamem.duplicates import twin_of
from deltamem_tui.memory.deltamem.settings import of_bank
from deltamem_tui.memory.deltamem.write import fused_root
from deltamem_tui.memory.learn_result import REASON_WIDTH
from deltamem_tui.memory.runs.account import Account, Entry
from deltamem_tui.memory.runs.ahead import GRACE, Ahead, StoppedError
from deltamem_tui.memory.runs.ledger import tell_debts
from deltamem_tui.memory.runs.recorder import Recorder
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.memory.writers.extraction import (
    AskedInVainError,
    AskingExtractor,
    Call,
    Extractor,
    known_calls,
)
from deltamem_tui.text import one_line


@dataclass(frozen=True, slots=True)
class Fusion:
    """A chain that was due, and what became of it.

    Attributes:
        tree: `task` or `env`.
        chain: Root to the residual that was hit often enough.
        root: The root that holds the fused chain, a new one or one that said the same already;
            None if the extractor could not fuse it, or such a root was deleted before.
        reason: Why, in one line.
        calls: The questions to a language model that it took.
        written: Whether the root is new.
    """

    tree: str
    chain: tuple[Node, ...]
    root: Node | None
    reason: str
    calls: tuple[Call, ...] = ()
    written: bool = False


def due(bank: Bank) -> list[tuple[str, Node]]:
    """The residuals whose hits reach K_cons and whose chains were not fused yet."""
    parameters = of_bank(bank)
    found: list[tuple[str, Node]] = []
    for name in COLLECTIONS:
        tree = bank.tree(name)
        if parameters[name].enabled:
            rows = tree.rows[due_rows(tree, parameters[name])[tree.rows]]
            found += [(name, tree.node_at(int(row))) for row in rows]
    return found


def consolidate(
    bank: Bank,
    extractor: Extractor,
    *,
    embedder: Embedder | None = None,
    concurrency: int = 1,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = GRACE,
) -> Iterator[Fusion]:
    """Fuse every chain that is due, one commit each.

    Args:
        bank: The bank; its handle shows the new state after each chain.
        extractor: What fuses the chains.
        embedder: The bank's embedder; loaded if not given.
        concurrency: The most questions to a model at once.
        stopped: Whether somebody wants to stop; asked between chains and while a model is
            waited for. The chain whose turn it is stays due then.
        grace: The most seconds to wait at the end for calls that are on their way.

    Raises:
        LanguageModelError: The model cannot be asked at all; what was committed before stays.
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; what was committed before stays.
    """
    loaded = embedder_of(bank, embedder)
    chains = due(bank)
    ahead = payer = None
    if isinstance(extractor, AskingExtractor):
        tell_debts(bank)
        payer = extractor
        extractor = ahead = Ahead(extractor, concurrency, stopped)
    account = Account(bank, payer)
    try:
        for number, (name, node) in enumerate(chains):
            if stopped():
                return
            if ahead:
                ahead.turn = number
                _look_ahead(bank, ahead, number, chains[number : number + concurrency])
            with account.telling(node.id) as entry:
                fusion = _consolidate_one(bank, name, node, extractor, loaded, entry)
            if ahead:
                ahead.forget(node.id)
            if fusion is not None:
                yield fusion
    except StoppedError:
        return
    finally:
        _close(account, ahead, grace)


def _close(account: Account, ahead: Ahead | None, grace: float) -> None:
    """End the asking, and tell the journal of the calls that came to nothing."""
    if ahead is None:
        account.close()
        return
    try:
        ahead.close(grace)
    finally:
        account.close(ahead.take_unused(), on_their_way=ahead.on_their_way)


def _look_ahead(bank: Bank, ahead: Ahead, number: int, chains: Sequence[tuple[str, Node]]) -> None:
    """Have the next chains fused before their turn; what is gone meanwhile is left out."""
    for turn, (name, node) in enumerate(chains, start=number):
        with suppress(NodeNotFoundError):
            ahead.look(turn, name, None, bank.tree(name).chain(node.id))


def _consolidate_one(
    bank: Bank,
    name: str,
    node: Node,
    extractor: Extractor,
    embedder: Embedder,
    entry: Entry,
) -> Fusion | None:
    """Fuse one chain outside the lock, and write it if the chain is still the same inside.

    Returns:
        None if another writer deleted the node or fused its chain meanwhile.
    """
    asking = Recorder(extractor, entry)
    while True:
        try:
            chain = bank.tree(name).chain(node.id)
        except NodeNotFoundError:
            return None
        if chain[-1].consolidated:
            return None
        calls: tuple[Call, ...] = ()
        try:
            extraction = asking.fuse(name, chain)
            calls = known_calls(extraction.call("fuse", name))
            root = fused_root(name, chain, extraction, extractor.name)
        except AskedInVainError as error:
            return _refused(bank, Fusion(name, chain, None, str(error), (error.call,)), entry)
        except ExtractionError as error:
            return _refused(bank, Fusion(name, chain, None, str(error), calls), entry)
        vector = embedder.embed_passages([root.payload["activation_condition"]])[0]
        with bank.writing() as batch:
            if not _stands(bank.tree(name), chain):
                continue
            twin = twin_of(bank.tree(name), root, vector)
            if twin is None:
                batch.add_node(name, root, vector)
            batch.revise_node(name, structs.replace(chain[-1], consolidated=True))
            fusion = Fusion(name, chain, root, extraction.reason, calls, written=twin is None)
            if twin:
                fusion = replace(fusion, root=twin.node, reason=twin.reason)
            batch.log("consolidate", fusion_record(fusion))
        entry.told(calls)
        return fusion


def _refused(bank: Bank, fusion: Fusion, entry: Entry) -> Fusion:
    """Tell the journal what was paid for nothing. The chain stays due."""
    if fusion.calls:
        with bank.writing() as batch:
            batch.log("refuse", fusion_record(fusion))
        entry.told(fusion.calls)
    return fusion


def fusion_record(fusion: Fusion) -> dict[str, Any]:
    """What the journal tells of a chain that was fused, or could not be."""
    record = {
        "tree": fusion.tree,
        "root": fusion.root.id if fusion.root else None,
        "nodes": [each.id for each in fusion.chain],
        "reason": one_line(fusion.reason, REASON_WIDTH),
        "written": fusion.written if fusion.root else None,
        "calls": [call.record() for call in fusion.calls] or None,
    }
    return {key: value for key, value in record.items() if value is not None}


def _stands(tree: Tree, chain: tuple[Node, ...]) -> bool:
    """Whether the tree still holds the chain as it was."""
    try:
        return tree.chain(chain[-1].id) == chain
    except NodeNotFoundError:
        return False
