"""Verification finds every planted flaw, and none in a sound bank."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import Flaw, is_proved, repair, verify
from deltamem_tui.errors import BankCorruptError, BankError, BankFrozenError
from tests.bank.support import contents, learn_one, manifest, mark_first
from tests.effort import examples
from tests.places import BANKS

Values = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verify") / "bank"
    made = Bank.create(path, manifest())
    for number in range(5):
        learn_one(made, number)
    mark_first(made)
    return path


@pytest.fixture(scope="module")
def frozen(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("frozen") / "bank"
    shutil.copytree(base, path)
    Bank.open(path).freeze()
    assert verify(Bank.open(path)) == []
    return path


@pytest.fixture
def path(base: Path, tmp_path: Path) -> Path:
    """A copy of the bank, to be spoilt."""
    return shutil.copytree(base, tmp_path / "bank")


@pytest.fixture
def sealed(frozen: Path, tmp_path: Path) -> Path:
    """A copy of the frozen bank, to be spoilt."""
    return shutil.copytree(frozen, tmp_path / "bank")


@pytest.mark.parametrize("name", ["alfworld", "scienceworld"])
def test_the_banks_that_ship_are_sound(name: str) -> None:
    assert verify(Bank.open(BANKS / name)) == []


def flaws_of(path: Path) -> list[Flaw]:
    """What verification finds; an error on opening is a finding too."""
    try:
        return verify(Bank.open(path))
    except BankError as error:
        return [Flaw(error.message, Path(error.source or "").name, error.position)]


@examples(50)
@given(data=st.data())
def test_one_changed_byte_anywhere_in_a_frozen_bank_is_found(
    frozen: Path, data: st.DataObject
) -> None:
    paths = sorted(path for path in frozen.iterdir() if path.stat().st_size)
    assert len(paths) == 17
    path = data.draw(st.sampled_from(paths))
    before = path.read_bytes()
    at = data.draw(st.integers(0, len(before) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != before[at]))
    try:
        path.write_bytes(before[:at] + bytes([other]) + before[at + 1 :])
        assert path.name in {flaw.source for flaw in flaws_of(frozen)}
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize("edit", ["added", "removed", "link", "folder", "grown"])
def test_a_frozen_bank_is_exactly_its_files(sealed: Path, tmp_path: Path, edit: str) -> None:
    target = sealed / "env.counts.npy"
    if edit == "added":
        (sealed / "extra.txt").write_text("x")
    elif edit == "removed":
        (sealed / "journal.jsonl").unlink()
    elif edit == "link":
        shutil.move(target, tmp_path / "moved")
        target.symlink_to(tmp_path / "moved")
    elif edit == "folder":
        (sealed / "extra.txt").mkdir()
    else:
        with target.open("ab") as stream:
            stream.write(b"x")
    expected = {
        "added": ("extra.txt", "was not there when the bank was frozen"),
        "removed": ("journal.jsonl", "is missing"),
        "link": ("env.counts.npy", "is not a plain file"),
        "folder": ("extra.txt", "was not there when the bank was frozen"),
        "grown": ("env.counts.npy", "was changed since the bank was frozen"),
    }
    assert [(flaw.source, flaw.message) for flaw in flaws_of(sealed)] == [expected[edit]]


def array(name: str, change: Callable[[Values], object]) -> Callable[[Path], None]:
    def edit(bank: Path) -> None:
        values = np.load(bank / name)
        change(values)
        np.save(bank / name, values)

    return edit


def nan(values: Values) -> None:
    values[2, 3] = np.nan


def infinite(values: Values) -> None:
    values[2, 3] = np.inf


def longer(values: Values) -> None:
    values[2] *= 1.1


def zero(values: Values) -> None:
    values[2] = 0


def one_more(values: Values) -> None:
    values[2, 0] += 1


@pytest.mark.parametrize(
    ("edit", "source", "message"),
    [
        (array("task.embeddings.npy", nan), "task.embeddings.npy", "length nan"),
        (array("env.embeddings.npy", infinite), "env.embeddings.npy", "length inf"),
        (array("task.embeddings.npy", longer), "task.embeddings.npy", "length 1.1"),
        (array("task.embeddings.npy", zero), "task.embeddings.npy", "length 0"),
        (array("task.counts.npy", one_more), "task.counts.npy", "where the journal states"),
        (array("env.counts.npy", one_more), "env.counts.npy", "where the journal states"),
        (
            array("trajectories.states.npy", zero),
            "trajectories.states.npy",
            "counts [0] where the journal states [1]",
        ),
    ],
)
def test_a_planted_flaw_is_found(
    path: Path, edit: Callable[[Path], None], source: str, message: str
) -> None:
    assert verify(Bank.open(path)) == []
    edit(path)
    found = flaws_of(path)
    assert [flaw.source for flaw in found] == [source]
    assert message in found[0].message


def test_a_lost_commit_is_found(path: Path) -> None:
    lines = (path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (path / "journal.jsonl").write_bytes(b"".join(lines[:2] + lines[3:]))
    assert "commit 3 follows commit 1" in [flaw.message for flaw in flaws_of(path)]


def test_a_node_that_says_something_else_than_at_birth_is_found(path: Path) -> None:
    lines = path / "env.nodes.jsonl"
    lines.write_bytes(lines.read_bytes().replace(b'"how 3"', b'"how 4"', 1))
    (flaw,) = flaws_of(path)
    assert (flaw.source, flaw.position) == ("env.nodes.jsonl", "line 4")
    assert "does not say what its id was made from" in flaw.message


def test_counts_are_proved_by_a_whole_journal_only(path: Path) -> None:
    assert is_proved(Bank.open(path))
    text = (path / "journal.jsonl").read_bytes()
    (path / "journal.jsonl").write_bytes(text[text.index(b"\n") + 1 :])
    assert not is_proved(Bank.open(path))
    (path / "journal.jsonl").unlink()
    assert not is_proved(Bank.open(path))


@pytest.mark.parametrize("torn", [b'{"sequence": 7', b"\0" * 90 + b"\n", b"\0\n{}\n\xff\n{", b"\n"])
def test_repair_cuts_a_torn_journal_back_to_its_last_whole_commit(path: Path, torn: bytes) -> None:
    before = contents(Bank.open(path))
    whole = (path / "journal.jsonl").read_bytes()
    (path / "journal.jsonl").write_bytes(whole + torn)
    assert repair(path) == torn
    assert (path / "journal.jsonl").read_bytes() == whole
    assert repair(path) == b""
    assert (contents(Bank.open(path)), flaws_of(path)) == (before, [])
    learn_one(Bank.open(path), 9)
    assert flaws_of(path) == []


def test_repair_drops_no_commit(path: Path) -> None:
    first, *others = (path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    damaged = first + b"{}\n" + b"".join(others)
    (path / "journal.jsonl").write_bytes(damaged)
    assert repair(path) == b""
    assert (path / "journal.jsonl").read_bytes() == damaged
    (path / "journal.jsonl").write_bytes(b"{}\n" * 3)
    with pytest.raises(BankCorruptError):
        repair(path)
    assert (path / "journal.jsonl").read_bytes() == b"{}\n" * 3


def test_repair_changes_no_frozen_bank(sealed: Path) -> None:
    with (sealed / "journal.jsonl").open("ab") as journal:
        journal.write(b"{}\n")
    with pytest.raises(BankFrozenError):
        repair(sealed)
    assert (sealed / "journal.jsonl").read_bytes().endswith(b"{}\n")
