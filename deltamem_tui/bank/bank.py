"""A bank: the handle through which one folder of memory is read and written.

A `Bank` shows one commit until it is refreshed. Any number of readers may hold one while
a writer works; writers take turns by a file lock, and hold it only for as long as it takes
to write what was decided before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from deltamem_tui.bank import episodes, journal, ledger, manifest, tree
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.episodes import Episodes
from deltamem_tui.bank.journal import Commit, Journal, Tail
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Collection, Node
from deltamem_tui.bank.table import Table, TableSnapshot, collection_names
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import (
    BankBusyError,
    BankError,
    BankFrozenError,
    DeltaMemError,
    NodeNotFoundError,
    Remedy,
    UsageError,
)
from deltamem_tui.text import clean, one_line

LOCK_NAME = ".lock"
LOCK_SECONDS = 60.0
_READ_ATTEMPTS = 1000

ManifestChange = Callable[[Manifest], tuple[Manifest, Mapping[str, Any]]]


@dataclass(frozen=True)
class _View:
    """One commit of a bank, whole."""

    tail: Tail | None
    snapshots: Mapping[str, TableSnapshot]

    @cached_property
    def trees(self) -> Mapping[str, Tree]:
        names = collection_names(self.snapshots)
        return {name: Tree(name, self.snapshots[name]) for name in names}

    @cached_property
    def episodes(self) -> Episodes:
        return Episodes(self.snapshots[episodes.NAME])


class Bank:
    """One bank on disk, as it stood when it was opened or last refreshed.

    Attributes:
        path: The bank's folder.
        manifest: What the bank is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = manifest.read(path)
        self._view = _View(None, {})
        self._view = self._read_view()
        self._redone: Tail | None = None

    @classmethod
    def open(cls, path: Path | str) -> Bank:
        """Open the bank in the folder or archive `path`. Nothing of its nodes is read yet.

        An archive's files are read and mapped where they lie in it; nothing is unpacked.

        Raises:
            BankNotFoundError: No bank is there.
            BankError: It has a format version that is not known.
            BankCorruptError: It breaks the rules of the format.
        """
        return cls(Path(path))

    @classmethod
    def create(cls, path: Path | str, new: Manifest) -> Bank:
        """Make an empty bank in the folder `path`, which appears whole or not at all.

        It draws its origin, unless `new` names one.

        Raises:
            BankExistsError: Something is there already.
        """
        path = Path(path)
        new = new if new.origin else replace(new, origin=ledger.new_origin())
        with files.new_folder(path) as draft:
            for table in _tables(draft, new).values():
                table.create()
            manifest.write(draft, new)
            first = Commit(sequence=0, event="init", time=journal.now())
            Journal(draft / journal.FILE_NAME).append(None, first)
        return cls(path)

    @property
    def name(self) -> str:
        """The bank's name: that of its folder, or the one an archive states."""
        # A folder that was moved or copied is looked up by its new name, so that one counts.
        folder = "" if self.archived else os.path.basename(os.path.abspath(self.path))  # noqa: PTH100, PTH119
        return clean(folder) or self.manifest.name

    @property
    def frozen(self) -> bool:
        """True if the bank may no longer be written."""
        return self.manifest.frozen

    @property
    def commit(self) -> Commit:
        """The commit that this handle shows."""
        return self._view.tail.commit if self._view.tail else Commit()

    @property
    def tail(self) -> Tail | None:
        """That commit and where it ends in the journal; None if there is no journal."""
        return self._view.tail

    @property
    def archived(self) -> bool:
        """True if the bank is read straight from its archive, and so can never be written."""
        return files.is_archive(self.path)

    @property
    def journal(self) -> Journal:
        """The bank's history; a shipped bank may lack it."""
        return Journal(self.path / journal.FILE_NAME)

    @property
    def snapshots(self) -> Mapping[str, TableSnapshot]:
        """The tables of this commit by name: the collections', `trajectories` and `origins`."""
        return self._view.snapshots

    @property
    def episodes(self) -> Episodes:
        """The episodes that the bank was given."""
        return self._view.episodes

    @property
    def collections(self) -> Mapping[str, Collection]:
        """The collection definition of each tree, by the tree's name."""
        return self.manifest.collections

    def tree(self, name: str) -> Tree:
        """Return one of the trees."""
        if name not in self.trees:
            raise UsageError(
                f"there is no tree {one_line(str(name), 40)!r}", hint=" or ".join(self.trees)
            )
        return self.trees[name]

    @property
    def trees(self) -> Mapping[str, Tree]:
        """The trees by name."""
        return self._view.trees

    def refresh(self) -> bool:
        """Show what the bank holds now.

        Returns:
            Whether anything changed since this handle last looked.
        """
        before = (self.manifest, self.commit.sequence)
        tail = self._present_tail()
        known = self.manifest if tail else manifest.read(self.path)
        # Without a journal, only the manifest shows that another bank was put in its place.
        if tail != self._view.tail or known != self.manifest:
            self._view = self._read_view()
        else:
            self.manifest = manifest.read(self.path, self.commit)
        return before != (self.manifest, self.commit.sequence)

    @contextmanager
    def writing(self) -> Iterator[Batch]:
        """Take the writer's lock, show the bank as it is now, and commit a batch at the end.

        If the block raises, or names no event, nothing is written.

        Raises:
            BankFrozenError: The bank is frozen.
        """
        with self._lock():
            self._redo()
            changes = Batch(self._view.tail, self._view.snapshots)
            try:
                yield changes
            except BaseException:
                with suppress(DeltaMemError):
                    changes.discard()
                raise
            if changes.event:
                self._commit(changes)
            else:
                changes.discard()

    def change_manifest(self, event: str, change: ManifestChange) -> None:
        """Change the manifest, with a line in the journal.

        `change` makes, of the manifest as it is under the writer's lock, what it shall be, and
        what the journal states of that: so no change is lost that another process makes at the
        same time. If it returns the same manifest, nothing is written.
        """
        with self.writing() as batch:
            changed, detail = change(self.manifest)
            if changed != self.manifest:
                batch.log(event, detail)
                batch.replace_manifest(changed)

    def freeze(self) -> None:
        """Forbid all writing from now on, and note each file's digest in the manifest."""
        with self._lock():
            if self.journal.exists:
                self._redo()
                changes = Batch(self._view.tail, self._view.snapshots)
                changes.log("freeze")
                self._commit(changes)
                self._redo()
            # A digest is a promise about the disk: not of bytes that a power cut may take.
            digests = {}
            for path in manifest.contents(self.path):
                files.sync(path)
                digests[path.name] = manifest.digest(path)
            manifest.write(self.path, manifest.promising(self.manifest.upgraded, digests))
        self.refresh()

    def unfreeze(self) -> bool:
        """Allow writing again, under a new origin; what was counted is booked under the old one.

        Both begin with the same commit: a process that is killed leaves the bank frozen or free,
        never free under the origin that its copies count under too.

        Returns:
            Whether it was frozen until now.
        """
        self.manifest = self._present_manifest()
        if not self.frozen:
            return False
        with self._lock(frozen=True):
            if not self.frozen:
                return False  # another process was first
            self._view = self._read_view()
            # There may be more than one of what was frozen: none may count as another does.
            free = replace(self.manifest, frozen=False, digests={}, origin=ledger.new_origin())
            changes = Batch(self._view.tail, self._view.snapshots)
            changes.log("unfreeze")
            changes.replace_manifest(free)
            booked = ledger.book(changes, self.snapshots, self.manifest.counts_as)
            if booked or self.journal.exists:
                self._redo()
                self._commit(changes, upgrading=False)
            else:
                manifest.write(self.path, free)
                self._view = self._read_view()
        return True

    def require_writable(self) -> None:
        """See that the bank is not frozen, as far as this handle knows, and no archive."""
        self.require_folder()
        if self.frozen:
            raise BankFrozenError(
                "the bank is frozen", source=str(self.path), hint=Remedy.ALLOW_WRITING
            )

    def find_node(self, prefix: str, tree_name: str | None = None) -> tuple[str, Node]:
        """Return the one living node whose id begins with `prefix`, as a person types it."""
        found = [
            (name, node_id)
            for name in self.trees
            if tree_name in (None, name)
            for node_id in self.tree(name).find(prefix)
        ]
        if len(found) == 1:
            name, node_id = found[0]
            return name, self.tree(name).node(node_id)
        shown = one_line(prefix, 40)
        message, hint = f"no node {shown!r}", "`deltamem node tree` lists the nodes with their ids"
        if found:
            names = ", ".join(f"{node_id} ({name})" for name, node_id in found[:5])
            message = f"{shown!r} begins more than one id, such as {names}"
            hint = "type more of the id, or name the tree with --tree"
        raise NodeNotFoundError(message, source=str(self.path), hint=hint)

    def require_folder(self) -> None:
        """See that the bank is not an archive: what can never be written need not be planned."""
        if self.archived:
            raise BankFrozenError(
                "the bank is an archive, which is never written",
                source=str(self.path),
                hint=Remedy.UNPACK,
            )

    @contextmanager
    def _lock(self, *, frozen: bool = False) -> Iterator[None]:
        """Provide the writer's lock, of a frozen bank too if asked, and the manifest under it."""
        require = self.require_folder if frozen else self.require_writable
        require()
        with writers_turn(self.path):
            self.manifest = self._present_manifest()
            require()
            yield

    def _redo(self) -> None:
        """Under the lock: finish what the last writer began, and show its commit."""
        tail = self._present_tail()
        if tail is None or tail != self._redone:
            journal.finish(self.path, tail.commit if tail else Commit())
            tail = self._present_tail()  # the journal may be among what was put in place
            self.manifest = manifest.read(self.path)
            tables = _tables(self.path, self.manifest)
            commit = tail.commit if tail else _whole(tables)
            for table in tables.values():
                table.redo(commit)
            self._redone = tail
        if tail != self._view.tail:
            self._view = self._read_view()

    def _present_tail(self) -> Tail | None:
        return self.journal.tail() if self.journal.exists else None

    def _present_manifest(self) -> Manifest:
        """Return the manifest as it counts now, even if its renaming is still to be done."""
        tail = self._present_tail()
        return manifest.read(self.path, tail.commit if tail else None)

    def _commit(self, changes: Batch, *, upgrading: bool = True) -> None:
        """Write a batch, do in place what it states, and show it."""
        if upgrading:
            changes.upgrade_manifest(self.manifest)
        self._redone = None
        tail = changes.commit(self.journal)
        # The batch counts now. If the rest fails, the next writer does it again.
        with suppress(DeltaMemError):
            if tail.commit.replaces:
                journal.finish(self.path, tail.commit)
                self.manifest = manifest.read(self.path)
            for table in _tables(self.path, self.manifest).values():
                table.apply(tail.commit)
            self._redone = tail
        self._view = self._read_view()

    def _read_view(self) -> _View:
        """Read one commit whole, although a writer may be at work.

        Counters change in place, but only those that the journal's last line states. So if
        the last line is the same before and after they were read, and is laid over them,
        they are of that commit. While files are being replaced, one may be renamed between
        finding and opening it; that is not a flaw of the bank, and happens once a file at most.
        """
        renamed = 0
        for _ in range(_READ_ATTEMPTS):
            tail = self._present_tail()
            try:
                view = self._read_commit(tail)
            except BankError:
                if self._present_tail() == tail:
                    renamed += 1
                    if tail is None or renamed > len(tail.commit.replaces):
                        raise
                continue
            if self._present_tail() == tail:
                return view
        raise BankBusyError(
            "the bank changes faster than it can be read", source=str(self.path), hint="try again"
        )

    def _read_commit(self, tail: Tail | None) -> _View:
        """Read what the journal's last line states, if no writer comes in between."""
        before, origin = self._view, self.manifest.counts_as
        self.manifest = manifest.read(self.path, tail.commit if tail else None)
        tables = _tables(self.path, self.manifest)
        commit = tail.commit if tail else _whole(tables)
        grown = (
            tail is not None
            and before.tail is not None
            and before.tail.commit.generation == commit.generation
            and before.tail.commit.sequence <= commit.sequence
            and self.manifest.counts_as == origin
        )
        derived = {name: each.derived for name, each in before.snapshots.items() if grown}
        snapshots = {
            name: TableSnapshot(table, commit, derived.get(name)) for name, table in tables.items()
        }
        return _View(tail, snapshots)


@contextmanager
def writers_turn(path: Path) -> Iterator[None]:
    """Provide the writer's lock of the bank in a folder."""
    busy = f"another process has been writing for {LOCK_SECONDS:.0f} s"
    with files.locked(path / LOCK_NAME, LOCK_SECONDS, busy):
        yield


def _tables(folder: Path, described: Manifest) -> dict[str, Table]:
    tables = {
        name: tree.table(folder, name, each, described.dimensions)
        for name, each in described.collections.items()
    }
    tables[episodes.NAME] = episodes.table(folder)
    for each in (ledger.ORIGINS, ledger.CREDIT):
        tables[each.name] = each.table(folder, list(described.collections))
    return tables


def _whole(tables: Mapping[str, Table]) -> Commit:
    """Return the commit of a bank that is shipped without its journal: all of it counts."""
    return Commit(extents={name: table.whole_extent() for name, table in tables.items()})
