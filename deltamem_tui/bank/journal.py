"""The journal: the bank's history, and the one place that says what counts.

Each line is one commit. Before a line is written, the other files only grow beyond what
the line before it states; once it is written whole, its episode is acknowledged. The
line carries the new extent of every file and the new value of every counter it changed,
as absolute numbers, so what is done in place afterwards can be done again at any time
with the same result. A line without its final newline was never acknowledged.

A commit may also put whole new files in the place of old ones. Each is written beside the old
one, under a name that carries the commit's sequence; the line lists them, and from then on they
are the bank's files, wherever they lie, until each is renamed to its place. A handle that was
opened before would then read on in the wrong file, so every later line names the commit that
replaced files last, and whoever opens a file late looks whether that is still the one it knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import msgspec
import orjson
from msgspec import Meta, Struct

from deltamem_tui.bank.disk import files
from deltamem_tui.errors import BankCorruptError, BankError, BankRewrittenError, Remedy
from deltamem_tui.typed import decoder_of

FILE_NAME = "journal.jsonl"
_LINE_LIMIT = 64 * 1024 * 1024
_FEW_LISTS = 10_000
_LIST_BYTES = 8  # the least that a counted row takes; nothing else in a commit comes in numbers
COUNTER_LIMIT = 2**32 - 1
"""The most that a counter holds; one that is full stays so."""
_COUNTS = range(COUNTER_LIMIT + 1)
MANIFEST_NAME = "bank.json"
NEVER = -1
_DRAFT = re.compile(r"[a-z][a-z0-9_]*(\.[a-z]+)+\.\d+\.next")

Cells = Mapping[int, Sequence[int]]
"""Per row whose counters change, all their new values."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How many lines and bytes of a line file count, and so rows of each array beside it."""

    rows: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Commit:
    """One line of the journal.

    Attributes:
        sequence: 0 for the first line, one more for each later one.
        event: What happened: `init`, `import`, `learn`, `consolidate`, `parameters`, ….
        time: When, in UTC, ISO 8601 with seconds.
        detail: Decisions and why, models, prompts, tokens, cost: whatever belongs to the event.
        extents: Per table, how much of it counts now.
        cells: Per table, the rows whose counters changed, each with all its new values.
        replaces: The files that this commit put whole new ones in the place of.
        rewritten: The sequence of the last commit before this one that replaced files, or
            `NEVER`. While it stays, files only grow, and what was read of them stays true.
    """

    sequence: int = -1
    event: str = ""
    time: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    extents: Mapping[str, Extent] = field(default_factory=dict)
    cells: Mapping[str, Cells] = field(default_factory=dict)
    replaces: tuple[str, ...] = ()
    rewritten: int = NEVER

    @property
    def generation(self) -> int:
        """The sequence of the commit whose files lie there: the last that replaced any.

        The manifest is none of those that a handle opens late.
        """
        others = [name for name in self.replaces if name != MANIFEST_NAME]
        return self.sequence if others else self.rewritten

    def extent(self, name: str) -> Extent:
        """Return how much of a line file counts; nothing if the journal does not name it."""
        return self.extents.get(name, Extent())

    def line(self) -> bytes:
        """Return the commit as one line, newline included."""
        self.require_cells()
        record: dict[str, Any] = {
            "sequence": self.sequence,
            "time": self.time,
            "event": self.event,
            "detail": self.detail,
            "extents": {name: [at.rows, at.bytes] for name, at in self.extents.items()},
            "cells": {
                name: [[row, *values] for row, values in rows.items()]
                for name, rows in self.cells.items()
                if rows
            },
        }
        if self.replaces:
            record["replaces"] = list(self.replaces)
        if self.rewritten != NEVER:
            record["rewritten"] = self.rewritten
        line = orjson.dumps(record) + b"\n"
        if len(line) > _LINE_LIMIT:
            raise BankError(
                f"the journal's line for `{self.event}` would have {len(line):,} bytes, "
                f"more than the {_LINE_LIMIT:,} of a line",
                hint="do it in smaller parts",
            )
        return line

    def require_cells(self) -> None:
        """See that the cells are counts of rows that count: they will be written in place."""
        for name, cells in self.cells.items():
            if not cells:
                continue
            rows = self.extent(name).rows
            wrong = [row for row in (min(cells), max(cells)) if not 0 <= row < rows]
            values = [0, *chain.from_iterable(cells.values())]
            wrong += [value for value in (min(values), max(values)) if value not in _COUNTS]
            if wrong:
                raise BankError(
                    f"`{self.event}` does not fit the journal: {wrong[0]} is not a row or "
                    f"not a count of the {name} table",
                    hint="nothing was written",
                )


def now() -> str:
    """Return the present time as the journal writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


_Natural = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_FileName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*(\.[a-z]+)+\Z")]


class _Line(Struct):
    """A line of a journal; no name of a file in it could lead elsewhere."""

    sequence: _Natural
    event: str
    time: str
    detail: dict[str, Any]
    extents: dict[str, tuple[_Natural, _Natural]]
    cells: dict[str, list[list[_Natural]]]
    replaces: tuple[_FileName, ...] = ()
    rewritten: Annotated[int, Meta(ge=NEVER, le=2**63 - 1)] = NEVER


@cache
def _decoder() -> msgspec.json.Decoder[_Line]:
    return decoder_of(_Line)


def parse(line: bytes, source: str, position: str) -> Commit:
    """Read one line of a journal."""
    try:
        # A stranger's line may not become a hundred times larger as objects.
        if line.count(b"[") + line.count(b"{") > _FEW_LISTS + len(line) // _LIST_BYTES:
            raise ValueError("holds more lists than a commit has a use for")
        found = _decoder().decode(line)
        commit = Commit(
            sequence=found.sequence,
            event=found.event,
            time=found.time,
            detail=found.detail,
            extents={name: Extent(*extent) for name, extent in found.extents.items()},
            cells={
                name: {row: values for row, *values in rows} for name, rows in found.cells.items()
            },
            replaces=found.replaces,
            rewritten=found.rewritten,
        )
        commit.require_cells()
        return commit
    except (ValueError, msgspec.MsgspecError, RecursionError, BankError) as error:
        raise files.corrupt(Path(source), "not a commit of the journal", position) from error


@dataclass(frozen=True, slots=True)
class Tail:
    """The last commit of a journal, and the journal's length in bytes up to and with it."""

    commit: Commit
    length: int


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal of one bank."""

    path: Path

    @property
    def exists(self) -> bool:
        """True if the bank has its journal; a bank may be shipped without."""
        return files.exists(self.path)

    def tail(self) -> Tail:
        """Read the last commit, from the end of the file, whatever the file's length."""
        line, end = next(files.backwards(self.path, _LINE_LIMIT), (b"", 0))
        if not line:
            raise files.corrupt(self.path, "holds no whole line")
        try:
            return Tail(parse(line, str(self.path), f"byte {end - len(line)}"), end)
        except BankCorruptError as error:
            error.hint = Remedy.REPAIR
            raise

    def append(self, tail: Tail | None, commit: Commit) -> Tail:
        """Write a commit behind `tail`, or as the first line. On return it is acknowledged.

        If it cannot be written whole, the journal is as it was.
        """
        line = commit.line()
        if tail is None:
            files.replace(self.path, line)
            return Tail(commit, len(line))
        start = tail.length
        try:
            files.truncate(self.path, start)
            files.write_at(self.path, start, memoryview(line)[:-1])
            files.sync(self.path)
            # It says that the line is whole. Of what is written at once, the end may come first.
            files.write_at(self.path, start + len(line) - 1, b"\n")
            files.sync(self.path)
        except BaseException:
            # No reader shall take for done what was reported as failed; that error is the first.
            with suppress(Exception):
                files.truncate(self.path, start)
            raise
        return Tail(commit, start + len(line))

    def cut_torn_end(self) -> bytes:
        """Cut off what lies behind the last whole commit, and return it."""
        for line, end in files.backwards(self.path, _LINE_LIMIT):
            with suppress(BankCorruptError):
                parse(line, str(self.path), f"byte {end - len(line)}")
                with files.storage_errors(self.path), files.opened(self.path) as stream:
                    stream.seek(end)
                    torn = stream.read()
                files.truncate(self.path, end)
                files.sync(self.path)
                return torn
        raise files.corrupt(self.path, "holds no whole commit")

    def commits(self) -> Iterator[Commit]:
        """Yield all commits, oldest first."""
        for number, line in enumerate(files.forwards(self.path, _LINE_LIMIT), start=1):
            yield parse(line, str(self.path), f"line {number}")

    def newest_first(self) -> Iterator[Commit]:
        """Yield all commits, newest first: who stops early has read only the end of the file."""
        for line, end in files.backwards(self.path, _LINE_LIMIT):
            yield parse(line, str(self.path), f"byte {end - len(line)}")


def draft_path(path: Path, sequence: int) -> Path:
    """Return where a file's successor is written: `<name>.<sequence of its commit>.next`."""
    return path.with_name(f"{path.name}.{sequence}.next")


def present(path: Path, commit: Commit) -> Path:
    """Return where a file of the last commit lies: beside its place until it was renamed."""
    if path.name in commit.replaces:
        draft = draft_path(path, commit.sequence)
        if files.exists(draft):
            return draft
    return path


def require_current(folder: Path, commit: Commit) -> None:
    """See that the files are still those of a commit, or have only grown since.

    Raises:
        BankRewrittenError: Another commit replaced some.
    """
    history = Journal(folder / FILE_NAME)
    generation = history.tail().commit.generation if history.exists else NEVER
    if generation != commit.generation:
        raise BankRewrittenError(
            "the bank was rewritten since it was opened",
            source=str(folder),
            hint="open it again",
        )


def finish(folder: Path, commit: Commit) -> None:
    """Rename what the last commit lists, and remove what no commit does. May be repeated."""
    for name in commit.replaces:
        draft = draft_path(folder / name, commit.sequence)
        if files.exists(draft):
            files.move(draft, folder / name)
    if commit.replaces:
        # Even if nothing was left to rename: the one who did it may not have come this far.
        files.sync(folder)
    for name in files.names(folder):
        if _DRAFT.fullmatch(name):
            files.remove(folder / name)
