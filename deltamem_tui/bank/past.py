"""A bank as it was after earlier commits: read, for as long as its files have only grown since.

The journal states how much of every file counted after each commit. What was appended later is left
out, and what lies before it is as it was. A commit that put new files in the place of others ends
that: of the states before it nothing is known any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.journal import Commit, Extent
from deltamem_tui.bank.table import Rows, TableSnapshot, last_rows
from deltamem_tui.bank.tree import Tree

_BEGINS = "init"


@dataclass(frozen=True, slots=True)
class Moment:
    """A commit after which the bank can be looked at.

    Attributes:
        sequence: Its sequence.
        event: What the journal calls it.
        time: When, in UTC.
        lines: Per tree, how many lines counted after it.
        start: The byte of the journal at which its line begins.
        stop: The byte behind its line.
    """

    sequence: int
    event: str
    time: str
    lines: Mapping[str, int]
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class TreeChange:
    """What one commit did to a tree: rows of nodes' last lines after it.

    Attributes:
        added: Nodes that were not there, or were deleted. int64 [added].
        changed: Nodes that say something else, or stand elsewhere. int64 [changed].
        deleted: The tombstones of nodes that are gone. int64 [deleted].
    """

    added: Rows
    changed: Rows
    deleted: Rows


@dataclass(frozen=True, slots=True)
class Past:
    """The commits of a bank after which it can be looked at.

    Attributes:
        bank: The bank as it is.
        moments: The commits, oldest first; none of a bank without a journal.
    """

    bank: Bank
    moments: Sequence[Moment]

    @classmethod
    def read(cls, bank: Bank) -> Past:
        """Reads the journal from its end, as far as the bank's files have only grown since.

        Raises:
            BankCorruptError: A line of the journal is not a commit.
        """
        found: list[Moment] = []
        last, behind = bank.commit, None
        for tail in bank.journal.tails() if bank.journal.exists else ():
            commit = tail.commit
            if behind is not None:
                found.append(_moment(bank, *behind, start=tail.length))
                behind = None
            if commit.generation != last.generation:
                break
            if commit.sequence <= last.sequence:
                behind = commit, tail.length
        if behind is not None:
            found.append(_moment(bank, *behind, start=0))
        return cls(bank, found[::-1])

    @property
    def begins_empty(self) -> bool:
        """Whether the first moment is the bank's own beginning."""
        return bool(self.moments) and self.moments[0].event == _BEGINS

    def commit(self, number: int) -> Commit:
        """Reads the commit of a moment again, with all that it states."""
        moment = self.moments[number]
        return self.bank.journal.commit_at(moment.start, moment.stop)

    def tree(self, number: int, name: str) -> Tree:
        """Returns a tree as it was at a moment. Its counters are not: they are those of now.

        Raises:
            BankRewrittenError: The bank's files were replaced since it was opened.
        """
        present = self.bank.tree(name)
        moment, snapshot = self.moments[number], present.snapshot
        if moment.sequence == self.bank.commit.sequence:
            return present
        rows, offsets = moment.lines.get(name, 0), snapshot.index["offset"]
        length = int(offsets[rows]) if rows < len(offsets) else snapshot.extent.bytes
        then = Commit(
            sequence=moment.sequence,
            extents={name: Extent(rows, length)},
            rewritten=self.bank.commit.generation,
        )
        return Tree(name, TableSnapshot(snapshot.table, then))

    def sizes(self, name: str) -> NDArray[np.int64]:
        """Returns how many nodes a tree had after each moment. int64 [moments]."""
        index = self.bank.tree(name).snapshot.index
        order = np.argsort(index["first"], kind="stable")  # a node's lines, oldest first
        first, lives = index["first"][order], (~index["deleted"][order]).astype(np.int64)
        grows = lives.copy()
        grows[1:] -= np.where(first[1:] == first[:-1], lives[:-1], 0)
        sizes = np.zeros(len(index) + 1, dtype=np.int64)
        sizes[order + 1] = grows
        stops = [moment.lines.get(name, 0) for moment in self.moments]
        return np.cumsum(sizes)[np.array(stops, dtype=np.intp)]

    def change(self, number: int, name: str) -> TreeChange:
        """Returns what the commit of a moment did to a tree; of the first one, nothing is known."""
        stop = self.moments[number].lines.get(name, 0)
        start = self.moments[number - 1].lines.get(name, 0) if number else stop
        index = self.bank.tree(name).snapshot.index[:stop]
        after, before = last_rows(index["first"]), last_rows(index["first"][:start])
        births = np.unique(index["first"][start:])
        rows = after[births]
        lives = ~index["deleted"][rows]
        lived = np.zeros(len(births), dtype=np.bool_)
        known = births < start
        lived[known] = ~index["deleted"][before[births[known]]]
        return TreeChange(rows[lives & ~lived], rows[lives & lived], rows[lived & ~lives])


def _moment(bank: Bank, commit: Commit, stop: int, start: int) -> Moment:
    lines = {name: commit.extent(name).rows for name in bank.trees}
    return Moment(commit.sequence, commit.event, commit.time, lines, start, stop)
