"""FileSwap: whole new files in the place of a bank's, all of them at once or none.

Each new file is written beside the old one, under a name that carries the sequence of the
commit to come. When all are on the disk, one line of the journal lists them: from then on
they are the bank's files, wherever they lie. Then each is renamed to its place, which can be
repeated without harm. So a process may die anywhere: before the line, the new files are
remains that the next writer removes; after it, the next writer goes on renaming.

A handle that was opened before and reads on afterwards would read the wrong file. Therefore
every later line of the journal names the commit that replaced files last, and whoever opens
a file late looks whether that is still the one that it knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from deltamem_tui.bank.commits import journal
from deltamem_tui.bank.commits.journal import NEVER, Commit, Extent, Journal, Tail
from deltamem_tui.bank.disk import archive, files
from deltamem_tui.errors import BankError, BankRewrittenError, DeltaMemError

_DRAFT = re.compile(r"[a-z][a-z0-9_]*(\.[a-z]+)+\.\d+\.next")

STORE_STATE, STORE_ROWS, STORE_LOCK = "reembed.json", "reembed.npy", ".reembed.lock"
"""Files beside a bank's own while it is given new vectors; a frozen bank has none of them."""

Cells = Mapping[int, Sequence[int]]


def draft_path(path: Path, sequence: int) -> Path:
    """Return where a file's successor is written: `<name>.<sequence of its commit>.next`."""
    return path.with_name(f"{path.name}.{sequence}.next")


def write_draft(path: Path, sequence: int, parts: Iterable[bytes]) -> None:
    """Write a file's successor whole, and sync it."""
    draft = draft_path(path, sequence)
    files.create_anew(draft)
    files.write_parts(draft, parts)
    files.sync(draft)


def present(path: Path, commit: Commit) -> Path:
    """Return where a file of the last commit lies: beside its place until it was renamed."""
    if path.name in commit.replaces:
        draft = draft_path(path, commit.sequence)
        if archive.exists(draft):
            return draft
    return path


def require_current(folder: Path, commit: Commit) -> None:
    """See that the files are still those of a commit, or have only grown since.

    Raises:
        BankRewrittenError: Another commit replaced some.
    """
    history = Journal(folder / journal.FILE_NAME)
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
        if archive.exists(draft):
            files.move(draft, folder / name)
    if commit.replaces:
        # Even if nothing was left to rename: the one who did it may not have come this far.
        files.sync(folder)
    for name in archive.names(folder):
        if _DRAFT.fullmatch(name):
            files.remove(folder / name)


def remove_unfinished(folder: Path) -> None:
    """Remove what a run that was interrupted left, to be taken up again."""
    for name in (STORE_STATE, STORE_ROWS, STORE_LOCK):
        files.remove(folder / name)


class FileSwap:
    """New files for a bank, gathered under the writer's lock.

    Args:
        folder: The bank's folder.
        tail: Its last commit.
        extents: How much of each table counts now.
        manifest: What becomes of `bank.json` unless another successor of it is written; nothing
            if it is empty.

    Attributes:
        sequence: The sequence of the commit to come.
        event: What the journal will call it; empty if it shall not be committed.
    """

    def __init__(
        self,
        folder: Path,
        tail: Tail | None,
        extents: Mapping[str, Extent],
        manifest: bytes = b"",
    ) -> None:
        self.sequence = tail.commit.sequence + 1 if tail else 1
        self.event = ""
        self._folder = folder
        self._tail = tail
        self._before = extents
        self._extents = dict(extents)
        self._cells: dict[str, Cells] = {}
        self._detail: Mapping[str, Any] = {}
        self._fold = False
        self._manifest = manifest
        self._names: list[str] = []
        self._may_count = False

    def write(self, name: str, parts: Iterable[bytes]) -> None:
        """Write a file's successor whole, and sync it."""
        self._names.append(name)
        write_draft(self._folder / name, self.sequence, parts)

    def resize(self, table: str, extent: Extent, cells: Cells) -> None:
        """Say how much of a table's new files counts, and all that its new counters hold."""
        self._extents[table] = extent
        self._cells[table] = cells

    def log(self, event: str, detail: Mapping[str, Any], *, fold: bool = False) -> None:
        """Name what the commit is, for the journal."""
        self.event, self._detail, self._fold = event, detail, fold

    def cancel(self) -> None:
        """Let nothing be committed."""
        self.event = ""

    def planned(self, names: Iterable[str]) -> Commit:
        """Return the commit as it will be when the successors of all these files are written."""
        before = self._tail.commit if self._tail else Commit(sequence=0)
        names = [*names, *([journal.MANIFEST_NAME] if self._manifest else [])]
        names += [journal.FILE_NAME] if self._fold else []
        return Commit(
            sequence=self.sequence,
            event=self.event,
            time=journal.now(),
            detail=self._detail,
            extents=self._extents,
            cells=self._cells,
            replaces=tuple(dict.fromkeys(names)),
            rewritten=before.generation,
        )

    def commit(self, history: Journal) -> Tail:
        """Make the new files the bank's. When this returns, it is acknowledged.

        Renaming them is still to be done, by `finish`.

        Raises:
            BankError: It is too much for one line of the journal; the bank is as it was.
        """
        if not self.event:
            raise BankError("a commit needs a name for the journal")
        if self._manifest and journal.MANIFEST_NAME not in self._names:
            self.write(journal.MANIFEST_NAME, [self._manifest])
        commit = self.planned(self._names)
        line = commit.line()
        if self._fold:
            self.write(journal.FILE_NAME, [line])
        tail = self._tail or journal.adopt(history, self._before)
        files.sync(self._folder)
        self._may_count = True
        return history.append(tail, commit)

    def discard(self) -> None:
        """Remove the new files, unless a line of the journal may already list them."""
        if self._may_count:
            return  # the next writer knows
        for name in self._names:
            with suppress(DeltaMemError):
                files.remove(draft_path(self._folder / name, self.sequence))
