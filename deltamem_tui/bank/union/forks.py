"""Clones: banks that count under one origin, although each went on by itself.

A copy draws an origin of its own when `deltamem` makes it, and so does a bank that is
unfrozen. A folder that was copied by other means while it was not frozen does not. If both
then count the same node, the two counts cannot be told from two states of one: of each count
the greater stays, and the other is lost. Their journals are enough to notice it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits import journal
from deltamem_tui.bank.commits.journal import Commit, Extent
from deltamem_tui.bank.disk import archive_view, files

_TOLD_BEFORE = ("compact", "merge")
"""Events that state counts which were made earlier, or by others."""


def counted_apart(one: Bank, two: Bank) -> bool:
    """Return whether two banks have both counted one node since they parted, under one origin.

    This is read from their journals, as far as they were not compacted.
    """
    same = one.manifest.counts_as == two.manifest.counts_as
    if not same or one.tail is None or two.tail is None:
        return False
    mine, theirs = _lines(one, one.tail.length), _lines(two, two.tail.length)
    left, right = next(mine, b""), next(theirs, b"")
    begin = max(_parsed(line).sequence if line else 0 for line in (left, right))
    left, right = _from(begin, left, mine), _from(begin, right, theirs)
    common = b""
    while left and left == right:
        common = left
        left, right = next(mine, b""), next(theirs, b"")
    if not left or not right:
        return False  # one is an earlier state of the other
    extents = _parsed(common).extents if common else None
    trees = list(one.collections)
    counted = [
        _counted(chain([first], rest), trees, extents)
        for first, rest in ((left, mine), (right, theirs))
    ]
    return bool(counted[0] & counted[1]) if common else all(counted)


def _lines(bank: Bank, length: int) -> Iterator[bytes]:
    """Yield the lines of a bank's journal as far as its handle shows them."""
    path = bank.journal.path
    with files.storage_errors(path), archive_view.opened(path) as stream:
        while stream.tell() < length and (line := stream.readline()).endswith(b"\n"):
            yield line


def _from(sequence: int, line: bytes, rest: Iterator[bytes]) -> bytes:
    """Return the first line of a journal that has at least a sequence; empty if none has."""
    while line and _parsed(line).sequence < sequence:
        line = next(rest, b"")
    return line


def _counted(
    lines: Iterable[bytes], trees: Sequence[str], shared: Mapping[str, Extent] | None
) -> set[tuple[str, int]]:
    """Return what was counted by some commits: trees and rows."""
    return {
        (name, row)
        for commit in map(_parsed, lines)
        if commit.event not in _TOLD_BEFORE
        for name in trees
        for row in commit.cells.get(name, ())
        if shared is None or row < shared.get(name, Extent()).rows
    }


def _parsed(line: bytes) -> Commit:
    return journal.parse(line, journal.FILE_NAME, "a line")
