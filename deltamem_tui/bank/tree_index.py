"""The index of a tree: what it keeps of every line, and how it is made from the lines.

A row says where a line begins and what its node is, so that a tree is known without parsing
its file. It is derived: made again whenever it is missing, and whenever a bank is verified.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.commits.table import Rows, Shelf
from deltamem_tui.bank.disk import archive_view, files
from deltamem_tui.bank.node import Node

if TYPE_CHECKING:
    from deltamem_tui.bank.typed_lines import Outline

NO_PARENT = -1
_PIECE_LINES = 256  # few enough objects at a time that Python does not stop to look for garbage
_PIECE_BYTES = 4 * 1024 * 1024  # a stranger's lines may be long

INDEX_TYPE = np.dtype(
    [
        ("id", "S16"),
        ("offset", "<u8"),
        ("first", "<i8"),
        ("parent", "<i8"),
        ("depth", "<u4"),
        ("failure", "?"),
        ("residual", "?"),
        ("consolidated", "?"),
        ("deleted", "?"),
    ]
)


def index_row(node: Node, offset: int, first: int, parent: int) -> tuple[Any, ...]:
    """The index row of a node's line.

    Args:
        node: The node that the line holds.
        offset: Where the line begins, in bytes.
        first: The row of the node's first line.
        parent: The row of the parent's first line, or `NO_PARENT`.
    """
    return (
        node.id.encode(),
        offset,
        first,
        parent,
        node.depth,
        node.label == "failure",
        node.kind == "residual",
        node.consolidated,
        node.deleted,
    )


def build_index(shelf: Shelf, lines: Iterator[tuple[int, int, bytes]], rows: int) -> NDArray[Any]:
    """Make the index from the lines.

    Raises:
        BankCorruptError: A line is not a node, has an id twice at the same revision, or a
            parent that is not there.
    """
    index, _ = read_lines(shelf, lines, rows)
    return index


def read_lines(
    shelf: Shelf,
    lines: Iterator[tuple[int, int, bytes]],
    rows: int,
    tree: str = "",
) -> tuple[NDArray[Any], list[int]]:
    """Make the index from the lines, and look whether the nodes are as they were born.

    Args:
        shelf: The tree's files.
        lines: All lines that count.
        rows: How many there are.
        tree: The tree's name, to look at that too.

    Returns:
        The index, and the rows whose nodes were altered although they say otherwise.

    Raises:
        BankCorruptError: As `build_index`.
    """
    index = np.zeros(rows, dtype=INDEX_TYPE)
    altered: list[int] = []
    births: dict[str, int] = {}
    revisions: dict[str, int] = {}
    again: list[int] = []
    count = 0
    while taken := _piece(lines):
        outline = _outline(shelf, taken, tree)
        altered += [count + place for place in outline.altered]
        stop = count + len(taken)
        if stop > rows:
            raise shelf.corrupt("more lines than the journal states", f"line {rows + 1}")
        piece = index[count:stop]
        piece["id"] = outline.ids
        piece["offset"] = [offset for _, offset, _ in taken]
        piece["depth"] = outline.depths
        piece["failure"] = outline.failures
        piece["residual"] = outline.residuals
        piece["consolidated"] = outline.consolidated
        piece["deleted"] = outline.deleted
        parents = _parents_of_newborn(outline, count, births, revisions)
        if parents is not None:
            piece["first"] = np.arange(count, stop)
            piece["parent"] = parents
        else:
            ties = list(_ties(shelf, outline, count, births, revisions, again))
            piece["first"] = [first for first, _ in ties]
            piece["parent"] = [parent for _, parent in ties]
        count = stop
    if count != rows:
        raise shelf.corrupt(f"holds {count} lines where {rows} were written: it was cut short")
    _refuse_repeated(shelf, index, again)
    return index, altered


def _piece(lines: Iterator[tuple[int, int, bytes]]) -> list[tuple[int, int, bytes]]:
    """The next few lines."""
    taken, size = [], 0
    for each in islice(lines, _PIECE_LINES):
        taken.append(each)
        size += len(each[2])
        if size >= _PIECE_BYTES:
            break
    return taken


def _refuse_repeated(shelf: Shelf, index: NDArray[Any], again: Sequence[int]) -> None:
    """A merge may put a node right without changing its revision, but no line stands twice."""
    if not again:
        return
    order = np.argsort(index["first"], kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    with files.storage_errors(shelf.lines_path), archive_view.opened(shelf.lines_path) as stream:

        def line(row: int) -> bytes:
            stream.seek(int(index["offset"][row]))
            return stream.readline()

        for row in again:
            if line(row) == line(int(order[place[row] - 1])):
                node_id = bytes(index["id"][row]).decode()
                raise shelf.corrupt(f"id {node_id} stands twice", f"line {row + 1}")


def _outline(shelf: Shelf, lines: Sequence[tuple[int, int, bytes]], tree: str) -> Outline:
    """What the index keeps of some lines, each of which is a node."""
    from deltamem_tui.bank.typed_lines import outline  # rarely needed, and not for nothing

    texts = [line for _, _, line in lines]
    return outline(texts, (row for row, _, _ in lines), str(shelf.lines_path), tree)


def _parents_of_newborn(
    outline: Outline, start: int, births: dict[str, int], revisions: dict[str, int]
) -> Rows | None:
    """The rows of the parents of lines that are each their node's first, as almost all are.

    Returns:
        None if one is not, or is wrong, and each has to be looked at; nothing is noted then.
    """
    stop = start + len(outline.ids)
    new = dict(zip(outline.ids, range(start, stop), strict=True))
    if len(new) < len(outline.ids) or not births.keys().isdisjoint(new):
        return None
    births.update(new)
    # No node is called None, so a root finds none either.
    found = [births.get(parent) for parent in outline.parents]  # type: ignore[arg-type]
    parents = np.array([NO_PARENT if row is None else row for row in found], dtype=np.int64)
    lost = found.count(None) != outline.parents.count(None)
    if lost or bool(np.any(parents >= np.arange(start, stop))):
        for node_id in new:
            del births[node_id]
        return None
    if any(outline.revisions):
        revisions.update(zip(outline.ids, outline.revisions, strict=True))
    return parents


def _ties(
    shelf: Shelf,
    outline: Outline,
    start: int,
    births: dict[str, int],
    revisions: dict[str, int],
    again: list[int],
) -> Iterator[tuple[int, int]]:
    """Per line from row `start` on, the rows of its node's and its parent's first lines.

    Rows whose revision is that of the node's line before are noted in `again`.
    """
    lines = zip(outline.ids, outline.parents, outline.revisions, strict=True)
    for row, (node_id, parent, revision) in enumerate(lines, start):
        first = births.get(node_id)
        if first is not None and revision <= (before := revisions.get(node_id, 0)):
            if revision < before:
                raise shelf.corrupt(f"id {node_id} stands twice", f"line {row + 1}")
            again.append(row)
        above = NO_PARENT if parent is None else births.get(parent)
        if above is None:
            raise shelf.corrupt(f"parent {parent} does not exist", f"line {row + 1}")
        if first is None:
            first = births[node_id] = row
        revisions[node_id] = revision
        yield first, above
