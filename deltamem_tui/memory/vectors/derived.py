"""Smaller forms of a collection's vectors, kept in memory and, of large ones, on the disk.

A handle that goes on after a commit derives only the rows that are new. On the disk forms are
kept in the user's cache folder and never part of a bank: a frozen bank has them like any other,
and each may be deleted at any time. A form covers the vectors up to some row; as a bank's files
only grow, it stays good while the bank learns, and the rows that came later are derived in
memory. It is found by the very file that it was made from, and compared with rows of it before
it is used.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.disk import archive, files
from deltamem_tui.bank.disk.npy_file import NpyFile
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.scan import release
from deltamem_tui.errors import BankError
from deltamem_tui.paths import APPLICATION

Parts = Mapping[str, NDArray[Any]]
Derive = Callable[[NDArray[np.float32]], Parts]

_PIECE_NUMBERS = 2**21
_SAMPLE = 64
_TAIL = 8  # derived anew when a file lacks more than an eighth of what it has
_MOST_FORMS = 8


def cache_folder() -> Path:
    """Return where the forms are kept. It may not exist yet."""
    import platformdirs

    return platformdirs.user_cache_path(APPLICATION, appauthor=False) / "vectors"


@dataclass(frozen=True, slots=True)
class _Known:
    """A form as an earlier snapshot of the same files had it.

    Attributes:
        parts: The form in parts; the last one grows.
        rows: How many rows it covers.
        last: The last of them, by which they are known again.
    """

    parts: Sequence[Parts]
    rows: int
    last: NDArray[np.float32]


def derived_parts(tree: Tree, kind: str, derive: Derive, *, stored: bool) -> list[Parts]:
    """Return a form of a collection's vectors, in parts of neighbouring rows.

    `derive` makes the arrays of a form from vectors, float32 [rows, dimensions]; arrays of
    several pieces are joined along the first axis. If `stored`, the form is looked up on the
    disk and kept there.

    Raises:
        BankRewrittenError: Another commit has replaced the files meanwhile.
    """
    vectors = np.asarray(tree.embeddings)
    known: _Known | None = tree.snapshot.derived.get(kind)
    if known is None or not _covers(known, vectors):
        parts = [*_derived_at_first(tree, kind, derive, stored=stored), derive(vectors[:0])]
    elif known.rows < len(vectors):
        parts = [*known.parts[:-1], _joined([known.parts[-1], derive(vectors[known.rows :])])]
    else:
        return [*known.parts]
    last = np.array(vectors[-1:])
    tree.snapshot.derived[kind] = _Known(parts, len(vectors), last)
    return parts


def _covers(known: _Known, vectors: NDArray[np.float32]) -> bool:
    if not known.rows <= len(vectors):
        return False
    return np.array_equal(vectors[known.rows - 1 : known.rows], known.last)


def _joined(parts: Sequence[Parts]) -> Parts:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _derived_at_first(tree: Tree, kind: str, derive: Derive, *, stored: bool) -> list[Parts]:
    vectors = tree.embeddings
    prefix = _prefix(tree, kind) if stored else ""
    if not prefix:
        return list(map(derive, _pieces(vectors, 0)))
    names = derive(vectors[:0]).keys()
    parts = _stored(prefix, vectors, names)
    if (len(vectors) - _rows(parts)) * _TAIL > _rows(parts):
        with suppress(BankError, OSError):  # without the file, everything is derived in memory
            _store(prefix, vectors, derive)
            parts = _stored(prefix, vectors, names)
    return [*parts.values(), *(derive(piece) for piece in _pieces(vectors, _rows(parts)))]


def _rows(parts: Mapping[int, Parts]) -> int:
    return max(parts, default=0)


def _prefix(tree: Tree, kind: str) -> str:
    """Return the beginning of a form's folder names, until other files take the bank's place.

    Empty if the file is gone: then a name would be every form's.
    """
    table = tree.snapshot.table
    matrix = table.vectors_file
    region = archive.find(matrix.path) if matrix else None
    if region is None:
        return ""
    about = region.path.stat()
    generation = (region.path.resolve(), about.st_dev, about.st_ino, region.start)
    text = f"{generation} {table.commit.generation} {tree.embeddings.shape[1]} {kind}"
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]


def _stored(prefix: str, vectors: NDArray[np.float32], names: Set[str]) -> dict[int, Parts]:
    """Return the stored form that covers most rows, by their number; empty if there is none."""
    found: dict[int, Parts] = {}
    for folder in cache_folder().glob(f"{prefix}-*"):
        with suppress(OSError, ValueError):
            rows = int(folder.name.rpartition("-")[2])
            if not _rows(found) < rows <= len(vectors):
                continue
            sample = np.load(folder / "sample.npy", allow_pickle=False)
            if np.array_equal(sample, _sampled(vectors[:rows])):
                found = {rows: {name: _mapped(folder / f"{name}.npy") for name in names}}
    return found


def _mapped(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def _store(prefix: str, vectors: NDArray[np.float32], derive: Derive) -> None:
    """Derive a form piece by piece, and keep it where older ones made room."""
    folder = cache_folder() / f"{prefix}-{len(vectors)}"
    shutil.rmtree(folder, ignore_errors=True)  # one that can be used would have been
    arrays: dict[str, tuple[NpyFile, int]] = {}
    with files.new_folder(folder) as draft:
        for piece in _pieces(vectors, 0):
            for name, array in derive(piece).items():
                file, rows = arrays.get(name) or (_new_file(draft / f"{name}.npy", array), 0)
                file.write_rows(rows, array)
                arrays[name] = file, rows + len(array)
            release(vectors)
        for file, rows in arrays.values():
            file.write_header(rows)
            files.sync(file.path)
        sample = _sampled(vectors)
        _new_file(draft / "sample.npy", sample).write_whole(sample)
    kept = sorted(
        cache_folder().glob("[0-9a-f]*-*"), key=lambda path: path.stat().st_mtime, reverse=True
    )
    outdated = [path for path in kept if path.name.startswith(prefix) and path != folder]
    for path in {*outdated, *kept[_MOST_FORMS:]}:
        shutil.rmtree(path, ignore_errors=True)


def _new_file(path: Path, array: NDArray[Any]) -> NpyFile:
    width = array.shape[1] if array.ndim > 1 else 0
    file = NpyFile(path, array.dtype.newbyteorder("<"), width)
    file.create()
    return file


def _sampled(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return some rows by which vectors are known again, the first and the last among them."""
    return np.array(vectors[np.linspace(0, len(vectors) - 1, _SAMPLE).astype(np.int64)])


def _pieces(vectors: NDArray[np.float32], start: int) -> Iterator[NDArray[np.float32]]:
    """Return the vectors from a row on, some at a time."""
    step = max(_PIECE_NUMBERS // max(vectors.shape[1], 1), 1)
    plain = np.asarray(vectors)
    return (plain[row : row + step] for row in range(start, len(plain), step))
