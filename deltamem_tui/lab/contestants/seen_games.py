"""The guard: which games a bank has learnt from, and the bank without what one of them taught it.

A node's origins are ids of episodes, and an id is a digest: only an episode that the bank still
keeps can be asked which game it was made in. Of the others it is only known how many there are.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.transfer.copying import copy_bank
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.editing import delete
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.trajectory.model import Trajectory


@dataclass(frozen=True, slots=True)
class SeenGames:
    """The games that a bank has learnt from.

    Attributes:
        episodes: Per game, the ids of its episodes.
        unknown: How many episodes its nodes come from of which the game is not known, because
            the bank does not keep them, or their records do not say.
        learnt: How many episodes it has learnt.
    """

    episodes: Mapping[str, frozenset[str]]
    unknown: int
    learnt: int


def seen_games(bank: Bank, game_of: Callable[[Trajectory], str]) -> SeenGames:
    """The games of the episodes that a bank has learnt, or that its nodes come from."""
    origins = {
        episode_id
        for tree in bank.trees.values()
        for node in tree
        for episode_id in node.origin.episodes
    }
    found: dict[str, set[str]] = {}
    unnamed, kept = 0, set()
    for each in episodes(bank):
        if each.id not in origins and bank.episodes.state(each.id) != EpisodeState.LEARNT:
            continue
        kept.add(each.id)
        if game := game_of(each):
            found.setdefault(game, set()).add(each.id)
        else:
            unnamed += 1
    games = {game: frozenset(ids) for game, ids in found.items()}
    return SeenGames(games, unnamed + len(origins - kept), len(origins | kept))


def forget_episodes(bank: Bank, gone: Iterable[str]) -> int:
    """Delete every node that some episodes had a part in; returns how many went by themselves.

    A node had a part of it if any of its versions names the episode, or if it was made from
    a node that had. What hangs below such a node goes with it: it says what that one lacks.
    """
    tainted = set(gone)
    nodes = [
        (name, tree.node_at(row))
        for name, tree in bank.trees.items()
        for row in range(len(tree.snapshot.index))
    ]
    before = -1
    while before != len(tainted):  # a fused node may stand before those that it was made from
        before = len(tainted)
        tainted.update(
            node.id
            for _, node in nodes
            if tainted.intersection((*node.origin.episodes, *node.origin.nodes))
        )
    deleted = 0
    for name, node_id in dict.fromkeys((name, node.id) for name, node in nodes):
        if node_id in tainted:
            with suppress(NodeNotFoundError):  # gone with one above it, or long ago
                delete(bank, name, bank.tree(name).node(node_id))
                deleted += 1
    return deleted


class HiddenGames:
    """A bank that nothing is written to, as it would be without what one game taught it.

    Args:
        bank: The bank.
        seen: What it has learnt from.
        folder: Where a copy lies while it is asked.
    """

    def __init__(self, bank: Bank, seen: SeenGames, folder: Path) -> None:
        self._bank, self._seen, self._folder = bank, seen, folder

    @contextmanager
    def without(self, game: str) -> Iterator[Bank]:
        """The bank itself if it has not seen a game, else a copy that has forgotten it."""
        episodes = self._seen.episodes.get(game)
        if episodes is None:
            yield self._bank
            return
        try:
            copy = copy_bank(self._bank, self._folder, history=True)
            forget_episodes(copy, episodes)
            yield copy
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
