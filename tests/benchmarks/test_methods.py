"""What the comparison of the methods counts."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from benchmarks.methods import episodes_behind
from deltamem_tui.memory.engine import learn
from tests.memory.deltamem.test_recall_rules import HEAT_EGG, HEAT_MUG, bank_of, episode


def test_a_fused_root_comes_from_the_episodes_of_its_chain(tmp_path: Path) -> None:
    bank = bank_of(tmp_path / "bank", (HEAT_EGG, True), (HEAT_MUG, True), k_cons=1)
    learn(bank, structs.replace(episode(HEAT_MUG), environment="Another room."))
    tree = bank.tree("task")
    *chain, fused = tree
    assert not fused.origin.episodes
    assert episodes_behind(tree, fused) == [node.origin.trajectory for node in chain]
