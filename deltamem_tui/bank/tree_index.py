"""The index of a tree: what it keeps of every line, and how it is made from the lines.

A row says where a line begins and what its node is, so that a tree is known without parsing
its file. It is derived: made again whenever it is missing, and whenever a bank is verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import codec
from deltamem_tui.bank.codec import Line
from deltamem_tui.bank.disk import archive_view, files
from deltamem_tui.bank.node import ID_LENGTH, Node
from deltamem_tui.bank.table import Rows, Table, TableSnapshot
from deltamem_tui.errors import BankCorruptError

NO_PARENT = -1
_MEANT = re.compile(rb'"meant"\s*:')
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
    """Return the index row of a node's line."""
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


def build_index(table: Table, lines: Iterator[tuple[int, int, bytes]], rows: int) -> NDArray[Any]:
    """Make the index from the lines."""
    index, _ = read_lines(table, lines, rows)
    return index


def read_lines(
    table: Table, lines: Iterator[tuple[int, int, bytes]], rows: int, *, born: bool = False
) -> tuple[NDArray[Any], list[int]]:
    """Make the index from the lines, and look whether the nodes are as they were born.

    Returns:
        The index, and the rows whose nodes were altered although they say otherwise.
    """
    index = np.zeros(rows, dtype=INDEX_TYPE)
    altered: list[int] = []
    births: dict[str, int] = {}
    revisions: dict[str, int] = {}
    again: list[int] = []
    count = 0
    lines = table.exactly(lines, rows)
    while taken := _piece(lines):
        records = parse(table, [line for _, _, line in taken], (row for row, _, _ in taken))
        if born:
            altered += [count + place for place in altered_places(table, records)]
        stop = count + len(taken)
        piece = index[count:stop]
        state(piece, records)
        piece["offset"] = [offset for _, offset, _ in taken]
        ties = list(_ties(table, records, count, births, revisions, again))
        piece["first"] = [first for first, _ in ties]
        piece["parent"] = [parent for _, parent in ties]
        count = stop
    _refuse_repeated(table, index, again)
    return index, altered


def parse(table: Table, lines: Sequence[bytes], rows: Iterable[int]) -> list[Line]:
    """Read some lines of a tree, at these rows."""
    positions = (f"line {row + 1}" for row in rows)
    return codec.read(lines, positions, table.collection, str(table.lines_path))


def state(index: NDArray[Any], records: Sequence[Line]) -> None:
    """Fill in what an index says of lines by themselves, a row each."""
    index["id"] = [record.id for record in records]
    index["depth"] = [record.depth for record in records]
    index["failure"] = [record.label == "failure" for record in records]
    index["residual"] = [record.kind == "residual" for record in records]
    index["consolidated"] = [record.consolidated for record in records]
    index["deleted"] = [record.deleted for record in records]


def altered_places(table: Table, records: Sequence[Line]) -> list[int]:
    """Return which of some lines are a node's first revision, and not what its id was made from."""
    return [
        place
        for place, record in enumerate(records)
        if not record.revision and not codec.is_as_born(table.name, record, table.collection)
    ]


def _piece(lines: Iterator[tuple[int, int, bytes]]) -> list[tuple[int, int, bytes]]:
    """Return the next few lines."""
    taken, size = [], 0
    for each in islice(lines, _PIECE_LINES):
        taken.append(each)
        size += len(each[2])
        if size >= _PIECE_BYTES:
            break
    return taken


def _refuse_repeated(table: Table, index: NDArray[Any], again: Sequence[int]) -> None:
    """Refuse a line that is there twice; a merge may keep a node's revision."""
    if not again:
        return
    order = np.argsort(index["first"], kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    with files.storage_errors(table.lines_path), archive_view.opened(table.lines_path) as stream:

        def line(row: int) -> bytes:
            stream.seek(int(index["offset"][row]))
            return stream.readline()

        for row in again:
            if line(row) == line(int(order[place[row] - 1])):
                node_id = bytes(index["id"][row]).decode()
                raise table.corrupt(f"id {node_id} stands twice", f"line {row + 1}")


def _ties(
    table: Table,
    records: Sequence[Line],
    start: int,
    births: dict[str, int],
    revisions: dict[str, int],
    again: list[int],
) -> Iterator[tuple[int, int]]:
    """Per line from row `start` on, the rows of its node's and its parent's first lines.

    Rows whose revision is that of the node's line before are noted in `again`.
    """
    for row, record in enumerate(records, start):
        above = NO_PARENT if record.parent is None else births.get(record.parent)
        if above is None:
            raise table.corrupt(f"parent {record.parent} does not exist", f"line {row + 1}")
        first = births.setdefault(record.id, row)
        if first != row:
            before = revisions.get(record.id, 0)
            if record.revision < before:
                raise table.corrupt(f"id {record.id} stands twice", f"line {row + 1}")
            if record.revision == before:
                again.append(row)
        if record.revision:
            revisions[record.id] = record.revision
        yield first, above


Keys = NDArray[np.uint64]

_DIGITS = b"0123456789abcdef"
_NO_DIGIT = 255
_VALUES = np.full(256, _NO_DIGIT, dtype=np.uint8)
_VALUES[list(_DIGITS)] = np.arange(len(_DIGITS), dtype=np.uint8)


def key(text: str) -> np.uint64:
    """Return one id as a number."""
    return np.uint64(int(text, 16))


def keys(ids: NDArray[Any]) -> Keys:
    """Ids, bytes [n] of 16 hexadecimal digits in small letters each, as numbers."""
    if not len(ids):
        return np.zeros(0, dtype=np.uint64)
    digits = _VALUES[np.ascontiguousarray(ids).view(np.uint8).reshape(len(ids), ID_LENGTH)]
    if (digits == _NO_DIGIT).any():
        raise BankCorruptError(
            "an index names something that is not an id",
            hint="delete the bank's `.index.npy` files, and they are made again",
        )
    halves = np.ascontiguousarray(digits[:, ::2] << 4 | digits[:, 1::2])
    return halves.view(">u8").reshape(len(ids)).astype(np.uint64)


def places(ids: Keys, wanted: Keys) -> NDArray[np.int64]:
    """Return where the wanted ids stand among others, each once, in any order; -1 for those that
    do not.

    uint64 [n] and uint64 [wanted] to int64 [wanted].
    """
    if not len(ids):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(ids)
    at = np.searchsorted(ids[order], wanted)  # a sorted copy is quicker than looking by `sorter`
    found: NDArray[np.int64] = order[np.minimum(at, len(ids) - 1)]
    return np.where(ids[found] == wanted, found, -1)


def texts(numbers: Keys) -> NDArray[Any]:
    """Numbers as ids: bytes [n]."""
    if not len(numbers):
        return np.zeros(0, dtype=f"S{ID_LENGTH}")
    octets = np.ascontiguousarray(numbers.astype(">u8")).view(np.uint8).reshape(-1, 8)
    digits = np.empty((len(octets), ID_LENGTH), dtype=np.uint8)
    letters = np.frombuffer(_DIGITS, dtype=np.uint8)
    digits[:, ::2], digits[:, 1::2] = letters[octets >> 4], letters[octets & 15]
    return digits.view(f"S{ID_LENGTH}").reshape(-1)


def displaced_rows(snapshot: TableSnapshot) -> Rows:
    """Return the rows of the lines that keep a claim aside. int64.

    No text of a node can look like a claim: in it, quotation marks are escaped.
    """
    found = [match.start() for match in _MEANT.finditer(snapshot.text)]
    offsets = snapshot.index["offset"]
    rows: Rows = np.searchsorted(offsets, np.array(found, dtype=np.uint64), side="right") - 1
    return np.unique(rows)
