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
from deltamem_tui.bank.node import ID_LENGTH
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.tree_index import keys, places

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

    @property
    def episodes(self) -> tuple[str, ...]:
        return (self.trajectory, *self.sources)


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

    born = np.zeros(len(tree.birth), dtype=np.int64)
    if not len(tree):
        return born
    episodes = bank.snapshots[EPISODES]
    ids = episodes.index["id"][standing(episodes)]
    rows, births = tree.rows, tree.birth[tree.rows]
    text = tree.snapshot.text
    offsets = np.append(tree.snapshot.index["offset"], tree.snapshot.extent.bytes).astype(np.int64)
    starts, stops = offsets[rows], offsets[rows + 1]
    left = np.arange(len(rows))
    for _ in range(_ENDINGS):
        if len(left):
            alike, sources = _ending_like(text, starts[left], stops[left])
            born[births[left[alike]]] = places(keys(ids), keys(sources)) + 1
            left = left[~alike]
    place = {each.decode(): at for at, each in enumerate(ids.tolist() if len(left) else (), 1)}
    for at, start, stop in zip(
        births[left].tolist(), starts[left].tolist(), stops[left].tolist(), strict=True
    ):
        origin = decode_birth(text[start:stop]).origin
        born[at] = max(place.get(each, 0) for each in origin.episodes)
    known = np.maximum.accumulate(born)
    found: Places = np.where(born > 0, born, known)
    return found


_ENDINGS = 8
"""So many ways in which lines end are looked for at once; the others are read one by one."""
_ORIGIN = b'"origin":{"trajectory":"'


def _ending_like(
    text: memoryview, starts: Places, stops: Places
) -> tuple[NDArray[np.bool_], NDArray[np.bytes_]]:
    """Which lines end as the first does, but for the episode that they come from, and those ids.

    Most lines of a bank end alike: to compare their bytes is ten times quicker than to read them.
    No text of a node can look like the end of a line: in it, quotation marks are escaped. The
    first line itself is left out if it comes of several episodes, or of one with another id.

    Returns:
        bool [lines], and bytes [alike] of 16 hexadecimal digits.
    """
    import numpy as np

    none = np.zeros(len(starts), dtype=np.bool_), np.zeros(0, dtype=f"S{ID_LENGTH}")
    first = bytes(text[int(starts[0]) : int(stops[0])])
    at = first.rfind(_ORIGIN)
    end = np.frombuffer(first[at:], dtype=np.uint8)
    if at < 0 or b'"sources"' in first[at:]:
        return none
    whole = np.frombuffer(text, dtype=np.uint8)
    fits = np.flatnonzero(stops - starts >= len(end))
    ends = np.lib.stride_tricks.sliding_window_view(whole, len(end))[stops[fits] - len(end)]
    inside = slice(len(_ORIGIN), len(_ORIGIN) + ID_LENGTH)
    is_digit = np.zeros(256, dtype=np.bool_)
    is_digit[list(b"0123456789abcdef")] = True
    alike = is_digit[ends[:, inside]].all(axis=1)
    for part in (slice(0, inside.start), slice(inside.stop, None)):
        as_text = np.ascontiguousarray(ends[:, part]).view(f"S{len(end[part])}").reshape(-1)
        alike &= as_text == bytes(end[part])
    found = none[0].copy()
    found[fits[alike]] = True
    return found, np.ascontiguousarray(ends[alike, inside]).view(f"S{ID_LENGTH}").reshape(-1)
