"""An evaluation's run: its contestants as a table and curves, its games, one contestant in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deltamem_tui.lab.environment import GameInfo
from deltamem_tui.lab.runs.kept_run import KeptCourse, KeptRun
from deltamem_tui.lab.runs.report import (
    difference_of,
    interval_of,
    value_of,
    warnings_of,
)
from deltamem_tui.lab.runs.result import EntrantResult
from deltamem_tui.memory.replay.bootstrap import Estimate
from deltamem_tui.memory.reports.replay import letters
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.models.contestants import contestant_lines
from deltamem_tui.tui.models.sections import Section

MEASURES: Mapping[str, tuple[str, int]] = {
    "score": ("from 0 to 1, the best try at each game", 3),
    "success": ("games that were solved", 3),
    "steps": ("actions in a game; the limit where it was not solved", 1),
    "memory_tokens": ("of the text that the agent was handed", 0),
    "calls": ("of the agent's model, a game", 1),
    "tokens": ("of the agent's model, a game", 0),
    "cost": ("of the agent's model, a game, in US dollars", 5),
}
"""The measures: what each is, and how many decimal places tell it."""

_OF_MODELS = ("calls", "tokens", "cost")
_FEWEST = 2
"""Points of a curve."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A contestant.

    Attributes:
        letter: What it is called in plots and in the list of games.
        name: What tells it from the others.
        cells: What it came to, as `RunTable.columns` has it.
        result: What it came to in the games that are compared; None if it has played none.
    """

    letter: str
    name: str
    cells: tuple[str, ...]
    course: KeptCourse
    result: EntrantResult | None


@dataclass(frozen=True, slots=True)
class RunTable:
    """The contestants of a run, one a row.

    Attributes:
        columns: What the cells are; columns that all contestants leave empty are not there.
        games: Every game, with what each contestant made of it.
    """

    run: KeptRun
    columns: tuple[str, ...]
    rows: tuple[RunRow, ...]
    games: tuple[GameLine, ...]

    @classmethod
    def of(cls, run: KeptRun) -> RunTable:
        """The table of a run."""
        found = iter(run.result.contestants if run.result else ())
        results = [next(found) if _has_begun(run, each) else None for each in run.courses]
        named = zip(letters(len(results)), run.courses, results, strict=True)
        rows = [
            RunRow(
                letter,
                one_line(course.entrant.name, 60),
                _cells(run, course, result),
                course,
                result,
            )
            for letter, course, result in named
        ]
        first = next((row.letter for row in rows if row.result), "")
        titles = (
            *("played", "score", "success", "steps", "memory tokens", "nodes"),
            *(*_OF_MODELS, f"less {first}"),
        )
        kept = [at for at in range(len(titles)) if any(row.cells[at] for row in rows)]
        return cls(
            run,
            tuple(titles[at] for at in kept),
            tuple(
                RunRow(
                    row.letter,
                    row.name,
                    tuple(row.cells[at] for at in kept),
                    row.course,
                    row.result,
                )
                for row in rows
            ),
            tuple(_game_line(run, game) for game in run.plan.games),
        )

    def lines(self, width: int) -> tuple[str, list[tuple[str, str]]]:
        """Heading, and per row its letter and the rest, as `contestant_lines` has them."""
        return contestant_lines(self.columns, self.rows, width)

    @property
    def first(self) -> RunRow | None:
        """The contestant that the others are compared with."""
        return next((row for row in self.rows if row.result), None)

    @property
    def title(self) -> str:
        """What was evaluated, and how far it has come, in a line."""
        run, plan = self.run, self.run.plan
        parts = [f"{plan.environment} {plan.split}", plan.protocol]
        parts += ["leave-one-out"] if plan.leave_one_out else []
        parts += [counted(len(plan.games), "game")]
        parts += [f"{plan.tries} tries"] if plan.tries > 1 else []
        parts += [plan.agent]
        if not run.finished:
            parts.insert(0, f"UNFINISHED, {counted(len(run.compared), 'game')} compared")
        return one_line(" · ".join(parts), 200)


@dataclass(frozen=True, slots=True)
class GameCell:
    """What a contestant made of a game.

    Attributes:
        score: Its best score; empty if it was not played.
        steps: Those of all its tries.
        solved: Whether it was solved.
    """

    score: str = ""
    steps: str = ""
    solved: bool = False


@dataclass(frozen=True, slots=True)
class GameLine:
    """A game.

    Attributes:
        title: Its task, or its name where no episode tells the task.
        cells: Per contestant what it made of it.
    """

    info: GameInfo
    title: str
    cells: tuple[GameCell, ...]


def _game_line(run: KeptRun, game: GameInfo) -> GameLine:
    told = (course.tasks.get(game.name, "") for course in run.courses)
    title = next((each for each in told if each), one_line(game.name[:2000], 300))
    return GameLine(game, title, tuple(_game_cell(run, each, game) for each in run.courses))


def _game_cell(run: KeptRun, course: KeptCourse, game: GameInfo) -> GameCell:
    tried = course.tried(game.name, run.plan.tries)
    if not tried:
        return GameCell()
    score = max(each.score for each in tried)
    steps = sum(each.steps for each in tried)
    return GameCell(_short(score), f"{steps:,}", any(each.success for each in tried))


def _short(score: float) -> str:
    """`0`, `.45`, `1`: a score in at most three cells."""
    return f"{score:.0f}" if score in (0, 1) else f"{min(score, 0.99):.2f}".removeprefix("0")


def _has_begun(run: KeptRun, course: KeptCourse) -> bool:
    return run.result is not None and run.played(course) > 0


def _cells(run: KeptRun, course: KeptCourse, each: EntrantResult | None) -> tuple[str, ...]:
    played = "" if run.finished else f"{run.played(course):,}/{len(run.plan.games):,}"
    if each is None:
        return (played, *[""] * 9)
    score = each.measures["score"]
    return (
        played,
        interval_of(score.estimate),
        *(_told(each, name) for name in ("success", "steps", "memory_tokens")),
        f"{each.size.nodes:,}",
        *(_told(each, name) if value_of(each, name) else "" for name in _OF_MODELS),
        difference_of(score.difference) if _differs(run, each) else "",
    )


def _differs(run: KeptRun, each: EntrantResult) -> bool:
    return run.result is not None and each is not run.result.contestants[0]


def _told(each: EntrantResult, measure: str) -> str:
    value = value_of(each, measure)
    return "" if value is None else f"{value:,.{MEASURES[measure][1]}f}"


# What is drawn


def curves(table: RunTable) -> tuple[Sequence[int], Mapping[str, Mapping[str, Sequence[float]]]]:
    """The games, and per title the values of each contestant by its letter.

    There is no curve of a single game, and none of memories that stayed as large as they were.
    """
    known = [(row.letter, row.result.curves) for row in table.rows if row.result]
    if not known or len(known[0][1].games) < _FEWEST:
        return (), {}
    drawn: dict[str, Mapping[str, Sequence[float]]] = {
        "score, over the games so far": {
            letter: each.measures["score"] for letter, each in known if "score" in each.measures
        }
    }
    nodes = {letter: each.nodes for letter, each in known}
    if any(len({*each}) > 1 for each in nodes.values()):
        drawn["nodes"] = nodes
    return known[0][1].games, drawn


# What is told of one contestant


def contestant_sections(table: RunTable, row: RunRow) -> list[Section]:
    """All that is known of a contestant, and all contestants by kind of task."""
    run, each = table.run, row.result
    sections = [Section(f"{row.letter} · {row.name}", "\n".join(_facts(run, row)))]
    if not run.finished:
        sections.append(_so_far(run))
    if each is None:
        return sections
    told = warnings_of(each, run.result) if run.result else ()
    sections += [Section("Before you believe it", "\n".join(told), warning=True)] if told else []
    first = table.first
    less = first.letter if first and first is not row else ""
    sections.append(Section("Measures with 95 % intervals", "\n".join(_measures(each, less))))
    if run.plan.tries > 1:
        solved = (f"{at}  {share:.3f}" for at, share in enumerate(each.solved_by, start=1))
        sections.append(Section("Solved by the try", "\n".join(solved)))
    if kinds := _kinds(table):
        sections.append(Section("Score and steps by kind of task", "\n".join(kinds)))
    return sections


def _facts(run: KeptRun, row: RunRow) -> list[str]:
    entrant, opening = row.course.entrant, row.course.opening
    what = {
        "bank": f"the bank {one_line(entrant.bank, 200)}",
        "baseline": "a baseline that is not a bank",
        "method": one_line(
            f"{entrant.method}, admits {entrant.admission}, forgets {entrant.forgetting}", 200
        ),
    }[entrant.sort]
    facts = [what, *(one_line(each, 200) for each in entrant.parameters)]
    facts.append(
        f"{counted(opening.learnt, 'episode')} learnt before the games, "
        f"{counted(opening.size.nodes, 'unit')} of memory then"
    )
    played = run.played(row.course)
    facts.append(f"{played:,} of {counted(len(run.plan.games), 'game')} played")
    if (each := row.result) and each.tokens_per_node:
        units = counted(each.size.nodes, "unit")
        facts.append(f"{units} of memory after them, of {each.tokens_per_node:,.0f} tokens each")
    if each and each.writer.calls:
        cost = "" if each.writer.cost is None else f", ${each.writer.cost:,.5f}"
        calls = counted(each.writer.calls, "call")
        facts.append(f"its writer took {calls} of a model: {each.writer.tokens:,} tokens{cost}")
    return facts


def _so_far(run: KeptRun) -> Section:
    compared = counted(len(run.compared), "game")
    told = f"The numbers are of the {compared} that every contestant who has begun has finished."
    return Section("The run is not finished", told, warning=True)


def _measures(each: EntrantResult, less: str) -> list[str]:
    """Each measure with its interval, what is more than the first contestant's, what it is."""
    lines = []
    for name, (meaning, places) in MEASURES.items():
        measure = each.measures.get(name)
        if measure is None or (name in _OF_MODELS and not measure.estimate.value):
            continue
        lines.append(f"{name.replace('_', ' '):<14}{_told_whole(measure.estimate, places)}")
        if less:
            difference = _told_whole(measure.difference, places, "+")
            lines.append(f"{f'  less {less}':<14}{difference}".rstrip())
        lines.append(f"  {meaning}")
    return lines


def _told_whole(estimate: Estimate, places: int, sign: str = "") -> str:
    """A value with its interval."""
    found = (estimate.value, estimate.low, estimate.high)
    told = [f"{value:{sign},.{places}f}" for value in found if value is not None]
    return f"{told[0]} ({' '.join(told[1:])})" if len(told) > 1 else "".join(told)


def _kinds(table: RunTable) -> list[str]:
    """Per kind of task, every contestant's score and steps; nothing if there is but one."""
    first = table.first
    if first is None or first.result is None or len(first.result.by_kind) <= 1:
        return []
    lines = []
    for kind, of_first in first.result.by_kind.items():
        lines.append(f"{one_line(kind, 60)}, {counted(of_first.games, 'game')}")
        for row in table.rows:
            if row.result and kind in row.result.by_kind:
                found = row.result.by_kind[kind].measures
                score, steps = found["score"].estimate, found["steps"].estimate.value or 0
                lines.append(f"  {row.letter}  {interval_of(score):<16}{steps:>6,.1f} steps")
    return lines
