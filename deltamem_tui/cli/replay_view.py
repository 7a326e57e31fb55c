"""A finished replay on a page: a table an order, differences with their intervals, and plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING

from deltamem_tui.cli.chart import Parts, chart
from deltamem_tui.cli.page import Cell, Page
from deltamem_tui.memory.reports.replay import MEASURE_TITLES, difference_text, letters, names

if TYPE_CHECKING:
    from deltamem_tui.memory.replay.result import ContestantResult, ReplayResult

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
        labelled = [*zip(letters(len(results)), names(results), results, strict=True)]
        rows = [_row(*each) for each in labelled]
        columns = ("", "contestant", *MEASURE_TITLES.values(), "nodes", "peak", "tokens", "context")
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
                ("", "contestant", *(MEASURE_TITLES[name] for name in _COMPARED)),
                [
                    (
                        letter,
                        name,
                        *(difference_text(each.measures[m].difference) for m in _COMPARED),
                    )
                    for letter, name, each in labelled[1:]
                ],
                headed=True,
            )
        page.text("")
        if page.drawn:
            _plots(page, [(letter, each) for letter, _, each in labelled])


def _row(letter: str, name: str, each: ContestantResult) -> list[Cell]:
    values = [
        each.measures[measure].estimate.value if measure in each.measures else None
        for measure in MEASURE_TITLES
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
        title = f"{MEASURE_TITLES[name]}, over the episodes so far"
        yield chart(title, places, lines, width=width, top=1.0)
