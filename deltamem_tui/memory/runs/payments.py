"""What one run pays: summed up, and written into the bank's `usage.jsonl` when it is paid."""

from __future__ import annotations

import threading
from contextlib import nullcontext, suppress
from typing import Self

from deltamem_tui.bank import usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import StorageError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.writers.extraction import Payment


class Payments:
    """The payments of one run, called with each from any thread.

    An answer is used even if the disk refuses its line, which is tried again at the end.
    """

    def __init__(self, bank: Bank) -> None:
        self._folder = bank.path
        self._usage = Usage()
        self._unwritten: list[Payment] = []
        self._lock = threading.Lock()

    def __call__(self, payment: Payment) -> None:
        """Count a payment and write it down."""
        with self._lock:
            self._usage += payment.usage
        try:
            usage_log.append(self._folder, payment.record())
        except StorageError:
            with self._lock:
                self._unwritten.append(payment)

    @property
    def usage(self) -> Usage:
        """What all answers took so far."""
        with self._lock:
            return self._usage

    def close(self) -> None:
        """Write down what could not be written before.

        Raises:
            StorageError: The disk still refuses.
        """
        with self._lock:
            while self._unwritten:
                usage_log.append(self._folder, self._unwritten[0].record())
                del self._unwritten[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Close; the error that ended the run is not hidden by another."""
        with suppress(StorageError) if error else nullcontext():
            self.close()
