"""The context: recalled chains as the text that goes into an agent's prompt.

Memory is handed over as past experience behind a fence, labelled entry by entry, with a
header that explains how to read it. What a bank holds is data: it cannot close the fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.text import clean
from deltamem_tui.trajectory.recalled_text import FENCE

HEADER_NAME = "memory_header"

# Characters without width may stand in legible text, but do not hide a fence from us.
_UNSEEN = r"\u00ad\u200b-\u200d\u2060"
_GAP = rf"[\s{_UNSEEN}]*"
_LESS = "(?:<|&lt;)"  # Gemini CLI escapes the whole context, and then both read the same
_FENCE_IN_TEXT = re.compile(
    rf"{_LESS}(?={_GAP}(?:/{_GAP})?{f'[{_UNSEEN}]*'.join(FENCE)})", re.IGNORECASE
)

_TERM = re.compile(r"`([^`]+)`")
# A list of one entry is set like a longer one: bullet, number, or the mark of a record.
_LIST = re.compile(r"\s*(?:[-*•]\s|\d+[.)]\s|\[[A-Z]+\])")


def compose(domain: str, entries: Iterable[str], folders: Sequence[Path] | None = None) -> str:
    """Return the text for an agent's prompt; empty if there is nothing to show.

    Of the header's list only what the entries need is shown: an item that begins with words in
    backquotes explains these words.

    Raises:
        ConfigurationError: The domain's header cannot be read.
    """
    shown = list(entries)
    if not shown:
        return ""
    how_to_read = _needed(header(domain, folders), "\n".join(shown))
    return "\n\n".join([f"<{FENCE}>", how_to_read, *shown, f"</{FENCE}>"])


def _needed(header: str, entries: str) -> str:
    lines = []
    for line in header.splitlines():
        explained = _TERM.findall(line.partition(":")[0]) if line.startswith("- `") else []
        if not explained or any(term in entries for term in explained):
            lines.append(line)
    return "\n".join(lines).strip()


def chain_entries(display: Display, chain: Sequence[Node]) -> list[str]:
    """Return one chain, an entry a node: the base, then each delta in order."""
    return [_entry(display, number, node) for number, node in enumerate(chain)]


def entry_title(display: Display, number: int, node: Node) -> str:
    """Return an entry's title: `Base skill`, `Knowledge delta 2`, with a warning if it failed."""
    title = display.noun.capitalize()
    if display.layered:
        title = f"{title} delta {number}" if number else f"Base {display.noun}"
    if node.label == "failure" and display.warning:
        return f"{title} ({display.warning})"
    return title


def _entry(display: Display, number: int, node: Node) -> str:
    lines = [f"### {entry_title(display, number, node)}"]
    for name, text in node.payload.items():
        if text:
            separator = "\n" if "\n" in text or _LIST.match(text) else " "
            lines.append(f"{display.label(name)}:{separator}{fenced(text)}")
    return "\n".join(lines)


def fenced(text: str) -> str:
    """Clean `text`, so that it can neither act on a terminal nor close the fence."""
    return _FENCE_IN_TEXT.sub("‹", clean(text)).strip()


def header(domain: str, folders: Sequence[Path] | None = None) -> str:
    """Return how to read the memory, in the domain's terms, else in general ones.

    Raises:
        ConfigurationError: There is no header, or it cannot be read.
    """
    return fenced(prompts.find(domain, HEADER_NAME, folders).body)
