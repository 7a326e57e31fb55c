"""What every face says of a finished evaluation: warnings, numbers as text, a page of Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from deltamem_tui.lab.runs.plan import LEARNING
from deltamem_tui.lab.runs.result import EntrantResult, EvaluationResult
from deltamem_tui.memory.replay.bootstrap import Estimate
from deltamem_tui.memory.reports.replay import signed
from deltamem_tui.text import clean, counted

Cell = str | int | float | None

COMPARED = ("score", "success", "steps")
"""The measures whose differences are shown."""


def difference_of(estimate: Estimate) -> str:
    """`-.05 (-.20 +.10)`: a difference with its interval; empty if there is none."""
    parts = [estimate.value, estimate.low, estimate.high]
    texts = [signed(each) for each in parts if each is not None]
    return f"{texts[0]} ({' '.join(texts[1:])})" if len(texts) > 1 else "".join(texts)


def interval_of(estimate: Estimate) -> str:
    """`.50 (.42 .58)`: a share with its interval; empty if there is none."""
    return difference_of(estimate).replace("+", "")


def value_of(each: EntrantResult, measure: str) -> float | None:
    """A measure of a contestant; None if it is not known."""
    found = each.measures.get(measure)
    return None if found is None else found.estimate.value


def title_of(found: EvaluationResult) -> str:
    """What was evaluated, in a line."""
    parts = [f"{found.environment} {found.split}", found.protocol]
    parts += ["leave-one-out"] if found.leave_one_out else []
    parts += [counted(found.games, "game")]
    parts += [f"{found.tries} tries"] if found.tries > 1 else []
    parts += [f"in {found.order} order"] if found.order != "environment" else []
    return f"{', '.join(parts)}, played by {found.agent}"


def warnings(found: EvaluationResult) -> list[str]:
    """What is to be known before the numbers are believed."""
    return [
        f"{each.entrant.name}: {line}"
        for each in found.contestants
        for line in warnings_of(each, found)
    ]


def warnings_of(each: EntrantResult, found: EvaluationResult) -> list[str]:
    """The same of one contestant."""
    return [*_warnings(each, found)]


def _warnings(each: EntrantResult, found: EvaluationResult) -> Iterator[str]:
    guard, games = each.guard, found.games
    if found.protocol in LEARNING and not each.learnt and each.entrant.method != "nothing":
        yield "learnt nothing from its games"
    if guard.seen:
        had = f"had learnt from {guard.seen} of the {counted(games, 'game')} before"
        then = "what it learnt from a game was hidden in it" if guard.hidden else "not hidden"
        score = guard.unseen_score
        rest = f"; score in the others {interval_of(score)}" if score else ""
        yield f"{had} ({then}){rest}"
    if guard.unknown:
        which = f"the {counted(each.learnt_before, 'episode')} that it learnt from before"
        silent = f"{guard.unknown:,} of {which} do not say their game"
        if guard.unknown == each.learnt_before:
            silent = f"none of {which} says its game"
        yield f"{silent}, so it may have seen more of these games"


def columns(found: EvaluationResult) -> Mapping[str, Callable[[EntrantResult], Cell]]:
    """The columns of the table of contestants, those left out that have nothing to say."""
    every: dict[str, Callable[[EntrantResult], Cell]] = {
        "score": lambda each: _rounded(value_of(each, "score"), 3),
        "success": lambda each: _rounded(value_of(each, "success"), 3),
        "steps": lambda each: _rounded(value_of(each, "steps"), 1),
        "memory tokens": lambda each: _rounded(value_of(each, "memory_tokens"), 0),
        "nodes": lambda each: each.size.nodes,
        "tokens a node": lambda each: _rounded(each.tokens_per_node, 0),
        "calls": lambda each: _rounded(value_of(each, "calls"), 1),
        "tokens": lambda each: _rounded(value_of(each, "tokens"), 0),
        "cost": lambda each: _rounded(value_of(each, "cost"), 5),
        "writer's calls": lambda each: each.writer.calls,
        "writer's cost": lambda each: _rounded(each.writer.cost, 5),
        "seen": lambda each: each.guard.seen,
    }
    usual = ("score", "success", "steps", "memory tokens", "nodes", "tokens a node")
    return {
        name: cell
        for name, cell in every.items()
        if name in usual or any(cell(each) for each in found.contestants)
    }


def _rounded(value: float | None, places: int) -> float | None:
    return None if value is None else round(value, places) if places else float(round(value))


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table of a finished evaluation; the first one has no title."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def tables(found: EvaluationResult, labels: Sequence[Sequence[str]]) -> Iterator[ReportTable]:
    """What the contestants came to; the differences, the tries and the kinds if there are any.

    Args:
        found: The evaluation.
        labels: What each contestant's rows begin with; the first stands for it elsewhere.
    """
    labelled = [*zip(labels, found.contestants, strict=True)]
    head = (*[""] * (len(labels[0]) - 1), "contestant")
    cells = columns(found)
    yield ReportTable(
        "",
        (*head, *cells),
        [(*label, *(cell(each) for cell in cells.values())) for label, each in labelled],
    )
    if len(labelled) > 1:
        yield ReportTable(
            f"less {labels[0][0]}, with 95 % intervals",
            (*head, *COMPARED),
            [
                (*label, *(difference_of(each.measures[name].difference) for name in COMPARED))
                for label, each in labelled[1:]
            ],
        )
    if found.tries > 1:
        yield ReportTable(
            "solved by the try",
            (*head, *map(str, range(1, found.tries + 1))),
            [(*label, *(round(share, 3) for share in each.solved_by)) for label, each in labelled],
        )
    if len(found.contestants[0].by_kind) > 1:
        yield ReportTable(
            "score by kind of task",
            ("kind", "games", *(label[0] for label in labels)),
            [
                (kind, first.games, *(_of_kind(each, kind) for each in found.contestants))
                for kind, first in found.contestants[0].by_kind.items()
            ],
        )


def _of_kind(each: EntrantResult, kind: str) -> float | None:
    return _rounded(each.by_kind[kind].measures["score"].estimate.value, 3)


def markdown_page(found: EvaluationResult) -> str:
    """A finished evaluation as a page of Markdown."""
    lines = [f"# {title_of(found)}", "", *main_table(found)]
    if told := warnings(found):
        lines += ["", *(f"- {_escaped(each)}" for each in told)]
    for each in [*tables(found, _names(found))][1:]:
        title = each.title[:1].upper() + each.title[1:]
        lines += ["", f"## {_escaped(title)}", "", *_table(each.head, each.rows)]
    return "\n".join([*lines, "", *_small_print(found), ""])


def main_table(found: EvaluationResult) -> list[str]:
    """The contestants with all their numbers, the score with its interval."""
    first = next(tables(found, _names(found)))
    rows = [
        (name, interval_of(each.measures["score"].estimate), *rest)
        for (name, _, *rest), each in zip(first.rows, found.contestants, strict=True)
    ]
    return _table(first.head, rows)


def _names(found: EvaluationResult) -> Sequence[Sequence[str]]:
    return [(each.entrant.name,) for each in found.contestants]


def _small_print(found: EvaluationResult) -> Iterator[str]:
    yield (
        f"Limit {found.limit} actions; seed {found.seed}; embedder {_escaped(found.embedder)}; "
        f"writer {_escaped(found.writer.split()[0])}. Intervals and differences are the middle "
        "95 % of a paired bootstrap over the games."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    lines = [[_escaped(each) for each in head], ["---"] * len(head)]
    lines += [["" if cell is None else _escaped(_text(cell)) for cell in row] for row in rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def _text(cell: str | int | float) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _escaped(text: str) -> str:
    return clean(text).replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")
