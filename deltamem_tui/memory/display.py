"""How the nodes of a method are shown: all that a browser's first screen needs of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from deltamem_tui.bank.node import Node
from deltamem_tui.text import counted, one_line

_SAME_WORDS = 4
"""Fewer words that begin as the parent's title do not stand in the way."""
_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class Display:
    """How a collection is shown to people and to agents.

    Attributes:
        title: What it is called: `task tree`.
        noun: What one node is: `skill`.
        labels: Per field, what stands before its text, such as `How`; its name if not given.
        optional: Fields that may be empty.
        warning: What an agent is warned with before a node that a failure wrote.
        layered: Whether a chain is a base with deltas.
        heading: The heading over all of them in a document: `Skills`.
        levels: What a node is called at each depth; empty where it is a root or a residual.
        name: The field that stands before a node's title, if it is not empty: `object: laptop`.
        instruction: The field that becomes a skill's text; empty if these nodes are knowledge.
        asked: Whether questions are put to it. If not, it is shown only while it holds something.
        comparable: Whether two roots with nearly the same key say nearly the same.
        penalised: Whether a score is a similarity less a penalty of failures.
    """

    title: str
    noun: str
    labels: Mapping[str, str] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    warning: str = ""
    layered: bool = False
    heading: str = ""
    levels: tuple[str, ...] = ()
    name: str = ""
    instruction: str = ""
    asked: bool = True
    comparable: bool = True
    penalised: bool = False

    def label(self, name: str) -> str:
        """Return what stands before the text of a field."""
        return self.labels.get(name) or name.replace("_", " ").capitalize()

    def of_title(self, node: Node, title: str = "") -> str:
        """Return the title by which a node is listed, or another text of it, after its name."""
        name = node.payload.get(self.name, "").strip() if self.name else ""
        text = "; ".join((title or node.title).splitlines())
        return f"{name}: {text}" if name else text

    def difference(self, node: Node, above: Node | None) -> str:
        """Return a title without the parent's words; of the same title, the first new line."""
        title = one_line(self.of_title(node)[:_LONGEST])
        parent = one_line(self.of_title(above)[:_LONGEST]) if above else ""
        if above and title == parent:
            known = {line for text in above.payload.values() for line in text.splitlines()}
            lines = (line for text in node.payload.values() for line in text.splitlines())
            new = next((each for each in lines if each not in known), title)
            return one_line("+ " + re.sub(r"^([+*-]|\d+\.) ", "", new[:_LONGEST]))
        words, others = title.split(" "), parent.split(" ")
        pairs = zip(words, others, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return f"… {' '.join(words[same:])}" if same >= _SAME_WORDS else title

    def level(self, node: Node) -> str:
        """Return what a node is called by its depth; else `root` or `residual`."""
        return self.levels[min(node.depth, len(self.levels)) - 1] if self.levels else node.kind

    def sizes(self, depths: Mapping[int, int]) -> str:
        """Return how many there are of each sort, by the number of nodes at each depth."""
        counts = dict.fromkeys(self.levels or (self.noun,), 0)
        for depth, count in depths.items():
            counts[[*counts][min(depth, len(counts)) - 1]] += count
        return ", ".join(counted(count, noun, _many(noun)) for noun, count in counts.items())


def _many(noun: str) -> str:
    first, of, rest = noun.partition(" of ")
    if of:
        return f"{_many(first)}{of}{rest}"
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
