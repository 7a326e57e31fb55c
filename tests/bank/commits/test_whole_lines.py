"""The same lines from both ends of a file, and no more of it read than a line may have."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.disk import archive
from deltamem_tui.bank.disk.archive import backwards, forwards
from deltamem_tui.errors import BankCorruptError

LIMIT = 100


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_BLOCK", 16)


@pytest.mark.parametrize("torn", [0, 1, 99])
@pytest.mark.parametrize("length", [1, 15, 16, 17, 99, 100])
def test_a_line_of_every_length_that_it_may_have_is_found_from_both_ends(
    tmp_path: Path, length: int, torn: int
) -> None:
    path = tmp_path / "lines"
    lines = [b"x" * (length - 1) + b"\n", b"\n", b"y" * (length - 1) + b"\n"]
    path.write_bytes(b"".join(lines) + b"z" * torn)
    assert list(forwards(path, LIMIT)) == lines
    assert [line for line, _ in backwards(path, LIMIT)] == lines[::-1]
    ends = [end for _, end in backwards(path, LIMIT)]
    assert ends == [2 * length + 1, length + 1, length]


@pytest.mark.parametrize("length", [101, 102, 130, 1000])
def test_a_longer_one_is_refused_from_both_ends_behind_what_could_be_read(
    tmp_path: Path, length: int
) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"a\n" + b"x" * (length - 1) + b"\nb\n")
    for lines, first in (
        (forwards(path, LIMIT), b"a\n"),
        (backwards(path, LIMIT), (b"b\n", length + 4)),
    ):
        assert next(lines) == first
        with pytest.raises(BankCorruptError, match="more than the 100 bytes"):
            next(lines)


def test_what_has_no_newline_is_no_line_and_is_not_all_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"x" * 99)
    assert not list(forwards(path, LIMIT))
    assert not list(backwards(path, LIMIT))
    path.write_bytes(b"x" * 10_000)
    for lines in (forwards(path, LIMIT), backwards(path, LIMIT)):
        with pytest.raises(BankCorruptError, match="more than the 100 bytes"):
            next(lines)
