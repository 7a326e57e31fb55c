"""From what a person names to the logs meant: files, folders, patterns and standard input."""

from __future__ import annotations

import glob
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path, PurePath
from typing import IO

from deltamem_tui.errors import Remedy, TrajectoryError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.content import CHUNK
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import DEFAULT_LIMITS, LogLimits, human_size
from deltamem_tui.trajectory.logs.tables import ASIDE

STDIN = "-"
# What version control and operating systems leave in folders; never a log.
_NOT_LOGS = frozenset({".git", ".hg", ".svn", ".DS_Store", "Thumbs.db", "__pycache__"})


@dataclass(frozen=True, slots=True)
class FoundLog:
    """A log, and whether the person named this very file: if so, it must be one."""

    log: Log
    named: bool


def find_logs(
    paths: Iterable[str | Path | FoundLog], limits: LogLimits = DEFAULT_LIMITS
) -> Iterator[FoundLog]:
    """Yield all logs that the given paths mean, in a fixed order.

    A log has the name of its file, or its path inside the folder that was named, and more of its
    path where two would have the same name.

    Raises:
        TrajectoryError: Something named does not exist or cannot be read.
    """
    found: list[FoundLog] = []
    for path in paths:
        found += [path] if isinstance(path, FoundLog) else _logs_of(str(path), limits)
    for item, name in zip(found, _distinct_names([item.log for item in found]), strict=True):
        yield item if name == item.log.name else replace(item, log=replace(item.log, name=name))


def _distinct_names(logs: list[Log]) -> list[str]:
    """Return the names of logs; where two have one, their paths below what all have in common."""
    names, places = [log.name for log in logs], [log.path.resolve() for log in logs]
    if len({*zip(names, places, strict=True)}) == len({*names}):
        return names
    typed = [place for log, place in zip(logs, places, strict=True) if log.keep is None]
    top = os.path.commonpath([place.parent for place in typed])
    return [
        _shown(place.relative_to(top)) if log.keep is None else log.name
        for log, place in zip(logs, places, strict=True)
    ]


def _logs_of(name: str, limits: LogLimits) -> Iterator[FoundLog]:
    path = Path(name)
    if name == STDIN:
        yield FoundLog(_copied(sys.stdin.buffer, "stdin", limits), named=True)
    elif path.is_dir():
        files = list(_files_below(path))
        if not files:
            raise TrajectoryError("there is no file in this folder", source=one_line(name, 200))
        for file in files:
            yield FoundLog(Log(_shown(file.relative_to(path)), file, limits), named=False)
    elif path.is_file():
        yield FoundLog(Log(_shown(Path(path.name)), path, limits), named=True)
    elif path.exists():  # a device may have no end
        reason = "a pipe or a device, and no file"
        raise TrajectoryError(reason, source=one_line(name, 200), hint=Remedy.PIPE_LOG)
    else:
        yield from _matching(name, limits)


def _matching(pattern: str, limits: LogLimits) -> Iterator[FoundLog]:
    # Names are distinguished by their path below the part of the pattern that is fixed.
    parts = Path(pattern).parts
    fixed = Path(*takewhile(lambda part: not glob.has_magic(part), parts))
    matches = sorted(_expanded(fixed, parts[len(fixed.parts) :])) if glob.has_magic(pattern) else []
    if not matches:
        raise TrajectoryError(
            "no such file or folder",
            source=one_line(pattern, 200),
            hint=Remedy.NAME_LOG,
        )
    files = [file for match in matches for file in _files_of(match, "**" not in pattern)]
    if not files:
        raise TrajectoryError(
            "only folders without files match this", source=one_line(pattern, 200)
        )
    for file in files:
        yield FoundLog(Log(_shown(file.relative_to(fixed)), file, limits), named=False)


def _expanded(fixed: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Yield what a pattern below a folder means: nothing hidden, and two stars follow no links."""
    last = ("*",) if parts[-1] == "**" else ()
    hidden = any(part.startswith(".") for part in parts)
    pattern = "/".join(each if each == "**" else re.sub(r"\*+", "*", each) for each in parts)
    for found in {*fixed.glob("/".join((pattern, *last)))}:
        if hidden or not any(part.startswith(".") for part in found.relative_to(fixed).parts):
            yield found


def _files_of(match: Path, folders: bool) -> Iterator[Path]:
    if not match.is_dir():
        yield match
    elif folders:
        yield from _files_below(match)


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and its folders, readable or not; loops of links end.

    Folders go by name; files by the minute they were last written in, then by name, so that
    sessions whose names are random are learnt as they were held.
    """
    for parent, folders, files in os.walk(folder, onerror=_cannot_list):
        folders[:] = sorted(name for name in folders if name not in _NOT_LOGS)
        aside = {f"{name}{end}" for name in files for end in ASIDE}  # read with their database
        logs = [Path(parent, name) for name in sorted({*files} - aside - _NOT_LOGS)]
        yield from sorted(logs, key=_minute)


def _minute(file: Path) -> int:
    """Return the minute in which a file was last written; 0 if that is not known."""
    try:
        return int(file.stat().st_mtime // 60)
    except OSError:
        return 0


def _cannot_list(error: OSError) -> None:
    folder = Path(error.filename).name if error.filename else "folder"
    raise TrajectoryError(f"cannot be listed: {error.strerror}", source=folder) from error


def _copied(pipe: IO[bytes], name: str, limits: LogLimits) -> Log:
    """Return a pipe's bytes in a temporary file, since a log is looked at before it is read."""
    copy = tempfile.NamedTemporaryFile(prefix="deltamem-")  # noqa: SIM115 — lives as long as the log
    try:
        left = limits.piped_bytes
        while left >= 0 and (chunk := pipe.read(min(CHUNK, left + 1))):
            left -= copy.write(chunk)
        copy.flush()
    except OSError as error:
        copy.close()
        raise TrajectoryError(f"cannot be copied: {error.strerror}", source=name) from error
    if left < 0:
        copy.close()
        raise TrajectoryError(
            f"more than {human_size(limits.piped_bytes)} came out of the pipe",
            source=name,
            hint="write it into a file and import that",
        )
    return Log(name, Path(copy.name), limits, keep=copy)


def _shown(path: PurePath) -> str:
    return one_line(path.as_posix(), 400)
