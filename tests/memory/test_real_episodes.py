"""Episodes that were rolled out on real simulators go through every method, by rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.engine import recall
from deltamem_tui.memory.method import names
from tests.bank.support import file_bytes
from tests.effort import draw, thorough
from tests.memory.method_trials import LOGS, learnt, real_episodes

TRIED = 20


@pytest.mark.one_in(3)
@pytest.mark.parametrize("domain", LOGS)
@pytest.mark.parametrize("method", names())
def test_all_are_learnt_and_the_same_ones_give_the_same_bytes(
    tmp_path: Path, method: str, domain: str
) -> None:
    episodes = real_episodes(domain)
    apart = 1 if thorough() else len(episodes) // TRIED
    episodes = episodes[draw().randrange(apart) :: apart]
    one, other = (learnt(tmp_path / name, method, domain, episodes) for name in ("one", "other"))
    assert one.episodes.learnt() == len(episodes)
    assert verify(one) == []
    solved = next(each for each in episodes if each.outcome.success)
    assert recall(one, solved.task, solved.environment).context
    first, second = file_bytes(one.path), file_bytes(other.path)
    assert first.keys() == second.keys()
    # The manifest has the bank's name.
    assert {name for name in first if first[name] != second[name]} <= {"bank.json"}
