"""Maintenance of a whole bank: everything that is due, one commit each, asked side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory import engine
from deltamem_tui.memory.method import Due, MaintenanceResult
from deltamem_tui.memory.runs.account import Account
from deltamem_tui.memory.runs.ahead import GRACE, Ahead, StoppedError
from deltamem_tui.memory.runs.ledger import tell_debts
from deltamem_tui.memory.runs.recorder import Recorder
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.memory.writers.extraction import AskingExtractor, Extractor, ExtractorWriter


def consolidate(
    bank: Bank,
    extractor: Extractor,
    *,
    embedder: Embedder | None = None,
    concurrency: int = 1,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = GRACE,
) -> Iterator[MaintenanceResult]:
    """Fuse every chain that is due, one commit each.

    Args:
        bank: The bank; its handle shows the new state after each chain.
        extractor: What fuses the chains.
        embedder: The bank's embedder; loaded if not given.
        concurrency: The most calls to a model at once.
        stopped: Whether to stop; asked between chains and while a model is waited for. The
            chain whose turn it is stays due then.
        grace: The most seconds to wait at the end for calls that are on their way.

    Raises:
        LanguageModelError: The model cannot be asked at all; what was committed before stays.
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; what was committed before stays.
    """
    loaded = embedder_of(bank, embedder)
    chains = engine.due(bank)
    ahead = payer = None
    if isinstance(extractor, AskingExtractor):
        tell_debts(bank)
        payer = extractor
        extractor = ahead = Ahead(extractor, concurrency, stopped)
    account = Account(bank, payer)
    try:
        for number, task in enumerate(chains):
            if stopped():
                return
            if ahead:
                ahead.turn = number
                _look_ahead(bank, ahead, number, chains[number : number + concurrency])
            about = task.nodes[-1].id
            with account.telling(about) as entry:
                writer = ExtractorWriter(Recorder(extractor, entry))
                result = engine.maintain(bank, task, writer, loaded)
                if result is not None:
                    entry.told(result.calls)
            if ahead:
                ahead.forget(about)
            if result is not None:
                yield result
    except StoppedError:
        return
    finally:
        _close(account, ahead, grace)


def _close(account: Account, ahead: Ahead | None, grace: float) -> None:
    """End the asking, and note the calls that came to nothing in the journal."""
    if ahead is None:
        account.close()
        return
    try:
        ahead.close(grace)
    finally:
        account.close(ahead.take_unused(), on_their_way=ahead.on_their_way)


def _look_ahead(bank: Bank, ahead: Ahead, number: int, tasks: Sequence[Due]) -> None:
    """Have the next chains fused before their turn; what is gone meanwhile is left out."""
    for turn, task in enumerate(tasks, start=number):
        with suppress(NodeNotFoundError):
            ahead.look(turn, task.tree, None, bank.tree(task.tree).chain(task.nodes[-1].id))
