"""What a line of knowledge says of places, written and read: what lies where, and how often.

`drawer (4 looked at): opens and closes; cd; pencil (in 2)` is what was seen of a kind of place;
`cd: drawer (1 of 4); desk (0 of 1)` is where a thing was looked for and found. Both are counts,
so that lines of several episodes add up. A line without numbers (`kitchen: sink`) says that
something was seen, and not how often it was looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from deltamem_tui.memory.chances import PlaceFact
from deltamem_tui.memory.domain import Fact

CLOSES = "opens and closes"
_LINE = re.compile(
    r"(?:- )?(?!- |works in |refused in )(?P<subject>[^:;()]+?)"
    r"(?: \((?P<looked>\d{1,6}) looked at\))?: (?P<items>.+)"
)
_SEARCH = re.compile(r"(?P<place>[^()]+) \((?P<found>\d{1,6}) of (?P<looked>\d{1,6})\)")
_ITEM = re.compile(r"(?P<thing>.+?)(?: \(in (?P<times>\d{1,6})\))?")
_ANSWER = re.compile(r"\w+ (?:works|did nothing)\b.*")


def place_fact(place: str, looked: int, things: Mapping[str, int], *, closes: bool) -> Fact:
    """Return what was seen of a kind of place, as a fact to write."""
    often = [f"{thing} (in {times})" if times > 1 else thing for thing, times in things.items()]
    subject = f"{place} ({looked} looked at)"
    return Fact(subject, (*([CLOSES] if closes else []), *(often or ["empty"])))


def thing_fact(thing: str, found: Mapping[str, int], looked: Mapping[str, int]) -> Fact:
    """Return where a thing was looked for, as a fact to write: where it was found first."""
    order = sorted(looked, key=lambda place: (-found[place] / looked[place], -looked[place]))
    searches = (f"{each} ({found[each]} of {looked[each]})" for each in order)
    return Fact(thing, tuple(searches), is_count=True)


def read(lines: Iterable[str]) -> list[PlaceFact]:
    """Return what lines of knowledge say of places; the others are left out."""
    return [fact for line in lines if (found := _LINE.fullmatch(line)) for fact in _facts(found)]


def _facts(line: re.Match[str]) -> list[PlaceFact]:
    items = line["items"].split("; ")
    searches = [_SEARCH.fullmatch(item) for item in items]
    if all(searches):
        thing = line["subject"]
        return [
            PlaceFact(each["place"], {thing: int(each["found"])}, int(each["looked"]), thing)
            for each in searches
            if each
        ]
    things = [item for item in items if item != CLOSES and not _ANSWER.fullmatch(item)]
    closes = CLOSES in items
    if not things and not closes:
        return []
    parts = [part for item in things if (part := _ITEM.fullmatch(item))]
    lying = {part["thing"]: int(part["times"] or 1) for part in parts if part["thing"] != "empty"}
    return [PlaceFact(line["subject"], lying, int(line["looked"] or 0), closes=closes)]


def summed(items: Sequence[str]) -> list[str]:
    """Items of one subject as one list: searches of one kind of place added up."""
    totals: dict[str, tuple[int, int]] = {}
    for item in items:
        if search := _SEARCH.fullmatch(item):
            found, looked = totals.get(search["place"], (0, 0))
            totals[search["place"]] = found + int(search["found"]), looked + int(search["looked"])
    searches = [f"{place} ({found} of {looked})" for place, (found, looked) in totals.items()]
    return [*(item for item in items if not _SEARCH.fullmatch(item)), *searches]


def are_counted(search: Fact, lines: Iterable[str]) -> bool:
    """Return whether lines on places say what a search found: they are of the same look at them."""
    of_place = {fact.place: fact for fact in read(lines) if not fact.sought}
    searches = [part for item in search.items if (part := _SEARCH.fullmatch(item))]
    return all(
        (fact := of_place.get(part["place"]))
        and fact.looked == int(part["looked"])
        and fact.things.get(search.subject, 0) == int(part["found"])
        for part in searches
    )
