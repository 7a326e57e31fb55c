"""A node's texts as one document that a user edits, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from deltamem_tui.bank.collection import Collection
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.display import Display
from deltamem_tui.text import clean, count_tokens, counted
from deltamem_tui.tui.models.sections import SHOWN_CHARACTERS, Section


def write_document(payload: Mapping[str, str], collection: Collection, display: Display) -> str:
    """The document: what the node says, under headings that none of its lines can be."""
    rule = _rule(payload.values())
    parts = []
    for field in collection.fields:
        facts = [display.label(field).lower()]
        facts += ["this text is embedded"] if field == collection.key else []
        facts += ["may be empty"] if field in display.optional else []
        text = clean(payload[field]).strip()
        parts.append(f"{rule} {_heading(field)} ({'; '.join(facts)})\n{text}\n")
    return "\n".join(parts)


def _heading(field: str) -> str:
    return field.replace("_", " ")


def _rule(texts: Iterable[str]) -> str:
    """Equals signs, more than any line of the texts begins with."""
    runs = (len(found) for text in texts for found in re.findall(r"(?m)^=+", text))
    return "=" * max(max(runs, default=0) + 1, 4)


def read_document(document: str, collection: Collection) -> dict[str, str]:
    """What the document says now.

    Raises:
        UsageError: A heading is missing or was changed.
    """
    first = re.match(r"\s*(=+) ", document)
    rule = first.group(1) if first else "===="
    starts, ends = list[int](), list[int]()
    for field in collection.fields:
        heading = re.compile(rf"(?m)^{rule} {re.escape(_heading(field))}.*$")
        found = heading.search(document, ends[-1] if ends else 0)
        if not found:
            raise UsageError(
                f"the heading of the {_heading(field)} is missing: nothing was changed",
                hint=f"keep the {len(collection.fields)} lines that begin with {rule}",
            )
        starts.append(found.start())
        ends.append(found.end())
    parts = zip(ends, [*starts[1:], len(document)], strict=True)
    texts = (clean(document[begin:end]).strip() for begin, end in parts)
    return dict(zip(collection.fields, texts, strict=True))


def size_warning(before: Mapping[str, str], after: Mapping[str, str]) -> Section | None:
    """What speaks against a text that grew beyond what a node's text is; None if nothing does.

    More than a pane shows whole is not a lesson that was read: it is most likely a file that
    went into the editor by mistake, and every agent whose question matches pays for it.
    """
    old, new = "\n".join(before.values()), "\n".join(after.values())
    if len(new) <= max(SHOWN_CHARACTERS, len(old)):
        return None
    return Section(
        f"{counted(count_tokens(new), 'token')}, {counted(len(new), 'character')}",
        f"It had {counted(count_tokens(old), 'token')} before. An agent whose question "
        "matches this node, or one below it, is given all of it.",
        warning=True,
    )
