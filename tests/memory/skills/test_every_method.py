"""What any method learnt goes out as skills and comes back as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from msgspec import structs

from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.methods import display_of, names
from deltamem_tui.memory.skills.installing import install_skills
from deltamem_tui.memory.skills.reading import read_skills
from deltamem_tui.memory.skills.writing import write_skills
from tests.memory.writers.rules.episodes import HEAT, HEAT_LOST, KITCHEN

EPISODES = [
    structs.replace(each, environment=f"{KITCHEN} It is day {day}.")
    for day in range(5)
    for each in (HEAT, HEAT_LOST)
]


@pytest.mark.parametrize("method", names())
def test_every_node_comes_back(tmp_path: Path, method: str) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method=method)
    for episode in EPISODES:
        learn(bank, episode)
    write_skills(bank, tmp_path / "skills")
    book = read_skills(tmp_path / "skills")
    again = install_skills(book, tmp_path / "again")
    assert (book.changed, book.adopted, book.missing, book.left) == ((), (), (), ())
    assert again.manifest.settings == bank.manifest.settings
    assert again.collections == bank.collections
    for name, tree in bank.trees.items():
        assert len(tree) or not display_of(bank, name).asked
        assert list(again.tree(name)) == list(tree)
        assert np.array_equal(again.tree(name).embeddings, tree.embeddings[tree.rows])
    assert verify(again) == []


def test_a_skill_is_picked_by_what_its_node_is_found_by(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method="awm")
    for thing in ("mug", "cup"):
        learn(bank, structs.replace(HEAT, task=f"put a hot {thing} in cabinet."))
    write_skills(bank, tmp_path / "skills")
    for node in bank.tree("workflows"):
        (skill,) = (tmp_path / "skills").glob(f"*{node.id}/SKILL.md")
        head = yaml.safe_load(skill.read_text().split("---")[1])
        assert node.payload["group"] in head["description"]
        assert node.payload["title"] in head["description"]
