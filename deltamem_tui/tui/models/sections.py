"""Text for panes and lines: sections of a title and a body, titles, times."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from rich.cells import cell_len, set_cell_size

from deltamem_tui.text import clean

SHOWN_CHARACTERS = 20_000
_JOINERS = re.compile("\u200d{2,}")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text pane."""

    title: str = ""
    body: str = ""
    warning: bool = False  # stands out
    quiet: bool = False  # matters less than the others
    above: tuple[str, ...] = ()  # the texts it adds to: what it repeats of them is dimmed

    def shown_body(self, read_key: str = "") -> str:
        """Return the body, cleaned; of a very long one the beginning, and how much is left."""
        body = clean(self.body)
        left = len(body) - SHOWN_CHARACTERS
        if left <= 0:
            return body
        how = f": press {read_key} to read all of it" if read_key else ""
        return f"{body[:SHOWN_CHARACTERS]}\n… {left:,} more characters{how}"


def plain(sections: list[Section]) -> str:
    """Return all sections as text, whole, for the clipboard and the pager."""
    parts = [
        "\n".join(part for part in (each.title, clean(each.body)) if part) for each in sections
    ]
    return "\n\n".join(parts) + "\n"


def cuttable(text: str) -> str:
    """Return the text with one joiner for several: the terminal library fails at those."""
    return _JOINERS.sub("\u200d", text)


def local_time(time: str) -> str:
    """Return a time of the journal in the reader's time zone; empty if it is not one."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OSError, OverflowError):
        return ""


def title_of(text: str, width: int) -> str:
    """Return a text that fits into `width` cells: its beginning and its end, as nodes part late."""
    text = cuttable(text)
    if cell_len(text) <= width:
        return text
    tail = max(width - 1, 0) // 2
    begin = set_cell_size(text, max(width - 1 - tail, 0)).rstrip()
    ends = (text[-count:] for count in range(min(tail, len(text)), 0, -1))
    return f"{begin}…{next((end for end in ends if cell_len(end) <= tail), '').lstrip()}"
