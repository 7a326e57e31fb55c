"""Second looks: some verdicts come back later, and what is answered then changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.credit.intervals import Share
from deltamem_tui.memory.credit.review_queue import is_drawn
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import give_outcome
from deltamem_tui.memory.second_looks import look_again, second_looks, take_back_look
from deltamem_tui.trajectory.model import Outcome
from tests.bank.support import file_bytes
from tests.memory.credit.test_credit import an_episode, grown

DRAWN = [n for n in range(400) if is_drawn(f"again {an_episode(n, Outcome(), []).id}", 0, 0.1)]


def test_some_come_back_after_twenty_others_once_and_change_nothing(tmp_path: Path) -> None:
    assert 15 <= len(DRAWN) <= 75
    bank = grown(tmp_path / "bank")
    others = [n for n in range(100) if n not in DRAWN][:20]
    all_of_them = [an_episode(n, Outcome(), []) for n in (*DRAWN[:2], *others)]
    take_in(bank, all_of_them)
    first, second, *rest = (each.id for each in all_of_them)
    for number, each in enumerate((first, second, *rest)):
        assert second_looks(bank).due == ((first,) if number == 21 else ())
        give_outcome(bank, each, success=True)
    assert second_looks(bank).due == (first, second)
    before = file_bytes(bank.path)
    look_again(bank, first, success=True)
    look_again(bank, second, success=False)
    found = second_looks(bank)
    assert (found.due, found.same) == ((), Share(2, 1))
    assert found.record()["different"] == [{"episode": second, "first": True, "second": False}]
    take_back_look(bank, second)
    assert (second_looks(bank).due, second_looks(bank).same) == ((second,), Share(1, 1))
    assert file_bytes(bank.path) == before
    assert verify(bank) == []
    with pytest.raises(TrajectoryError):
        take_back_look(bank, second)
