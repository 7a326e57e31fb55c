"""A finished evaluation on a page: a table, differences with their intervals, kinds, curves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from deltamem_tui.cli.chart import chart
from deltamem_tui.cli.page import Page
from deltamem_tui.evaluation.runs.report import COMPARED, columns, difference_of, title_of
from deltamem_tui.memory.reports.replay import letters

if TYPE_CHECKING:
    from deltamem_tui.evaluation.runs.result import EntrantResult, EvaluationResult

_WIDE = 140
"""From so many cells on, plots stand side by side."""


def show(page: Page, found: EvaluationResult) -> None:
    """Write all of an evaluation: what each contestant came to."""
    labelled = [*zip(letters(len(found.contestants)), found.contestants, strict=True)]
    page.text(title_of(found), style="bold")
    cells = columns(found)
    page.table(
        ("", "contestant", *cells),
        [
            (letter, each.entrant.name, *(cell(each) for cell in cells.values()))
            for letter, each in labelled
        ],
        headed=True,
    )
    if len(labelled) > 1:
        page.text("")
        page.text(f"less {labelled[0][0]}, with 95 % intervals", style="bold")
        page.table(
            ("", "contestant", *COMPARED),
            [
                (
                    letter,
                    each.entrant.name,
                    *(difference_of(each.measures[name].difference) for name in COMPARED),
                )
                for letter, each in labelled[1:]
            ],
            headed=True,
        )
    if found.tries > 1:
        page.text("")
        page.text("solved by the try", style="bold")
        page.table(
            ("", "contestant", *map(str, range(1, found.tries + 1))),
            [(letter, each.entrant.name, *each.solved_by) for letter, each in labelled],
            headed=True,
        )
    if len(labelled[0][1].by_kind) > 1:
        page.text("")
        page.text("score by kind of task", style="bold")
        _kinds(page, labelled)
    if page.drawn:
        page.text("")
        _plots(page, labelled)


def _kinds(page: Page, labelled: Sequence[tuple[str, EntrantResult]]) -> None:
    rows = [
        (
            kind,
            first.games,
            *(
                _rounded(each.by_kind[kind].measures["score"].estimate.value)
                for _, each in labelled
            ),
        )
        for kind, first in labelled[0][1].by_kind.items()
    ]
    page.table(("kind", "games", *(letter for letter, _ in labelled)), rows, headed=True)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


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
