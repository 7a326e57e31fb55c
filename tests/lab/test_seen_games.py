"""What a game taught can be taken out of a bank, whatever was made of it since."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.lab.contestants.seen_games import forget_episodes, seen_games
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.methods import change_settings, names
from deltamem_tui.memory.settings import replaced
from deltamem_tui.trajectory.readers.native import from_record
from tests.bank.quick_disk import no_waiting_for_the_disk
from tests.cli.support import ENOUGH

__all__ = ["no_waiting_for_the_disk"]


def sources(bank: Bank) -> dict[str, set[str]]:
    """Per living node, all episodes that it or what it was made from ever came from."""
    lines = [
        tree.node_at(row) for tree in bank.trees.values() for row in range(len(tree.snapshot.index))
    ]

    def of(node_id: str, seen: frozenset[str]) -> set[str]:
        found: set[str] = set()
        for each in lines:
            if each.id == node_id:
                found.update(each.origin.episodes)
                for other in set(each.origin.nodes) - seen:
                    found |= of(other, seen | {node_id})
        return found

    return {node.id: of(node.id, frozenset()) for tree in bank.trees.values() for node in tree}


@pytest.mark.parametrize("method", names())
def test_nothing_is_left_of_an_episode_and_all_of_the_others(method: str, tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", method=method, domain="alfworld")
    if method == "deltamem":  # fuses a chain as soon as there is one
        change_settings(bank, "test", lambda now: replaced(now, "task.k_cons", 1))
    episodes = [
        from_record({**each, "metadata": {"game": str(at)}}) for at, each in enumerate(ENOUGH)
    ]
    for each in episodes:
        learn(bank, each)
    seen = seen_games(bank, lambda each: each.metadata.get("game", ""))
    assert seen.unknown == 0
    assert set(seen.episodes) == {str(at) for at in range(len(ENOUGH))}
    before = sources(bank)
    parents = {node.id: node.parent for tree in bank.trees.values() for node in tree}
    gone = seen.episodes["2"]
    forget_episodes(bank, gone)
    after = sources(bank)
    assert before.keys() > after.keys()
    assert not any(each & gone for each in after.values())
    lost = before.keys() - after.keys()
    # What did not come from it hung below what did.
    assert all(before[each] & gone or parents[each] in lost for each in lost)
