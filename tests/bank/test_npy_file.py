"""Arrays that grow in place, and arrays that are not what they should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.table import NpyFile
from deltamem_tui.errors import BankCorruptError

FLOAT = np.dtype("<f4")


def matrix(folder: Path, dtype: np.dtype[Any] = FLOAT, width: int = 8) -> NpyFile:
    return NpyFile(folder / "x.npy", dtype, width)


def rows(count: int, width: int = 8) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.arange(count * width, dtype=FLOAT).reshape(count, width)


def test_an_array_grows_in_place_and_opens_with_numpy(tmp_path: Path) -> None:
    made = matrix(tmp_path)
    made.create()
    assert np.load(made.path, allow_pickle=False).shape == (0, 8)
    for start in range(0, 30, 3):
        made.write_rows(start, rows(30)[start : start + 3])
        # Until the header is written, the new rows are there but do not count for numpy.
        assert np.load(made.path, allow_pickle=False).shape == (start, 8)
        made.write_header(start + 3)
    loaded = np.load(made.path, allow_pickle=False)
    assert np.array_equal(loaded, rows(30))
    assert np.array_equal(made.load(30), rows(30))
    assert np.array_equal(made.load(4), rows(4))
    assert not made.load(4).flags.writeable


def refusal(made: NpyFile, count: int = 3) -> str:
    with pytest.raises(BankCorruptError) as caught:
        made.load(count)
    assert str(caught.value).startswith(f"{made.path}: ")
    return caught.value.message


@given(data=st.data())
def test_a_damaged_header_is_an_error_or_harmless(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = matrix(tmp_path_factory.getbasetemp())
    text = bytearray(made.header(5) + rows(5).tobytes())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, 127))] = data.draw(st.integers(0, 255))
    made.path.write_bytes(text)
    try:
        found = made.load(5)
    except BankCorruptError:
        return
    assert np.array_equal(found, rows(5))
