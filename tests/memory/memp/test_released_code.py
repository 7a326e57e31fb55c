"""What the released code got wrong, each by name: every test fails on that behaviour."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.memp.definition import KEY, METHOD, PROCEDURES
from deltamem_tui.memory.plan import CollectionResult
from deltamem_tui.trajectory.receipt import Receipt, ShownNode
from tests.memory.memp.support import (
    SaidWriter,
    WordEmbedder,
    attempt,
    new_bank,
    numbered,
    records,
    shown,
    teach,
)

HOT, CLEAN = "put a hot apple in fridge.", "put a clean cup in shelf."


def test_what_a_receipt_says_was_shown_is_credited_and_repaired_and_nothing_else(
    tmp_path: Path,
) -> None:
    bank = new_bank(tmp_path / "bank", k=1)
    asked = Receipt("0" * 16, bank.manifest.counts_as, 0)

    def fail(number: int, *ids: str) -> CollectionResult:
        receipt = replace(asked, entries=tuple(ShownNode(PROCEDURES, each) for each in ids))
        episode = numbered(attempt(HOT, success=False, action="better"), number)
        return teach(bank, episode.with_facts(receipts=(receipt,)))

    first, second = (teach(bank, numbered(attempt(HOT), number)).node for number in (1, 2))
    assert first is not None
    assert second is not None
    assert shown(bank, HOT) == [first]
    assert fail(3).decision == "skip"  # it was shown nothing
    repaired = fail(4, second.id).node
    assert repaired is not None
    assert (repaired.id, repaired.revision) == (second.id, 1)
    again = fail(5, second.id).node  # which was repaired after it was shown
    assert again is not None
    assert (again.id, again.revision) == (second.id, 2)
    assert [bank.tree(PROCEDURES).counts(each.id).recalls for each in records(bank)] == [1, 2]


def test_what_would_have_been_recalled_kills_no_record(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    teach(bank, attempt(HOT))
    for number in range(4):
        lost = numbered(attempt(HOT, success=False, action="shrug"), number)
        learn(bank, lost, SaidWriter(), embedder=WordEmbedder())
    assert len(records(bank)) == 1


def test_a_repaired_record_does_not_die_of_what_was_counted_before(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", k=1)
    teach(bank, attempt(HOT))
    for number in range(2):
        teach(bank, numbered(attempt(HOT, success=False, action="shrug"), number))
    repaired = teach(bank, attempt(HOT, success=False, action="better"))
    assert repaired.decision == "repair"
    (record,) = records(bank)
    assert (record.payload["script"], record.id) == ("act better", repaired.match)
    for number in range(3):  # nor does it live on if it fails again
        assert records(bank) == [record]
        teach(bank, numbered(attempt(HOT, success=False, action="shrug"), 2 + number))
    assert len(bank.tree(PROCEDURES)) == 0


def test_question_and_key_are_the_task_alone(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", key="query")
    teach(bank, replace(attempt(HOT), environment="You are in a room with a lamp."))
    assert METHOD.questions(attempt(HOT))[PROCEDURES] == HOT == records(bank)[0].payload[KEY]
    found = recall(bank, HOT, "a room with a lamp", embedder=WordEmbedder())[PROCEDURES]
    assert found is not None
    assert found.candidates[0].score == 1.0
