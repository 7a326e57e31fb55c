"""Taking in a bank that comes from elsewhere: nothing of it is believed before it was checked.

First the outside: names, sizes, the archive's layout. Then the files are copied into a draft beside
the place they shall have, and their digests and every rule of the format are checked there. Only a
bank without a flaw is put in its place, in one step.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from deltamem_tui.bank import manifest
from deltamem_tui.bank.bank import LOCK_NAME, Bank, writers_turn
from deltamem_tui.bank.disk import archive, files
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.transfer import package
from deltamem_tui.bank.transfer.package import Member, Seal
from deltamem_tui.bank.upkeep.verify import Flaw, flaws_of
from deltamem_tui.errors import BankCorruptError, BankError, BankNotFoundError, UsageError
from deltamem_tui.text import one_line

_DIGEST = re.compile(r"(sha256:)?([0-9a-f]{64})")
_SHOWN_FLAWS = 3


@dataclass(frozen=True)
class Delivery:
    """A bank that came from elsewhere, looked at from outside only.

    Attributes:
        source: The archive.
        manifest: What it says it is; frozen.
        text: The manifest as it is written.
        members: All other files.
        crcs: The files' CRC-32 by name.
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
    """Look at an archive from outside.

    Raises:
        BankNotFoundError: There is nothing.
        BankCorruptError: It holds what no bank consists of, is larger than it may be, is not
            laid out as an archive is, or its manifest breaks the format.
        BankFormatError: It has a format version that is not known.
    """
    with files.storage_errors(source):
        if not source.exists():
            raise BankNotFoundError("nothing is here", source=str(source), hint="name an archive")
        if source.is_dir():
            raise BankNotFoundError(
                "is a folder, not an archive",
                source=str(source),
                hint="`deltamem bank verify` checks a folder, `deltamem bank copy` takes it in",
            )
    layout = archive.read_layout(source)
    found = manifest.read(source)
    if not found.frozen:
        raise BankCorruptError(
            "the manifest is not frozen, so its files cannot be verified",
            source=str(source),
            hint="`deltamem bank export` makes archives that are",
        )
    text = archive.read(source / manifest.FILE_NAME, archive.MANIFEST_BYTES)
    names = [entry.name for entry in layout.entries if entry.name != manifest.FILE_NAME]
    members = [package.member_at(source / name) for name in names]
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
        copies = [package.member_at(member.write(draft)) for member in delivery.members]
        manifest.write(draft, _renamed(delivery.manifest, path.name))
        digest = _checked(delivery, draft, copies, pinned)
        if not frozen:
            Bank.open(draft).unfreeze()
            files.remove(draft / LOCK_NAME)
        for name in archive.names(draft):
            files.sync(draft / name)  # their names were, with the manifest
    return Bank.open(path), digest


def inspect(delivery: Delivery, *, pinned: str | None = None) -> str:
    """Check all that `install` checks, and write nothing.

    Returns:
        The archive's digest.

    Raises:
        BankCorruptError: As `install`.
    """
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
    if not archive.exists(path / manifest.FILE_NAME):
        raise BankNotFoundError(
            "this folder is not a bank, so it is not replaced",
            source=str(path),
            hint="choose another name, or move it away first",
        )
    with writers_turn(path), files.other_folder(path) as draft:
        yield draft


def _renamed(before: Manifest, name: str) -> Manifest:
    """Return the manifest under the name that the bank is to have here."""
    return (
        before if before.name == name else manifest.promising(before.called(name), before.digests)
    )


def _checked(
    delivery: Delivery, folder: Path, members: Sequence[Member], pinned: str | None
) -> str:
    """Return the archive's digest, if no promise and no rule of the format is broken."""
    seals = package.sealed(members)
    _refuse(delivery, _broken_promises(delivery, seals))
    digest = package.as_written(delivery.manifest, delivery.text, members, seals).digest()
    if pinned not in (None, digest):
        raise BankCorruptError(
            f"has the digest {digest}, not the one that was pinned",
            source=str(delivery.source),
            hint="it is not the bank that was announced to you; ask whoever gave you the digest",
        )
    _refuse(delivery, _flaws(delivery, folder))
    return digest


def _broken_promises(delivery: Delivery, found: Mapping[str, Seal]) -> Iterator[Flaw]:
    digests = {name: seal.digest for name, seal in found.items()}
    for name, message in manifest.disagreements(delivery.manifest, delivery.text, digests):
        yield Flaw(message, name)
    crcs = {name: seal.crc for name, seal in found.items()}
    crcs[manifest.FILE_NAME] = zlib.crc32(delivery.text)
    for name, crc in delivery.crcs.items():
        if crcs[name] != crc:
            yield Flaw("does not have the checksum that the archive states", name)


def _flaws(delivery: Delivery, folder: Path) -> Iterator[Flaw]:
    """Yield what breaks the format, as of what was delivered, not of a draft."""
    try:
        yield from flaws_of(Bank.open(folder))
    except BankError as error:
        name = Path(error.source).name if error.source else delivery.source.name
        yield Flaw(error.message, name, error.position)


def _refuse(delivery: Delivery, flaws: Iterable[Flaw]) -> None:
    """Raise the first flaws, if there are any."""
    found = [
        f"{flaw.source}{f', {flaw.position}' if flaw.position else ''}: {flaw.message}"
        for flaw in dict.fromkeys(islice(flaws, _SHOWN_FLAWS + 1))
    ]
    if found:
        more = ["and more"] if len(found) > _SHOWN_FLAWS else []
        raise BankCorruptError(
            "; ".join(chain(found[:_SHOWN_FLAWS], more)),
            source=str(delivery.source),
            hint="get it again from where it came from",
        )
