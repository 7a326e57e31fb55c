"""A node's text as a sheet that a person edits, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.deltamem.collections import Payload
from deltamem_tui.text import clean, count_tokens, counted
from deltamem_tui.tui.models.sections import SHOWN_CHARACTERS, Section

_FIELDS = ("activation condition", "execution procedure", "termination condition")
_EXPLANATIONS: dict[str, tuple[str, str, str]] = {
    "task": (
        "when the skill applies; this text is embedded",
        "how",
        "when it is done; may be empty",
    ),
    "env": ("where it holds; this text is embedded", "what holds", "empty"),
}


def write_sheet(tree: str, node: Node) -> str:
    """The sheet: what the node says, under three headings that none of its lines can be."""
    payload = node.payload
    texts = (
        payload["activation_condition"],
        payload["execution_procedure"],
        payload["termination_condition"],
    )
    rule = _rule(texts)
    parts = [
        f"{rule} {field} ({explanation})\n{clean(text).strip()}\n"
        for field, explanation, text in zip(_FIELDS, _EXPLANATIONS[tree], texts, strict=True)
    ]
    return "\n".join(parts)


def _rule(texts: tuple[str, ...]) -> str:
    """Equals signs, more than any line of the texts begins with."""
    longest = max(
        (len(found) for text in texts for found in re.findall(r"(?m)^=+", text)), default=0
    )
    return "=" * max(longest + 1, 4)


def read_sheet(sheet: str) -> Payload:
    """What the sheet says now.

    Raises:
        UsageError: A heading is missing or was changed.
    """
    first = re.match(r"\s*(=+) ", sheet)
    rule = first.group(1) if first else "===="
    places: list[tuple[int, int]] = []
    for field in _FIELDS:
        found = re.search(rf"(?m)^{rule} {field}.*$", sheet)
        if not found or (places and found.start() < places[-1][1]):
            raise UsageError(
                f"the heading of the {field} is missing: nothing was changed",
                hint=f"keep the three lines that begin with {rule}",
            )
        places.append(found.span())
    ends = [*[start for start, _ in places[1:]], len(sheet)]
    condition, procedure, termination = (
        clean(sheet[end:stop]).strip() for (_, end), stop in zip(places, ends, strict=True)
    )
    return Payload(condition, procedure, termination)


def size_warning(before: Mapping[str, str], after: Mapping[str, str]) -> Section | None:
    """What speaks against a text that grew beyond what a node's text is; None if nothing does.

    More than a pane shows whole is no lesson that a person has read: it is most likely a file
    that went into the editor by mistake, and every agent whose question matches pays for it.
    """
    characters = len(_text(after))
    if characters <= max(SHOWN_CHARACTERS, len(_text(before))):
        return None
    size = counted(count_tokens(_text(after)), "token")
    return Section(
        f"{size}, {counted(characters, 'character')}",
        f"It had {counted(count_tokens(_text(before)), 'token')} before. An agent whose question "
        "matches this node, or one below it, is given all of it.",
        warning=True,
    )


def _text(payload: Mapping[str, str]) -> str:
    return "\n".join(payload.values())
