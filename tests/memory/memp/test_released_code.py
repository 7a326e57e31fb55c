"""What the released code got wrong, each by name: every test fails on that behaviour."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.memory.domain import domain_for
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.memp.definition import KEY, METHOD, PROCEDURES
from deltamem_tui.memory.plan import CollectionResult
from deltamem_tui.trajectory.receipt import Receipt, ShownNode
from tests.memory.memp.support import (
    SaidWriter,
    WordEmbedder,
    attempt,
    facts,
    new_bank,
    numbered,
    records,
    shown,
    teach,
)

HOT, CLEAN = "put a hot apple in fridge.", "put a clean cup in shelf."


def counts(path: Path, **numbers: object) -> list[tuple[int, int]]:
    """Recalls and successes of two records of one task, after a success and a failure with both."""
    bank = new_bank(path, update="validation", least_recalls=None, **numbers)
    teach(bank, attempt(HOT, action="one"))
    teach(bank, attempt(HOT, action="two", success=False))
    teach(bank, attempt(HOT, action="three"))
    for number, success in enumerate((True, False)):
        teach(bank, numbered(attempt(HOT, success=success), number))
    tree = bank.tree(PROCEDURES)
    return [(tree.counts(n.id).recalls, tree.counts(n.id).successes) for n in records(bank)]


def test_each_record_that_was_shown_is_credited_not_only_the_first(tmp_path: Path) -> None:
    assert counts(tmp_path / "bank", k=2)[1] == (2, 1)


def test_two_episodes_that_share_a_record_each_count_their_own_reward(tmp_path: Path) -> None:
    assert counts(tmp_path / "bank", k=1)[0] == (4, 2)


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


def test_a_repeated_task_is_another_record(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    for number in range(2):
        assert teach(bank, numbered(attempt(HOT), number)).decision == "record"
    assert [node.payload[KEY] for node in records(bank)] == [HOT, HOT]


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


def test_each_record_has_facts_of_its_own_from_its_first_day_on(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", key="avefact", k=1)
    teach(bank, attempt(HOT))
    teach(bank, attempt(CLEAN))
    for task, state in ((HOT, "hot"), (CLEAN, "clean")):
        (found,) = shown(bank, task)
        assert (found.payload[KEY], facts(bank, found)["state"]) == (task, state)
    teach(bank, attempt(CLEAN, success=False, action="repair"))
    (found,) = shown(bank, CLEAN)
    assert facts(bank, found)["object"] == "cup"


def test_the_words_of_a_domain_are_its_own() -> None:
    found = {domain_for(each).fact_names for each in ("alfworld", "scienceworld", "")}
    assert len(found) == 3


def test_question_and_key_are_the_task_alone(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", key="query")
    teach(bank, replace(attempt(HOT), environment="You are in a room with a lamp."))
    assert METHOD.questions(attempt(HOT))[PROCEDURES] == HOT == records(bank)[0].payload[KEY]
    found = recall(bank, HOT, "a room with a lamp", embedder=WordEmbedder())[PROCEDURES]
    assert found is not None
    assert found.candidates[0].score == 1.0


def test_a_failure_that_was_shown_nothing_teaches_nothing(tmp_path: Path) -> None:
    bank, writer = new_bank(tmp_path / "bank"), SaidWriter()
    assert teach(bank, attempt(success=False), writer).decision == "skip"
    assert not writer.asked
    assert not records(bank)


@pytest.mark.parametrize("update", ["vanilla", "validation"])
def test_only_vanilla_keeps_failures(tmp_path: Path, update: str) -> None:
    bank = new_bank(tmp_path / "bank", update=update)
    teach(bank, attempt(success=False))
    assert [node.label for node in records(bank)] == ["failure"] * (update == "vanilla")
