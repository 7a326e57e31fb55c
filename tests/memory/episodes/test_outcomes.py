"""Verdicts on how episodes ended: every source's is kept, the weightiest counts.

One that overturns what was learnt marks its nodes, and learning again replaces them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.editing import edit
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import (
    CANNOT_TELL,
    Answer,
    answer_to,
    give_outcome,
    give_outcomes,
    known_episode,
    overturned_by,
    verdicts_on,
    with_facts_of,
    with_verdict,
)
from deltamem_tui.memory.episodes.stored_episodes import LEARNT_AS, episode
from deltamem_tui.memory.method import names
from deltamem_tui.memory.runs.judging import take_judgement
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.trajectory.model import Outcome, OutcomeSource, Step, Trajectory
from deltamem_tui.trajectory.readers.native import from_record

EPISODE = Trajectory("heat the egg", "a kitchen", (Step("look", "A stove."),))
RANK: tuple[OutcomeSource, ...] = ("user", "stated", "judge")
WORDS = st.lists(st.builds(Outcome, st.booleans(), st.none(), st.sampled_from(RANK)), max_size=6)


@given(WORDS)
def test_the_last_word_of_each_source_is_kept_and_the_weightiest_counts(
    words: list[Outcome],
) -> None:
    found = EPISODE
    for word in words:
        found = with_verdict(found, word)
    last = {word.source: word for word in words}
    assert verdicts_on(found) == tuple(last[source] for source in RANK if source in last)
    assert found.id == EPISODE.id
    assert from_record(found.record()) == found
    assert with_facts_of(EPISODE.with_outcome(found.outcome), found) == found


def test_a_reward_that_is_no_verdict_counts_for_less() -> None:
    paid, judged = Outcome(None, 0.5, "stated"), Outcome(False, None, "judge")
    assert verdicts_on(with_verdict(EPISODE.with_outcome(paid), judged)) == (judged, paid)


def test_judge_log_and_person_are_all_remembered(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    take_in(bank, [EPISODE])

    def words() -> tuple[Outcome, ...]:
        found = episode(bank, EPISODE.id)
        assert found is not None
        return verdicts_on(found)

    judged, stated = Outcome(True, None, "judge", "It is warm."), Outcome(False, 0.0, "stated")
    call = Call("judge", None, "m", "", Usage())
    take_judgement(bank, EPISODE.id, judged, call)
    assert words() == (judged,)
    take_in(bank, [EPISODE.with_outcome(stated)])
    assert words() == (stated, judged)
    user = Outcome(True, None, "user")
    give_outcome(bank, EPISODE.id, success=True)
    assert words() == (user, stated, judged)
    unclear = Outcome(None, None, "user", CANNOT_TELL)
    assert give_outcome(bank, EPISODE.id, success=None).outcome == stated
    assert words() == (stated, judged, unclear)
    learn(bank, EPISODE.with_outcome(user))
    assert words() == (user, stated, judged)


def taught(bank: Bank) -> list[object]:
    """The living nodes, but for their revisions, and the episodes that wait."""
    nodes = [
        (name, structs.replace(each, revision=0))
        for name, tree in bank.trees.items()
        for each in tree
    ]
    return [bank.episodes.waiting(), *sorted(nodes, key=repr)]


@pytest.mark.parametrize("method", names())
def test_an_overturned_episode_is_marked_and_learnt_again(tmp_path: Path, method: str) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", method=method)
    steps = Step("take egg", "You hold it."), Step("heat egg", "Done.")
    solved = Outcome(True, None, "stated")
    for thing in ("egg", "cup", "pan"):
        learn(bank, Trajectory(f"heat the {thing}", "a kitchen", steps, solved))
    for victim in bank.episodes.ids():
        before = taught(bank)
        found = overturned_by(bank, [victim], success=False)
        assert found is not None
        give_outcomes(bank, [victim], success=False)
        assert bank.episodes.waiting() == [victim]
        nodes = [node for tree in bank.trees.values() for node in tree]
        mine = [each for each in nodes if each.origin.trajectory == victim]
        assert len(mine) == len(found.nodes)
        assert {each.label for each in mine} <= {"failure"}
        assert known_episode(bank, victim).metadata[LEARNT_AS] == "success"
        assert give_outcome(bank, victim, success=None).outcome == solved  # taken back
        assert taught(bank) == [[victim], *before[1:]]
        learn(bank, known_episode(bank, victim))
        assert taught(bank)[0] == []
    for success in (False, True, False, True):  # what comes again has its old id
        give_outcome(bank, victim, success=success)
        old = {node.id for tree in bank.trees.values() for node in tree}
        learn(bank, known_episode(bank, victim))
        assert bank.episodes.waiting() == []
        assert LEARNT_AS not in known_episode(bank, victim).metadata
        for tree in bank.trees.values():
            for node in tree:
                if node.origin.trajectory == victim and node.id not in old:
                    assert node.label == ("success" if success else "failure")
    assert verify(Bank.open(bank.path)) == []


@pytest.mark.parametrize(
    ("held", "news", "waiting", "learnt"),
    [
        ("unknown", "judge", "updated", "duplicate"),
        ("unknown", "stated", "updated", "too late"),
        ("judge", "judge", "duplicate", "duplicate"),
        ("judge", "stated", "updated", "too late"),
        ("judge", "user", "updated", "too late"),
        ("stated", "judge", "duplicate", "duplicate"),
        ("stated", "stated", "contradiction", "too late"),
        ("stated", "user", "updated", "too late"),
        ("user", "stated", "duplicate", "duplicate"),
        ("user", "user", "updated", "too late"),
    ],
)
def test_what_becomes_of_a_record_that_states_the_opposite(
    held: OutcomeSource, news: OutcomeSource, waiting: Answer, learnt: Answer
) -> None:
    known = Outcome() if held == "unknown" else Outcome(True, None, held)
    stated = Outcome(False, None, news)
    assert answer_to(stated, known, learnt=False) == waiting
    assert answer_to(stated, known, learnt=True) == learnt
    # Two persons in one import, of whom neither spoke later.
    together = "contradiction" if held == news == "user" else waiting
    assert answer_to(stated, known, learnt=False, together=True) == together
    for agrees in (Outcome(), known):
        assert answer_to(agrees, known, learnt=False) == "duplicate"


def test_many_are_judged_in_one_commit_or_not_at_all(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing")
    solved = [
        Trajectory(f"heat the {thing}", "", EPISODE.steps, Outcome(True, None, "stated"))
        for thing in ("egg", "cup")
    ]
    for each in solved:
        learn(bank, each)
    take_in(bank, [EPISODE])
    ids, sequence = bank.episodes.ids(), bank.commit.sequence
    asked = overturned_by(bank, ids, success=False)
    assert asked is not None
    assert set(asked.episodes) == {each.id for each in solved}
    give_outcome(bank, solved[0].id, success=False)
    give_outcomes(bank, ids, success=False)
    assert bank.commit.sequence == sequence + 2
    assert {known_episode(bank, each).outcome.success for each in ids} == {False}
    give_outcomes(bank, ids, success=False)
    assert bank.commit.sequence == sequence + 2


@pytest.mark.parametrize(
    "method",
    [each for each in names() if each != "awm"],  # workflows are made anew whole
)
def test_what_a_person_edited_is_kept_when_a_verdict_is_overturned(
    tmp_path: Path, method: str
) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", method=method)
    steps = Step("take egg", "You hold it."), Step("heat egg", "Done.")
    for thing in ("egg", "cup", "pan"):
        learn(
            bank, Trajectory(f"heat the {thing}", "a kitchen", steps, Outcome(True, None, "user"))
        )
    taught = ((name, node) for name, tree in bank.trees.items() for node in tree)
    name, node = next(each for each in taught if each[1].origin.trajectory)
    field = [*node.payload][-1]
    edit(bank, name, node, {**node.payload, field: "take the egg in my own words"})
    mine, victim = bank.tree(name).node(node.id), node.origin.trajectory
    for success in (False, True, False):
        found = overturned_by(bank, [victim], success=success)
        assert found is not None
        assert "1 node that you edited stays" in found.text
        give_outcome(bank, victim, success=success)
        assert bank.tree(name).node(node.id) == mine
    learn(bank, known_episode(bank, victim))
    give_outcome(bank, victim, success=True)
    learn(bank, known_episode(bank, victim))  # what it teaches had this id
    assert bank.tree(name).node(node.id) == mine
    assert bank.episodes.waiting() == []
    assert verify(Bank.open(bank.path)) == []
