"""Maintenance of a whole bank: everything that is due, one commit each, asked side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory import engine
from deltamem_tui.memory.methods import method_of
from deltamem_tui.memory.plan import Due, MaintenanceResult
from deltamem_tui.memory.runs.payments import Payments
from deltamem_tui.memory.runs.prefetch import (
    GRACE,
    PlannedQuestions,
    Prefetcher,
    PrefetchingWriter,
    Question,
    StoppedError,
)
from deltamem_tui.memory.vectors.embedder import embedder_of
from deltamem_tui.memory.writers.extraction import Extractor, ExtractorWriter
from deltamem_tui.memory.writers.writer import ModelWriter, Writer


def consolidate(
    bank: Bank,
    extractor: Writer | Extractor,
    *,
    embedder: Embedder | None = None,
    concurrency: int = 1,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = GRACE,
) -> Iterator[MaintenanceResult]:
    """Fuse every chain that is due, one commit each.

    `stopped` is asked between chains and while a model is waited for; the chain whose turn it is
    stays due then. At the end, calls that are under way are waited for up to `grace` seconds.

    Raises:
        LanguageModelError: The model cannot be asked at all; what was committed before stays.
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; what was committed before stays.
    """
    loaded = embedder_of(bank, embedder)
    chains = engine.due(bank)
    prefetcher, model = None, None
    with Payments(bank) as payments, ExitStack() as ending:
        writer = engine.writer_of(bank, extractor)
        if isinstance(writer, ModelWriter):
            model = writer.paying(payments)
            prefetcher = Prefetcher(concurrency, stopped)
            writer = PrefetchingWriter(model, prefetcher)
            ending.callback(prefetcher.close, model.cancel, grace)
        elif isinstance(writer, ExtractorWriter):
            writer = writer.paying(payments)
        for number, task in enumerate(chains):
            if stopped():
                return
            if prefetcher and model:
                prefetcher.begin(number)
                tasks = chains[number : number + concurrency]
                prefetcher.look_ahead(_questions(bank, model, number, tasks, loaded))
            try:
                result = engine.maintain(bank, task, writer, loaded)
            except StoppedError:
                return
            if result is not None:
                yield result


def _questions(
    bank: Bank, writer: ModelWriter, number: int, tasks: Sequence[Due], embedder: Embedder
) -> Iterator[Question]:
    """What the next tasks ask as they stand; what is gone meanwhile is left out."""
    for turn, task in enumerate(tasks, start=number):
        noting = PlannedQuestions(writer, turn)
        with suppress(DeltaMemError):
            method_of(bank).maintain(bank, task, noting, embedder)
        yield from noting.noted
