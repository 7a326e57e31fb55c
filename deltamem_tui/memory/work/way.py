"""The way of an episode of real work: the acts that led to its end, in order.

An act that the next one only says better is left out, and of statements the last one counts. Of a
long episode only those acts are kept that share a name with one that is kept already, from the
end backwards: what the last act is about, what brought that about, and so on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from deltamem_tui.memory.work.acts import SUBCOMMANDS, Act

_LONG = 12  # acts of an episode that is told whole
_NAME = re.compile(r"[A-Za-z][\w./-]*(?: \d+\b)?|\d[\w.-]*")
_COMMON = 0.5  # a name in more of an episode's acts does not tell which one led to which
_JOINING = frozenset(
    re.findall(
        r"\S+",
        "a an and as at by for from in in/on into of off on onto out over the to up with",
    )
)


def way_of(acts: Sequence[Act], *, solved: bool) -> list[Act]:
    """Return the acts that an episode's end came of; all of them if it did not succeed."""
    kept: list[Act] = []
    for act in _leading_to_end(acts) if solved and len(acts) > _LONG else acts:
        if act.form == "statement":
            kept = [each for each in kept if each.form != "statement"]
        while kept and _is_said_better(kept[-1], act):
            kept.pop()
        kept.append(act)
    return kept


def _leading_to_end(acts: Sequence[Act]) -> list[Act]:
    """Return the acts that are about what the last one is about, or about what those are."""
    names = [_names(act) for act in acts]
    counts = Counter(name for own in names for name in own)
    common = {name for name, count in counts.items() if count > _COMMON * len(acts)}
    wanted: set[str] = set()
    kept: list[Act] = []
    for act, all_names in zip(reversed(acts), reversed(names), strict=True):
        own = all_names - common
        if not act.failed and (own & wanted or not kept):
            wanted |= own
            kept.append(act)
    return kept[::-1]


def _names(act: Act) -> set[str]:
    """Return what an act is about, without its tool and words that only join."""
    if act.form == "call" and "" not in act.arguments:
        return {str(value)[:80] for value in act.arguments.values() if value not in (None, "")}
    _, _, rest = act.text.partition(" ")
    return set(_NAME.findall(rest)) - _JOINING


def _is_said_better(act: Act, later: Act) -> bool:
    """Return whether a later act is another try of the same: its command or most of its words."""
    if act.form != later.form or act.tool != later.tool or act.form == "call":
        return act.text == later.text
    own, others = set(act.text.split()), set(later.text.split())
    if own == others:
        return not act.failed or later.failed  # that it failed at first may be all there is to know
    if act.tool in SUBCOMMANDS:  # `kubectl set` and `kubectl rollout` are two things
        return False
    return len(own) > 2 and len(own & others) > 0.4 * max(len(own), len(others))
