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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import journal, ledger, manifest, usage_log
from deltamem_tui.bank.bank import LOCK_NAME, Bank, writers_turn
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
    UsageError,
)
from deltamem_tui.text import one_line

_DIGEST = re.compile(r"(sha256:)?([0-9a-f]{64})")
_PIECE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Member:
    """One file of a package, in memory or mapped into it."""

    name: str
    buffers: Sequence[bytes | memoryview]

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return sum(map(len, self.buffers))

    def pieces(self) -> Iterator[memoryview]:
        """Yield its bytes."""
        for buffer in self.buffers:
            view = memoryview(buffer)
            for start in range(0, len(view), _PIECE_BYTES):
                yield view[start : start + _PIECE_BYTES]

    @cached_property
    def seal(self) -> tuple[str, int]:
        """Its digest, `sha256:…`, and CRC-32, for which it is read once."""
        digest, crc = hashlib.sha256(), 0
        for piece in self.pieces():
            digest.update(piece)
            crc = zlib.crc32(piece, crc)
        return f"sha256:{digest.hexdigest()}", crc

    def write(self, folder: Path) -> Path:
        """Copy it into a folder that only this process sees; returns its path."""
        path = folder / self.name
        files.create_anew(path)
        files.write_parts(path, self.pieces())
        return path


@dataclass(frozen=True)
class Package:
    """A bank's files, `bank.json` first, whose manifest is frozen and has all digests."""

    manifest: Manifest
    members: Sequence[Member]

    @cached_property
    def layout(self) -> Layout:
        """The layout of the package's archive."""
        entries = [Entry(each.name, each.size, each.seal[1]) for each in self.members]
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
    return promising(replace(before, provenance=told), members)


def members_of(bank: Bank, *, episodes: bool, history: bool) -> list[Member]:
    """Return the files of the commit that a handle shows, but for the manifest."""
    members = [
        member
        for name, snapshot in bank.snapshots.items()
        if name in bank.collections or ((episodes or name != EPISODES) and snapshot.extent.rows)
        for member in _table_members(snapshot)
    ]
    if history and bank.tail:
        lines = files.mapped(bank.journal.path, bank.tail.length)
        journal.require_current(bank.path, bank.commit)  # or the history was folded meanwhile
        members.append(Member(journal.FILE_NAME, [lines]))
        if files.exists(bank.path / usage_log.FILE_NAME):
            members.append(member_at(bank.path / usage_log.FILE_NAME))
    return members


def promising(before: Manifest, members: Sequence[Member]) -> Package:
    """Return the package of some files, whose digests go into the manifest."""
    after = manifest.promising(before, {each.name: each.seal[0] for each in members})
    return as_written(after, manifest.encode(after), members)


def as_written(frozen: Manifest, text: bytes, members: Sequence[Member]) -> Package:
    """Return the package of a bank that is frozen already, whose manifest reads `text`."""
    order = archive.member_names(frozen.collections)
    every = [Member(manifest.FILE_NAME, [text]), *members]
    return Package(frozen, sorted(every, key=lambda each: order.index(each.name)))


def member_at(path: Path) -> Member:
    """Return a file on disk, or in an archive, as it is."""
    return Member(path.name, [files.mapped(path, files.size(path))])


def _table_members(snapshot: TableSnapshot) -> Iterator[Member]:
    """Yield what counts of a table: its lines, and the arrays as this commit has them."""
    table = snapshot.table
    yield Member(table.lines_name, [snapshot.text])
    if table.vectors_file:
        yield _array_member(f"{table.name}.embeddings.npy", table.vectors_file, snapshot.vectors)
    yield _array_member(table.counters_name, table.counters_file, snapshot.counters)
    yield _array_member(f"{table.name}.index.npy", table.index_file, snapshot.index)


def _array_member(name: str, matrix: NpyFile, values: NDArray[Any]) -> Member:
    """Return an array's file; it may be elsewhere at present, so its name is given."""
    array = np.ascontiguousarray(values, dtype=matrix.dtype)
    rows = array.view(np.uint8).reshape(-1).data if len(array) else b""
    return Member(name, [matrix.header(len(array)), rows])


def copy_bank(source: Bank, path: Path, *, history: bool = False) -> Bank:
    """Copy the commit that a handle shows into a new folder, which appears whole or not at all.

    The copy counts for itself from now on: it has an origin of its own, and what was counted
    so far stays booked under that of the source.

    The source may go on being written meanwhile. With `history`, the episodes and the journal go
    along. The last part of `path` is the new name.
    """
    with files.new_folder(path) as draft:
        copy = copy_into(draft, source, name=path.name, episodes=history, history=history)
        origin = source.manifest.counts_as
        with copy.writing() as batch:
            if ledger.book(batch, copy.snapshots, origin):
                batch.log("copy", {"origin": origin})
        settle(copy, history=history and source.tail is not None)
    return Bank.open(path)


def copy_into(draft: Path, source: Bank, *, name: str, episodes: bool, history: bool) -> Bank:
    """Copy a bank into a folder that only this process sees, under a new origin; book nothing."""
    for member in members_of(source, episodes=episodes, history=history):
        member.write(draft)
    copied = replace(
        source.manifest.upgraded, name=name, frozen=False, digests={}, origin=ledger.new_origin()
    )
    manifest.write(draft, copied)
    return Bank.open(draft)


def settle(made: Bank, *, history: bool) -> None:
    """Sync a bank that was made in a draft; without `history` it loses its journal."""
    if not made.frozen:
        with made.writing():
            pass  # a full disk may have kept a commit from being done in place
    for name in (LOCK_NAME, *(() if history else (journal.FILE_NAME,))):
        files.remove(made.path / name)
    for name in files.names(made.path):
        files.sync(made.path / name)
    files.sync(made.path)


@dataclass(frozen=True)
class Delivery:
    """A bank that came from elsewhere, looked at from outside only.

    `text` is the manifest as it is written, `members` are all other files.
    """

    source: Path
    manifest: Manifest
    text: bytes
    members: Sequence[Member]
    layout: Layout

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
        layout = archive.read_layout(source)
    found = manifest.read(source)
    if not found.frozen:
        message = "the manifest is not frozen, so its files cannot be verified"
        hint = "`deltamem bank export` makes archives that are"
        raise BankCorruptError(message, source=str(source), hint=hint)
    text = files.read(source / manifest.FILE_NAME, archive.MANIFEST_BYTES)
    names = [entry.name for entry in layout.entries if entry.name != manifest.FILE_NAME]
    members = [member_at(source / name) for name in names]
    return Delivery(source, found, text, members, layout)


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
    replacing = replacing and path.is_dir() and not path.is_symlink() and any(path.iterdir())
    if replacing and not files.exists(path / manifest.FILE_NAME):
        message = "this folder is not a bank, so it is not replaced"
        hint = "choose another name, or move it away first"
        raise BankNotFoundError(message, source=str(path), hint=hint)
    turn = writers_turn(path) if replacing else nullcontext()
    with turn, files.new_folder(path, replacing=replacing) as draft:
        # The copy is checked: another process may change the source meanwhile.
        copies = [member_at(member.write(draft)) for member in delivery.members]
        called = delivery.manifest.called(path.name)
        if called != delivery.manifest:
            called = manifest.promising(called, called.digests)
        manifest.write(draft, called)
        digest = _checked(delivery, draft, copies, pinned)
        installed = Bank.open(draft)
        if not frozen:
            installed.unfreeze()
        settle(installed, history=True)
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


def _checked(
    delivery: Delivery, folder: Path, members: Sequence[Member], pinned: str | None
) -> str:
    """Return the archive's digest, if no promise and no rule of the format is broken."""
    package = as_written(delivery.manifest, delivery.text, members)
    digests = {each.name: each.seal[0] for each in package.members}
    for name, message in manifest.disagreements(delivery.manifest, delivery.text, digests):
        raise _refused(delivery, Flaw(message, name))
    for own, stated in zip(package.layout.entries, delivery.layout.entries, strict=True):
        if own != stated:
            message = "does not have the checksum that the archive states"
            raise _refused(delivery, Flaw(message, own.name))
    digest = package.digest()
    if pinned not in (None, digest):
        hint = "it is not the bank that was announced to you; ask whoever gave you the digest"
        message = f"has the digest {digest}, not the one that was pinned"
        raise BankCorruptError(message, source=str(delivery.source), hint=hint)
    if flaw := _first_flaw(delivery, folder):
        raise _refused(delivery, flaw)
    return digest


def _first_flaw(delivery: Delivery, folder: Path) -> Flaw | None:
    """Return what breaks the format, as of what was delivered, not of a draft."""
    try:
        return next(flaws_of(Bank.open(folder)), None)
    except BankError as error:
        name = Path(error.source).name if error.source else delivery.source.name
        return Flaw(error.message, name, error.position)


def _refused(delivery: Delivery, flaw: Flaw) -> BankCorruptError:
    place = ", ".join(filter(None, [flaw.source, flaw.position]))
    hint = "get it again from where it came from"
    return BankCorruptError(f"{place}: {flaw.message}", source=str(delivery.source), hint=hint)
