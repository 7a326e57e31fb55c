"""From what a person names to the logs meant: files, folders, globs, pipes and standard input."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from deltamem_tui.errors import TrajectoryError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.limits import DEFAULT_LIMITS, Limits, human_size
from deltamem_tui.trajectory.logs.log import Log

STDIN = "-"
_CHUNK = 1 << 20
# What version control and operating systems leave in folders; never a log.
_NOT_LOGS = frozenset({".git", ".hg", ".svn", ".DS_Store", "Thumbs.db", "__pycache__"})


@dataclass(frozen=True, slots=True)
class FoundLog:
    """A log and how it was asked for.

    Attributes:
        log: The log.
        named: Whether the person named this very file. One that is no log is then an error
            of the whole call; found in a folder, it is reported and the others go on.
    """

    log: Log
    named: bool


def find_logs(
    paths: Iterable[str | Path | FoundLog], limits: Limits = DEFAULT_LIMITS
) -> Iterator[FoundLog]:
    """All logs that the given paths mean, in a fixed order.

    Args:
        paths: Files, folders (searched whole), glob patterns, or `-` for standard input. What
            was found already is taken as it is: standard input can be read only once.
        limits: What each log may hold.

    Raises:
        TrajectoryError: Something named does not exist or cannot be read.
    """
    for path in paths:
        if isinstance(path, FoundLog):
            yield path
        else:
            yield from _logs_of(str(path), limits)


def _logs_of(name: str, limits: Limits) -> Iterator[FoundLog]:
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
            "a device, and no log", source=one_line(name, 200), hint="- reads standard input"
        )
    elif path.exists():  # a named pipe, such as the shell makes for <(…)
        try:
            with path.open("rb") as pipe:
                yield FoundLog(_copied(pipe, path.name, limits), named=True)
        except OSError as error:
            raise TrajectoryError(f"cannot be read: {error.strerror}", source=name) from error
    else:
        yield from _matching(name, limits)


def _matching(pattern: str, limits: Limits) -> Iterator[FoundLog]:
    matches = sorted(_expanded(pattern)) if glob.has_magic(pattern) else []
    if not matches:
        raise TrajectoryError(
            "no such file or folder",
            source=one_line(pattern, 200),
            hint="a path, a folder, a pattern in quotes, or - for standard input",
        )
    # Names are told apart by their path below the part of the pattern that is fixed.
    fixed = _fixed_part(pattern)
    files = [file for match in matches for file in _files_of(Path(match), "**" not in pattern)]
    if not files:
        raise TrajectoryError(
            "only folders without files match this", source=one_line(pattern, 200)
        )
    for file in files:
        yield FoundLog(Log(_shown(_below(file, fixed)), file, limits), named=False)


def _expanded(pattern: str) -> set[str]:
    """All that a pattern matches. `**` does not follow links to folders: they may be loops."""
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
    """A folder and those below it but hidden ones, as patterns have it."""
    for folder, folders, _ in os.walk(top):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield folder


def _files_of(match: Path, folders: bool) -> Iterator[Path]:
    """The file that a pattern matches, or those below the folder that it matches."""
    if not match.is_dir():
        yield match
    elif folders:
        yield from _files_below(match)


def _fixed_part(pattern: str) -> Path:
    parts = Path(pattern).parts
    magic = next(index for index, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:magic])


def _below(file: Path, folder: Path) -> Path:
    return file.relative_to(folder) if file.is_relative_to(folder) else Path(file.name)


def _files_below(folder: Path) -> Iterator[Path]:
    """The files of a folder and its folders, by name; loops of links are not followed.

    Pipes, devices and links that lead nowhere are among them: that none can be read is told
    when somebody tries.
    """
    for parent, folders, files in os.walk(folder, onerror=_cannot_list):
        folders[:] = sorted(name for name in folders if name not in _NOT_LOGS)
        for name in sorted(files):
            if name not in _NOT_LOGS:
                yield Path(parent, name)


def _cannot_list(error: OSError) -> None:
    folder = Path(error.filename).name if error.filename else "folder"
    raise TrajectoryError(f"cannot be listed: {error.strerror}", source=folder) from error


def _copied(pipe: IO[bytes], name: str, limits: Limits) -> Log:
    """A pipe's bytes in a temporary file, since a log is looked at before it is read.

    Raises:
        TrajectoryError: It cannot be copied, or does not end where the limit is.
    """
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


def _shown(path: Path) -> str:
    return one_line(path.as_posix(), 400)
