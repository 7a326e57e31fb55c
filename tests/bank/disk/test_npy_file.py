"""Arrays that grow in place, and arrays that are not what they should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank import tree
from deltamem_tui.bank.disk import archive
from deltamem_tui.bank.table import NpyFile
from deltamem_tui.errors import BankCorruptError, BankError

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


@given(st.integers(0, 10**17), st.sampled_from([0, 1, 3, 384, 4096]))
def test_the_header_has_one_length_whatever_the_rows(count: int, width: int) -> None:
    for dtype in (FLOAT, np.dtype("<u4"), tree.INDEX_TYPE):
        made = NpyFile(Path("x.npy"), dtype, width)
        assert len(made.header(count)) == len(made.header(0))
        assert made.header(count) != made.header(count + 1)


def test_a_whole_array_is_replaced_at_once(tmp_path: Path) -> None:
    made = matrix(tmp_path)
    made.write_whole(rows(5))
    assert made.rows() == 5
    assert np.array_equal(np.load(made.path, allow_pickle=False), rows(5))
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


def refusal(made: NpyFile, count: int = 3) -> str:
    with pytest.raises(BankCorruptError) as caught:
        made.load(count)
    assert str(caught.value).startswith(f"{made.path}: ")
    return caught.value.message


@pytest.mark.parametrize(
    "array",
    [
        rows(5).astype("<f8"),
        rows(5).astype(">f4"),
        rows(5).astype(object),
        np.asfortranarray(rows(5)),
        rows(5, width=9),
        rows(5).ravel(),
        rows(6).reshape(2, 3, 8),
    ],
)
def test_another_array_is_told_apart(tmp_path: Path, array: np.ndarray[Any, Any]) -> None:
    made = matrix(tmp_path)
    np.save(made.path, array, allow_pickle=True)
    assert refusal(made) == "not an array of float32, rows × 8, as numpy writes it"
    np.save(made.path, rows(2))
    assert refusal(made) == "holds 2 rows where 3 were written: it was cut short"


def test_a_truncated_array_is_told(tmp_path: Path) -> None:
    made = matrix(tmp_path)
    made.write_whole(rows(5))
    whole = made.path.read_bytes()
    for length in range(0, len(whole), 7):
        made.path.write_bytes(whole[:length])
        assert refusal(made, 5)


def test_a_shorter_file_that_takes_its_place_meanwhile_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a compaction in another process, between the look at its length and its mapping."""
    matrix = NpyFile(tmp_path / "a.npy", np.dtype("<f4"), 3)
    matrix.write_whole(np.zeros((2000, 3), dtype=np.float32))
    find = archive.find

    def late(path: Path) -> archive.Region | None:
        found = find(path)
        matrix.write_whole(np.zeros((1, 3), dtype=np.float32))
        return found

    monkeypatch.setattr(NpyFile, "rows", lambda _: 2000)  # which looks for the file itself
    monkeypatch.setattr(archive, "find", late)
    with pytest.raises(BankError, match="cut short"):
        matrix.load(2000)
    matrix.write_whole(np.zeros((2000, 3), dtype=np.float32))
    with pytest.raises(BankError, match="cut short"):
        archive.mapped(matrix.path, 20_000)


def test_a_missing_array_is_told(tmp_path: Path) -> None:
    assert refusal(matrix(tmp_path)) == "is missing"


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
