"""A finished contest in words: warnings and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deltamem_tui.lab.result import ContestantResult, ContestResult, Estimate
from deltamem_tui.text import counted

Cell = str | int | float | None

COMPARED = ("score", "final", "success", "steps", "same_kind", "precision")
"""The measures whose differences are shown."""

_PLACES = {"steps": 1, "memory_tokens": 0, "calls": 1, "tokens": 0, "cost": 5}
LIMITS = (
    "no agent acted on what is recalled here: none of the numbers is a success rate",
    "what a policy gains shows only where agents act with it, in a simulator or live",
)
"""Limits of a contest over a log."""


def signed(estimate: Estimate) -> str:
    """Return `-.05 (-.20 +.10)`: a difference with its interval; empty if there is none."""
    parts = (estimate.value, estimate.low, estimate.high)
    texts = [
        (text := f"{each:+.2f}")[0] + text[1:].removeprefix("0")
        for each in parts
        if each is not None
    ]
    return f"{texts[0]} ({' '.join(texts[1:])})" if len(texts) > 1 else "".join(texts)


def interval(estimate: Estimate) -> str:
    """Return `.50 (.42 .58)`: a share with its interval; empty if there is none."""
    return signed(estimate).replace("+", "")


def value_of(each: ContestantResult, measure: str) -> float | None:
    """Return a measure of a contestant, rounded as it is shown; None if it is not known."""
    found = each.measures.get(measure)
    value = None if found is None else found.estimate.value
    return None if value is None else round(value, _PLACES.get(measure, 3))


def title_of(found: ContestResult) -> str:
    """Return what was played, in a line."""
    what = f"{found.environment} {found.split}".strip()
    parts = [what, found.protocol, counted(found.games, "episode" if found.of_log else "game")]
    parts += [f"in {found.order} order"] if found.order != "recorded" else []
    return ", ".join(parts) + (f", played by {found.agent}" if found.agent else "")


def warnings(found: ContestResult) -> list[str]:
    """Return what to know before believing the numbers."""
    told = [f"not counted: {count:,} {why}" for why, count in found.excluded.items()]
    told += [
        f"{each.contestant.name}: {line}"
        for each in found.contestants
        for line in warnings_of(each, found)
    ]
    return told + list(LIMITS if found.of_log else ())


def warnings_of(each: ContestantResult, found: ContestResult) -> Iterator[str]:
    """Yield the same of one contestant."""
    start = each.start
    learns = found.protocol in ("online", "unfrozen") and each.contestant.method != "nothing"
    if learns and each.size == start.size:
        yield "learnt nothing from its games"
    if start.seen:
        yield f"had learnt from {start.seen} of the {counted(found.games, 'game')} before"
    if start.unknown and not found.of_log:
        of = counted(start.learnt, "episode")
        yield f"{start.unknown:,} of the {of} that it had learnt do not name their game"


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table of a contest; the first one has no title."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def tables(found: ContestResult) -> Iterator[ReportTable]:
    """Yield what the contestants came to, the differences, and the scores by kind of task."""
    some, first = found.contestants, found.contestants[0]
    names = list(dict.fromkeys(name for each in some for name in each.measures))
    head = ("contestant", *(name.replace("_", " ") for name in names), "nodes", "node tokens")
    writes = any(each.writer.calls for each in some)
    yield ReportTable(
        "",
        (*head, *(("writer calls", "writer cost") if writes else ())),
        [
            (
                each.contestant.name,
                *(value_of(each, name) for name in names),
                each.size.nodes,
                each.size.tokens,
                *((each.writer.calls, each.writer.cost) if writes else ()),
            )
            for each in some
        ],
    )
    compared = [name for name in COMPARED if name in first.measures]
    if len(some) > 1:
        rows = [
            (
                each.contestant.name,
                *(
                    signed(each.measures[name].difference)
                    for name in compared
                    if name in each.measures
                ),
            )
            for each in some[1:]
        ]
        head = ("contestant", *(name.replace("_", " ") for name in compared))
        yield ReportTable(f"less {first.contestant.name}, with 95 % intervals", head, rows)
    main = compared[0] if compared else ""
    if len(first.by_kind) > 1 and main:
        by_kind = [
            (kind, of_first.games, *(_of_kind(each, kind, main) for each in some))
            for kind, of_first in first.by_kind.items()
        ]
        head = ("kind", "games", *(each.contestant.name for each in some))
        yield ReportTable(f"{main.replace('_', ' ')} by kind of task", head, by_kind)


def _of_kind(each: ContestantResult, kind: str, measure: str) -> float | None:
    found = each.by_kind[kind].measures.get(measure)
    value = None if found is None else found.estimate.value
    return None if value is None else round(value, 3)
