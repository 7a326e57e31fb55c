"""Taking in a bank: what arrives is what left, and a kill leaves the old or the new."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from deltamem_tui.bank import transfer as installing
from deltamem_tui.bank.bank import LOCK_NAME, Bank
from deltamem_tui.bank.disk import archive, files
from deltamem_tui.bank.transfer import install, receive
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import (
    BankCorruptError,
    BankExistsError,
    BankNotFoundError,
    StorageError,
    UsageError,
)
from deltamem_tui.memory.deltamem.definition import COLLECTIONS
from tests.bank.forging import digest_of_file, everything, packed, small_bank, unpacked
from tests.bank.support import contents, learn_one, manifest, node, vector
from tests.effort import examples


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


_words = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@examples(10)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(COLLECTIONS)),
            st.integers(0, 10),
            _words,
            st.booleans(),
            st.integers(0, 9),
        ),
        max_size=12,
    ),
    st.booleans(),
    st.booleans(),
    st.text("abc", min_size=1, max_size=5),
)
def test_export_install_verify_is_identity(
    tmp_path_factory: pytest.TempPathFactory,
    plan: list[tuple[str, int, str, bool, int]],
    with_episodes: bool,
    with_journal: bool,
    name: str,
) -> None:
    """Any nodes, vectors, counts, edits and tombstones; the files byte for byte."""
    folder = tmp_path_factory.mktemp("identity")
    made = Bank.create(folder / "made" / name, manifest(name))
    for number, (tree_name, parent, words, deleted, hits) in enumerate(plan):
        tree = made.tree(tree_name)
        rows = tree.rows
        above = tree.node_at(int(rows[parent % len(rows)])) if parent and len(rows) else None
        new = node(f"{number} {words}", above, tree=tree_name)
        with made.writing() as batch:
            batch.add_node(tree_name, new, vector(number))
            batch.count(tree_name, new.id, hits=hits, recalls=hits)
            batch.put_episode({"id": f"{number:016x}", "task": words})
            batch.log("learn", {"words": words})
        if deleted:
            with made.writing() as batch:
                batch.revise_node(tree_name, structs.replace(new, deleted=True))
                batch.log("delete")
    sent = packed(
        made, folder / "sent.deltamem", with_episodes=with_episodes, with_journal=with_journal
    )
    arrived, _ = install(receive(sent), folder / name)
    assert verify(arrived) == []
    assert contents(arrived)["trees"] == contents(made)["trees"]
    assert contents(arrived)["episodes"] == (contents(made)["episodes"] if with_episodes else [])
    assert {each.name: each.read_bytes() for each in arrived.path.iterdir()} == unpacked(sent)


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


def test_a_file_system_that_cannot_swap_keeps_the_old_bank(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = small_bank(tmp_path / "kitchen", episodes=2)
    before = everything(mine.path)

    def refuse(one: Path, other: Path) -> None:
        raise StorageError("two folders cannot be swapped here", source=str(other))

    monkeypatch.setattr(files, "exchange", refuse)
    with pytest.raises(StorageError, match="swapped"):
        install(receive(source), mine.path, replacing=True)
    assert {k: v for k, v in everything(mine.path).items() if k != LOCK_NAME} == {
        k: v for k, v in before.items() if k != LOCK_NAME
    }
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kitchen", "made"]


def test_what_is_pinned_is_what_is_placed(tmp_path: Path, source: Path) -> None:
    """Between a look at an archive and its installation, another may take its place."""
    other = packed(small_bank(tmp_path / "other" / "kitchen", episodes=2), tmp_path / "o.deltamem")
    pinned = digest_of_file(source)
    delivery = receive(other)
    source.replace(other)
    with pytest.raises(BankCorruptError, match="pinned"):
        install(delivery, tmp_path / "kitchen", pinned=pinned)
    assert not (tmp_path / "kitchen").exists()


def test_sizes_are_bounded(tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, limit, words in (
        ("TOTAL_BYTES", 131_200, "bytes, more than"),
        ("_MEMBERS", 3, "files it may have"),
        ("MANIFEST_BYTES", 100, "bytes, more than"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(archive, name, limit)
            with pytest.raises(BankCorruptError, match=words):
                receive(source)
