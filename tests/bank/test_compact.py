"""A compact bank knows and counts what it did; killed at any instant, it is one or the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from msgspec import structs

from deltamem_tui.bank import journal
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.compact import compact
from deltamem_tui.bank.journal import Commit
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import (
    BankCorruptError,
    BankRewrittenError,
)
from tests.bank.support import learn_one, manifest, mark_first, node, vector


def grown(path: Path, episodes: int = 6) -> Bank:
    """A bank with dead lines of every kind: marked, edited, moved and deleted nodes."""
    bank = Bank.create(path, manifest())
    for number in range(episodes):
        learn_one(bank, number)
    mark_first(bank)
    with bank.writing() as batch:
        old, young = (node(each) for each in ("old", "young"))
        batch.add_node("task", old, vector(100))
        batch.add_node("task", young, vector(101))
        batch.log("learn")
    with bank.writing() as batch:  # the older goes below the younger
        moved = structs.replace(old, parent=young.id, kind="residual", depth=2)
        batch.revise_node("task", moved)
        batch.log("move")
    with bank.writing() as batch:
        leaf = leaf_of(bank)
        batch.count("task", leaf.id, recalls=3)
        batch.revise_node("task", structs.replace(leaf, deleted=True))
        batch.put_episode({"id": f"{1:016x}", "number": 1, "again": True})
        batch.log("delete")
    return bank


def leaf_of(bank: Bank) -> Node:
    return next(each for each in bank.tree("task") if not list(bank.tree("task").children(each.id)))


def knowledge(bank: Bank) -> dict[str, Any]:
    """All that a bank knows and counts, whatever the order of its lines."""
    trees = {
        name: {
            each.id: (each, tree.counts(each.id), tree.embeddings[tree.row(each.id)].tobytes())
            for each in tree
        }
        for name, tree in bank.trees.items()
    }
    ids = bank.episodes.ids()
    episodes = [(each, bank.episodes.state(each), bank.episodes.record(each)) for each in ids]
    return {"trees": trees, "episodes": episodes}


def every_byte(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def test_a_compact_bank_knows_and_counts_what_it_did(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank")
    before, sizes = knowledge(bank), {name: len(x) for name, x in every_byte(bank.path).items()}
    found = compact(bank)
    assert knowledge(bank) == knowledge(Bank.open(bank.path)) == before
    assert verify(Bank.open(bank.path)) == []
    after = sum(len(data) for data in every_byte(bank.path).values())
    assert found.bytes_saved == sum(sizes.values()) - after
    for name in ("task", "env"):
        rows = (bank.path / f"{name}.nodes.jsonl").read_bytes().count(b"\n")
        assert rows == len(np.load(bank.path / f"{name}.embeddings.npy", allow_pickle=False))
        index = bank.snapshots[name].index
        assert np.array_equal(index["first"], np.arange(rows))
    assert found.rows_saved == 4  # a mark, a move, a deletion, an episode given again
    assert not list(bank.path.glob("*.next"))


def test_a_deleted_node_keeps_its_id_and_nothing_it_said(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank")
    lines = (bank.path / "task.nodes.jsonl").read_text()
    gone = next(line for line in lines.splitlines() if '"deleted":true' in line)
    node_id = gone.split('"')[3]
    compact(bank)
    lines = (bank.path / "task.nodes.jsonl").read_text()
    left = [each for each in lines.splitlines() if node_id in each[:30]]
    assert len(left) == 1
    assert '"activation_condition":"","execution_procedure":"",' in left[0]
    assert '"revision":1' in left[0]
    with pytest.raises(Exception, match="has a node"), bank.writing() as batch:
        batch.add_node("task", structs.replace(node("x"), id=node_id), vector(1))


def test_the_journal_becomes_one_line_that_sums_it_up(tmp_path: Path) -> None:
    bank = Bank.create(tmp_path / "bank", manifest())
    for number in range(3):
        learn_one(bank, number)
        with bank.writing() as batch:
            batch.log("learn")
    sequence = bank.commit.sequence
    compact(bank)
    (line,) = bank.journal.commits()
    assert (line.event, line.sequence) == ("compact", sequence + 1)
    assert line.detail == {"commits": 7}
    for number in range(3, 20):
        learn_one(bank, number)
    assert verify(bank) == []  # the one line states every count that was folded


@pytest.mark.parametrize("after", [0, 1])
def test_nothing_to_save_changes_nothing(tmp_path: Path, after: int) -> None:
    bank = grown(tmp_path / "bank") if after else Bank.create(tmp_path / "bank", manifest())
    if after:
        compact(bank)
    before = every_byte(bank.path)
    found = compact(bank)
    assert not found.bytes_saved
    assert every_byte(bank.path) == before


def test_a_broken_bank_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank")
    path = bank.path / "task.nodes.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"kind":"root"', b'"kind":"toor"', 1))
    before = every_byte(bank.path)
    with pytest.raises(BankCorruptError, match="not a node"):
        compact(Bank.open(bank.path))
    assert every_byte(bank.path) == before


def test_a_lying_index_does_not_become_the_truth(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank")
    before = knowledge(bank)
    path = bank.path / "task.index.npy"
    index = np.load(path)
    index["first"][1] = 0  # as if the second node were a revision of the first
    np.save(path, index)
    compact(Bank.open(bank.path))
    assert knowledge(Bank.open(bank.path)) == before


def test_remains_of_an_attempt_are_never_read_and_removed(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank")
    compact(bank)
    before = knowledge(bank)
    # A second attempt dies while the last line of the journal still lists files.
    assert bank.commit.replaces
    for name in bank.commit.replaces:
        remains = journal.draft_path(bank.path / name, bank.commit.sequence + 1)
        remains.write_bytes(b"half")
    (bank.path / "notes.next").write_text("not ours")
    assert knowledge(Bank.open(bank.path)) == before
    learn_one(Bank.open(bank.path), 50)
    assert [path.name for path in bank.path.glob("*.next")] == ["notes.next"]
    assert verify(Bank.open(bank.path)) == []


@pytest.mark.parametrize("read", [0, 1, 2, 3])
def test_a_handle_from_before_reads_right_or_is_told(tmp_path: Path, read: int) -> None:
    bank = grown(tmp_path / "bank")
    old = Bank.open(bank.path)
    before = knowledge(bank)
    reads: list[Callable[[], Any]] = [
        lambda: old.tree("task").rows,
        lambda: old.tree("task").embeddings[0],
        lambda: old.snapshots["task"].text[:1],
        old.episodes.ids,
    ]
    compact(bank)
    with pytest.raises(BankRewrittenError, match=r"was rewritten .* \(open it again\)"):
        reads[read]()
    assert old.refresh()
    assert knowledge(old) == before
    # Later commits that only grow the files do not disturb it.
    fresh = Bank.open(bank.path)
    learn_one(bank, 40)
    assert knowledge(fresh) == before
    compact(bank)
    assert knowledge(fresh) == before  # all of it was read already


@pytest.mark.parametrize("name", ["../victim", "/etc/passwd", ".lock", "", "a/b.c", 3, None, "x"])
def test_a_file_name_that_leads_elsewhere_is_no_commit(name: object) -> None:
    line = Commit(0, replaces=("a.b",)).line()
    assert journal.parse(line, "journal.jsonl", "line 1").replaces == ("a.b",)
    planted = line.replace(b'"a.b"', orjson.dumps(name))
    with pytest.raises(BankCorruptError):
        journal.parse(planted, "journal.jsonl", "line 1")
