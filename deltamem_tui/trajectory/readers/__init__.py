"""Readers: any agent's log in, trajectories out. One module per format."""

from deltamem_tui.trajectory.logs.record import Notice
from deltamem_tui.trajectory.readers.native import from_record, to_line, to_record
from deltamem_tui.trajectory.readers.reader import Reader, Reading
from deltamem_tui.trajectory.readers.reading import read_log, read_logs
from deltamem_tui.trajectory.readers.registry import Claim, detect, reader_named, readers

__all__ = [
    "Claim",
    "Notice",
    "Reader",
    "Reading",
    "detect",
    "from_record",
    "read_log",
    "read_logs",
    "reader_named",
    "readers",
    "to_line",
    "to_record",
]
