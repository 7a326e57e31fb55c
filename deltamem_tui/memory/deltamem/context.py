"""The context: two chains as the text that goes into an agent's prompt.

Memory is handed over as past experience behind a fence, labelled entry by entry, with a
header that explains how to read it. What a bank says is data: it cannot close the fence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.text import clean

FENCE = "past_experience"
HEADER_NAME = "memory_header"

# Characters without width may stand in legible text, but do not hide a fence from us.
_UNSEEN = r"\u00ad\u200b-\u200d\u2060"
_GAP = rf"[\s{_UNSEEN}]*"
_FENCE_IN_TEXT = re.compile(rf"<(?={_GAP}(?:/{_GAP})?{f'[{_UNSEEN}]*'.join(FENCE)})", re.IGNORECASE)

# A list of one entry is set like a longer one: bullet, number, or the mark of a record.
_LIST = re.compile(r"\s*(?:[-*•]\s|\d+[.)]\s|\[[A-Z]+\])")

_NOUNS: dict[str, str] = {"task": "skill", "env": "knowledge"}
_FIELDS: dict[str, tuple[str, str, str]] = {
    "task": ("When", "How", "Done when"),
    "env": ("Where", "What", "Done when"),
}


def compose(
    domain: str,
    task_chain: Sequence[Node],
    env_chain: Sequence[Node],
    folders: Sequence[Path] | None = None,
) -> str:
    """The text for an agent's prompt; empty if there is nothing to say.

    Args:
        domain: The bank's domain; picks the header.
        task_chain: Root → match of the task tree, or nothing.
        env_chain: Root → match of the env tree, or nothing.
        folders: Where the header is looked up; the usual places if not given.

    Raises:
        ConfigurationError: The domain's header cannot be read.
    """
    entries = [*chain_entries("task", task_chain), *chain_entries("env", env_chain)]
    if not entries:
        return ""
    return "\n\n".join([f"<{FENCE}>", header(domain, folders), *entries, f"</{FENCE}>"])


def chain_entries(tree: str, chain: Sequence[Node]) -> list[str]:
    """One chain, an entry a node: the base payload, then each delta in order."""
    return [_entry(tree, number, node) for number, node in enumerate(chain)]


def entry_title(tree: str, number: int, node: Node) -> str:
    """What an entry is called: `Base skill`, `Knowledge delta 2`, with a warning on failures."""
    noun = _NOUNS[tree]
    title = f"{noun.capitalize()} delta {number}" if number else f"Base {noun}"
    if node.label == "failure" and tree == "task":
        return f"{title} (WARNING: this failed, never carry it out)"
    return title


def _entry(tree: str, number: int, node: Node) -> str:
    payload = node.payload
    texts = (
        payload["activation_condition"],
        payload["execution_procedure"],
        payload["termination_condition"],
    )
    lines = [f"### {entry_title(tree, number, node)}"]
    for field, text in zip(_FIELDS[tree], texts, strict=True):
        if text:
            separator = "\n" if "\n" in text or _LIST.match(text) else " "
            lines.append(f"{field}:{separator}{fenced(text)}")
    return "\n".join(lines)


def fenced(text: str) -> str:
    """Clean `text`, so that it can neither act on a terminal nor close the fence."""
    return _FENCE_IN_TEXT.sub("‹", clean(text)).strip()


def header(domain: str, folders: Sequence[Path] | None = None) -> str:
    """How to read the memory, in the words of the domain, else in general ones.

    Args:
        domain: The domain.
        folders: Where headers are looked up; the usual places if not given.

    Raises:
        ConfigurationError: There is no header, or it cannot be read.
    """
    return fenced(prompts.find(domain, HEADER_NAME, folders).body)
