"""The texts of a bank's Agent Skills: the names of their files, and markdown that is inert.

Agents expand SKILL.md when they load it: they run commands in it and fill in arguments. So its
body holds nothing that was learnt; the other files, which they only read, hold all of it, each
text inside a fence that it cannot close.
"""

from __future__ import annotations

import re
import unicodedata

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import Method
from deltamem_tui.text import clean, one_line

_DESCRIPTION_LIMIT = 1024
_WORDS_LENGTH = 56  # of a name of at most 64 characters, which leaves room for digits
_ID_DIGITS = 6
_BETWEEN = re.compile(r"[^a-z0-9]+")
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|!&~]")
_BACKTICKS = re.compile(r"`+")
_RULE = re.compile("-{3,}")
_EXPANDED = re.compile(r"\$(?=[\w{(])|(?<!\w)@(?=\S)")


def _slug(text: str) -> str:
    """Return the start of a text as a name, which may be empty."""
    length = _WORDS_LENGTH
    plain = unicodedata.normalize("NFKD", text[: 8 * length]).encode("ascii", "ignore").decode()
    name = _BETWEEN.sub("-", plain.lower()).strip("-")
    if len(name) > length:
        name = name[: length + 1].rpartition("-")[0] or name[:length]
    return name.strip("-")


class Names:
    """Names of nodes in one folder: their words, and digits of the id where those are taken."""

    def __init__(self, *reserved: str) -> None:
        self._taken = set(reserved)

    def name(self, node: Node) -> str:
        """Return a name for a node that no other has."""
        words = _slug(node.title)
        choices = (words, f"{words}-{node.id[:_ID_DIGITS]}".strip("-"), f"node-{node.id}")
        name = next(each for each in choices if each and each not in self._taken)
        self._taken.add(name)
        return name


def escaped(text: str) -> str:
    """Return a text of one line with its markdown escaped."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def fenced(text: str) -> str:
    """Return a text inside a fence that it cannot close."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def inert(text: str) -> str:
    """Return a text of one line that stays as it is where an agent expands commands and files.

    Three hyphens together end the front matter for some readers, even inside a word.
    """
    plain = one_line(text, _DESCRIPTION_LIMIT).replace("`", "'").replace("<", "‹")
    return one_line(_RULE.sub("—", _EXPANDED.sub(r"\g<0> ", plain)), _DESCRIPTION_LIMIT)


def title_of(node: Node, display: Display) -> str:
    """Return the heading of a node."""
    warning = "Warning: " if node.label == "failure" else ""
    return escaped(warning + display.of_title(node))


def section(method: Method, tree: str, node: Node) -> str:
    """Return the texts of a node as markdown."""
    display = method.display[tree]
    return "\n\n".join(
        f"### {display.label(name)}\n\n{fenced(clean(node.payload[name]))}"
        for name in method.collections[tree].fields
        if node.payload[name] or name not in display.optional
    )
