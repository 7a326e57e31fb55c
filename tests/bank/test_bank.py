"""The handle: made, opened, frozen, locked; one commit at a time for each who looks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.bank import manifest as manifests
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import (
    BankCorruptError,
    BankError,
    BankExistsError,
    BankFrozenError,
    BankNotFoundError,
    StorageError,
)
from tests.bank.support import change_domain, contents, learn_one, learnt, manifest, mark_first


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return learnt(tmp_path / "bank", 4)


def state_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.iterdir()
        if path.is_file()
    }


def test_a_new_bank_is_empty_and_sound(tmp_path: Path) -> None:
    made = Bank.create(tmp_path / "deep" / "bank", manifest("kitchen"))
    assert (made.name, made.manifest.name) == ("bank", "kitchen")
    assert [len(made.tree("task")), len(made.tree("env")), len(made.episodes)] == [0, 0, 0]
    assert verify(made) == []
    assert [commit.event for commit in made.journal.commits()] == ["init"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["bank"]


@pytest.mark.parametrize("what", ["file", "folder", "bank", "link"])
def test_nothing_is_written_over(tmp_path: Path, what: str) -> None:
    path = tmp_path / "bank"
    if what == "file":
        path.write_text("precious")
    elif what == "folder":
        path.mkdir()
        (path / "notes").write_text("precious")
    elif what == "bank":
        Bank.create(path, manifest())
    else:
        path.symlink_to(tmp_path / "elsewhere")
    before = state_of(path) if path.is_dir() else None
    with pytest.raises(BankExistsError, match="something is here already"):
        Bank.create(path, manifest())
    assert [each.name for each in tmp_path.iterdir()] == ["bank"]
    if before is not None:
        assert state_of(path) == before


def test_a_missing_bank_is_told(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(BankNotFoundError, match="no bank here"):
            Bank.open(path)


@pytest.mark.parametrize("version", [0, 3, "1", None, True, 1.0, [1], "x" * 500])
def test_another_format_version_is_told(bank: Bank, version: object) -> None:
    rewrite(bank, format=version)
    with pytest.raises(BankError, match="only 1") as caught:
        Bank.open(bank.path)
    assert len(str(caught.value)) < 300


def rewrite(bank: Bank, **changes: object) -> None:
    path = bank.path / "bank.json"
    record = json.loads(path.read_bytes()) | changes
    path.write_text(json.dumps({key: value for key, value in record.items() if value != "absent"}))


FLAT = {"fields": ["text"], "key": "text"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", 3),
        ("name", "absent"),
        ("domain", None),
        ("embedder", []),
        ("embedder", {"model": "x"}),
        ("embedder", {"dimensions": 0}),
        ("embedder", {"dimensions": -8}),
        ("embedder", {"dimensions": "8"}),
        ("embedder", {"dimensions": True}),
        ("embedder", {"dimensions": 10**12}),
        ("method", "absent"),
        ("method", "Delta Mem"),
        ("method", "a" * 33),
        ("settings", {"task": 3}),
        ("collections", "absent"),
        ("collections", {}),
        ("collections", {f"c{number}": FLAT for number in range(17)}),
        *[("collections", {name: FLAT}) for name in ("journal", "origins", "trajectories", "bank")],
        *[("collections", {name: FLAT}) for name in ("../x", "a.b", "A", "", "a\n", "a" * 33)],
        ("collections", {"notes": {"key": "text"}}),
        ("collections", {"notes": {**FLAT, "size": 3}}),
        ("collections", {"notes": {**FLAT, "depth": 0}}),
        ("collections", {"notes": {**FLAT, "depth": 10_001}}),
        ("collections", {"notes": {**FLAT, "key": "other"}}),
        ("collections", {"notes": {"fields": [], "key": "text"}}),
        ("collections", {"notes": {"fields": ["text", "text"], "key": "text"}}),
        ("collections", {"notes": {"fields": ["text", "parent"], "key": "text"}}),
        ("collections", {"notes": {"fields": ["text", "__init__"], "key": "text"}}),
        (
            "collections",
            {"notes": {"fields": ["text", *map("f{}".format, range(16))], "key": "text"}},
        ),
        ("frozen", "yes"),
        ("digests", None),
    ],
)
def test_a_manifest_that_breaks_the_rules_names_the_field(
    bank: Bank, key: str, value: object
) -> None:
    rewrite(bank, **{key: value})
    with pytest.raises(BankCorruptError, match=rf"bank\.json: '{key}") as told:
        Bank.open(bank.path)
    assert "regex" not in str(told.value)


WRITES: list[Callable[[Bank], object]] = [
    lambda bank: learn_one(bank, 9),
    mark_first,
    lambda bank: change_domain(bank, "x"),
    Bank.freeze,
]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("handle", ["old", "new"])
def test_a_frozen_bank_is_not_touched(bank: Bank, write: Any, handle: str) -> None:
    old = Bank.open(bank.path)
    bank.freeze()
    (bank.path / ".lock").unlink(missing_ok=True)
    before = state_of(bank.path)
    writer = old if handle == "old" else Bank.open(bank.path)
    with pytest.raises(BankFrozenError, match="`deltamem bank unfreeze`"):
        write(writer)
    after = state_of(bank.path)
    after.pop(".lock", None)  # an old handle has to take the lock to learn that it may not
    assert after == before
    assert verify(writer) == []
    assert contents(writer)
    assert state_of(bank.path).keys() - {".lock"} == before.keys()


def test_an_unfrozen_bank_is_written_again(bank: Bank) -> None:
    before = contents(bank)
    bank.freeze()
    assert Bank.open(bank.path).frozen
    assert contents(Bank.open(bank.path)) == before
    frozen_as = bank.manifest.counts_as
    bank.unfreeze()
    assert not Bank.open(bank.path).frozen
    assert Bank.open(bank.path).manifest.digests == {}
    assert Bank.open(bank.path).manifest.counts_as != frozen_as
    learn_one(bank, 4)
    assert verify(Bank.open(bank.path)) == []
    events = [commit.event for commit in bank.journal.commits()]
    assert events[-3:] == ["freeze", "unfreeze", "learn"]


def test_what_a_frozen_bank_promises_is_on_the_disk(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    real_sync, real_promising = files.sync, manifests.promising

    def sync(path: Path) -> None:
        done.append(path.name)
        real_sync(path)

    def promising(before: Manifest, found: Mapping[str, str]) -> Manifest:
        done.append("seal")
        return real_promising(before, found)

    monkeypatch.setattr(files, "sync", sync)
    monkeypatch.setattr(manifests, "promising", promising)
    bank.freeze()
    names = set(bank.manifest.digests) - {"bank.json"}
    assert len(names) == len(manifests.contents(bank.path))
    before_seal = done[: done.index("seal")]
    assert set(before_seal[-len(names) :]) == names


@pytest.mark.parametrize("change", [lambda bank: change_domain(bank, "kitchen"), Bank.freeze])
def test_a_planted_draft_does_not_choose_what_is_written(bank: Bank, change: Any) -> None:
    victim = bank.path.with_name("victim.txt")
    victim.write_text("precious")
    for name in (".bank.json.draft", f"bank.json.{bank.commit.sequence + 1}.next"):
        (bank.path / name).symlink_to(victim)
    before = bank.manifest
    bank = Bank.open(bank.path)
    change(bank)
    assert victim.read_text() == "precious"
    assert Bank.open(bank.path).manifest == bank.manifest != before
    assert not (bank.path / "bank.json").is_symlink()
    assert verify(Bank.open(bank.path)) == []


@pytest.mark.parametrize("name", ["task.nodes.jsonl", "task.counts.npy", "journal.jsonl"])
def test_a_link_in_a_files_place_is_not_written_through(bank: Bank, name: str) -> None:
    path = bank.path / name
    victim = path.rename(bank.path.with_name("victim"))
    path.symlink_to(victim)
    before = victim.read_bytes()
    with pytest.raises(StorageError, match=rf"{name}: a symbolic link stands in .* place \("):
        learn_one(Bank.open(bank.path), 9)
    assert victim.read_bytes() == before


def test_a_handle_shows_its_commit_until_it_is_refreshed(bank: Bank) -> None:
    reader = Bank.open(bank.path)
    untouched = Bank.open(bank.path)  # has read nothing yet
    before = contents(reader)
    for number in range(4, 30):
        learn_one(bank, number)
        mark_first(bank)
    assert contents(reader) == before
    assert contents(untouched) == before
    assert verify(untouched) == []
    assert reader.refresh()
    assert contents(reader) == contents(bank) != before
    assert not reader.refresh()


def test_a_block_that_raises_or_names_no_event_writes_nothing(bank: Bank) -> None:
    before = state_of(bank.path)

    def raising() -> None:
        with bank.writing() as batch:
            batch.put_episode({"id": "f" * 16})
            batch.log("import")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        raising()
    with bank.writing() as batch:
        batch.put_episode({"id": "f" * 16})
    after = state_of(bank.path)
    assert {**after, ".lock": None} == {**before, ".lock": None}
    assert bank.episodes.state("f" * 16) is None


def test_a_shipped_bank_is_read_verified_and_written(bank: Bank) -> None:
    trees = contents(bank)["trees"]
    for path in [bank.journal.path, *bank.path.glob("trajectories.*")]:
        path.unlink()
    before = state_of(bank.path)
    opened = Bank.open(bank.path)
    assert contents(opened) == {"trees": trees, "episodes": []}
    assert verify(opened) == []
    assert not opened.refresh()
    assert state_of(bank.path) == before
    learn_one(opened, 50)
    written = Bank.open(bank.path)
    assert [commit.event for commit in written.journal.commits()] == ["adopt", "learn"]
    assert len(written.tree("task")) == 5
    assert len(written.episodes) == 1
    assert verify(written) == []


def test_bytes_written_do_not_depend_on_size(tmp_path: Path) -> None:
    """An episode costs the bytes it adds, in all files together: at 12 and at 120 nodes."""
    bank = Bank.create(tmp_path / "bank", manifest())
    written: dict[int, int] = {}
    for number in range(102, 223):
        before = {path.name: path.stat().st_size for path in bank.path.iterdir()}
        with pytest.MonkeyPatch.context() as patch:
            sizes: list[int] = []
            real = files.write_at

            def counted(path: Path, position: int, data: bytes) -> None:
                sizes.append(len(data))  # noqa: B023
                real(path, position, data)  # noqa: B023

            patch.setattr(files, "write_at", counted)
            learn_one(bank, number)
        after = {path.name: path.stat().st_size for path in bank.path.iterdir()}
        grown = sum(after.values()) - sum(before.values())
        written[number] = sum(sizes)
        # Beside what it adds: the arrays' headers, and the counters that it changes.
        assert grown <= written[number] <= grown + 256 * len(list(bank.path.glob("*.npy"))) + 64
    # The same kind of episode, with a longer number here and there in the journal.
    assert 0 < abs(written[222] - written[114]) < 64


def test_two_handles_lose_no_change_of_the_manifest(bank: Bank) -> None:
    other = Bank.open(bank.path)
    for number, handle in enumerate((bank, other, bank, other)):
        handle.change_manifest(
            "note",
            lambda now: (replace(now, provenance={**now.provenance, str(number): True}), {}),  # noqa: B023
        )
    assert set(Bank.open(bank.path).manifest.provenance) == {"0", "1", "2", "3"}
    before = bank.journal.path.read_bytes()
    bank.change_manifest("note", lambda now: (now, {"nothing": "changed"}))
    assert bank.journal.path.read_bytes() == before
