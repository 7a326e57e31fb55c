"""Print what becomes of every log that lies beside the project: read, or refused and why.

One line a log: its format, what was found in it, and the first thing that was refused.
`python -m benchmarks.formats_table [FOLDER]`
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from benchmarks.samples import BESIDE
from deltamem_tui.cli.page import Cell, Page
from deltamem_tui.errors import RecordError, TrajectoryError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Notice
from deltamem_tui.trajectory.logs.sources import find_logs
from deltamem_tui.trajectory.readers.reading import read_log
from deltamem_tui.trajectory.readers.registry import reader_of
from deltamem_tui.trajectory.validation import redact

COLUMNS = (
    *("log", "format", "episodes", "steps", "success", "failure", "unknown"),
    *("redacted", "rejected", "first refusal"),
)


def main(folder: Path) -> int:
    """Print the table, and how many logs were read.

    Args:
        folder: Where the logs lie.

    Returns:
        The exit code: 0, also if there is no such folder.
    """
    if not folder.is_dir():
        print(f"no logs to read: there is no folder {folder}", file=sys.stderr)
        return 0
    rows = [_row(found.log) for found in find_logs([folder])]
    Page(sys.stdout).table(COLUMNS, rows)
    read = sum(bool(row[2]) for row in rows)
    print(f"{read} of {len(rows)} logs read; the others say why not", file=sys.stderr)
    return 0


def _row(log: Log) -> list[Cell]:
    try:
        reader = reader_of(log)
    except TrajectoryError as error:
        return [log.name, "", *[0] * 7, one_line(error.message, 80)]
    counts: Counter[str] = Counter()
    first = ""
    for reading in read_log(log, reader):
        if isinstance(reading, RecordError):
            counts["rejected"] += 1
            where = f"{reading.position}: " if reading.position else ""
            first = first or one_line(f"{where}{reading.message}", 80)
            continue
        if isinstance(reading, Notice):
            continue
        success = reading.outcome.success
        counts["episodes"] += 1
        counts["steps"] += len(reading.steps)
        counts["unknown" if success is None else "success" if success else "failure"] += 1
        counts["redacted"] += redact(reading)[1].total()
    return [log.name, reader.name, *(counts[column] for column in COLUMNS[2:-1]), first]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else BESIDE))
