"""What a bank holds, counted."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.statistics import bank_statistics
from tests.memory.support import episode, new_bank, parameters, teach


def test_a_bank_is_counted(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", parameters(k_cons=1))
    taught = [
        episode((1, 0, 0), (0, 1, 0)),
        episode((1, 0.1, 0), (1, 0, 0), success=False, action="two words"),
        episode((1, 0.1, 0), action="skip"),  # a failure scores lower: the root is the match
        episode((1, 0.1, 0), action="again"),
    ]
    for trajectory in taught:
        teach(bank, trajectory)
    take_in(bank, [episode((0, 0, 1), success=None), episode((0, 1, 1))])
    numbers = bank_statistics(bank)
    assert (numbers.episodes, numbers.learnt, numbers.waiting) == (6, 4, 2)
    assert numbers.without_outcome == 1
    task = numbers.trees["task"]
    assert (task.nodes, task.roots, task.residuals, task.failures) == (3, 1, 2, 1)
    assert dict(task.depths) == {1: 1, 2: 2}
    assert task.tokens == 13  # "1 0 0" and "act"; "1 0.1 0" with "two words" and with "again"
    assert task.hits == 2
    assert task.consolidated == 0
    env = numbers.trees["env"]
    assert (env.nodes, env.roots, env.residuals) == (2, 2, 0)
