"""A `.npy` file that grows in place: rows are appended, and the header follows when they count.

numpy leaves room in the header of every array for the first axis to grow, so the row
count can be rewritten without moving a byte of data (NEP 1, format version 1.0). The
file opens at any time with `numpy.load(..., allow_pickle=False)`.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.disk import archive, files
from deltamem_tui.errors import BankCorruptError

_ROWS = re.compile(rb"'shape': \((\d{1,18}),")


@lru_cache(maxsize=256)
def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer,
        {
            "descr": np.lib.format.dtype_to_descr(dtype),
            "fortran_order": False,
            "shape": shape,
        },
    )
    return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class NpyFile:
    """One growing array on disk.

    Attributes:
        path: The `.npy` file.
        dtype: The type of an element, in little-endian order; never an object.
        width: Elements in a row, or 0 for a one-dimensional array.
    """

    path: Path
    dtype: np.dtype[Any]
    width: int = 0

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return self.dtype.itemsize * max(self.width, 1)

    def shape(self, rows: int) -> tuple[int, ...]:
        """Return the array's shape with `rows` rows."""
        return (rows, self.width) if self.width else (rows,)

    def header(self, rows: int) -> bytes:
        """Return the file's header for `rows` rows; its length does not depend on `rows`."""
        return _header(self.dtype, self.shape(rows))

    def position(self, row: int) -> int:
        """Return the byte at which a row begins."""
        return len(self.header(0)) + row * self.row_bytes

    def create(self) -> None:
        """Write an empty array."""
        files.replace(self.path, self.header(0))

    def rows(self) -> int:
        """Return the row count that the header states."""
        if not archive.exists(self.path):
            raise self._corrupt("is missing")
        with files.storage_errors(self.path), archive.opened(self.path) as stream:
            found = stream.read(len(self.header(0)))
        stated = _ROWS.search(found)
        if stated and found == self.header(int(stated[1])):
            return int(stated[1])
        shape = " × ".join(map(str, ("rows", *self.shape(0)[1:])))
        kind = "numbers" if self.dtype.names else self.dtype
        raise self._corrupt(f"not an array of {kind}, {shape}, as numpy writes it")

    def load(self, rows: int) -> NDArray[Any]:
        """Map the first `rows` rows into memory, read-only; nothing is read before it is used.

        Raises:
            BankCorruptError: The file is missing, too short for them, or another kind of array.
        """
        self.rows()
        region = archive.find(self.path)
        length = region.length if region else 0
        found = (length - self.position(0)) // self.row_bytes
        if found < rows:
            raise self._corrupt(f"holds {found} rows where {rows} were written: it was cut short")
        if rows == 0 or region is None:
            return np.zeros(self.shape(0), dtype=self.dtype)
        with files.storage_errors(self.path):
            try:
                return np.memmap(
                    region.path,
                    dtype=self.dtype,
                    mode="r",
                    offset=region.start + self.position(0),
                    shape=self.shape(rows),
                )
            except ValueError as error:  # a shorter file took its place since the look above
                raise self._corrupt("was cut short") from error

    def write_rows(self, row: int, values: NDArray[Any]) -> None:
        """Write rows from `row` on; the header is not touched."""
        array = np.ascontiguousarray(values, dtype=self.dtype)
        files.write_at(self.path, self.position(row), array.tobytes())

    def write_whole(self, values: NDArray[Any]) -> None:
        """Replace the whole array in one step."""
        array = np.ascontiguousarray(values, dtype=self.dtype)
        files.replace(self.path, self.header(len(array)) + array.tobytes())

    def write_header(self, rows: int) -> None:
        """State the row count, unless the header states it already."""
        if self.rows() != rows:
            files.write_at(self.path, 0, self.header(rows))

    def _corrupt(self, message: str) -> BankCorruptError:
        return BankCorruptError(
            message, source=str(self.path), hint="restore the file from a copy of the bank"
        )
