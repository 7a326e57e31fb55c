"""How far the reading of logs has come, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable


class ReadProgress:
    """Counts the bytes of logs as they lie there, compressed ones by what was unpacked of them.

    `total` is what there is to be read; `advance` is called with what was read since its last call.
    """

    def __init__(self) -> None:
        self.total = 0
        self.advance: Callable[[int], object] = lambda _: None
        self._left = 0

    def expect(self, size: int) -> None:
        """There is a log of this size to be read."""
        self.total += size

    def begin(self, size: int) -> None:
        """The log at hand, of this size, is being read from now on."""
        self._left = size

    def read(self, count: int) -> None:
        """So many more bytes of the log at hand were read, for the first time or again."""
        more = min(count, self._left)
        if more:
            self._left -= more
            self.advance(more)

    def finish(self) -> None:
        """The log at hand is done, whether it was read to its end or not."""
        self.read(self._left)
