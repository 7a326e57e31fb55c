"""The map: what it lays out, where a step leads, and the way to a node's tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.models import node_map as maps
from deltamem_tui.tui.models.node_map import node_map, principal_axes
from deltamem_tui.tui.screens.node_map import NodeMapScreen
from tests.tui.support import Person, browse


def test_a_plane_is_laid_out_as_it_is() -> None:
    drawn = np.random.default_rng(7).normal(size=(50, 2)) * (3, 1)
    turned = drawn @ np.linalg.qr(np.random.default_rng(8).normal(size=(9, 9)))[0][:2]
    places, kept = principal_axes(turned + 5)
    assert kept > 0.999
    for axis in (0, 1):
        assert abs(np.corrcoef(places[:, axis], drawn[:, axis])[0, 1]) > 0.9
    assert np.abs(places).max() <= 1
    assert principal_axes(turned[:1])[0].tolist() == [[0, 0]]


def test_nodes_are_marked_and_a_large_collection_is_thinned(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = Bank.open(folder / "kitchen")
    found = node_map(bank, "task")
    assert found.marks == ("quiet", "hit", "failure", "quiet", "failure", "quiet")
    assert sum(map(len, found.groups.values())) == found.nodes == 6
    for point, (x, y) in enumerate(found.places):
        assert found.nearest(x, y) == point
        assert found.places[found.towards(point, 1, 0)][0] >= x
    monkeypatch.setattr(maps, "MOST_POINTS", 4)
    assert len(node_map(bank, "task").rows) == 3


def test_a_node_on_the_map_is_shown_in_its_tree(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("6", "right", "down")
        screen = person.app.screen
        assert isinstance(screen, NodeMapScreen)
        point = screen.node_id
        await person.press("enter")
        assert person.node.id == point

    browse(folder, story, "kitchen")
