"""Taking in a bank that comes from elsewhere: nothing of it is believed before it was checked.

First the outside: names, kinds of files, sizes, the archive's layout. Then, while the files
are copied into a draft beside the place they shall have, the digests; then every rule of the
format. Only a bank without a flaw is put in its place, in one step.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from deltamem_tui.bank import freezing, manifest
from deltamem_tui.bank.bank import LOCK_NAME, Bank, writers_turn
from deltamem_tui.bank.disk import archive, archive_view, files
from deltamem_tui.bank.disk.archive import LIMITS, Limits
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.transfer import package
from deltamem_tui.bank.transfer.package import Member, Seal
from deltamem_tui.bank.upkeep.verify import Flaw, line_flaws, vector_flaws
from deltamem_tui.errors import BankCorruptError, BankError, BankNotFoundError, Remedy, UsageError
from deltamem_tui.text import one_line

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_SHOWN_FLAWS = 3
_ENOUGH_FLAWS = 32
_VECTORS = ".embeddings.npy"


@dataclass(frozen=True)
class Delivery:
    """A bank that came from elsewhere, looked at from outside only.

    Attributes:
        source: The archive or folder.
        manifest: What it says it is; frozen.
        text: The manifest as it is written.
        members: All other files.
        crcs: Their CRC-32 by name, where the source states them.
        sealed: Whether its files were digested where it comes from, and not just here.
    """

    source: Path
    manifest: Manifest
    text: bytes
    members: Sequence[Member]
    crcs: Mapping[str, int]
    sealed: bool = True

    @property
    def name(self) -> str:
        """What the bank is called: a folder as its folder, an archive as it calls itself."""
        return self.manifest.name if self.source.is_file() else Bank.open(self.source).name

    @property
    def size(self) -> int:
        """The length of all files together, in bytes."""
        return len(self.text) + sum(member.size for member in self.members)


def receive(source: Path, limits: Limits = LIMITS) -> Delivery:
    """Look at an archive, or the folder of a bank, from outside.

    Raises:
        BankNotFoundError: There is nothing.
        BankCorruptError: It holds what no bank consists of, is larger than it may be, is not
            laid out as an archive is, or its manifest breaks the format.
        BankFormatError: It has a format version that is not known.
        StorageError: It cannot be read.
    """
    with files.storage_errors(source):
        if source.is_dir():
            return _from_folder(source, limits)
        if not source.exists():
            raise BankNotFoundError(
                "nothing is here", source=str(source), hint="name an archive or a bank's folder"
            )
    return _from_archive(source, limits)


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
        BankBusyError: Another process writes the bank that is to be replaced.
        StorageError: The disk refused. In all cases what was there is as it was.
    """
    with place(path, replacing=replacing) as draft, ThreadPoolExecutor(1) as beside:
        vectors = [member for member in delivery.members if member.name.endswith(_VECTORS)]
        _copy([each for each in delivery.members if each not in vectors], draft)
        manifest.write(draft, _renamed(delivery.manifest, path.name))
        # What only waits for the disk and for digests goes on while the lines are read.
        copying = beside.submit(_copy, vectors, draft)
        names = [member.name for member in delivery.members]
        # Not of the source: another process may put other bytes there meanwhile.
        reading = beside.submit(lambda: _read(delivery, _members(draft, names)))
        syncing = beside.submit(_sync, [draft / name for name in names])
        flaws = _flaws(delivery, draft, line_flaws)
        copying.result()
        seals, digest = reading.result()
        _refuse(delivery, _broken_promises(delivery, seals))
        _refuse(delivery, flaws + _flaws(delivery, draft, vector_flaws))
        _require_pinned(delivery, digest, pinned)
        syncing.result()
        if not frozen:
            Bank.open(draft).unfreeze()
            files.remove(draft / LOCK_NAME)
            _sync(draft / name for name in archive_view.names(draft))
        files.sync(draft)
    return Bank.open(path), digest


def inspect(delivery: Delivery, *, pinned: str | None = None) -> str:
    """Check all that `install` checks, and write nothing.

    Returns:
        The archive's digest.

    Raises:
        BankCorruptError: As `install`.
    """
    seals, digest = _read(delivery, delivery.members)
    _require_pinned(delivery, digest, pinned)
    _refuse(delivery, _broken_promises(delivery, seals))
    for check in (line_flaws, vector_flaws):
        _refuse(delivery, _flaws(delivery, delivery.source, check))
    return digest


def checked_digest(text: str | None) -> str | None:
    """Return a digest as a person pins it."""
    if text is None or _DIGEST.fullmatch(text):
        return text
    if _DIGEST.fullmatch(f"sha256:{text}"):  # as `sha256sum` prints it
        return f"sha256:{text}"
    raise UsageError(
        f"{one_line(text, 80)!r} is not a digest", hint="sha256: and 64 hexadecimal digits"
    )


def _from_archive(source: Path, limits: Limits) -> Delivery:
    layout = archive.read_layout(source, limits)
    found = manifest.read(source)
    if not found.frozen:
        raise BankCorruptError(
            "the archive's manifest is not frozen, so nothing says what its files shall be",
            source=str(source),
            hint="`deltamem export` makes archives that are",
        )
    others = [entry for entry in layout.entries if entry.name != manifest.FILE_NAME]
    return Delivery(
        source,
        found,
        archive_view.read(source / manifest.FILE_NAME, limits.manifest),
        _members(source, (entry.name for entry in others)),
        {entry.name: entry.crc for entry in layout.entries},
    )


def _from_folder(source: Path, limits: Limits) -> Delivery:
    if archive_view.exists(source / manifest.FILE_NAME):
        _require_plain(source, manifest.FILE_NAME)
    found = manifest.read(source)
    names = _checked_names(source, archive.member_names(found.collections), limits)
    if not found.frozen:
        whole = package.pack(Bank.open(source), with_episodes=True, with_journal=True)
        own, *others = whole.members
        text = b"".join(own.pieces())
        crcs = {name: seal.crc for name, seal in whole.seals.items()}
        return Delivery(source, whole.manifest, text, others, crcs, sealed=False)
    text = archive_view.read(source / manifest.FILE_NAME, limits.manifest)
    others = _members(source, (name for name in names if name != manifest.FILE_NAME))
    return Delivery(source, found, text, others, {})


def _checked_names(folder: Path, known: Sequence[str], limits: Limits) -> list[str]:
    """Return the files of a stranger's folder: plain ones, with names that a bank's files have."""
    names = [name for name in archive_view.names(folder) if name != LOCK_NAME]
    for name in names:
        if name not in known:
            raise BankCorruptError(
                f"holds {one_line(name, 80)!r}, and no file of a bank is called so",
                source=str(folder),
                hint="remove it, if you know what it is",
            )
        _require_plain(folder, name)
    size = sum(archive_view.size(folder / name) for name in names)
    if size > limits.total:
        raise BankCorruptError(
            f"has {size:,} bytes, more than the {limits.total:,} it may have",
            source=str(folder),
            hint=Remedy.ALLOW_SIZE,
        )
    return names


def _require_plain(folder: Path, name: str) -> None:
    if not archive_view.is_plain(folder / name):
        raise BankCorruptError(
            f"holds {name!r} as a link, folder or device, not as a plain file",
            source=str(folder),
            hint="put the file itself in its place",
        )


@contextmanager
def place(path: Path, *, replacing: bool) -> Iterator[Path]:
    """Provide a draft that takes its place at `path` when the block ends."""
    there = path.is_dir() and not path.is_symlink() and any(path.iterdir())
    if not (replacing and there):
        with files.new_folder(path) as draft:
            yield draft
        return
    if not archive_view.exists(path / manifest.FILE_NAME):
        raise BankNotFoundError(
            "this folder is not a bank, so it is not replaced",
            source=str(path),
            hint="choose another name, or move it away first",
        )
    with writers_turn(path), files.other_folder(path) as draft:
        yield draft


def _copy(members: Iterable[Member], draft: Path) -> None:
    for member in members:
        member.write(draft)


def _members(folder: Path, names: Iterable[str]) -> list[Member]:
    return [package.member_at(folder / name) for name in names]


def _read(delivery: Delivery, members: Sequence[Member]) -> tuple[Mapping[str, Seal], str]:
    """Return what is found on reading files, and `sha256:…` of the archive that they make."""
    seals = package.sealed(members)
    archived = package.as_written(delivery.manifest, delivery.text, members, seals)
    return seals, archived.digest()


def _sync(paths: Iterable[Path]) -> None:
    for path in paths:
        files.sync(path)


def _broken_promises(delivery: Delivery, found: Mapping[str, Seal]) -> Iterator[Flaw]:
    digests = {name: seal.digest for name, seal in found.items()}
    for name, message in freezing.disagreements(delivery.manifest, delivery.text, digests):
        yield Flaw(message, name)
    crcs = {name: seal.crc for name, seal in found.items()}
    crcs[manifest.FILE_NAME] = zlib.crc32(delivery.text)
    for name, crc in delivery.crcs.items():
        if crcs[name] != crc:
            yield Flaw("does not have the checksum that the archive states", name)


def _renamed(before: Manifest, name: str) -> Manifest:
    """Return the manifest under the name that the bank is to have here."""
    if before.name == name:
        return before
    others = {key: value for key, value in before.digests.items() if key != manifest.FILE_NAME}
    # A bank without an origin of its own counts under its name: it must go on under the old.
    return freezing.promising(replace(before, name=name, replica=before.counts_as), others)


def _flaws(delivery: Delivery, folder: Path, check: Callable[[Bank], Iterator[Flaw]]) -> list[Flaw]:
    """Return the first of what breaks the format, as of what was delivered, not of a draft."""
    try:
        return list(islice(check(Bank.open(folder)), _ENOUGH_FLAWS))
    except BankError as error:
        name = Path(error.source).name if error.source else delivery.source.name
        return [Flaw(error.message, name, error.position)]


def _refuse(delivery: Delivery, flaws: Iterable[Flaw]) -> None:
    """Raise the first flaws, if there are any."""
    found = list(dict.fromkeys(flaws))
    if not found:
        return
    first, *more = [
        f"{flaw.source}{f', {flaw.position}' if flaw.position else ''}: {flaw.message}"
        for flaw in found
    ]
    words = "; ".join([first, *more[: _SHOWN_FLAWS - 1]])
    if len(found) > _SHOWN_FLAWS:
        words += "; and more"
    raise BankCorruptError(
        words, source=str(delivery.source), hint="get it again from where it came from"
    )


def _require_pinned(delivery: Delivery, digest: str, pinned: str | None) -> None:
    if pinned is not None and digest != pinned:
        raise BankCorruptError(
            f"has the digest {digest}, not the one that was pinned",
            source=str(delivery.source),
            hint="it is not the bank that was announced to you; ask whoever gave you the digest",
        )
