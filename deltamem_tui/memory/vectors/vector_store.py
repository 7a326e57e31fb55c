"""Vectors kept on the way to a bank's new ones, so that an interrupted run need not begin anew.

A text's vector depends on the text and the embedder alone. So the vectors lie by the digest of
their text, and stay good whatever becomes of the bank meanwhile. Two files beside the bank's
own hold them until the run is done: which embedder they are of, and the vectors, appended as
they come. Both may be deleted at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank.commits import file_swap
from deltamem_tui.bank.disk import archive, files
from deltamem_tui.bank.disk.npy_file import NpyFile
from deltamem_tui.embedding.protocol import EmbedderCard
from deltamem_tui.embedding.vectors import LENGTH_TOLERANCE, require_same
from deltamem_tui.errors import BankBusyError, BankError, EmbeddingError, StorageError

_STATE_LIMIT = 64 * 1024
_DIGITS = 32


def key_of(text: str) -> bytes:
    """Return what a text's vector is found by: 32 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS].encode()


class VectorStore:
    """Vectors of one embedder by text, on the disk; those of an interrupted run are taken over."""

    def __init__(self, folder: Path, card: EmbedderCard) -> None:
        row = np.dtype([("text", f"S{_DIGITS}"), ("vector", "<f4", (card.dimensions,))])
        self._folder, self._card = folder, card
        self._matrix = NpyFile(folder / file_swap.STORE_ROWS, row)
        rows = self._left_rows()
        lengths = np.linalg.norm(rows["vector"].astype(np.float64), axis=1)
        # What a power cut left half written has no unit length, or a text that no line has.
        sound = np.flatnonzero(np.abs(lengths - 1.0) < LENGTH_TOLERANCE)
        self._places = dict(zip(rows["text"][sound].tolist(), sound.tolist(), strict=True))
        self._rows = len(rows)

    def __contains__(self, key: bytes) -> bool:
        return key in self._places

    def _left_rows(self) -> NDArray[Any]:
        """Return all rows that lie there; none if they are of another embedder, or cannot be
        read.
        """
        try:
            state = orjson.loads(archive.read(self._folder / file_swap.STORE_STATE, _STATE_LIMIT))
            require_same(EmbedderCard(**state["embedder"]), self._card)
            size = archive.size(self._matrix.path) - self._matrix.position(0)
            return self._matrix.load(max(size // self._matrix.row_bytes, 0))
        except (BankError, EmbeddingError, ValueError, TypeError, KeyError, AttributeError):
            return np.empty(0, dtype=self._matrix.dtype)

    def begin(self) -> None:
        """Make the files ready to be appended to.

        Raises:
            StorageError: The disk refused.
        """
        if self._rows:
            return
        remove(self._folder)
        state = orjson.dumps({"embedder": asdict(self._card)}, option=orjson.OPT_INDENT_2)
        self._matrix.create()
        files.replace(self._folder / file_swap.STORE_STATE, state)

    def add(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        """Keep the texts' vectors, float32 [keys, dimensions]: on the disk, when this returns.

        Raises:
            StorageError: The disk refused.
        """
        rows = np.zeros(len(keys), dtype=self._matrix.dtype)
        rows["text"], rows["vector"] = keys, vectors
        self._matrix.write_rows(self._rows, rows)
        files.sync(self._matrix.path)
        self._places.update({key: self._rows + number for number, key in enumerate(keys)})
        self._rows += len(keys)

    def gathered(self, keys: Sequence[bytes], piece: int) -> Iterator[NDArray[np.float32]]:
        """Return the vectors of some texts in order, float32 [up to `piece`, dimensions] at a time.

        An empty key has no text: it gets a vector of unit length without a meaning.
        """
        stored = self._matrix.load(self._rows)["vector"]
        for start in range(0, len(keys), piece):
            some = keys[start : start + piece]
            vectors = np.zeros((len(some), self._card.dimensions), dtype=np.float32)
            vectors[:, 0] = 1.0
            texts = [number for number, key in enumerate(some) if key]
            if texts:
                vectors[texts] = stored[[self._places[some[number]] for number in texts]]
            yield vectors


@contextmanager
def opened(folder: Path, card: EmbedderCard) -> Iterator[VectorStore]:
    """Return the store beside a bank, for one process at a time. It stays until `remove`.

    Raises:
        BankBusyError: Another process gives the bank new vectors.
        StorageError: The disk refused.
    """
    lock = folder / file_swap.STORE_LOCK
    busy = BankBusyError(
        "another process is giving the bank new vectors",
        source=str(folder),
        hint="wait until it is done",
    )
    with files.locked(lock, 0, busy):
        try:
            store = VectorStore(folder, card)
            store.begin()
            yield store
        finally:
            with suppress(StorageError):
                files.remove(lock)


def remove(folder: Path) -> None:
    """Remove the vectors that were kept.

    Raises:
        StorageError: The disk refused.
    """
    for name in (file_swap.STORE_STATE, file_swap.STORE_ROWS):
        files.remove(folder / name)
