"""One verdict of a person on several episodes, in one commit, and how it is taken back."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.errors import BankError, TrajectoryError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import give_outcome, take_back_outcome
from deltamem_tui.memory.episodes.outcomes_together import (
    give_outcomes,
    joint_verdict,
    take_back_outcomes,
)
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.methods import names
from deltamem_tui.memory.verdict_effects import touched_together
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

STEPS = Step("take egg", "You hold it."), Step("heat egg", "Done.")


def bank_of(path: Path, method: str = "deltamem") -> Bank:
    """Five episodes that were learnt as successes, and one that waits without an outcome."""
    bank = create_bank(path, embedder="hashing", method=method)
    for thing, place in product(("egg", "cup"), ("kitchen", "bath")):
        solved = Outcome(True, None, "stated")
        learn(bank, Trajectory(f"heat the {thing}", f"a {place}", STEPS, solved))
    learn(bank, Trajectory("cool the pan", "a kitchen", STEPS, Outcome(True, None, "judge")))
    take_in(bank, [Trajectory("cool the mug", "a kitchen", STEPS)])
    return bank


def words(bank: Bank) -> list[object]:
    return [(each.id, each.outcome, each.verdicts) for each in episodes(bank)]


def state(bank: Bank) -> list[object]:
    """All that can be seen of a bank but how often its nodes were revised."""
    bank.refresh()
    nodes = [
        (name, structs.replace(each, revision=0), tree.counts(each.id))
        for name, tree in bank.trees.items()
        for each in tree
    ]
    return [bank.episodes.waiting(), words(bank), *sorted(nodes, key=repr)]


@pytest.mark.parametrize("method", names())
def test_it_is_as_each_by_itself_but_one_commit_and_comes_back_whole(
    tmp_path: Path, method: str
) -> None:
    singly, together = (bank_of(tmp_path / name, method) for name in ("singly", "together"))
    ids = together.episodes.ids()
    give_outcome(singly, ids[0], success=False)
    give_outcome(together, ids[0], success=False)
    before, sequence = state(together), together.commit.sequence
    verdict = joint_verdict(together, ids, success=False)
    assert verdict.given == tuple(ids[1:])
    assert (verdict.first, verdict.overturned) == (1, {"stated": 3, "judge": 1})
    touched = touched_together(together, verdict)
    assert (touched.withdrawn, touched.admits) == (4, 1)
    give_outcomes(together, verdict)
    for each in ids[1:]:
        give_outcome(singly, each, success=False)
    assert words(together) == words(singly)
    assert together.episodes.waiting() == ids
    left = [node for tree in together.trees.values() for node in tree]
    assert not [node for node in left if node.origin.trajectory and node.label == "success"]
    given = together.commit
    assert given.sequence == sequence + 1
    with pytest.raises(TrajectoryError, match="together with 4 others"):
        take_back_outcome(together, ids[1])
    assert take_back_outcomes(together, given) == 5
    assert state(together) == before
    with pytest.raises(TrajectoryError, match="taken back already"):
        take_back_outcomes(together, given)
    assert take_back_outcome(together, ids[0]).outcome.success
    assert verify(Bank.open(together.path)) == []


def test_what_changed_since_it_was_planned_is_not_written(tmp_path: Path) -> None:
    bank = bank_of(tmp_path / "bank")
    ids = bank.episodes.ids()
    verdict = joint_verdict(bank, ids, success=False)
    give_outcome(bank, ids[2], success=False)
    before = state(bank)
    with pytest.raises(BankError, match="changed since you were asked"):
        give_outcomes(bank, verdict)
    assert state(bank) == before


def test_it_stays_whole_once_one_of_its_episodes_was_judged_or_learnt_since(
    tmp_path: Path,
) -> None:
    bank = bank_of(tmp_path / "bank")
    ids = bank.episodes.ids()
    give_outcomes(bank, joint_verdict(bank, ids, success=False))
    given = bank.commit
    give_outcome(bank, ids[3], success=True)
    with pytest.raises(TrajectoryError, match=f"{ids[3]}: another outcome was given"):
        take_back_outcomes(bank, given)
    take_back_outcome(bank, ids[3])
    learn(bank, next(each for each in episodes(bank) if each.id == ids[4]))
    with pytest.raises(TrajectoryError, match="was learnt from as a failure since"):
        take_back_outcomes(bank, given)
