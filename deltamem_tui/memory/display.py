"""How the nodes of a method are shown: all that a browser's first screen needs of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from textwrap import shorten

from deltamem_tui.bank.node import Node
from deltamem_tui.text import counted, one_line

_SAME_WORDS = 4
"""Fewer words that begin as the parent's title do not stand in the way."""
_LONGEST = 2_000
_PART = 20
"""Of what sets two nodes of one title apart, so much: half of a narrow line shows it."""
_ROUNDS = 3
"""So often those that have one title are told apart: of many, some part later than others."""
TITLE_LENGTH = 60
_BETWEEN = " · "
_DETAIL = re.compile(r"\s*\(((?:[^()]|\([^()]*\))*)\)$")
_END = re.compile(r"(?:(?<=\w\w)|(?<=[^\w\s.]))[.!?;]+\s")
_PLACE = re.compile(r"^.{0,20} is called (?:the |an? )?([^.]+)")
_SEEN = re.compile(r"\byou see:? ([^.]+)")
_ARTICLE = re.compile(r"\ban? ")


@dataclass(frozen=True, slots=True)
class Display:
    """How a collection is shown to people and to agents.

    Attributes:
        title: What it is called: `task tree`.
        noun: What one node is: `skill`.
        labels: Per field, what stands before its text, such as `How`; its name if not given.
        optional: Fields that may be empty.
        warning: What an agent is warned with before a node that a failure wrote.
        layered: Whether a chain is a base with deltas, and a failure found at a penalty.
        levels: What a node is called at each depth; empty where it is a root or a residual.
        name: The field that stands before a node's title, if it is not empty: `object: laptop`.
        instruction: The field that becomes a skill's text; empty if these nodes are knowledge.
        asked: Whether questions are put to it. If not, it is shown only while it holds something.
    """

    title: str
    noun: str
    labels: Mapping[str, str] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    warning: str = ""
    layered: bool = False
    levels: tuple[str, ...] = ()
    name: str = ""
    instruction: str = ""
    asked: bool = True

    def label(self, name: str) -> str:
        """Return what stands before the text of a field."""
        return self.labels.get(name) or name.replace("_", " ").capitalize()

    def of_title(self, node: Node) -> str:
        """Return what a node is for, then what sets it apart, in at most 60 characters."""
        return _joined(*self._parts(node))

    def difference(self, node: Node, above: Node | None) -> str:
        """Return a title; below a parent, what differs from it and the first line that is new."""
        if above is None:
            return self.of_title(node)
        (lead, detail), (parent, known) = self._parts(node), self._parts(above)
        words, others = lead.split(" "), parent.split(" ")
        pairs = zip(words, others, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if lead != parent and same < _SAME_WORDS:
            return self.of_title(node)
        says = _joined(" ".join(words[same:]), detail if detail != known else "")
        known_lines = {line for text in above.payload.values() for line in text.splitlines()}
        lines = (line for text in [*node.payload.values()][1:] for line in text.splitlines())
        new = islice((each for each in lines if each not in known_lines), 2)
        adds = one_line(re.sub(r"^([+*-]|\d+\.) ", "", " ".join(new)[:_LONGEST]))
        parts = (f"… {says}" if says else "", f"+ {adds}" if adds else "")
        return one_line(" ".join(filter(None, parts)), TITLE_LENGTH) or self.of_title(node)

    def titles(self, nodes: Sequence[Node], above: Node | None = None) -> list[str]:
        """Return the titles of some nodes; those that would be the same say where they part."""
        plain = [self.difference(each, above) for each in nodes]
        texts = [each.text[:_LONGEST].split() for each in nodes]
        found = plain[:]
        for _ in range(_ROUNDS):
            alike = defaultdict[str, list[int]](list)
            for place, title in enumerate(found):
                alike[title].append(place)
            for places in alike.values():
                pairs = zip(*(texts[place] for place in places), strict=False)
                same = sum(1 for _ in takewhile(lambda words: len({*words}) == 1, pairs))
                for place in places:  # of one alone nothing is left, nor of equal texts
                    if rest := " ".join(texts[place][same:]):
                        part = shorten(rest, _PART, placeholder="") or rest[:_PART]
                        found[place] = _joined(plain[place], part)
        return found

    def _parts(self, node: Node) -> tuple[str, str]:
        """Return what a node is for, and what rules add in brackets: its names."""
        text = node.title[:_LONGEST].strip()
        if found := _DETAIL.search(text):
            text = text[: found.start()]
        lead = (not self.instruction and _scene(text)) or _first_clause(text)
        name = one_line(node.payload.get(self.name, "")) if self.name else ""
        return f"{name}: {lead}" if name else lead, one_line(found[1]) if found else ""

    def level(self, node: Node) -> str:
        """Return what a node is called by its depth; else `root` or `residual`."""
        return self.levels[min(node.depth, len(self.levels)) - 1] if self.levels else node.kind

    def sizes(self, depths: Mapping[int, int]) -> str:
        """Return how many there are of each sort, by the number of nodes at each depth."""
        counts = dict.fromkeys(self.levels or (self.noun,), 0)
        for depth, count in depths.items():
            counts[[*counts][min(depth, len(counts)) - 1]] += count
        # The word before its first `of` has the plural: `kinds of environment`.
        many = {
            noun: re.sub(r"(y?)(?= of |$)", lambda end: "ies" if end[1] else "s", noun, count=1)
            for noun in counts
        }
        return ", ".join(counted(count, noun, many[noun]) for noun, count in counts.items())


def _first_clause(text: str) -> str:
    """Return the first line of a text as far as its first sentence of more than one word."""
    line = next((each for raw in text.splitlines() if (each := raw.strip(" #*>-"))), "")
    ends = (found.start() for found in _END.finditer(line))
    end = next((each for each in ends if " " in line[:each]), len(line))
    return one_line(line[:end]).rstrip(".")


def _scene(text: str) -> str:
    """Return the name of a place and what is seen there, if a text says so."""
    place, seen = _PLACE.search(text), _SEEN.search(text)
    things = _ARTICLE.sub("", seen[1]) if seen else ""
    return one_line(": ".join(filter(None, (place[1] if place else "", things))))


def _joined(lead: str, detail: str) -> str:
    """Return both in the length of a title; of a lead that is too long its beginning and end."""
    detail = one_line(detail, TITLE_LENGTH // 2)
    room = TITLE_LENGTH - (len(detail) + len(_BETWEEN) if detail else 0)
    if len(lead) > room:
        lead = f"{lead[: room // 2].rstrip()}…{lead[room // 2 + 1 - room :].lstrip()}"
    return _BETWEEN.join(filter(None, (lead, detail)))
