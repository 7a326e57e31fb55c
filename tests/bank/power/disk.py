"""A disk for tests that forgets what was not synced when the power fails.

While it records, every effect on the files and folders below a root is done and noted. From the
notes follows what a power cut at any point may leave: of a file its bytes when it was last
synced, and any of the sectors written since; of a folder its names when it was last synced, and
any of the changes since. POSIX promises no more than that. A rename is still one change.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import deltamem_tui
from deltamem_tui.bank.disk import files

_PRODUCT = str(Path(deltamem_tui.__file__).parent)
SECTOR = 512  # what a disk writes whole or not at all
_VARYING = re.compile(
    r"^\.|(\.[0-9a-f]{8})?\.draft$|\.\d+(?=\.next$)|(task|env|trajectories|origins|credit)\.|[\w-]+(?=\.md$)"
)


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """Bytes written to a file, all in one sector."""

    target: int
    position: int
    data: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Resize:
    """A file cut or extended."""

    target: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Naming:
    """Names made, moved or removed in one step; synced with the folder `target`."""

    target: int
    names: Mapping[tuple[int, str], int | None]


@dataclass(frozen=True, slots=True, eq=False)
class Sync:
    """A file or a folder synced; `site` says by which function, and what it is."""

    target: int
    site: str


@dataclass(frozen=True, slots=True, eq=False)
class Acknowledged:
    """A step was reported as done."""


Inode = tuple[int, int]  # with its device
Change = Write | Resize | Naming
Effect = Change | Sync | Acknowledged


class Fate(Enum):
    """What becomes of a change that was not synced. The last two need a file that grew."""

    LOST = "lost"
    KEPT = "kept"
    HALF = "half of it is there"
    ZEROS = "the file has its length, but not its bytes"


@dataclass
class Image:
    """What is on the disk: the bytes of each file, and what each folder's names lead to."""

    contents: dict[int, bytes] = field(default_factory=dict)
    names: dict[tuple[int, str], int] = field(default_factory=dict)

    def copy(self) -> Image:
        """One that changes by itself."""
        return Image(dict(self.contents), dict(self.names))

    def apply(self, change: Change, fate: Fate = Fate.KEPT) -> None:
        """Let a change reach the disk, as far as its fate lets it."""
        if fate is Fate.LOST:
            return
        if isinstance(change, Naming):
            if fate is Fate.KEPT:
                for place, target in change.names.items():
                    self.names.pop(place, None)
                    if target is not None:
                        self.names[place] = target
            return
        before = self.contents.get(change.target, b"")
        if isinstance(change, Resize):
            if fate is Fate.KEPT:
                self.contents[change.target] = before[: change.length].ljust(change.length, b"\0")
            return
        start, data = change.position, change.data
        if fate is not Fate.KEPT:
            if start + len(data) <= len(before):
                return
            data = data[: len(data) // 2] if fate is Fate.HALF else bytes(len(data))
            data = before[start:] + data[max(len(before) - start, 0) :]
        padded = before.ljust(start, b"\0")
        self.contents[change.target] = padded[:start] + data + padded[start + len(data) :]

    def tree(self, folder: int = 0) -> dict[str, Any]:
        """Everything below a folder by name: bytes of files, and the same of folders."""
        return {
            name: self.contents[target] if target in self.contents else self.tree(target)
            for (above, name), target in self.names.items()
            if above == folder
        }


def write_tree(tree: Mapping[str, Any], folder: Path) -> None:
    """Make a folder with such contents."""
    folder.mkdir()
    for name, value in tree.items():
        if isinstance(value, bytes):
            (folder / name).write_bytes(value)
        else:
            write_tree(value, folder / name)


def read_tree(folder: Path) -> dict[str, Any]:
    """What a folder holds."""
    return {
        path.name: read_tree(path) if path.is_dir() else path.read_bytes()
        for path in folder.iterdir()
    }


@dataclass(frozen=True)
class PowerCut:
    """A moment at which the power may fail.

    Attributes:
        acknowledged: How many steps had been reported as done.
        synced: What is on the disk for sure.
        pending: What was done since and may be lost, in order.
        owed: Those of them that would not be pending, if no sync had been left out.
    """

    acknowledged: int
    synced: Image
    pending: tuple[Change, ...]
    owed: Set[Change]

    def left(self, fate: Callable[[Change], Fate]) -> dict[str, Any]:
        """What is left on the disk, by the fate of each change."""
        image = self.synced.copy()
        for change in self.pending:
            image.apply(change, fate(change))
        return image.tree()


class Disk:
    """Notes what is done below a folder.

    Attributes:
        root: The folder. What lies there already is on the disk.
        log: What was done, in order.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log: list[Effect] = []
        self._numbers = count()
        self._known: dict[Inode | None, int] = {}
        self._lock = threading.RLock()
        self._start = Image()
        self._read(root)
        self._live = self._start.copy()

    def _read(self, path: Path) -> int:
        number = self._new(path)
        if path.is_dir():
            for inner in sorted(path.iterdir()):
                self._start.names[number, inner.name] = self._read(inner)
        else:
            self._start.contents[number] = path.read_bytes()
        return number

    @property
    def sites(self) -> list[str]:
        """Where something was synced, each once."""
        return list(dict.fromkeys(each.site for each in self.log if isinstance(each, Sync)))

    def power_cuts(self, without: str = "") -> Iterator[PowerCut]:
        """The moments just before each sync, and the end: at no other is more left to chance.

        Args:
            without: A site whose syncs are not done.
        """
        synced, pending, owed, acknowledged = self._start.copy(), list[Change](), set[Change](), 0
        for effect in self.log:
            if isinstance(effect, Acknowledged):
                acknowledged += 1
                continue
            if not isinstance(effect, Sync):
                pending.append(effect)
                continue
            of_it = [change for change in pending if change.target == effect.target]
            if effect.site == without:
                owed.update(of_it)
                continue
            yield PowerCut(acknowledged, synced.copy(), tuple(pending), owed.intersection(pending))
            for change in of_it:
                synced.apply(change)
            pending = [change for change in pending if change.target != effect.target]
        yield PowerCut(acknowledged, synced, tuple(pending), owed.intersection(pending))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Note all that is done in the block, and see in the end that nothing was missed."""
        notes: dict[str, Callable[..., Any]] = {
            "open": self._open,
            "pwrite": self._pwrite,
            "write": self._write,
            "truncate": self._truncate,
            "ftruncate": self._truncate,
            "fsync": self._fsync,
            "mkdir": self._mkdir,
            "link": self._link,
            "rename": self._rename,
            "replace": self._rename,
            "unlink": self._remove,
            "remove": self._remove,
            "rmdir": self._remove,
        }
        with pytest.MonkeyPatch.context() as patch:
            for name, note in notes.items():
                patch.setattr(os, name, self._locked(note, getattr(os, name)))
            patch.setattr(files, "exchange", self._locked(self._exchange, files.exchange))
            yield
        assert self._live.tree() == read_tree(self.root)

    def acknowledge(self) -> None:
        """Note that a step was reported as done."""
        self.log.append(Acknowledged())

    def _locked(self, note: Callable[..., Any], real: Callable[..., Any]) -> Callable[..., Any]:
        def effect(*arguments: Any, **options: Any) -> Any:
            with self._lock:  # else two threads are noted in another order than they did it
                return note(real, *arguments, **options)

        return effect

    def _new(self, path: Any) -> int:
        found = os.lstat(path)
        return self._known.setdefault((found.st_dev, found.st_ino), next(self._numbers))

    def _number(self, path: Any, dir_fd: int | None = None) -> int | None:
        """The number of what is open or lies at a path; None outside of the root."""
        try:
            found = os.fstat(path) if isinstance(path, int) else os.lstat(path, dir_fd=dir_fd)
        except FileNotFoundError:
            return None
        return self._known.get((found.st_dev, found.st_ino))

    def _place(self, path: Any, dir_fd: int | None = None) -> tuple[int, str] | None:
        above, name = os.path.split(os.path.abspath(path))  # noqa: PTH100
        folder = self._number(above if dir_fd is None else dir_fd)
        return None if folder is None else (folder, name)

    def _do(self, change: Change) -> None:
        self.log.append(change)
        self._live.apply(change)

    def _name(self, place: tuple[int, str], target: int | None) -> None:
        self._do(Naming(place[0], {place: target}))

    def _open(
        self, real: Callable[..., int], path: Any, flags: int, *more: Any, **options: Any
    ) -> int:
        place = self._place(path) if flags & os.O_CREAT else None
        there = os.path.lexists(path)
        descriptor = real(path, flags, *more, **options)
        if place and not there:
            number = self._new(path)
            self._start.contents.setdefault(number, b"")
            self._live.contents[number] = b""
            self._name(place, number)
        elif place and flags & os.O_TRUNC and os.fstat(descriptor).st_size:
            self._do(Resize(self._live.names[place], 0))
        return descriptor

    def _pwrite(self, real: Callable[..., int], descriptor: int, data: Any, position: int) -> int:
        written = real(descriptor, data, position)
        target = self._number(descriptor)
        data = bytes(data[:written])
        while target is not None and data:
            length = SECTOR - position % SECTOR
            self._do(Write(target, position, data[:length]))
            data, position = data[length:], position + length
        return written

    def _write(self, real: Callable[..., int], descriptor: int, data: bytes) -> int:
        if self._number(descriptor) is None:
            return real(descriptor, data)
        appends = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND
        position = os.lseek(descriptor, 0, os.SEEK_END if appends else os.SEEK_CUR)
        return self._pwrite(lambda _, text, __: real(descriptor, text), descriptor, data, position)

    def _truncate(self, real: Callable[..., None], path: Any, length: int) -> None:
        real(path, length)
        target = self._number(path)
        if target is not None:
            self._do(Resize(target, length))

    def _fsync(self, _: object, descriptor: int) -> None:
        target = self._number(descriptor)
        if target is not None:
            self.log.append(Sync(target, f"{_caller()}: {self._kind(target)}"))

    def _mkdir(self, real: Callable[..., None], path: Any, *more: Any) -> None:
        real(path, *more)
        if place := self._place(path):
            self._name(place, self._new(path))

    def _link(self, real: Callable[..., None], source: Any, path: Any) -> None:
        real(source, path)
        if place := self._place(path):
            self._name(place, self._number(path))

    def _rename(self, real: Callable[..., None], source: Any, path: Any) -> None:
        before, place, number = self._place(source), self._place(path), self._number(source)
        replaced = self._last(path) if os.path.lexists(path) else None
        real(source, path)
        self._known.pop(replaced, None)
        if before and place:
            self._do(Naming(place[0], {before: None, place: number}))

    def _exchange(self, real: Callable[..., None], one: Any, other: Any) -> None:
        places = self._place(one), self._place(other)
        numbers = self._number(one), self._number(other)
        real(one, other)
        if places[0] and places[1]:
            self._do(Naming(places[1][0], {places[0]: numbers[1], places[1]: numbers[0]}))

    def _remove(self, real: Callable[..., None], path: Any, *, dir_fd: int | None = None) -> None:
        place = self._place(path, dir_fd)
        removed = self._last(path, dir_fd) if self._number(path, dir_fd) is not None else None
        real(path, dir_fd=dir_fd)
        self._known.pop(removed, None)
        if place:
            self._name(place, None)

    @staticmethod
    def _last(path: Any, dir_fd: int | None = None) -> Inode | None:
        """The inode that the system may give to another file, once this name is gone."""
        found = os.lstat(path, dir_fd=dir_fd)
        alone = found.st_nlink == 1 or stat.S_ISDIR(found.st_mode)
        return (found.st_dev, found.st_ino) if alone else None

    def _kind(self, target: int) -> str:
        """A file's name without what differs between files that are synced by one loop."""
        if target not in self._live.contents:
            return "the folder"
        name = next(name for (_, name), each in self._live.names.items() if each == target)
        return _VARYING.sub("", name)


def _caller() -> str:
    """Which function of the product had something synced, and by which of `files`."""
    frame, names = sys._getframe(), list[str]()
    while frame.f_back and not _is_caller(frame.f_code.co_filename):
        if frame.f_code.co_filename == files.__file__:
            names.insert(0, f" > {frame.f_code.co_name}")
        frame = frame.f_back
    module = Path(frame.f_code.co_filename).stem
    return f"{module}.{frame.f_code.co_name}{''.join(dict.fromkeys(names)).removesuffix(' > sync')}"


def _is_caller(file: str) -> bool:
    return file.startswith(_PRODUCT) and file != files.__file__
