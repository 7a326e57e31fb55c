"""A finished replay on a page: a table an order, differences with their intervals, and plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from string import ascii_lowercase
from typing import TYPE_CHECKING

from deltamem_tui.cli.chart import Parts, chart
from deltamem_tui.cli.page import Cell, Page

if TYPE_CHECKING:
    from deltamem_tui.memory.replay.intervals import Estimate
    from deltamem_tui.memory.replay.result import ContestantResult, ReplayResult

_MEASURES = {
    "coverage": "coverage",
    "same_kind": "same kind",
    "precision": "precision",
    "exposure": "exposure",
    "regret": "regret",
}
_COMPARED = ("same_kind", "precision", "exposure")
_PLOTS = ("same_kind", "precision")
_ROOMY = 110
"""In fewer cells, of the sizes only the nodes are shown."""
_WIDE = 140
"""From so many cells on, plots stand side by side."""


def show(page: Page, found: ReplayResult) -> None:
    """Write all of a replay: what each contestant came to, in each order."""
    for order, group in groupby(found.contestants, key=lambda each: each.order):
        results = [*group]
        page.text(f"{found.episodes:,} episodes, {order}", style="bold")
        labelled = [*zip(_letters(len(results)), _names(results), results, strict=True)]
        rows = [_row(*each) for each in labelled]
        columns = ("", "contestant", *_MEASURES.values(), "nodes", "peak", "tokens", "context")
        room = (
            len(columns) if not page.drawn or page.width >= _ROOMY else columns.index("nodes") + 1
        )
        kept = [at for at in range(room) if any(row[at] is not None for row in rows)]
        page.table(
            [columns[at] for at in kept], [[row[at] for at in kept] for row in rows], headed=True
        )
        if len(results) > 1:
            page.text("")
            page.text(f"less {labelled[0][0]}, with 95 % intervals", style="bold")
            page.table(
                ("", "contestant", *(_MEASURES[name] for name in _COMPARED)),
                [
                    (letter, name, *(_less(each.measures[m].difference) for m in _COMPARED))
                    for letter, name, each in labelled[1:]
                ],
                headed=True,
            )
        page.text("")
        if page.drawn:
            _plots(page, [(letter, each) for letter, _, each in labelled])


def _letters(count: int) -> list[str]:
    """A to z, then numbers."""
    return [ascii_lowercase[at] if at < len(ascii_lowercase) else str(at) for at in range(count)]


def _names(results: Sequence[ContestantResult]) -> list[str]:
    """What tells the contestants apart: the parts that not all of them share."""
    parts = [
        (each.contestant.method, each.contestant.admission, each.contestant.forgetting)
        for each in results
    ]
    varied = [at for at in range(3) if len({part[at] for part in parts}) > 1] or [0]
    return [" ".join(part[at].replace(",", ", ") for at in varied) for part in parts]


def _row(letter: str, name: str, each: ContestantResult) -> list[Cell]:
    values = [
        each.measures[measure].estimate.value if measure in each.measures else None
        for measure in _MEASURES
    ]
    shares = [None if value is None else round(value, 3) for value in values]
    sizes = each.sizes
    return [
        letter,
        name,
        *shares,
        sizes.nodes,
        sizes.peak,
        sizes.tokens,
        round(each.context_tokens),
    ]


def _less(estimate: Estimate) -> str:
    if estimate.value is None:
        return ""
    if estimate.low is None or estimate.high is None:
        return _signed(estimate.value)
    return f"{_signed(estimate.value)} ({_signed(estimate.low)} {_signed(estimate.high)})"


def _signed(share: float) -> str:
    return f"{share:+.2f}".replace("0.", ".", 1)


def _plots(page: Page, labelled: Sequence[tuple[str, ContestantResult]]) -> None:
    """Curves over the episodes: how many nodes there are, and measures over those so far."""
    across = 3 if page.width >= _WIDE else 1
    width = page.width // across - 2
    charts = [*_charts(labelled, width)]
    for start in range(0, len(charts), across):
        beside = charts[start : start + across]
        for rows in zip(*beside, strict=True):
            page.line(chain.from_iterable((*row, ("  ", "")) for row in rows))
        page.text("")


def _charts(labelled: Sequence[tuple[str, ContestantResult]], width: int) -> Iterator[list[Parts]]:
    places = labelled[0][1].curves.episodes
    nodes = {letter: each.curves.nodes for letter, each in labelled}
    yield chart("nodes", places, nodes, width=width)
    for name in _PLOTS:
        lines = {letter: each.curves.measures[name] for letter, each in labelled}
        title = f"{_MEASURES[name]}, over the episodes so far"
        yield chart(title, places, lines, width=width, top=1.0)
