"""Once an overturned episode is learnt again, sets that came of it are due and made without it."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.outcomes import give_outcome, known_episode
from deltamem_tui.memory.flat.definitions import WORKFLOWS
from deltamem_tui.memory.writers.writer import Writer
from tests.memory.flat import awm


def overturn(bank: Bank, episode_id: str, writer: Writer) -> None:
    give_outcome(bank, episode_id, success=False)
    learn(bank, known_episode(bank, episode_id), writer)


STEPS = ["take it", "heat it"]


def test_workflows_are_induced_without_it_and_go_with_the_last(tmp_path: Path) -> None:
    bank = awm.new_bank(tmp_path / "bank")
    tries = [awm.attempt(f"heat the {thing}", *STEPS) for thing in ("egg", "cup", "pan")]
    writer = awm.Inducer([STEPS])
    for each in tries:
        learn(bank, each, writer)
    writer.given.clear()
    overturn(bank, tries[0].id, writer)
    assert [len(each) for each in writer.given] == [2]
    assert not any("egg" in text for text in writer.given[0])
    (kept,) = bank.tree(WORKFLOWS)
    assert tries[0].id not in kept.origin.episodes
    for each in tries[1:]:
        overturn(bank, each.id, writer)
    assert (list(bank.tree(WORKFLOWS)), verify(bank)) == ([], [])
