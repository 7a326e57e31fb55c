"""The till: what answers cost, who is told, and which were paid for before.

Every answer passes through here once: it is counted, told to those who keep books, and kept in
the response cache. What a call may cost is set aside here before it is made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from deltamem_tui.errors import StorageError
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.cost import Budget, Payment, Usage
from deltamem_tui.llm.reply import Reply


class Till:
    """The books of one client. Any number of threads share it."""

    def __init__(
        self,
        model: str,
        cache: ResponseCache | None,
        budget: Budget,
        tell: Callable[[str], object],
    ) -> None:
        """Nothing is paid yet.

        Args:
            model: Whose answers these are.
            cache: Where they are kept; nowhere if None.
            budget: The limit on cost.
            tell: Says a line to a person, once, if answers cannot be kept.
        """
        self._model = model
        self._cache = cache
        self._keeps = cache is not None
        self._budget = budget
        self._tell = tell
        self._usage = Usage()
        self._listeners: list[Callable[[Usage], object]] = []
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """What everything took so far."""
        with self._lock:
            return self._usage

    @property
    def keeps(self) -> bool:
        """Whether answers are kept."""
        return self._keeps

    def on_payment(self, told: Callable[[Usage], object]) -> Callable[[], None]:
        """See `Client.on_payment`."""
        with self._lock:
            self._listeners.append(told)

        def end() -> None:
            with self._lock:
                self._listeners.remove(told)

        return end

    def promise(
        self, worst: float | None, stopped: threading.Event
    ) -> AbstractContextManager[Payment]:
        """Set aside what a call may cost; see `Budget.promise`."""
        return self._budget.promise(worst, stopped)

    def correct(self, difference: float) -> None:
        """Put a payment right; see `Budget.correct`."""
        self._budget.correct(difference)

    def wake(self) -> None:
        """Have those who wait for room look whether they shall go on; see `Budget.wake`."""
        self._budget.wake()

    def kept(self, key: str) -> Reply | None:
        """The answer that lies in the cache; None if there is none. It counts as nothing yet."""
        return self._cache.get(key) if self._cache else None

    def note_kept(self) -> Usage:
        """Count an answer that lay in the cache."""
        return self._count(Usage(cached=1))

    def take(self, key: str, reply: Reply, *, late: bool = False) -> Usage:
        """Count an answer that is paid for, tell who listens, and keep it.

        Args:
            key: What it answers.
            reply: The answer.
            late: Whether its question may have been answered since; that answer stays.

        Returns:
            What it took.
        """
        usage = self._count(Usage(1, 0, reply.prompt_tokens, reply.completion_tokens, reply.cost))
        with self._lock:
            listeners = tuple(self._listeners)
        for told in listeners:
            told(usage)
        if not (late and self.kept(key)):
            self._keep(key, reply)
        return usage

    def _count(self, usage: Usage) -> Usage:
        with self._lock:
            self._usage += usage
        return usage

    def _keep(self, key: str, reply: Reply) -> None:
        """Keep an answer; writing is given up rather than an answer that was paid for."""
        if self._cache is None or not self._keeps:
            return
        try:
            self._cache.put(key, self._model, reply)
        except StorageError as error:
            with self._lock:
                first, self._keeps = self._keeps, False
            if first:
                self._tell(f"answers are not kept from here on: {error}")
