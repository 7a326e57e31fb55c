"""ScienceWorld recordings: what a person at the console saw, and typed after seeing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log, Preview, Record
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.held import Held
from deltamem_tui.trajectory.readers.reader import Reader, Reading, placed_or_refused, share
from deltamem_tui.trajectory.readers.scienceworld import Row, rows_of, scienceworld_episode
from deltamem_tui.trajectory.readers.shapes import as_mapping, as_text

_MOST_ROWS = 100_000
_LEAVING = frozenset({"exit", "quit"})


def _read(log: Log) -> Iterator[Reading]:
    found: list[Record] = []
    held = Held("a recording", log.limits)
    broken = False
    for item in log.records():
        if isinstance(item, RecordError):
            yield item
            broken = broken or bool(found)
        elif broken:
            # An answer stands in the row after its action, so beyond a gap nothing fits.
            yield RecordError(
                "the rows from here on are left out: one before them cannot be read",
                position=item.position,
                hint="mend that row, or cut the file there",
            )
            break
        else:
            held.add(len(as_text(as_mapping(item.value).get("observation"))), item.position)
            found.append(item)
            if len(found) > _MOST_ROWS:
                raise RecordError(
                    f"more than {_MOST_ROWS:,} rows in one recording", position=item.position
                )
    if found:
        yield placed_or_refused(found[0].position, _episode, found, broken=broken)


def _episode(found: list[Record], *, broken: bool) -> Trajectory:
    rows = rows_of(record.value for record in found)
    about = as_mapping(found[0].value)
    trajectory = scienceworld_episode(about, rows, rows[0].observation, _steps(rows))
    if broken and not rows[-1].done:
        # How it went on is not known, so the last score is not the final one.
        return trajectory.with_outcome(Outcome(reason="the recording breaks off"))
    return trajectory


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
    read=_read,
)
