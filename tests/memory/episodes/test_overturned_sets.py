"""Once an overturned episode is learnt again, sets that came of it are due and made without it."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.cdmem.definition import TASK_INSIGHTS
from deltamem_tui.memory.engine import due, learn
from deltamem_tui.memory.episodes.outcomes import give_outcome, known_episode
from deltamem_tui.memory.flat.definitions import WORKFLOWS
from deltamem_tui.memory.runs.learning import LearningRun
from deltamem_tui.memory.writers.writer import Writer
from tests.memory.cdmem import support as cdmem
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


def test_insights_are_made_anew_from_what_is_left(tmp_path: Path) -> None:
    bank = cdmem.new_bank(tmp_path / "bank", batch=2)
    writer = cdmem.EchoWriter()
    tries = [cdmem.episode(cdmem.TASKS[0], room, 2, at=at) for at, room in enumerate(cdmem.ROOMS)]
    for each in tries:
        learn(bank, each, writer)
    assert due(bank) == []
    overturn(bank, tries[0].id, writer)
    assert [each.collection for each in due(bank)] == ["short"]
    writer.batches.clear()
    for _ in LearningRun(bank, writer).consolidate():
        pass
    ((_, batch, insights),) = writer.batches
    assert batch == tuple(f"go {cdmem.words(each)}" for each in tries[1:])
    assert insights == ()
    made = {node.payload["text"] for node in bank.tree(TASK_INSIGHTS) if node.depth == 2}
    assert made == {f"so {text}" for text in batch}
    assert (due(bank), verify(bank)) == ([], [])
