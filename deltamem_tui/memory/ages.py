"""When the nodes of a bank were learnt, counted in episodes.

An episode's time is its place among those of the bank, from 1. A node is as old as the last of the
episodes that it was learnt from; one that comes from none is as old as the node before it. So no
clock is asked, and a copy, a merge or a compaction says the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import NAME as EPISODES
from deltamem_tui.bank.episodes import EpisodeState, standing
from deltamem_tui.bank.tree import Tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.int64]


def learn_commits_by_place(bank: Bank) -> Places:
    """How many episodes were learnt up to each place, each by a commit. int64 [episodes + 1].

    Place 0 is before the first one.
    """
    import numpy as np

    snapshot = bank.snapshots[EPISODES]
    learnt = snapshot.counters[standing(snapshot), 0] == EpisodeState.LEARNT
    return np.concatenate([[0], np.cumsum(learnt, dtype=np.int64)])


def last_learnt(bank: Bank) -> int:
    """The place of the last episode that was learnt; 0 if none was."""
    commits = learn_commits_by_place(bank)
    return int(commits.searchsorted(commits[-1]))


class _Sources(Struct, gc=False):
    trajectory: str = ""
    sources: tuple[str, ...] = ()


class _Birth(Struct, gc=False):
    """The one part of a node's line that says when it was learnt."""

    revision: int
    origin: _Sources = field(default_factory=_Sources)


decode_birth = msgspec.json.Decoder(_Birth).decode
"""Reads the revision and the episodes of a node's line, and nothing else."""


def learnt_at(bank: Bank, tree: Tree) -> Places:
    """The place of the episode that each living node was learnt from last. int64 [rows].

    It stands at the row of the node's first line.
    """
    import numpy as np

    episodes = bank.snapshots[EPISODES]
    ids = episodes.index["id"][standing(episodes)].tolist()
    place = {name.decode(): number for number, name in enumerate(ids, 1)}
    born = np.zeros(len(tree.birth), dtype=np.int64)
    text, offsets = tree.snapshot.text, tree.snapshot.index["offset"].tolist()
    offsets.append(tree.snapshot.extent.bytes)
    births = tree.birth[tree.rows].tolist()
    for row, birth in zip(tree.rows.tolist(), births, strict=True):
        origin = decode_birth(text[offsets[row] : offsets[row + 1]]).origin
        born[birth] = place.get(origin.trajectory, 0)
        for each in origin.sources:
            born[birth] = max(born[birth], place.get(each, 0))
    known = np.maximum.accumulate(born)
    found: Places = np.where(born > 0, born, known)
    return found
