"""Text for a line: what can be cut, what tells a line apart from the one above, times."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import takewhile

from rich.cells import cell_len

_LEAST = 8
"""Fewer characters than this are not worth a sign that some are left out."""

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


def distinguished(text: str, before: str, room: int) -> str:
    """A text as it is shown on a line below another one.

    If it fits, it is whole. If not, the words it shares with the beginning of the line above
    give way, so that what is different can be seen.

    Args:
        text: The text, on one line.
        before: What the line above says; empty if there is none.
        room: How many cells there are.
    """
    if not before or cell_len(text) <= room:
        return text
    rest = _after_shared(text, before)
    if not rest or len(text) - len(rest) < _LEAST:
        return text
    return rest if rest.startswith("…") else f"…{rest}"


def same_but(procedure: str, before: str, node_id: str) -> str:
    """What stands for a trigger that is its sibling's too: where the two part, or else an id.

    Args:
        procedure: What to do, on one line.
        before: What the sibling says one is to do.
        node_id: The node's id.
    """
    return f"″ {_after_shared(procedure, before) or node_id}"


def _after_shared(text: str, before: str) -> str:
    """The words of a text from the first on that is not the other's; empty if all are."""
    words = text.split(" ")
    pairs = zip(words, before.split(" "), strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return " ".join(words[shared:])
