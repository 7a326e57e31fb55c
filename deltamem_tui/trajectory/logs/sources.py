"""From what a person names to the logs meant: files, folders, globs, pipes and standard input."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path, PurePath
from typing import IO

from deltamem_tui.errors import Remedy, TrajectoryError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import DEFAULT_LIMITS, LogLimits, human_size

STDIN = "-"
_CHUNK = 1 << 20
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
    names = _distinct_names([item.log for item in found])
    for item, name in zip(found, names, strict=True):
        yield item if name == item.log.name else replace(item, log=replace(item.log, name=name))


def _distinct_names(logs: list[Log]) -> list[str]:
    """Return the names of logs, those of the same one with as much of their paths as it takes."""
    names, before, more = [log.name for log in logs], list[str](), 0
    while names != before:  # else their paths are at an end
        before, more = [*names], more + 1
        by_name = defaultdict[str, list[int]](list)
        for index, name in enumerate(names):
            by_name[name].append(index)
        for alike in (group for group in by_name.values() if len(group) > 1):
            if len({logs[index].path.resolve() for index in alike}) > 1:
                for index in alike:
                    names[index] = _with_parents(logs[index], more)
    return names


def _with_parents(log: Log, more: int) -> str:
    """Return a log's name with so many more parts of the path before it as it was typed."""
    if log.keep is not None:  # a copy of a pipe, whose path the user did not type
        return log.name
    parts = log.path.parts
    return _shown(PurePath(*parts[-min(len(PurePath(log.name).parts) + more, len(parts)) :]))


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
    elif path.is_char_device() or path.is_block_device():  # some of them have no end
        raise TrajectoryError(
            "a device, and no log", source=one_line(name, 200), hint=Remedy.PIPE_LOG
        )
    elif path.exists():  # a named pipe, such as the shell makes for <(…)
        try:
            with path.open("rb") as pipe:
                yield FoundLog(_copied(pipe, _pipe_name(path), limits), named=True)
        except OSError as error:
            raise TrajectoryError(f"cannot be read: {error.strerror}", source=name) from error
    else:
        yield from _matching(name, limits)


def _matching(pattern: str, limits: LogLimits) -> Iterator[FoundLog]:
    matches = sorted(_expanded(pattern)) if glob.has_magic(pattern) else []
    if not matches:
        raise TrajectoryError(
            "no such file or folder",
            source=one_line(pattern, 200),
            hint=Remedy.NAME_LOG,
        )
    # Names are distinguished by their path below the part of the pattern that is fixed.
    fixed = Path(*takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts))
    files = [file for match in matches for file in _files_of(Path(match), "**" not in pattern)]
    if not files:
        raise TrajectoryError(
            "only folders without files match this", source=one_line(pattern, 200)
        )
    for file in files:
        name = file.relative_to(fixed) if file.is_relative_to(fixed) else Path(file.name)
        yield FoundLog(Log(_shown(name), file, limits), named=False)


def _expanded(pattern: str) -> set[str]:
    parts = Path(pattern).parts
    if "**" not in parts:
        return set(glob.iglob(pattern))  # noqa: PTH207 — Path.glob takes no absolute patterns
    index = parts.index("**")
    tail = parts[index + 1 :] or ("*",)
    found: set[str] = set()
    for top in _expanded(str(Path(*parts[:index]))):
        for folder in _folders_in(top):
            found |= _expanded(str(Path(glob.escape(folder), *tail)))
    return found


def _folders_in(top: str) -> Iterator[str]:
    """Yield a folder and those below it but hidden ones, as patterns have it."""
    for folder, folders, _ in os.walk(top):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield folder


def _files_of(match: Path, folders: bool) -> Iterator[Path]:
    if not match.is_dir():
        yield match
    elif folders:
        yield from _files_below(match)


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and its folders, by name, readable or not; loops of links end."""
    for parent, folders, files in os.walk(folder, onerror=_cannot_list):
        folders[:] = sorted(name for name in folders if name not in _NOT_LOGS)
        for name in sorted(files):
            if name not in _NOT_LOGS:
                yield Path(parent, name)


def _cannot_list(error: OSError) -> None:
    folder = Path(error.filename).name if error.filename else "folder"
    raise TrajectoryError(f"cannot be listed: {error.strerror}", source=folder) from error


def _copied(pipe: IO[bytes], name: str, limits: LogLimits) -> Log:
    """Return a pipe's bytes in a temporary file, since a log is looked at before it is read."""
    copy = tempfile.NamedTemporaryFile(prefix="deltamem-")  # noqa: SIM115 — lives as long as the log
    try:
        left = limits.piped_bytes
        while left >= 0 and (chunk := pipe.read(min(_CHUNK, left + 1))):
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


def _pipe_name(path: Path) -> str:
    return f"pipe {path.name}" if path.name.isdecimal() else _shown(PurePath(path.name))


def _shown(path: PurePath) -> str:
    return one_line(path.as_posix(), 400)
