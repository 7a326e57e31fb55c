"""A finished evaluation on a page: a table, differences with their intervals, kinds, curves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from deltamem_tui.cli.chart import chart
from deltamem_tui.cli.page import Page
from deltamem_tui.lab.runs.report import tables, title_of
from deltamem_tui.memory.reports.replay import letters

if TYPE_CHECKING:
    from deltamem_tui.lab.runs.result import EntrantResult, EvaluationResult

_WIDE = 140
"""From so many cells on, plots stand side by side."""


def show(page: Page, found: EvaluationResult) -> None:
    """Write all of an evaluation: what each contestant came to."""
    labelled = [*zip(letters(len(found.contestants)), found.contestants, strict=True)]
    page.text(title_of(found), style="bold")
    for table in tables(found, [(letter, each.entrant.name) for letter, each in labelled]):
        if table.title:
            page.text("")
            page.text(table.title, style="bold")
        page.table(table.head, table.rows, headed=True)
    if page.drawn:
        page.text("")
        _plots(page, labelled)


def _plots(page: Page, labelled: Sequence[tuple[str, EntrantResult]]) -> None:
    """Curves over the games: how much is remembered, and the score so far."""
    across = 2 if page.width >= _WIDE else 1
    width = page.width // across - 2
    places = labelled[0][1].curves.games
    charts = [
        chart(
            "score, over the games so far",
            places,
            {letter: each.curves.measures["score"] for letter, each in labelled},
            width=width,
            top=1.0,
        )
    ]
    if len({each.size.nodes - each.size_before.nodes for _, each in labelled}) > 1:
        nodes = {letter: each.curves.nodes for letter, each in labelled}
        charts.append(chart("nodes", places, nodes, width=width))
    for start in range(0, len(charts), across):
        for rows in zip(*charts[start : start + across], strict=True):
            page.line(chain.from_iterable((*row, ("  ", "")) for row in rows))
        page.text("")
