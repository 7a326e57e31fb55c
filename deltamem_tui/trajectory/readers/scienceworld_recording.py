"""ScienceWorld recordings: what a person at the console saw, and typed after seeing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Preview, Record
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.reader import Reader, share
from deltamem_tui.trajectory.readers.scienceworld import Row, rows_of, scienceworld_episode
from deltamem_tui.trajectory.readers.shapes import as_mapping
from deltamem_tui.trajectory.readers.whole_log import placed, whole_log

_MOST_ROWS = 100_000
_LEAVING = frozenset({"exit", "quit"})


def _gather(records: Iterable[Record], _: str) -> Iterator[Trajectory]:
    found = list(islice(records, _MOST_ROWS + 1))
    if not found:
        return
    if len(found) > _MOST_ROWS:
        raise RecordError(f"more than {_MOST_ROWS:,} rows in one recording")
    rows = rows_of(record.value for record in found)
    about = as_mapping(found[0].value)
    trajectory = scienceworld_episode(about, rows, rows[0].observation, _steps(rows))
    yield placed(trajectory, found[0].position)


def _steps(rows: Sequence[Row]) -> Iterator[Step]:
    """An input is answered in the row after it."""
    for row, after in pairwise(rows):
        yield Step(row.action, after.observation)
    last = rows[-1]
    # What was typed when all was over, nobody did.
    if not last.done and last.action.lower() not in _LEAVING:
        yield Step(last.action)


def _is_row(value: object) -> bool:
    row = as_mapping(value)
    return {"userInput", "observation", "score"} <= row.keys()


def _claims(preview: Preview) -> float:
    return 0.95 * share(preview, _is_row)


READER = Reader(
    name="scienceworld-recording",
    description="ScienceWorld recordings: rows of observation, userInput and score",
    claims=_claims,
    read=whole_log(_gather),
)
