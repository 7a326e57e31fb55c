"""Banks on a journey: copied, packed into one archive, taken in from strangers.

Nothing that comes from elsewhere is believed before it was checked. First the outside: names,
sizes, the archive's layout. Then the files are copied into a draft beside the place they shall
have, and their digests and every rule of the format are checked there. Only a bank without a flaw
is put in its place, in one step.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import journal, ledger, manifest, usage_log
from deltamem_tui.bank.bank import LOCK_NAME, Bank, writers_turn
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.disk import archive, files
from deltamem_tui.bank.disk.archive import Entry, Layout
from deltamem_tui.bank.episodes import NAME as EPISODES
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.table import NpyFile, TableSnapshot
from deltamem_tui.bank.verify import Flaw, flaws_of
from deltamem_tui.errors import (
    BankCorruptError,
    BankError,
    BankNotFoundError,
    StorageError,
    UsageError,
)
from deltamem_tui.text import one_line

_DIGEST = re.compile(r"(sha256:)?([0-9a-f]{64})")
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

    def digest(self) -> str:
        """`sha256:…` of the archive, as `sha256sum` would say it of the file."""
        found = hashlib.sha256()
        for _ in self._pieces(found):
            pass
        return f"sha256:{found.hexdigest()}"

    def write(self, path: Path, *, replace: bool = False) -> str:
        """Write the archive, which appears whole or not at all; returns its digest."""
        found = hashlib.sha256()
        with files.new_file(path, replace=replace) as draft:
            files.write_parts(draft, self._pieces(found))
        return f"sha256:{found.hexdigest()}"

    def _pieces(self, digest: hashlib._Hash) -> Iterator[memoryview]:
        """Yield the archive's bytes, and digest them."""
        for member, header in zip(self.members, self.layout.headers, strict=True):
            for piece in chain([memoryview(header)], member.pieces()):
                digest.update(piece)
                yield piece
        digest.update(self.layout.directory)
        yield memoryview(self.layout.directory)


def pack(
    bank: Bank,
    *,
    with_episodes: bool = False,
    with_journal: bool = False,
    provenance: Mapping[str, Any] | None = None,
) -> Package:
    """Seal the commit that a handle shows. Reads everything once, writes nothing.

    The manifest says who built the bank from what by `provenance`, if one is given.
    """
    if with_journal and not with_episodes:
        raise UsageError("the journal needs the episodes it counts", hint="add --episodes")
    members = members_of(bank, episodes=with_episodes, history=with_journal)
    before = bank.manifest.called(bank.name)
    told = before.provenance if provenance is None else provenance
    return promising(replace(before, provenance=told), members, sealed(members))


def members_of(bank: Bank, *, episodes: bool, history: bool) -> list[Member]:
    """Return the files of the commit that a handle shows, but for the manifest."""
    members = [
        member
        for name, snapshot in bank.snapshots.items()
        if name in bank.collections or ((episodes or name != EPISODES) and snapshot.extent.rows)
        for member in _table_members(snapshot)
    ]
    if history and bank.journal.exists:
        members.append(_journal_member(bank))
        if files.exists(bank.path / usage_log.FILE_NAME):
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
    return Package(frozen, ordered, {**seals, **sealed([own])})


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
    return member_of(path.name, [files.mapped(path, files.size(path))])


def sealed(members: Iterable[Member]) -> dict[str, Seal]:
    """Read files once each."""
    seals = {}
    for member in members:
        digest, crc = hashlib.sha256(), 0
        for piece in member.pieces():
            digest.update(piece)
            crc = zlib.crc32(piece, crc)
        seals[member.name] = Seal(f"sha256:{digest.hexdigest()}", crc)
    return seals


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


def _journal_member(bank: Bank) -> Member:
    """Return the journal as far as it counts."""
    tail = bank.tail
    if tail is None:
        raise StorageError("the journal is gone", source=str(bank.journal.path))
    lines = files.mapped(bank.journal.path, tail.length)
    journal.require_current(bank.path, tail.commit)  # or the history was folded meanwhile
    return member_of(journal.FILE_NAME, [lines])


def copy_bank(source: Bank, path: Path, *, history: bool = False) -> Bank:
    """Copy the commit that a handle shows into a new folder, which appears whole or not at all.

    The copy counts for itself from now on: it has an origin of its own, and what was counted
    so far stays booked under that of the source.

    The source may go on being written meanwhile. With `history`, the episodes and the journal go
    along. The last part of `path` is the new name.
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
        source.manifest.upgraded, name=name, frozen=False, digests={}, origin=ledger.new_origin()
    )
    manifest.write(draft, copied)
    return Bank.open(draft)


def _book(copy: Bank, origin: str) -> None:
    """Write down which of a copy's counts are those of another origin."""
    batch = Batch(copy.tail, copy.snapshots)
    batch.log("copy", {"origin": origin})
    booked = ledger.book(batch, copy.snapshots, origin)
    if copy.tail is None:
        batch.write_unseen()
    elif booked:
        tables = [snapshot.table for snapshot in copy.snapshots.values()]
        for table in tables:
            table.create()
        commit = batch.commit(copy.journal).commit
        for table in tables:
            table.apply(commit)


@dataclass(frozen=True)
class Delivery:
    """A bank that came from elsewhere, looked at from outside only.

    `text` is the manifest as it is written, `members` are all other files, and `crcs` the CRC-32
    of all by name.
    """

    source: Path
    manifest: Manifest
    text: bytes
    members: Sequence[Member]
    crcs: Mapping[str, int]

    @property
    def size(self) -> int:
        """The length of all files together, in bytes."""
        return len(self.text) + sum(member.size for member in self.members)


def receive(source: Path) -> Delivery:
    """Look at an archive from outside."""
    with files.storage_errors(source):
        if not source.exists():
            raise BankNotFoundError("nothing is here", source=str(source), hint="name an archive")
        if source.is_dir():
            hint = "`deltamem bank verify` checks a folder, `deltamem bank copy` takes it in"
            raise BankNotFoundError("is a folder, not an archive", source=str(source), hint=hint)
    with files.storage_errors(source):
        layout = archive.read_layout(source)
    found = manifest.read(source)
    if not found.frozen:
        message = "the manifest is not frozen, so its files cannot be verified"
        hint = "`deltamem bank export` makes archives that are"
        raise BankCorruptError(message, source=str(source), hint=hint)
    text = files.read(source / manifest.FILE_NAME, archive.MANIFEST_BYTES)
    names = [entry.name for entry in layout.entries if entry.name != manifest.FILE_NAME]
    members = [member_at(source / name) for name in names]
    return Delivery(source, found, text, members, {e.name: e.crc for e in layout.entries})


def install(
    delivery: Delivery,
    path: Path,
    *,
    pinned: str | None = None,
    replacing: bool = False,
    frozen: bool = True,
) -> tuple[Bank, str]:
    """Check a delivery and put it in its place, in one step.

    Args:
        delivery: What was received.
        path: The bank's folder to be; its last part is the bank's name.
        pinned: `sha256:…` that the archive must have; any if None.
        replacing: Whether a bank that is there already may go.
        frozen: Whether it stays frozen; if not, it can be written and counts as its own.

    Returns:
        The bank, and the archive's digest.

    Raises:
        BankCorruptError: A digest, or a rule of the format, is broken; says which.
        BankExistsError: Something is at `path`, and is not to be replaced.
    """
    with place(path, replacing=replacing) as draft:
        # The copy is checked: another process may change the source meanwhile.
        copies = [member_at(member.write(draft)) for member in delivery.members]
        called = delivery.manifest.called(path.name)
        if called != delivery.manifest:
            called = manifest.promising(called, called.digests)
        manifest.write(draft, called)
        digest = _checked(delivery, draft, copies, pinned)
        if not frozen:
            Bank.open(draft).unfreeze()
            files.remove(draft / LOCK_NAME)
        for name in files.names(draft):
            files.sync(draft / name)  # their names were, with the manifest
    return Bank.open(path), digest


def inspect(delivery: Delivery, *, pinned: str | None = None) -> str:
    """Check all that `install` checks, write nothing, and return the archive's digest."""
    return _checked(delivery, delivery.source, delivery.members, pinned)


def checked_digest(text: str | None) -> str | None:
    """Return a digest as a person pins it, or as `sha256sum` prints it."""
    if text is None:
        return None
    if found := _DIGEST.fullmatch(text):
        return f"sha256:{found[2]}"
    raise UsageError(
        f"{one_line(text, 80)!r} is not a digest", hint="sha256: and 64 hexadecimal digits"
    )


@contextmanager
def place(path: Path, *, replacing: bool) -> Iterator[Path]:
    """Provide a draft that takes its place at `path` when the block ends."""
    there = path.is_dir() and not path.is_symlink() and any(path.iterdir())
    if not (replacing and there):
        with files.new_folder(path) as draft:
            yield draft
        return
    if not files.exists(path / manifest.FILE_NAME):
        message = "this folder is not a bank, so it is not replaced"
        hint = "choose another name, or move it away first"
        raise BankNotFoundError(message, source=str(path), hint=hint)
    with writers_turn(path), files.other_folder(path) as draft:
        yield draft


def _checked(
    delivery: Delivery, folder: Path, members: Sequence[Member], pinned: str | None
) -> str:
    """Return the archive's digest, if no promise and no rule of the format is broken."""
    seals = sealed(members)
    _refuse(delivery, _broken_promises(delivery, seals))
    digest = as_written(delivery.manifest, delivery.text, members, seals).digest()
    if pinned not in (None, digest):
        hint = "it is not the bank that was announced to you; ask whoever gave you the digest"
        message = f"has the digest {digest}, not the one that was pinned"
        raise BankCorruptError(message, source=str(delivery.source), hint=hint)
    _refuse(delivery, _format_flaws(delivery, folder))
    return digest


def _broken_promises(delivery: Delivery, found: Mapping[str, Seal]) -> Iterator[Flaw]:
    digests = {name: seal.digest for name, seal in found.items()}
    for name, message in manifest.disagreements(delivery.manifest, delivery.text, digests):
        yield Flaw(message, name)
    for name, crc in delivery.crcs.items():
        text = name == manifest.FILE_NAME
        if crc != (zlib.crc32(delivery.text) if text else found[name].crc):
            yield Flaw("does not have the checksum that the archive states", name)


def _format_flaws(delivery: Delivery, folder: Path) -> Iterator[Flaw]:
    """Yield what breaks the format, as of what was delivered, not of a draft."""
    try:
        yield from flaws_of(Bank.open(folder))
    except BankError as error:
        name = Path(error.source).name if error.source else delivery.source.name
        yield Flaw(error.message, name, error.position)


def _refuse(delivery: Delivery, flaws: Iterable[Flaw]) -> None:
    """Raise the first flaw, if there is any."""
    for flaw in flaws:
        place = ", ".join(filter(None, [flaw.source, flaw.position]))
        hint = "get it again from where it came from"
        raise BankCorruptError(f"{place}: {flaw.message}", source=str(delivery.source), hint=hint)
