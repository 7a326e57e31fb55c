"""Knowledge of places: lines of it, written and read, and where things likely are.

`drawer (4 looked at): opens and closes; cd; pencil (in 2)` is what was seen of a kind of place.
These are counts, so that lines of several episodes add up. A line without numbers
(`kitchen: sink`) says that something was seen, and not how often it was looked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.recall_result import fenced
from deltamem_tui.text import condense, count_tokens, key

CLOSES = "opens and closes"
_LINE = re.compile(
    r"(?:- )?(?!- |works in |refused in )(?P<subject>[^:;()]+?)"
    r"(?: \((?P<looked>\d{1,6}) looked at\))?: (?P<items>.+)"
)
_ITEM = re.compile(r"(?P<thing>.+?)(?: \(in (?P<times>\d{1,6})\))?")
_ANSWER = re.compile(r"\w+ (?:works|did nothing)\b.*")
_SCENES = 500
_PLACES = 12
_WHERE = "### Where to look, the likeliest place first (and how often it was seen there)"
_ITEM_WORDS, _SUBJECT_WORDS = 25, 16
_IN_VAIN = 3  # looks that count as made besides: few that found a thing prove little


@dataclass(frozen=True, slots=True)
class Fact:
    """Knowledge of a place, a device, a tool."""

    subject: str
    items: tuple[str, ...]

    @property
    def line(self) -> str:
        """The fact as it is written: `subject: item; item`."""
        return f"{self.subject}: {'; '.join(self.items)}"


@dataclass(frozen=True, slots=True)
class PlaceFact:
    """On how many of the places of a kind each thing lay; `looked` is 0 if not known."""

    place: str
    things: Mapping[str, int]
    looked: int = 0
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Chance:
    """How likely a thing is on the next place of a kind, for each action that looking takes."""

    place: str
    found: int
    chance: float
    looked: int = 0


@dataclass(frozen=True, slots=True)
class TaskAtHand:
    """Knowledge before a task is begun.

    Attributes:
        names: What the task names: open place of a procedure (`object`) → the task's own word.
        scene: What the agent sees; empty if that is not known.
        facts: What is known of places.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    scene: str = ""
    facts: Sequence[PlaceFact] = ()


def chances(facts: Sequence[PlaceFact], thing: str, among: Sequence[str] = ()) -> list[Chance]:
    """Return the kinds of places for a thing, the likeliest first: all `among` which it may be.

    What counts is the share of the places looked at that had the thing; where the facts do not say
    how often that was, how many name the thing. A place that is to be opened takes two actions.
    Without any `among`, those are returned where the thing was seen.
    """
    word = re.compile(rf"(?:^|, |\[){re.escape(thing)}(?= \[|[\],]|$)", re.IGNORECASE)
    found: Counter[str] = Counter()
    looked: Counter[str] = Counter()
    for fact in facts:
        times = sum(times for each, times in fact.things.items() if word.search(each))
        found[fact.place] += min(times, max(fact.looked, 1))
        looked[fact.place] += fact.looked
    doors = {fact.place for fact in facts if fact.closes}

    def chance(place: str) -> float:
        return found[place] / (looked[place] + _IN_VAIN) / (2 if place in doors else 1)

    known = [place for place, times in found.items() if times]
    places = [Chance(place, found[place], chance(place), looked[place]) for place in among or known]
    return sorted(places, key=lambda each: -each.chance)


def place_fact(place: str, looked: int, things: Mapping[str, int], *, closes: bool) -> Fact:
    """Return what was seen of a kind of place, as a fact to write."""
    often = [f"{thing} (in {times})" if times > 1 else thing for thing, times in things.items()]
    subject = f"{place} ({looked} looked at)"
    return Fact(subject, (*([CLOSES] if closes else []), *(often or ["empty"])))


def read(lines: Iterable[str]) -> list[PlaceFact]:
    """Return what lines of knowledge say of places; the others are left out."""
    return [fact for line in lines if (found := _LINE.fullmatch(line)) for fact in _fact(found)]


def known_in(tree: Tree) -> list[PlaceFact]:
    """Return what the rules wrote of places in a tree, as much as is read at once."""
    nodes = [tree.node_at(int(row)) for row in tree.rows[-_SCENES:]]
    own = {node.id for node in nodes}
    # A fused chain says again what its nodes say, and a model's `Tip: egg` is of no place.
    single = (n for n in nodes if n.origin.extractor == "rules" and not own & {*n.origin.nodes})
    return read(
        line for node in single for line in node.payload["execution_procedure"].splitlines()
    )


def _fact(line: re.Match[str]) -> Iterator[PlaceFact]:
    items = line["items"].split("; ")
    things = [item for item in items if item != CLOSES and not _ANSWER.fullmatch(item)]
    if things or CLOSES in items:
        parts = [part for item in things if (part := _ITEM.fullmatch(item))]
        lying = {each["thing"]: int(each["times"] or 1) for each in parts}
        lying.pop("empty", None)
        yield PlaceFact(line["subject"], lying, int(line["looked"] or 0), CLOSES in items)


def where_to_look(places: Mapping[str, Sequence[Chance]], names: Mapping[str, str]) -> list[str]:
    """Return where to look for the things that the task names, if they were seen anywhere."""
    lines = [
        f"{names[slot]}: {', '.join(map(_place, some[:_PLACES]))}"
        for slot, some in places.items()
        if any(each.found for each in some)
    ]
    return [fenced("\n".join([_WHERE, *lines]))] if lines else []


def _place(chance: Chance) -> str:
    often = f"{chance.found} of {chance.looked}" if chance.looked else f"{chance.found}"
    return f"{chance.place} ({often})" if chance.found else chance.place


def bounded(fact: Fact, words: int) -> Fact:
    """Return a fact with as many whole items as fit, one at least; a long item is cut."""
    items: list[str] = []
    for item in fact.items:
        short = condense(item.replace(";", ","), _ITEM_WORDS)
        words -= count_tokens(short)
        if items and words < 0:
            break
        items.append(short)
    return Fact(condense(fact.subject, _SUBJECT_WORDS), tuple(items))


def unknown(facts: Iterable[Fact], lines: Sequence[str]) -> list[Fact]:
    """Return the facts reduced to items that no line has for the same subject."""
    known = [f" {' | '.join(map(key, line.split('; ')))} " for line in lines]
    fresh: list[Fact] = []
    for fact in facts:
        said = "\n".join(line for line in known if f" {key(fact.subject)} " in line)
        new = [item for item in fact.items if key(item) and f" {key(item)} " not in said]
        fresh += [Fact(fact.subject, tuple(new))] if new else []
    return fresh
