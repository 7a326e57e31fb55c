"""A `.npy` file that grows in place: rows are appended, and the header follows when they count.

numpy leaves room in the header of every array for the first axis to grow, so the row
count can be rewritten without moving a byte of data (NEP 1, format version 1.0). The
file opens at any time with `numpy.load(..., allow_pickle=False)`.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import files
from deltamem_tui.errors import BankCorruptError

_HEADER_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class MatrixFile:
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
        """The array's shape with `rows` rows."""
        return (rows, self.width) if self.width else (rows,)

    def header(self, rows: int) -> bytes:
        """The file's header for `rows` rows; its length does not depend on `rows`."""
        buffer = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            buffer,
            {
                "descr": np.lib.format.dtype_to_descr(self.dtype),
                "fortran_order": False,
                "shape": self.shape(rows),
            },
        )
        return buffer.getvalue()

    def position(self, row: int) -> int:
        """The byte at which a row begins."""
        return len(self.header(0)) + row * self.row_bytes

    def create(self) -> None:
        """Write an empty array."""
        files.replace(self.path, self.header(0))

    def rows(self) -> int:
        """The row count that the header states.

        Raises:
            BankCorruptError: No such array: another type, width or order, or not an array at all.
        """
        try:
            with files.storage_errors(self.path), self.path.open("rb") as stream:
                version = np.lib.format.read_magic(stream)
                if version != (1, 0):
                    raise ValueError(f"array format {version[0]}.{version[1]} instead of 1.0")
                shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(
                    stream, max_header_size=_HEADER_LIMIT
                )
                length = stream.tell()
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
            reason = str(error).partition("\n")[0]
            raise self._corrupt(f"not a readable array: {reason}") from error
        if dtype != self.dtype or fortran_order or length != len(self.header(0)):
            raise self._corrupt(f"holds {dtype} instead of {self.dtype} in row order")
        if shape[1:] != self.shape(0)[1:] or len(shape) != len(self.shape(0)):
            raise self._corrupt(f"has shape {shape} instead of {('rows', *self.shape(0)[1:])}")
        return int(shape[0])

    def load(self, rows: int) -> NDArray[Any]:
        """Map the first `rows` rows into memory, read-only; nothing is read before it is used.

        Raises:
            BankCorruptError: The file is too short for them, or is another kind of array.
        """
        self.rows()
        found = (files.size(self.path) - self.position(0)) // self.row_bytes
        if found < rows:
            raise self._corrupt(f"holds {found} rows where {rows} were written: it was cut short")
        if rows == 0:
            return np.zeros(self.shape(0), dtype=self.dtype)
        with files.storage_errors(self.path):
            return np.memmap(
                self.path,
                dtype=self.dtype,
                mode="r",
                offset=self.position(0),
                shape=self.shape(rows),
            )

    def write_rows(self, row: int, values: NDArray[Any]) -> None:
        """Write rows from `row` on; the header is not touched."""
        array = np.ascontiguousarray(values, dtype=self.dtype)
        files.write_at(self.path, self.position(row), array.tobytes())

    def write_header(self, rows: int) -> None:
        """State the row count, unless the header states it already."""
        if self.rows() != rows:
            files.write_at(self.path, 0, self.header(rows))

    def _corrupt(self, message: str) -> BankCorruptError:
        return BankCorruptError(
            message, source=str(self.path), hint="restore the file from a copy of the bank"
        )
