"""A package: a bank's files as they travel or are copied, sealed, with nothing written yet."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import manifest, replicas, usage_log
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.commits import file_swap, journal
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.disk import archive, files
from deltamem_tui.bank.disk.archive import Entry, Layout
from deltamem_tui.bank.disk.npy_file import NpyFile
from deltamem_tui.bank.episodes import NAME as EPISODES
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.table import TableSnapshot
from deltamem_tui.errors import StorageError

_PIECE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a package."""

    name: str
    size: int
    pieces: Callable[[], Iterable[memoryview]]

    def write(self, folder: Path) -> Path:
        """Copy it into a folder that only this process sees; returns its path."""
        path = folder / self.name
        files.create_anew(path)
        files.write_parts(path, self.pieces())
        return path


@dataclass(frozen=True, slots=True)
class Seal:
    """Findings from reading a file once."""

    digest: str
    crc: int


@dataclass(frozen=True)
class Package:
    """A bank's files, `bank.json` first, sealed: its manifest is frozen and has all digests."""

    manifest: Manifest
    members: Sequence[Member]
    seals: Mapping[str, Seal]

    @cached_property
    def layout(self) -> Layout:
        """The layout of the package's archive."""
        entries = [Entry(each.name, each.size, self.seals[each.name].crc) for each in self.members]
        return archive.layout_of(entries, self.manifest.name)

    def pieces(self) -> Iterator[memoryview]:
        """Yield the archive's bytes."""
        for member, header in zip(self.members, self.layout.headers, strict=True):
            yield memoryview(header)
            yield from member.pieces()
        yield memoryview(self.layout.directory)

    def with_provenance(self, provenance: Mapping[str, Any]) -> Package:
        """Return the same package, whose manifest says who built the bank from what."""
        before = replace(self.manifest, provenance=provenance)
        return promising(before, self.members[1:], self.seals)

    def digest(self) -> str:
        """`sha256:…` of the archive, as `sha256sum` would say it of the file."""
        found = hashlib.sha256()
        for piece in self.pieces():
            found.update(piece)
        return f"sha256:{found.hexdigest()}"

    def write(self, path: Path, *, replace: bool = False) -> str:
        """Write the archive, which appears whole or not at all.

        Returns:
            `sha256:…` of the archive.

        Raises:
            BankExistsError: Something is there already.
        """
        found = hashlib.sha256()

        def hashed() -> Iterator[memoryview]:
            for piece in self.pieces():
                found.update(piece)
                yield piece

        with files.new_file(path, replace=replace) as draft:
            files.write_parts(draft, hashed())
        return f"sha256:{found.hexdigest()}"


def pack(bank: Bank, *, with_episodes: bool = False, with_journal: bool = False) -> Package:
    """Seal the commit that a handle shows. Reads everything once, writes nothing."""
    members = members_of(bank, episodes=with_episodes, history=with_journal)
    return promising(bank.manifest.called(bank.name), members, sealed(members))


def members_of(bank: Bank, *, episodes: bool, history: bool) -> list[Member]:
    """Return the files of the commit that a handle shows, but for the manifest."""
    left_out = () if episodes else (EPISODES,)
    members = [
        member
        for name, snapshot in bank.snapshots.items()
        if name in bank.collections or (name not in left_out and snapshot.extent.rows)
        for member in _table_members(snapshot)
    ]
    if history and bank.journal.exists:
        members.append(_journal_member(bank, left_out))
        if archive.exists(bank.path / usage_log.FILE_NAME):
            members.append(member_at(bank.path / usage_log.FILE_NAME))
    return members


def promising(before: Manifest, members: Sequence[Member], seals: Mapping[str, Seal]) -> Package:
    """Return the package of files that were read: their digests go into the manifest."""
    digests = {each.name: seals[each.name].digest for each in members}
    after = manifest.promising(before, digests)
    return as_written(after, manifest.encode(after), members, seals)


def as_written(
    frozen: Manifest, text: bytes, members: Sequence[Member], seals: Mapping[str, Seal]
) -> Package:
    """Return the package of a bank that is frozen already, whose manifest reads `text`."""
    own = member_of(manifest.FILE_NAME, [text])
    order = archive.member_names(frozen.collections)
    ordered = sorted([own, *members], key=lambda each: order.index(each.name))
    return Package(frozen, ordered, {**seals, own.name: seal(own)})


def member_of(name: str, buffers: Sequence[bytes | memoryview]) -> Member:
    """Return a file that is in memory, or is mapped into it."""
    views = [memoryview(buffer) for buffer in buffers if len(buffer)]

    def pieces() -> Iterator[memoryview]:
        for view in views:
            for start in range(0, len(view), _PIECE_BYTES):
                yield view[start : start + _PIECE_BYTES]

    return Member(name, sum(map(len, views)), pieces)


def member_at(path: Path) -> Member:
    """Return a file on disk, or in an archive, as it is."""
    return member_of(path.name, [archive.mapped(path, archive.size(path))])


def sealed(members: Iterable[Member]) -> dict[str, Seal]:
    """Read files once each."""
    return {member.name: seal(member) for member in members}


def seal(member: Member) -> Seal:
    """Read a file once."""
    digest, crc = hashlib.sha256(), 0
    for piece in member.pieces():
        digest.update(piece)
        crc = zlib.crc32(piece, crc)
    return Seal(f"sha256:{digest.hexdigest()}", crc)


def _table_members(snapshot: TableSnapshot) -> Iterator[Member]:
    """Yield what counts of a table: its lines, and the arrays as this commit has them."""
    table = snapshot.table
    yield member_of(table.lines_name, [snapshot.text])
    if table.vectors_file:
        yield _array_member(f"{table.name}.embeddings.npy", table.vectors_file, snapshot.vectors)
    yield _array_member(table.counters_name, table.counters_file, snapshot.counters)
    yield _array_member(f"{table.name}.index.npy", table.index_file, snapshot.index)


def _array_member(name: str, matrix: NpyFile, values: NDArray[Any]) -> Member:
    """Return an array's file; it may be elsewhere at present, so its name is given."""
    array = np.ascontiguousarray(values, dtype=matrix.dtype)
    rows = array.view(np.uint8).reshape(-1).data if len(array) else b""
    return member_of(name, [matrix.header(len(array)), rows])


def _journal_member(bank: Bank, left_out: Sequence[str]) -> Member:
    """Return the journal as far as it counts; if a table stays behind, a last line says so."""
    tail = bank.tail
    if tail is None:
        raise StorageError("the journal is gone", source=str(bank.journal.path))
    buffers: list[bytes | memoryview] = [archive.mapped(bank.journal.path, tail.length)]
    file_swap.require_current(bank.path, tail.commit)  # or the history was folded meanwhile
    last = tail.commit
    if staying := sorted(name for name in left_out if last.extent(name).rows):
        extents = {name: at for name, at in last.extents.items() if name not in staying}
        detail, number = {"left_out": staying}, last.sequence + 1
        end = Commit(number, "export", last.time, detail, extents, rewritten=last.generation)
        buffers.append(end.line())
    return member_of(journal.FILE_NAME, buffers)


def copy_bank(source: Bank, path: Path, *, history: bool = False) -> Bank:
    """Copy the commit that a handle shows into a new folder, which appears whole or not at all.

    The copy counts for itself from now on: it has an origin of its own, and what was counted
    so far stays booked under that of the source.

    Args:
        source: The bank; it may go on being written meanwhile.
        path: The new bank's folder; its last part is the new name.
        history: Whether the episodes and the journal go along.

    Raises:
        BankExistsError: Something is at `path` already.
    """
    with files.new_folder(path) as draft:
        copy = copy_into(draft, source, name=path.name, history=history)
        _book(copy, source.manifest.counts_as)
    return Bank.open(path)


def copy_into(draft: Path, source: Bank, *, name: str, history: bool, learnt: bool = False) -> Bank:
    """Copy a bank into a folder that only this process sees, under a new origin; book nothing."""
    for member in members_of(source, episodes=history or learnt, history=history):
        files.sync(member.write(draft))
    copied = replace(
        source.manifest.upgraded, name=name, frozen=False, digests={}, replica=replicas.drawn()
    )
    manifest.write(draft, copied)
    return Bank.open(draft)


def _book(copy: Bank, origin: str) -> None:
    """Write down which of a copy's counts are those of another origin."""
    batch = Batch(copy.tail, copy.snapshots)
    batch.log("copy", {"origin": origin})
    booked = replicas.book(batch, copy.snapshots, origin)
    if copy.tail is None:
        batch.write_unseen()
    elif booked:
        tables = [snapshot.table for snapshot in copy.snapshots.values()]
        for table in tables:
            table.create()
        commit = batch.commit(copy.journal).commit
        for table in tables:
            table.apply(commit)
