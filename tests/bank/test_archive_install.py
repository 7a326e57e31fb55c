"""Taking in a bank: what arrives is what left, and a kill leaves the old or the new."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank import transfer as installing
from deltamem_tui.bank.bank import LOCK_NAME, Bank
from deltamem_tui.bank.transfer import install, receive
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import (
    BankCorruptError,
    BankExistsError,
    BankNotFoundError,
    UsageError,
)
from tests.bank.forging import digest_of_file, everything, packed, small_bank, unpacked
from tests.bank.support import contents, learn_one


@pytest.fixture
def source(tmp_path: Path) -> Path:
    bank = small_bank(tmp_path / "made" / "kitchen")
    return packed(bank, tmp_path / "made" / "kitchen.deltamem", with_episodes=True)


def test_what_arrives_is_what_left(tmp_path: Path, source: Path) -> None:
    bank, digest = install(receive(source), tmp_path / "kitchen")
    assert digest == digest_of_file(source)
    assert {each.name: each.read_bytes() for each in bank.path.iterdir()} == unpacked(source)
    assert bank.frozen
    assert verify(bank) == []
    assert contents(bank) == contents(Bank.open(source.with_suffix("")))
    again = packed(bank, tmp_path / "again.deltamem", with_episodes=True)
    assert again.read_bytes() == source.read_bytes()


def test_unfrozen_it_goes_on_as_a_bank_of_its_own(tmp_path: Path, source: Path) -> None:
    bank, _ = install(receive(source), tmp_path / "kitchen", frozen=False)
    assert bank.manifest.counts_as != Bank.open(source).manifest.counts_as
    assert not (bank.path / LOCK_NAME).exists()
    learn_one(bank, 50)
    assert verify(Bank.open(bank.path)) == []


def test_a_digest_that_was_pinned_is_kept(tmp_path: Path, source: Path) -> None:
    right = digest_of_file(source)
    wrong = right[:-1] + ("0" if right[-1] != "0" else "1")
    for refuse in (
        lambda: install(receive(source), tmp_path / "kitchen", pinned=wrong),
        lambda: installing.inspect(receive(source), pinned=wrong),
    ):
        with pytest.raises(BankCorruptError, match="pinned"):
            refuse()
    assert not (tmp_path / "kitchen").exists()
    assert installing.inspect(receive(source), pinned=right) == right
    install(receive(source), tmp_path / "kitchen", pinned=right)
    assert installing.checked_digest(right) == right
    for text in (right.upper(), right[7:-1], right + "0", "sha256:", "md5:00"):
        with pytest.raises(UsageError, match="not a digest"):
            installing.checked_digest(text)


def test_nothing_is_replaced_unless_asked(tmp_path: Path, source: Path) -> None:
    mine = small_bank(tmp_path / "kitchen", episodes=2)
    before = everything(mine.path)
    with pytest.raises(BankExistsError):
        install(receive(source), mine.path)
    assert everything(mine.path) == before
    bank, _ = install(receive(source), mine.path, replacing=True)
    assert contents(bank) == contents(Bank.open(source))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kitchen", "made"]
    assert mine.refresh()
    assert contents(mine) == contents(bank)


def test_only_a_bank_is_replaced(tmp_path: Path, source: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with pytest.raises(BankNotFoundError, match="not a bank"):
        install(receive(source), tmp_path / "thesis", replacing=True)
    (tmp_path / "link").symlink_to(tmp_path / "thesis")
    with pytest.raises(BankExistsError):
        install(receive(source), tmp_path / "link", replacing=True)
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


def test_what_is_pinned_is_what_is_placed(tmp_path: Path, source: Path) -> None:
    """Between a look at an archive and its installation, another may take its place."""
    other = packed(small_bank(tmp_path / "other" / "kitchen", episodes=2), tmp_path / "o.deltamem")
    pinned = digest_of_file(source)
    delivery = receive(other)
    source.replace(other)
    with pytest.raises(BankCorruptError, match="pinned"):
        install(delivery, tmp_path / "kitchen", pinned=pinned)
    assert not (tmp_path / "kitchen").exists()
