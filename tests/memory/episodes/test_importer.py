"""Episodes come into a bank once, wait, and are told how they ended."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.table import LINE_LIMIT
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import BankCorruptError, RecordError
from deltamem_tui.memory.episodes import import_report, importer
from deltamem_tui.memory.episodes.import_report import Reception
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import give_outcome
from deltamem_tui.memory.episodes.stored_episodes import episodes, waiting
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.model import LogSource, Outcome, OutcomeSource, Step, Trajectory
from deltamem_tui.trajectory.user_outcomes import UserOutcomes
from deltamem_tui.trajectory.validation import admitted
from tests.bank.support import file_bytes
from tests.memory.support import episode, new_bank, teach

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return new_bank(tmp_path / "bank")


def receptions(
    bank: Bank, *records: Trajectory | RecordError, dry: bool = False
) -> list[Reception]:
    return [entry["reception"] for entry in take_in(bank, records, dry_run=dry).entries]


def test_importing_twice_adds_nothing(bank: Bank) -> None:
    found = [episode(X), episode(Y), episode(Z, success=None)]
    assert receptions(bank, *found) == ["imported"] * 3
    before = file_bytes(bank.path)
    sequence = bank.commit.sequence
    assert receptions(bank, *reversed(found)) == ["duplicate"] * 3
    assert file_bytes(bank.path) == before
    assert Bank.open(bank.path).commit.sequence == sequence
    assert list(episodes(bank)) == found
    assert list(waiting(bank)) == found


@pytest.mark.parametrize("together", [True, False])
def test_an_outcome_that_comes_later_is_taken(bank: Bank, together: bool) -> None:
    """In another import, or further down in the same one."""
    unknown, known, other = (episode(X, success=each) for each in (None, True, False))
    batches = (
        [[unknown, unknown, known, other]] if together else [[unknown, unknown], [known, other]]
    )
    found = [what for batch in batches for what in receptions(bank, *batch)]
    assert found == ["imported", "duplicate", "updated"]
    (kept,) = episodes(Bank.open(bank.path))
    assert kept.outcome == known.outcome
    assert verify(bank) == []


def test_learning_redacts_what_the_bank_does_not_have_yet(bank: Bank) -> None:
    told = holding(f"key {SECRET}")
    lesson = teach(bank, told)
    (kept,) = episodes(Bank.open(bank.path))
    assert lesson.trajectory == kept.id != told.id
    assert all(SECRET.encode() not in data for data in file_bytes(bank.path).values())
    assert not teach(bank, told).new


def test_an_outcome_is_not_overwritten_nor_given_to_what_was_learnt(bank: Bank) -> None:
    teach(bank, episode(X))
    take_in(bank, [episode(Y, success=False)])
    found = take_in(bank, [episode(X, success=False), episode(Y)])
    assert (found.episodes, len(found.rejected)) == (0, 2)
    assert "was learnt from as a success" in str(found.rejected[0])
    assert [each.outcome.success for each in episodes(bank)] == [True, False]
    assert receptions(bank, episode(X), episode(Y, success=None)) == ["duplicate"] * 2


def test_a_dry_run_tells_the_same_and_writes_nothing(bank: Bank) -> None:
    take_in(bank, [episode(X, success=None)])
    before = {path.name: path.read_bytes() for path in bank.path.iterdir()}
    records: list[Trajectory | RecordError] = [
        episode(X),
        episode(Y),
        episode(Y),
        RecordError("broken"),
        episode(X, success=False),
    ]
    dry = receptions(bank, *records, dry=True)
    assert {path.name: path.read_bytes() for path in bank.path.iterdir()} == before
    assert dry == receptions(bank, *records) == ["updated", "imported", "duplicate"]


def test_of_very_many_refusals_the_first_are_kept_and_all_are_counted(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_report, "LISTED", 3)
    errors = [RecordError("broken", source="a", position=f"line {line}") for line in range(5)]
    few = take_in(bank, errors[:3])
    assert (few.refused, few.refusals) == (3, tuple(errors[:3]))
    found = take_in(bank, [*errors, episode(X)])
    assert (found.refused, found.rejected) == (5, errors[:3])
    *listed, rest = found.refusals
    assert listed == errors[:3]
    assert rest.message.startswith("2 more records were refused")


def test_an_episode_too_long_for_a_line_is_rejected_and_the_others_come_in(bank: Bank) -> None:
    """Each text is within bounds, together they are not: the bank could not read its own line."""
    steps = tuple(Step(f"act {number}", "é" * 3_500_000) for number in range(5))
    long = replace(episode(X), steps=steps, source=LogSource("log.jsonl", "line 4", "native"))
    assert len(msgspec.json.encode(steps)) > LINE_LIMIT
    found = take_in(bank, [episode(Y), long, episode(Z)])
    assert found.count("imported") == 2
    (error,) = found.rejected
    assert str(error).startswith("log.jsonl, line 4: the episode has 35,000,")
    assert [each.task for each in episodes(Bank.open(bank.path))] == ["0 1 0", "0 0 1"]
    assert verify(bank) == []


SECRET = "sk-" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7xC0uFeL3iR6oA9bD2cG5h"
"""Nobody's key, of the shape of one."""


def holding(text: str) -> Trajectory:
    return replace(
        episode(X), steps=(Step("cat .env", text),), source=LogSource("log.jsonl", "line 1")
    )


def test_secrets_are_taken_out_and_the_id_is_that_of_what_is_kept(bank: Bank) -> None:
    told = holding(f"OPENAI_API_KEY={SECRET}")
    found = take_in(bank, [told, told])
    (kept,) = episodes(Bank.open(bank.path))
    (first, second) = found.entries
    assert "[redacted: " in kept.steps[0].observation
    assert kept.id == first["id"] == second["id"] != told.id
    assert [first["reception"], second["reception"]] == ["imported", "duplicate"]
    assert found.redactions.total() == 2
    assert all(SECRET.encode() not in data for data in file_bytes(bank.path).values())
    assert verify(bank) == []


def test_an_outcome_is_named_by_the_id_of_what_is_kept(bank: Bank) -> None:
    """The id that users see is the one after redaction."""
    waits = holding(f"key {SECRET}").with_outcome(Outcome())
    (entry,) = take_in(bank, [waits]).entries
    said = Outcome(success=True, source="user")
    other = UserOutcomes(by_id={waits.id: said})
    assert take_in(bank, [waits], outcomes=other).count("updated") == 0
    told = UserOutcomes(by_id={entry["id"]: said})
    assert take_in(bank, [waits], outcomes=told).count("updated") == 1
    assert [each.outcome for each in episodes(bank)] == [said]


def test_a_tally_per_file_and_no_more_if_not_asked(bank: Bank) -> None:
    one, other = LogSource("one", "line 1", "native"), LogSource("other", "line 1", "react")
    records: list[Trajectory | RecordError] = [
        replace(episode(X), source=one),
        replace(holding(f"key {SECRET}"), source=one),
        replace(episode(X), source=one),
        replace(episode(Y, success=False), source=other),
        replace(episode(Z, success=None), source=other),
        RecordError("broken", source="other"),
    ]
    found = take_in(bank, records, listed=False)
    assert found.entries == []
    assert (found.formats, found.steps) == (["native", "react"], 5)
    assert found.receptions == {"imported": 4, "duplicate": 1}
    assert (found.successes, found.failures, found.refused) == (3, 1, 1)
    assert found.sources == {"stated": 4, "unknown": 1}
    assert found.redactions.total() == 1
    assert (found.episodes, found.without_outcome) == (5, 1)


@pytest.mark.parametrize(
    "change",
    [b'"task":"0 0 1"', b'"task":"     "', b'"tusk":"1 0 0"', b'"task":"1 0\\t"'],
)
def test_an_episode_that_was_tampered_with_is_told(bank: Bank, change: bytes) -> None:
    found = episode(X)
    take_in(bank, [found])
    path = bank.path / "trajectories.jsonl"
    text = path.read_bytes()
    assert b'"task":"1 0 0"' in text
    path.write_bytes(text.replace(b'"task":"1 0 0"', change))
    with pytest.raises(BankCorruptError, match=f"trajectories.jsonl: episode {found.id} "):
        list(waiting(Bank.open(bank.path)))
    tampered = path.read_bytes()
    with pytest.raises(BankCorruptError, match=f"trajectories.jsonl: episode {found.id} "):
        give_outcome(Bank.open(bank.path), found.id, success=False)
    assert path.read_bytes() == tampered


def said(success: bool | None, source: OutcomeSource = "stated", line: int = 1) -> Trajectory:
    outcome = Outcome() if success is None else Outcome(success, source=source)
    return replace(
        episode(X).with_outcome(outcome), source=LogSource("log.jsonl", f"line {line}", "native")
    )


@pytest.mark.parametrize(
    ("before", "changed", "again"),
    [
        (said(True, "user"), 1, "updated"),
        (said(None), 0, "duplicate"),
        (said(True), 1, "duplicate"),
        (said(True, "judge"), 1, "duplicate"),
    ],
)
def test_a_person_has_the_last_word_while_the_episode_waits(
    bank: Bank, before: Trajectory, changed: int, again: Reception
) -> None:
    take_in(bank, [before])
    found = take_in(bank, [said(False, "user")])
    assert (found.count("updated"), found.changed, found.rejected) == (1, changed, [])
    assert found.failures == 1
    (kept,) = episodes(Bank.open(bank.path))
    assert kept.outcome == Outcome(success=False, source="user")
    assert receptions(bank, before) == [again]
    assert verify(bank) == []


@pytest.mark.parametrize("dry", [True, False])
@pytest.mark.parametrize("batch", [1, 10])
def test_two_records_that_contradict_each_other_are_told(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, dry: bool, batch: int
) -> None:
    """Again when they are imported again: the second never becomes a correction."""
    monkeypatch.setattr(importer, "_BATCH_EPISODES", batch)
    for _ in range(2):
        found = take_in(bank, [said(True), said(False, line=2)], dry_run=dry)
        (error,) = found.rejected
        assert "states failure, but an earlier record states success" in error.message
        assert (error.source, error.position) == ("log.jsonl", "line 2")
        assert (found.episodes, found.refused) == (1, 1)
    assert [each.outcome.success for each in episodes(bank)] == ([] if dry else [True])


def test_persons_who_contradict_each_other_in_one_import_are_refused(bank: Bank) -> None:
    found = take_in(bank, [said(None), said(True, "user", 2), said(False, "user", 3)])
    assert (found.count("imported"), found.count("updated"), found.changed) == (1, 1, 0)
    (error,) = found.rejected
    assert error.position == "line 3"
    assert [each.outcome.success for each in episodes(bank)] == [True]


def test_the_ids_that_the_user_named_and_the_logs_hold(bank: Bank) -> None:
    stated = replace(episode(Y), metadata={"id": "r-2"})
    waits = replace(episode(X, success=None), metadata={"id": "r-1"})
    ids = ("r-1", "r-2", "r-3")
    told = UserOutcomes(by_id=dict.fromkeys(ids, Outcome(success=True, source="user")))
    assert take_in(bank, [waits, stated], outcomes=told).named == {"r-1", "r-2"}


def test_marks_that_make_a_text_too_long_are_noticed(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the bank would hold a line that it cannot read."""
    text = f"API_KEY={SECRET} "
    short = "postgres://ada:s3cr3t@db/x "
    most = LogLimits(field_characters=len(text) + len(short))
    monkeypatch.setattr(importer, "admitted", partial(admitted, limits=most))
    found = take_in(bank, [holding(short + "x" * len(text)), holding(text + short)])
    (error,) = found.rejected
    assert str(error).startswith("log.jsonl, line 1: a text of ")
    assert found.count("imported") == 1
