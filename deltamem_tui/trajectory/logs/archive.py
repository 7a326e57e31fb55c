"""A zip archive as a log: its members named, and read one at a time within limits."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from deltamem_tui.errors import RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.record import LogLimits, human_size
from deltamem_tui.trajectory.secrets.redaction import quoted

_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)
_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd")
_MOST_NAMES = 1_000_000


def member_names(path: Path) -> list[str]:
    """Return the names of all members, in the order of the archive's directory.

    Raises:
        RecordError: It is not a zip archive, or a damaged one.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (*_DAMAGE, ValueError) as error:
        raise RecordError(f"a damaged zip archive: {one_line(str(error), 120)}") from error
    if len(names) > _MOST_NAMES:
        raise RecordError(f"a zip archive of more than {_MOST_NAMES:,} files")
    return names


def members(path: Path, names: list[str], limits: LogLimits) -> Iterator[bytes | RecordError]:
    """Yield the content of members, one for each name. Nothing is ever written to disk.

    One that cannot be read is an error in its place. What unpacks out of all proportion
    ends the reading: the archive is then not what it says.
    """
    packed = path.stat().st_size
    most = max(limits.expansion * packed, limits.expansion_free_bytes)
    with zipfile.ZipFile(path) as archive:
        for name in names:
            position = quoted(name, 200)
            try:
                with archive.open(name) as member:
                    data = member.read(limits.record_bytes + 1)
            except (*_DAMAGE, KeyError) as error:
                reason = f"cannot be unpacked: {one_line(str(error), 120)}"
                yield RecordError(reason, position=position)
                continue
            most -= len(data)
            if most < 0:
                reason = f"unpacks to more than {limits.expansion} times its size"
                hint = "if you trust the archive, unpack it and import the folder"
                raise RecordError(reason, position=position, hint=hint)
            if data.startswith(_ARCHIVES):
                reason = "an archive inside the archive, which is not opened; unpack it first"
                yield RecordError(reason, position=position)
            elif len(data) > limits.record_bytes:
                reason = f"a record of more than {human_size(limits.record_bytes)}"
                yield RecordError(reason, position=position)
            else:
                yield data
