"""What answers take: each is counted, reported to whoever asked, and kept in the response cache."""

from __future__ import annotations

import threading
from collections.abc import Callable

from deltamem_tui.errors import StorageError
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.call import Reply
from deltamem_tui.llm.cost import Usage

OnAnswer = Callable[[Usage], object]
"""Called with what an answer took, in the thread in which the answer came."""


class Meter:
    """Counts the answers of one client and keeps them. Any number of threads share it."""

    def __init__(
        self, model: str, cache: ResponseCache | None, notify: Callable[[str], object]
    ) -> None:
        """Nothing is counted yet. `notify` is called once if answers cannot be kept."""
        self._model = model
        self._cache = cache
        self._keeps = cache is not None
        self._notify = notify
        self._usage = Usage()
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

    def kept(self, key: str) -> Reply | None:
        """The answer in the cache; None if there is none. It counts as nothing yet."""
        return self._cache.get(key) if self._cache else None

    def count_kept(self, on_answer: OnAnswer) -> Usage:
        """Count an answer that came from the cache."""
        return self._count(Usage(cached=1), on_answer)

    def take(self, key: str, reply: Reply, on_answer: OnAnswer, *, late: bool = False) -> Usage:
        """Count an answer that is paid for, report it, and only then keep it.

        The question of one that comes late may have been answered since; that answer stays.
        """
        self._count(reply.usage, on_answer)
        if not (late and self.kept(key)):
            self._keep(key, reply)
        return reply.usage

    def _count(self, usage: Usage, on_answer: OnAnswer) -> Usage:
        with self._lock:
            self._usage += usage
        on_answer(usage)
        return usage

    def _keep(self, key: str, reply: Reply) -> None:
        """Keep an answer; if the disk refuses, keep none rather than lose one that is paid for."""
        if self._cache is None or not self._keeps:
            return
        try:
            self._cache.put(key, self._model, reply)
        except StorageError as error:
            with self._lock:
                first, self._keeps = self._keeps, False
            if first:
                self._notify(f"answers are not kept from here on: {error}")
