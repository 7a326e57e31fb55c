"""Receipts: handed out without a trace in the bank, and brought back by episodes in every way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deltamem_tui import create_bank, learn, recall
from deltamem_tui.errors import RecordError
from deltamem_tui.memory.episodes.credit import append_receipt
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.method import names
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.native import from_record
from deltamem_tui.trajectory.receipt import Receipt, ShownNode, made
from deltamem_tui.trajectory.receipt_file import read_receipts
from tests.memory.method_trials import learnt, real_episodes


def did(task: str, *actions: str, success: bool = True) -> Trajectory:
    steps = tuple(Step(each, "done") for each in actions or ("look",))
    return Trajectory(task, "a kitchen", steps, Outcome(success, None, "stated"))


def receipt(bank: str, *nodes: str, task: str = "heat the egg", environment: str = "") -> Receipt:
    shown = [ShownNode("task", node * 16, rank) for rank, node in enumerate(nodes, 1)]
    return made(bank * 16, 3, shown, task, environment)


@pytest.mark.parametrize("method", names())
def test_every_method_names_what_it_showed_and_is_not_written(tmp_path: Path, method: str) -> None:
    seen = real_episodes("alfworld")
    bank = learnt(tmp_path / "bank", method, "alfworld", seen[:12])
    bank.freeze()
    before = {path.name: path.read_bytes() for path in bank.path.iterdir()}
    asked = next(each for each in seen if recall(bank, each.task, each.environment).context)
    found = recall(bank, asked.task, asked.environment)
    assert found.receipt is not None
    chains = [chain for each in found.collections.values() if each for chain in each.chains]
    named = [(each.collection, each.node) for each in found.receipt.entries]
    assert len(set(named)) == len(named)
    assert {node for _, node in named} == {node.id for chain in chains for node in chain}
    assert (found.receipt.bank, found.receipt.commit) == (
        bank.manifest.counts_as,
        bank.commit.sequence,
    )
    assert found.receipt == recall(bank, asked.task, asked.environment).receipt
    assert {path.name: path.read_bytes() for path in bank.path.iterdir()} == before


def test_an_episode_brings_its_receipts_along(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    one, two = receipt("1", "a", "b"), receipt("2", "c")
    known = did("heat the egg").with_facts(receipts=(one,))
    assert from_record(json.loads(json.dumps(known.record()))) == known
    learn(bank, known, receipt=two)
    assert (found := episode(bank, known.id)) is not None
    assert found.receipts == (one, two)


@pytest.mark.parametrize(
    "wrong", [{"node": "a"}, {"rank": 0}, {"collection": "../task"}, {"score": 1e300}]
)
def test_what_is_not_a_receipt_is_refused(wrong: dict[str, object]) -> None:
    record = did("heat the egg").with_facts(receipts=(receipt("1", "a"),)).record()
    broken = json.loads(json.dumps(record))
    broken["receipts"][0]["entries"][0] |= wrong
    with pytest.raises(RecordError, match="receipt 1"):
        from_record(broken)


def test_an_import_joins_receipts_by_name_and_by_task(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    by_task, by_name, unclear = (
        receipt("1", "a"),
        receipt("1", "b"),
        receipt("1", "c", task="sweep"),
    )
    path = tmp_path / "receipts.jsonl"
    append_receipt(path, by_task)
    append_receipt(path, by_name, "game 7")
    append_receipt(path, unclear)
    append_receipt(path, receipt("1", "d", task="sweep"))
    named = did("another task").with_facts(metadata={"id": "game 7"})
    plain, twice = did("heat the egg"), did("sweep")
    again = did("heat the egg", "open the fridge")
    report = take_in(bank, [named, plain, again, twice], receipts=read_receipts(str(path)))
    kept = {each: found.receipts for each in bank.episodes.ids() if (found := episode(bank, each))}
    assert kept == {
        named.id: (by_name,),
        plain.id: (by_task,),
        again.id: (by_task,),
        twice.id: (),
    }
    assert report.receipts is not None
    assert report.receipts.unclear == {twice.id}
    assert report.receipts.shared == {by_task.id}
    assert report.receipts_added == 3
