"""Folding: a bank's history as one summary, which takes the journal's place in a compact bank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from deltamem_tui.bank.commits.journal import Commit

_TOKENS = ("calls", "cached", "prompt_tokens", "completion_tokens")


def folded(commits: Iterable[Commit]) -> dict[str, Any]:
    """What some commits come to together. A summary among them counts for all that it sums up.

    Returns:
        `commits`, the times of the `first` and the `last`, `events` by name, and `usage`: what
        language models were asked and took. A `cost` of null is one that nobody knows.
    """
    number, first, last = 0, "", ""
    events: Counter[str] = Counter()
    usage: dict[str, Any] = {**dict.fromkeys(_TOKENS, 0), "cost": 0.0}
    for commit in commits:
        before = commit.detail.get("folded")
        earlier: Mapping[str, Any] = before if isinstance(before, dict) else {}
        number += 1 + _number(earlier.get("commits"))
        first = first or str(earlier.get("first") or commit.time)
        last = commit.time
        events[commit.event] += 1
        events.update({str(name): _number(count) for name, count in _items(earlier.get("events"))})
        for asked in _usages(commit.detail):
            _add(usage, asked)
    return {
        "commits": number,
        "first": first,
        "last": last,
        "events": dict(sorted(events.items())),
        "usage": usage,
    }


def _usages(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every record of what a model took, wherever in a commit's detail it stands."""
    if isinstance(value, dict):
        if "prompt_tokens" in value and "completion_tokens" in value:
            yield value
        else:
            for inner in value.values():
                yield from _usages(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _usages(inner)


def _add(usage: dict[str, Any], asked: Mapping[str, Any]) -> None:
    for name in _TOKENS:
        usage[name] += _number(asked.get(name))
    cost = asked.get("cost")
    known = isinstance(cost, (int, float)) and not isinstance(cost, bool)
    usage["cost"] = usage["cost"] + cost if known and usage["cost"] is not None else None


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.items() if isinstance(value, dict) else ()


def _number(value: Any) -> int:
    """A count of a journal that may be a stranger's."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
