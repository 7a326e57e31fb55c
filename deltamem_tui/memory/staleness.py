"""Ages of nodes in episodes, and what a bank with a half-life makes of them.

An episode's time is its place among those of the bank, from 1. A node is as old as the last of the
episodes that it was learnt from; one that comes from none is as old as the node before it. No clock
is asked, and a copy, a merge or a compaction says the same.

With a half-life, a node's score is its similarity times 2^(-c/h): h is the bank's `half_life`, and
c the learn commits since the node was last learnt from an episode, or last shown to one, whichever
came later. A change by a person is not of an episode, and makes nothing fresh. A deeper node's
chain is shown with it, so what others hang below is at least as fresh as they are. Only the ranking
that all methods share is lowered, and learning asks for the places of new nodes without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct, field

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.codec import keys, places
from deltamem_tui.bank.credit import shown_to
from deltamem_tui.bank.episodes import NAME as EPISODES
from deltamem_tui.bank.episodes import EpisodeState, standing
from deltamem_tui.bank.node import ID_LENGTH
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.methods import method_of, settings_of
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.int64]

_DECIMALS = 6
_LEAST = 10.0**-_DECIMALS
_aged: WeakKeyDictionary[Bank, tuple[Mapping[str, Tree], int, Bank]] = WeakKeyDictionary()


def recalled(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Return what a bank's method recalls, by fresh scores if it has a half-life.

    Raises:
        BankCorruptError: The bank breaks the rules of the format.
    """
    half_life = (query.settings or settings_of(bank)).half_life
    if half_life is None:
        return method_of(bank).recall(bank, query, embedder)
    asked = aged(bank, half_life)
    found = method_of(bank).recall(asked, query, embedder)
    answers = {
        name: answer and _with_freshness(asked.tree(answer.collection), answer)
        for name, answer in found.collections.items()
    }
    return replace(found, collections=answers)


def aged(bank: Bank, half_life: int) -> Bank:
    """Return the same commit of a bank, its trees with their freshness.

    It is made once for each commit that a handle shows.
    """
    known = _aged.get(bank)
    if known is None or known[0] is not bank.trees or known[1] != half_life:
        fresh = {name: freshness(bank, tree, half_life) for name, tree in bank.trees.items()}
        known = _aged[bank] = bank.trees, half_life, bank.with_freshness(fresh)
    return known[2]


def freshness(bank: Bank, tree: Tree, half_life: int) -> NDArray[np.float64]:
    """Return the share of their scores that nodes keep, at the rows of their lines. [rows]."""
    import numpy as np

    commits, last = learn_commits_by_place(bank), learnt_at(bank, tree)
    shown = shown_to(bank.snapshots, tree.name)
    np.maximum.at(last, shown.birth, shown.place)
    since = (commits[-1] - commits[last])[tree.birth]
    # Rounded like scores, so that all machines rank alike. It never is 0: of what is very stale the
    # more similar still comes first.
    left: NDArray[np.float64] = np.exp2(-since / half_life).round(_DECIMALS).clip(_LEAST, 1.0)
    return left


def _with_freshness(tree: Tree, answer: CollectionRecall) -> CollectionRecall:
    """Return an answer whose candidates say how fresh they are."""
    if tree.freshness is None:
        return answer
    candidates = tuple(
        replace(each, freshness=float(tree.freshness[tree.row(each.node.id)]))
        for each in answer.candidates
    )
    return replace(answer, candidates=candidates)


# Ages


def learn_commits_by_place(bank: Bank) -> Places:
    """Return how many episodes were learnt up to each place, each by a commit. int64 [episodes +
    1].

    Place 0 is before the first one.
    """
    import numpy as np

    snapshot = bank.snapshots[EPISODES]
    learnt = snapshot.counters[standing(snapshot), 0] == EpisodeState.LEARNT
    return np.concatenate([[0], np.cumsum(learnt, dtype=np.int64)])


def last_learnt(bank: Bank) -> int:
    """Return the place of the last episode that was learnt; 0 if none was."""
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
    """Return the place of the episode that each living node was learnt from last. int64 [rows].

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
    """Return which lines end as the first does, but for the episode that they come from, and those
    ids.

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
