"""Where things are likely to lie, by what is known of places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_PRIOR = 3.0  # looks that count as made for a thing where things in general are known to lie
_PRIOR_OF_SOUGHT = 2.0  # the same for what was sought, by what lies there at all


@dataclass(frozen=True, slots=True)
class PlaceFact:
    """What was seen of a kind of place.

    Attributes:
        place: The kind.
        things: On how many places of it each thing lay.
        looked: How many places of it were looked at; 0 if the line does not say.
        sought: The one thing that the line is about; empty if it is about all.
        closes: Whether such a place opens and closes.
    """

    place: str
    things: Mapping[str, int]
    looked: int = 0
    sought: str = ""
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Chance:
    """How likely a thing is on a place of a kind.

    Attributes:
        place: The kind.
        found: On how many such places it was seen.
        chance: To find it on the next one, for each action that looking there takes.
        looked: How many were looked at; 0 if that is not known.
    """

    place: str
    found: int
    chance: float
    looked: int = 0


@dataclass(frozen=True, slots=True)
class TaskAtHand:
    """What is known before a task is begun.

    Attributes:
        names: What the task names: open place of a procedure (`object`) → the task's own word.
        scene: What the agent sees; empty if that is not known.
        facts: What is known of places.
        options: Open places of which one is right, by what is found out: (`box`, `second box`).
        made: Open places for what is to be made. What made one thing does not make another.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    scene: str = ""
    facts: Sequence[PlaceFact] = ()
    options: Sequence[str] = ()
    made: Sequence[str] = ()


def chances(facts: Sequence[PlaceFact], thing: str, among: Sequence[str] = ()) -> list[Chance]:
    """Return the kinds of places for a thing, the likeliest first.

    Where the facts say how often places were looked at, what counts is the share of them that
    had the thing; where it was seldom looked for, the share that any thing has, too. A place that
    is to be opened takes two actions. Where they do not say, it is how many facts name the thing.

    Args:
        facts: What is known.
        thing: A kind of thing, as the task names it.
        among: The kinds of places at hand, all of them returned; if empty, those are returned
            where the thing was seen.
    """
    word = re.compile(rf"(?:^|, |\[){re.escape(thing)}(?= \[|[\],]|$)", re.IGNORECASE)
    found: Counter[str] = Counter()
    looked: Counter[str] = Counter()
    for fact in facts:
        if fact.sought and not word.fullmatch(fact.sought):
            continue
        times = sum(times for each, times in fact.things.items() if word.search(each))
        found[fact.place] += min(times, max(fact.looked, 1))
        looked[fact.place] += fact.looked
    if looked.total():
        share = _share_of_any(facts)
        doors = {fact.place for fact in facts if fact.closes}

        def chance(place: str) -> float:
            had = found[place] + _PRIOR * share.get(place, 0.0)
            return had / (looked[place] + _PRIOR) / (2 if place in doors else 1)
    else:

        def chance(place: str) -> float:
            return float(found[place])

    known = [place for place, times in found.items() if times]
    places = [Chance(place, found[place], chance(place), looked[place]) for place in among or known]
    return sorted(places, key=lambda each: -each.chance)


def _share_of_any(facts: Sequence[PlaceFact]) -> dict[str, float]:
    """Per kind of place the share of looks that find the thing, whatever is sought.

    Things that were sought tell most; else it is the mean over all kinds of things.
    """
    lying, found = Counter[str](), Counter[str]()
    looked, searched = Counter[str](), Counter[str]()
    for fact in facts:
        if fact.sought:
            found[fact.place] += min(sum(fact.things.values()), fact.looked)
            searched[fact.place] += fact.looked
        else:
            lying[fact.place] += sum(fact.things.values())
            looked[fact.place] += max(fact.looked, 1)
    kinds = len({thing for fact in facts for thing in fact.things})

    def share(place: str) -> float:
        of_all = lying[place] / (looked[place] * kinds) if lying[place] else 0.0
        return (found[place] + _PRIOR_OF_SOUGHT * of_all) / (searched[place] + _PRIOR_OF_SOUGHT)

    return {place: share(place) for place in {**looked, **searched}}
