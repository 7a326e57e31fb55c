"""Text for a line: what can be cut, and times."""

from __future__ import annotations

import re
from datetime import datetime

_JOINERS = re.compile("\u200d{2,}")


def cuttable(text: str) -> str:
    """The text with one joiner where there are several, which join no more than one does.

    The terminal library cannot cut a line that begins with two of them: it divides by zero.
    """
    return _JOINERS.sub("\u200d", text)


def local_time(time: str) -> str:
    """A time of the journal in the reader's time zone; empty if it is not one."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OSError, OverflowError):
        return ""
