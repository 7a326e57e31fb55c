"""A person's word on how an episode ended, and how it is taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit
from deltamem_tui.bank.undo import last_not_undone
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes import outcomes
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import (
    CANNOT_TELL,
    give_outcome,
    known_episode,
    take_back_outcome,
)
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.memory.episodes.verdicts import words_on
from deltamem_tui.memory.methods import names
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.native import to_record
from deltamem_tui.trajectory.user_outcomes import UserOutcomes
from tests.bank.support import file_bytes

SOLVED = Outcome(True, None, "stated")
STATED = Outcome(False, 0.0, "stated", "step_limit")


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return create_bank(tmp_path / "bank", embedder="hashing")


def known(bank: Bank, outcome: Outcome = STATED, task: str = "heat the egg") -> Trajectory:
    found = Trajectory(task, "a kitchen", (Step("look", "A stove."),), outcome)
    take_in(bank, [found])
    return found


def outcome_in(bank: Bank, of: Trajectory) -> Outcome:
    found = episode(Bank.open(bank.path), of.id)
    assert found is not None
    return found.outcome


def test_what_the_log_stated_comes_back_whole_word_by_word(bank: Bank) -> None:
    stated = known(bank)
    other = known(bank, Outcome(), "cool the egg")
    give_outcome(bank, stated.id, success=True)
    give_outcome(bank, other.id, success=True)
    give_outcome(bank, stated.id, success=False)
    assert outcome_in(bank, stated) == Outcome(False, None, "user")
    assert take_back_outcome(bank, stated.id).outcome == Outcome(True, None, "user")
    assert take_back_outcome(bank, stated.id).outcome == STATED
    assert outcome_in(bank, stated) == STATED
    assert outcome_in(bank, other) == Outcome(True, None, "user")
    assert take_back_outcome(bank, other.id).outcome == Outcome()
    assert verify(Bank.open(bank.path)) == []
    with pytest.raises(TrajectoryError, match="no outcome that could be taken back"):
        take_back_outcome(bank, stated.id)


def test_who_cannot_tell_leaves_the_outcome_and_is_remembered(bank: Bank) -> None:
    unclear = Outcome(None, None, "user", CANNOT_TELL)
    for stated in (known(bank), known(bank, Outcome(), "cool the egg")):
        for success in (None, True, None, None):
            give_outcome(bank, stated.id, success=success)
        found = episode(Bank.open(bank.path), stated.id)
        assert found is not None
        assert unclear in words_on(found)
        assert found.outcome.success == stated.outcome.success
        said = []
        for _ in range(4):
            word = take_back_outcome(bank, stated.id)
            said += [[each.success for each in words_on(word) if each.source == "user"]]
        assert said == [[None], [True], [None], []]
        assert outcome_in(bank, stated) == stated.outcome
    assert verify(Bank.open(bank.path)) == []


def test_a_word_given_again_after_it_was_taken_back_can_be_taken_back(bank: Bank) -> None:
    stated = known(bank)
    for _ in range(2):
        give_outcome(bank, stated.id, success=True)
        assert take_back_outcome(bank, stated.id).outcome == STATED


def test_what_was_said_since_by_a_file_stays(bank: Bank) -> None:
    unsaid = known(bank, Outcome())
    give_outcome(bank, unsaid.id, success=True)
    said = UserOutcomes({unsaid.id: Outcome(False, None, "user")})
    take_in(bank, [unsaid], outcomes=said)
    assert outcome_in(bank, unsaid).success is False
    with pytest.raises(TrajectoryError, match="another outcome was given to it since"):
        take_back_outcome(bank, unsaid.id)
    assert outcome_in(bank, unsaid).success is False


def test_a_word_that_an_import_repeats_is_the_import_s(bank: Bank) -> None:
    """Else to take back one's own would wipe what a file says since."""
    unsaid = known(bank, Outcome())
    give_outcome(bank, unsaid.id, success=True)
    for success in (False, True):
        said = UserOutcomes({unsaid.id: Outcome(success, None, "user")})
        assert take_in(bank, [unsaid], outcomes=said).count("updated") == 1
    before = outcome_in(bank, unsaid)
    with pytest.raises(TrajectoryError, match="another outcome was given to it since"):
        take_back_outcome(bank, unsaid.id)
    assert outcome_in(bank, unsaid) == before == Outcome(True, None, "user")
    give_outcome(bank, unsaid.id, success=False)
    assert take_back_outcome(bank, unsaid.id).outcome == before
    with pytest.raises(TrajectoryError, match="another outcome was given to it since"):
        take_back_outcome(bank, unsaid.id)


@pytest.mark.parametrize("other", [Outcome(False, None, "user"), Outcome(True, 1.0, "stated")])
def test_what_came_by_a_way_that_names_no_episode_stays(bank: Bank, other: Outcome) -> None:
    """As by a merge."""
    stated = known(bank)
    judged = give_outcome(bank, stated.id, success=True)
    with bank.writing() as batch:
        batch.put_episode(to_record(judged.with_outcome(other)))
        batch.log("merge", {})
    with pytest.raises(TrajectoryError, match="another outcome was given to it since"):
        take_back_outcome(bank, stated.id)
    assert outcome_in(bank, stated) == other


def test_an_import_of_other_episodes_is_no_word_on_this_one(bank: Bank) -> None:
    stated = known(bank)
    give_outcome(bank, stated.id, success=True)
    known(bank, task="cool the egg")
    take_in(bank, [stated])
    assert take_back_outcome(bank, stated.id).outcome == STATED


def test_what_was_learnt_from_is_not_taken_back(bank: Bank) -> None:
    """Its nodes have their label from it, and an episode that was learnt has an outcome."""
    unsaid = known(bank, Outcome())
    learn(bank, give_outcome(bank, unsaid.id, success=True))
    nodes = file_bytes(bank.path)["env.nodes.jsonl"]
    with pytest.raises(TrajectoryError, match="was learnt from as a success since") as caught:
        take_back_outcome(bank, unsaid.id)
    assert "give it another outcome" in str(caught.value)
    assert outcome_in(bank, unsaid) == Outcome(True, None, "user")
    assert file_bytes(bank.path)["env.nodes.jsonl"] == nodes


@pytest.mark.parametrize("method", names())
def test_what_an_overturned_episode_taught_is_taken_back_and_comes_again(
    tmp_path: Path, method: str
) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", method=method)
    steps = Step("take egg", "You hold it."), Step("heat egg", "Done.")
    for thing in ("egg", "cup", "pan"):
        learn(bank, Trajectory(f"heat the {thing}", "a kitchen", steps, SOLVED))

    def taught() -> list[object]:
        nodes = [
            (name, structs.replace(each, revision=0), tree.counts(each.id))
            for name, tree in bank.trees.items()
            for each in tree
        ]
        return [bank.episodes.waiting(), *sorted(nodes, key=repr)]

    for victim in bank.episodes.ids():
        before = taught()
        give_outcome(bank, victim, success=False)
        assert bank.episodes.waiting() == [victim]
        mine = [node for tree in bank.trees.values() for node in tree]
        assert all(each.label == "failure" for each in mine if each.origin.trajectory == victim)
        assert take_back_outcome(bank, victim).outcome == SOLVED
        assert taught() == before
    give_outcome(bank, victim, success=False)
    for success in (False, True, False, True):  # what comes again has its old id
        learn(bank, known_episode(bank, victim))
        assert victim not in bank.episodes.waiting()
        with pytest.raises(TrajectoryError, match="was learnt from as a"):
            take_back_outcome(bank, victim)
        give_outcome(bank, victim, success=not success)
        give_outcome(bank, victim, success=success)
        give_outcome(bank, victim, success=not success)
    assert verify(Bank.open(bank.path)) == []


@pytest.mark.parametrize("said", [None, [], {"success": "yes"}, {"success": True, "source": "x"}])
def test_a_journal_that_does_not_say_it_is_told(bank: Bank, said: object) -> None:
    stated = known(bank)
    give_outcome(bank, stated.id, success=True)
    with bank.writing() as batch:
        batch.log("undo", {"undoes": [], "trajectory": stated.id})
    with bank.writing() as batch:
        batch.log("outcome", {"trajectory": stated.id, "success": True, "outcome": said})
    with pytest.raises(TrajectoryError, match="does not have its earlier outcome"):
        take_back_outcome(bank, stated.id)


def test_an_episode_that_is_not_there_is_told(bank: Bank) -> None:
    with pytest.raises(TrajectoryError, match="no episode"):
        take_back_outcome(bank, "f" * 16)


def test_what_was_never_shown_is_not_taken_back(bank: Bank) -> None:
    stated = known(bank)
    give_outcome(bank, stated.id, success=True)
    shown = outcome_in(bank, stated)
    give_outcome(bank, stated.id, success=False)
    with pytest.raises(TrajectoryError, match=r"is failure \(source: user\) by now, which stays"):
        take_back_outcome(bank, stated.id, shown)
    assert outcome_in(bank, stated) == Outcome(False, None, "user")
    assert take_back_outcome(bank, stated.id, outcome_in(bank, stated)).outcome == shown


def test_a_word_that_comes_while_the_journal_is_read_stays(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same word as before: nobody sees by the outcome alone that it is another."""
    stated = known(bank)
    give_outcome(bank, stated.id, success=True)
    shown = outcome_in(bank, stated)

    def slow(reading: Bank, is_one: Callable[[Commit], bool]) -> Commit | None:
        word = last_not_undone(reading, is_one)
        give_outcome(Bank.open(bank.path), stated.id, success=True)
        return word

    monkeypatch.setattr(outcomes, "last_not_undone", slow)
    with pytest.raises(TrajectoryError, match="another outcome was given to it since"):
        take_back_outcome(bank, stated.id, shown)
    assert outcome_in(bank, stated) == shown
