"""The files of an untrusted folder of skills: no link is followed, and no limit exceeded."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from deltamem_tui.bank.disk import files
from deltamem_tui.errors import RecordError
from deltamem_tui.memory.skills.layout import (
    BANK_FILE,
    KNOWLEDGE,
    PAGE_SUFFIX,
    REFERENCES,
    SKILL_FILE,
    SkillLimits,
)

# A link is not followed, and a pipe does not wait for a writer.
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(slots=True)
class Finder:
    """Looks through one folder.

    Attributes:
        folder: The folder. It may be a link itself, because the user named it.
        others: Files and folders that hold neither skills nor knowledge, as they are met.
    """

    folder: Path
    limits: SkillLimits
    others: list[Path] = field(default_factory=list)
    _seen: int = 0
    _bytes: int = 0

    def pages(self) -> Iterator[Path]:
        """All files that may hold skills or knowledge, in order of their names.

        Raises:
            RecordError: There is a link, or more than there may be.
            StorageError: A folder cannot be read.
        """
        found = list(self._pages_of(self.folder, is_top=True))
        self.others.sort()
        yield from sorted(found)

    def text(self, path: Path) -> str:
        """The text of a file.

        Raises:
            RecordError: It is a link or not a plain file, is too large, alone or with those read
                before, or is not UTF-8.
            StorageError: It cannot be read.
        """
        data = read(path, min(self.limits.file, self.limits.total - self._bytes))
        self._bytes += len(data)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise RecordError(
                "not UTF-8 text", source=str(path), hint="save it as UTF-8"
            ) from error

    def _pages_of(self, folder: Path, *, is_top: bool = False) -> Iterator[Path]:
        """The pages in a folder that may be a skill, the knowledge, or hold skills."""
        found: list[Path] = []
        others: list[Path] = []
        for entry in self._entries(folder):
            path = Path(entry)
            if entry.name == SKILL_FILE:
                found.append(path)
            elif entry.is_dir(follow_symlinks=False) and entry.name == REFERENCES:
                found += self._markdown(path, others)
            elif entry.is_dir(follow_symlinks=False) and is_top:
                found += self._pages_of(path)
            elif not is_top and folder.name == KNOWLEDGE and entry.name.endswith(PAGE_SUFFIX):
                found.append(path)
            elif not (is_top and entry.name == BANK_FILE):
                others.append(path)
        # A folder with nothing for a bank is reported as one, however much is in it.
        self.others += others if found or is_top else [folder][: len(others)]
        return iter(found)

    def _markdown(self, folder: Path, others: list[Path]) -> Iterator[Path]:
        for entry in self._entries(folder):
            if entry.name.endswith(PAGE_SUFFIX):
                yield Path(entry)
            else:
                others.append(Path(entry))

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        """The entries of a folder; hidden ones belong to other programs and are left out."""
        left = self.limits.entries - self._seen
        with files.storage_errors(folder), os.scandir(folder) as entries:
            found = list(islice(entries, left + 1))
        self._seen += len(found)
        if len(found) > left:
            raise RecordError(
                f"more than {self.limits.entries:,} files and folders", source=str(self.folder)
            )
        visible = sorted(
            (entry for entry in found if not entry.name.startswith(".")),
            key=lambda entry: entry.name,
        )
        for entry in visible:
            if entry.is_symlink():
                raise RecordError(
                    "a link, and links are not followed",
                    source=str(Path(entry)),
                    hint="put in its place what it leads to, or take it away",
                )
        return visible


def read(path: Path, limit: int) -> bytes:
    """Read a whole plain file.

    Raises:
        RecordError: It is a link or not a plain file, or has more than `limit` bytes.
        StorageError: It cannot be read.
    """
    with files.storage_errors(path), os.fdopen(os.open(path, _LOOK), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise RecordError("not a plain file", source=str(path), hint="take it away")
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise RecordError(
            f"larger than the {limit:,} bytes that it may have here", source=str(path)
        )
    return data
