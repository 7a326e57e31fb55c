"""A finished replay as a table, curves, and all that is known of one contestant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from deltamem_tui.memory.replay.measures import MEASURES
from deltamem_tui.memory.replay.result import CURVES, ContestantResult, ReplayResult
from deltamem_tui.memory.reports.replay import MEASURE_TITLES, difference_text, letters, names
from deltamem_tui.text import counted
from deltamem_tui.tui.models.contestants import contestant_lines
from deltamem_tui.tui.models.sections import Section


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """A contestant in one order.

    Attributes:
        letter: What it is called in plots of this order.
        name: What tells it from the others of its order.
        cells: What it came to, as `ReplayTable.columns` has it.
    """

    letter: str
    name: str
    cells: tuple[str, ...]
    result: ContestantResult


@dataclass(frozen=True, slots=True)
class ReplayTable:
    """The contestants, one a row, those of one order together.

    Attributes:
        columns: What the cells are; columns that all contestants leave empty are not there.
    """

    replay: ReplayResult
    columns: tuple[str, ...]
    rows: tuple[ReplayRow, ...]

    @classmethod
    def of(cls, replay: ReplayResult) -> ReplayTable:
        """The table of a replay."""
        rows = []
        for _, group in groupby(replay.contestants, key=lambda each: each.order):
            results = [*group]
            named = zip(letters(len(results)), names(results), results, strict=True)
            rows += [ReplayRow(letter, name, _cells(each), each) for letter, name, each in named]
        titles = ("order", *MEASURE_TITLES.values(), "nodes", "peak", "tokens", "context")
        several = len({each.order for each in replay.contestants}) > 1
        kept = [
            at
            for at in range(len(titles))
            if any(row.cells[at] for row in rows) and (at > 0 or several)
        ]
        return cls(
            replay,
            tuple(titles[at] for at in kept),
            tuple(
                ReplayRow(row.letter, row.name, tuple(row.cells[at] for at in kept), row.result)
                for row in rows
            ),
        )

    def lines(self, width: int) -> tuple[str, list[tuple[str, str]]]:
        """Heading, and per row its letter and the rest, as `contestant_lines` has them."""
        return contestant_lines(self.columns, self.rows, width)

    def beside(self, row: ReplayRow) -> list[ReplayRow]:
        """The rows of the same order, which are drawn together."""
        return [each for each in self.rows if each.result.order == row.result.order]

    @property
    def limits(self) -> Section:
        """What a replay cannot show."""
        return Section("What a replay does not show", "\n".join(self.replay.limits), quiet=True)


def _cells(each: ContestantResult) -> tuple[str, ...]:
    shares = [
        _share(each.measures[name].estimate.value if name in each.measures else None)
        for name in MEASURE_TITLES
    ]
    sizes = each.sizes
    numbers = (sizes.nodes, sizes.peak, sizes.tokens, round(each.context_tokens))
    return (each.order, *shares, *(f"{number:,}" for number in numbers))


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def curves(rows: Sequence[ReplayRow]) -> Mapping[str, Mapping[str, Sequence[float | None]]]:
    """What is drawn of one order: per title, the values of each contestant by its letter."""
    drawn: dict[str, dict[str, Sequence[float | None]]] = {
        f"{MEASURE_TITLES[name]}, over the episodes so far": {
            row.letter: row.result.curves.measures[name]
            for row in rows
            if name in row.result.curves.measures
        }
        for name in CURVES
    }
    return {"nodes": {row.letter: row.result.curves.nodes for row in rows}, **drawn}


def contestant_sections(row: ReplayRow, first: ReplayRow) -> list[Section]:
    """All measures of a contestant, with intervals and what is more than the first's."""
    each = row.result
    who, sizes = each.contestant, each.sizes
    facts = [
        f"{each.order} order · {counted(each.learnt, 'episode')} learnt, {each.refused:,} refused",
        f"{counted(each.calls, 'call')} of a model, context of {each.context_tokens:,.0f} tokens",
    ]
    of_first = f", and less {first.letter}" if row.letter != first.letter else ""
    measures = []
    for name, measure in each.measures.items():
        found = measure.estimate
        told = "–" if found.value is None else f"{found.value:.3f}"
        if found.low is not None and found.high is not None:
            told += f" ({found.low:.3f} {found.high:.3f})"
        less = f"   {difference_text(measure.difference)}" if of_first else ""
        measures.append(f"{told:<21}{less}".rstrip() + f"\n    {MEASURES.get(name, name)}")
    stores = [
        f"{counted(sizes.nodes, 'node')} at the end, {sizes.peak:,} at most",
        f"{sizes.mean:,.1f} on average",
        f"{sizes.births:,} written, {sizes.deletions:,} deleted, {sizes.rebirths:,} written again",
        f"{counted(sizes.tokens, 'token')} at the end",
        *(f"{count:,} {kind}" for kind, count in sizes.by_kind.items()),
    ]
    return [
        Section(f"{row.letter} · {who.method} {who.admission} {who.forgetting}", "\n".join(facts)),
        Section(f"Measures with 95 % intervals{of_first}", "\n".join(measures)),
        Section("What it kept", "\n".join(stores)),
    ]
