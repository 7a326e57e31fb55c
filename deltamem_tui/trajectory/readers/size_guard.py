"""What a reader holds of a log until an episode ends, measured against what it may hold."""

from __future__ import annotations

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import Limits, human_size

BESIDE = 500
"""Bytes that a record takes beside its text, or why it is refused."""


class Held:
    """Counts characters, and stops a reader that would hold more than a record may have."""

    def __init__(self, what: str, limits: Limits, *, hint: str | None = None) -> None:
        """Begin with nothing held.

        Args:
            what: What is being gathered, as an error shall call it (`a chat`).
            limits: What the log may hold; `record_bytes` counts here.
            hint: What to do about a log that holds too much.
        """
        self._what = what
        self._most = limits.record_bytes
        self._hint = hint
        self._count = 0

    def add(self, count: int, position: str | None = None) -> None:
        """Hold some characters more.

        Raises:
            RecordError: That is more than may be held.
        """
        self._count += count
        if self._count > self._most:
            raise RecordError(
                f"{self._what} of more than {human_size(self._most)}",
                position=position,
                hint=self._hint,
            )

    def clear(self) -> None:
        """What was held is an episode now, or none."""
        self._count = 0
