"""A batch: changes gathered in memory and committed together, or not at all.

The order on disk is the whole of crash safety:

1. the line files and arrays grow beyond what counts, and are synced;
2. one line is appended to the journal and synced: from here on the batch counts;
3. what the line states is done in place: the arrays' headers and the counters, and the renaming
   of files that a batch wrote whole beside the old ones.

A process that dies in 1 leaves bytes that do not count, in 3 leaves work that the next
writer repeats from the last line, whose numbers are absolute. Nothing needs the embedding model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank import episodes, journal, manifest
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.journal import COUNTER_LIMIT, Cells, Commit, Extent, Journal, Tail
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Node, are_ids, from_line, to_line
from deltamem_tui.bank.table import (
    COUNTER,
    LINE_LIMIT,
    VECTOR,
    Rows,
    Table,
    TableSnapshot,
    wrong_lengths,
)
from deltamem_tui.bank.tree import NO_PARENT, Tree, index_row
from deltamem_tui.errors import BankCorruptError, BankError

# Small enough for the processor's own memory; to join all lines takes longer than to write them.
_PIECE_BYTES = 1 << 18
Vectors = Iterable[NDArray[np.float32]]
"""Vectors in pieces, float32 [rows, dimensions]."""


@dataclass(slots=True)
class _Addition:
    """The rows that a batch adds to one table, and the counters that it changes.

    `births` has the row of the first line of each record that has a new one, `size` the bytes.
    """

    snapshot: TableSnapshot
    lines: list[bytes] = field(default_factory=list)
    index: list[NDArray[Any]] = field(default_factory=list)
    vectors: list[Vectors] = field(default_factory=list)
    cells: dict[int, list[int]] = field(default_factory=dict)
    births: dict[str, int] = field(default_factory=dict)
    size: int = 0

    @property
    def table(self) -> Table:
        """The table's files."""
        return self.snapshot.table

    @property
    def extent(self) -> Extent:
        """How much of the table will count."""
        before = self.snapshot.extent
        return Extent(before.rows + len(self.lines), before.bytes + self.size)

    def first_row(self, record_id: str) -> int | None:
        """Return the row of a record's first line, old or new; None if there is no such record."""
        added = self.births.get(record_id)
        return self.snapshot.first_row(record_id) if added is None else added

    def require_row(self, record_id: str) -> int:
        """Return the row of a record's first line."""
        row = self.first_row(record_id)
        if row is None:
            raise BankError(f"there is no {self.table.name} record {record_id}")
        return row

    def extend(self, index: NDArray[Any], lines: Sequence[bytes], vectors: Vectors) -> None:
        """Add lines; the offsets of `index` are filled in here."""
        if not lines:
            return
        sizes = np.array([len(line) for line in lines], dtype=np.int64)
        placed = index.copy()
        placed["offset"] = self.extent.bytes + np.cumsum(sizes) - sizes
        for record_id, first in zip(index["id"].tolist(), index["first"].tolist(), strict=True):
            self.births.setdefault(record_id.decode(), first)
        self.index.append(placed)
        self.lines.extend(lines)
        self.vectors.append(vectors)
        self.size += int(sizes.sum())

    def cell(self, row: int) -> list[int]:
        """Return the counters of a row, to be changed."""
        if row not in self.cells:
            known = row < self.snapshot.extent.rows
            zeros = [0] * self.table.counters
            self.cells[row] = self.snapshot.counters[row].tolist() if known else zeros
        return self.cells[row]

    def write(self) -> None:
        """Write what was added behind what counts, and sync it."""
        table, before = self.table, self.snapshot.extent
        position = before.bytes
        for piece in pieces(self.lines):
            files.write_at(table.lines_path, position, piece)
            position += len(piece)
        table.index_file.write_rows(before.rows, np.concatenate(self.index))
        zeros = np.zeros((len(self.lines), table.counters), dtype=COUNTER)
        table.counters_file.write_rows(before.rows, zeros)
        if table.vectors_file:
            row = before.rows
            for block in chain.from_iterable(self.vectors):
                table.vectors_file.write_rows(row, block)
                row += len(block)
        for path in (table.lines_path, *(matrix.path for matrix in table.matrices)):
            files.sync(path)


class Batch:
    """Changes to a bank, gathered under the writer's lock.

    Attributes:
        event: The event's name in the journal; empty if the batch is not committed.
    """

    def __init__(self, tail: Tail | None, snapshots: Mapping[str, TableSnapshot]) -> None:
        self._tail = tail
        self._additions = {name: _Addition(snapshot) for name, snapshot in snapshots.items()}
        self._nodes: dict[tuple[str, str], tuple[Node, NDArray[np.float32]]] = {}
        self.event = ""
        self._detail: Mapping[str, Any] = {}
        self._manifest: Manifest | None = None
        self._compacted: dict[str, tuple[Extent, Cells]] = {}
        self._replaced: dict[str, Path] = {}

    def log(self, event: str, detail: Mapping[str, Any] | None = None) -> None:
        """Name what the batch is, for the journal. A batch without a name is not committed."""
        self.event, self._detail = event, detail or {}

    def add_node(self, tree_name: str, node: Node, vector: NDArray[np.float32]) -> None:
        """Add a new node.

        Args:
            tree_name: The collection that it is added to.
            node: Its parent, if any, is in the collection or was added before. One that was
                revised elsewhere keeps that revision.
            vector: Its activation condition's vector, float32 [dimensions], unit length.

        Raises:
            BankError: The id is taken, the parent is missing, dead or at another depth, or the
                node or the vector breaks the format's rules.
            BankCorruptError: The parent's line is not what was written.
        """
        addition = self._additions[tree_name]
        if node.deleted:
            raise BankError("a new node is alive", source=node.id)
        if addition.first_row(node.id) is not None:
            raise BankError(f"the {tree_name} tree has a node {node.id} already")
        parent = self._parent_row(tree_name, node)
        self._append(tree_name, node, vector, first=addition.extent.rows, parent=parent)

    def revise_node(
        self, tree_name: str, node: Node, vector: NDArray[np.float32] | None = None
    ) -> Node:
        """Give a node a new last line: an edit, a mark or a tombstone.

        The vector, as for `add_node`, is given if the text that is embedded has changed.

        Returns:
            The node with its new revision.
        """
        first = self._additions[tree_name].require_row(node.id)
        before, old_vector = self._current(tree_name, node.id, first)
        revised = msgspec.structs.replace(node, revision=before.revision + 1)
        vector = old_vector if vector is None else vector
        parent = self._parent_row(tree_name, node)
        self._append(tree_name, revised, vector, first=first, parent=parent)
        return revised

    def count(
        self, tree_name: str, node_id: str, *, hits: int = 0, recalls: int = 0, successes: int = 0
    ) -> None:
        """Add to a node's counters. One that is full, at `COUNTER_LIMIT`, stays so."""
        addition = self._additions[tree_name]
        cell = addition.cell(addition.require_row(node_id))
        for position, more in enumerate((hits, recalls, successes)):
            cell[position] = min(cell[position] + more, COUNTER_LIMIT)

    def put_episode(self, record: Mapping[str, Any]) -> None:
        """Add an episode, waiting to be learnt, or give a known one a new record.

        The record is what JSON can hold, with its `id`. A known episode keeps its place and state.
        """
        episode_id = str(record["id"])
        if not are_ids([episode_id]):
            raise BankError(f"{episode_id[:40]!r} is not an id of 16 hexadecimal digits")
        self.put_episode_lines({episode_id: orjson.dumps(record) + b"\n"})

    def put_episode_lines(self, lines: Mapping[str, bytes]) -> None:
        """Add episodes that are written already, or give known ones a new record."""
        addition = self._additions[episodes.NAME]
        index = np.zeros(len(lines), dtype=episodes.INDEX_TYPE)
        new_row = addition.extent.rows
        for at, (episode_id, line) in enumerate(lines.items()):
            _require_short(line, f"episode {episode_id}")
            known = addition.first_row(episode_id)
            index[at] = episode_id.encode(), 0, new_row + at if known is None else known
        addition.extend(index, [*lines.values()], ())

    def replace_episode(self, episode_id: str, by: str) -> None:
        """Replace an episode of the bank by a longer record of it, which has the id `by`."""
        self.put_episode({"id": episode_id, "replaced_by": by})
        self.set_state(episode_id, EpisodeState.REPLACED)

    def set_state(self, episode_id: str, state: EpisodeState) -> None:
        """Mark an episode as waiting, learnt or replaced."""
        addition = self._additions[episodes.NAME]
        addition.cell(addition.require_row(episode_id))[0] = int(state)

    def extend(
        self, table_name: str, lines: Sequence[bytes], index: NDArray[Any], vectors: Vectors = ()
    ) -> None:
        """Add many lines at once, as a merge does. Nothing of them is checked here.

        In the index rows, `first` and `parent` are rows of this bank, those that are added here
        among them; `offset` is filled in here. Vectors are read when they are written.
        """
        self._additions[table_name].extend(index, lines, vectors)

    def next_row(self, table_name: str) -> int:
        """Return the row that the next line added to a table will have."""
        return self._additions[table_name].extent.rows

    def state_counters(self, table_name: str, rows: Rows, values: NDArray[np.int64]) -> None:
        """Say what some rows' counters shall be, absolutely."""
        if len(values) and int(values.max()) > COUNTER_LIMIT:
            raise BankError(f"a counter of the {table_name} table would overflow")
        cells = dict(zip(rows.tolist(), values.tolist(), strict=True))
        self._additions[table_name].cells.update(cells)

    def replace_manifest(self, new: Manifest) -> None:
        """Give the bank a new manifest with this batch: both count from the same instant."""
        self._manifest = new

    def upgrade_manifest(self, present: Manifest) -> None:
        """Let the manifest be of the present format after this batch."""
        wanted = (self._manifest or present).upgraded
        if wanted != present:
            self._manifest = wanted

    def write_file(self, path: Path, parts: Iterable[bytes]) -> None:
        """Write the successor of one of the bank's files whole, and sync it.

        A handle that was opened before must be refreshed before it reads on.
        """
        draft = self._replaced[path.name] = journal.draft_path(path, self._sequence)
        files.create_anew(draft)
        files.write_parts(draft, parts)
        files.sync(draft)

    def compact(self, table_name: str, extent: Extent, cells: Cells) -> None:
        """Say how much of a table's new files counts, and all that its new counters hold.

        The journal is replaced too, by the one line of this commit.
        """
        self._compacted[table_name] = extent, cells

    def commit(self, history: Journal) -> Tail:
        """Write the batch (steps 1 and 2). When this returns, it is acknowledged.

        What its commit states is still to be done in place, by `apply` or the next writer. If it
        fails, what it leaves does not count, and the next writer removes that.

        Raises:
            BankError: The journal cannot say it in one line; the bank is as it was.
        """
        folder = history.path.parent
        try:  # what cannot be read again is refused here, before any effect
            self._stated().line()
        except BankError:
            self.discard()
            raise
        extents = {name: each.snapshot.extent for name, each in self._additions.items()}
        # A bank that was shipped without a journal gets one, before anything grows.
        first = Commit(0, "adopt", journal.now(), extents=extents)
        tail = self._tail or history.append(None, first)
        self._write(tail.commit)
        if self._manifest:
            self.write_file(folder / manifest.FILE_NAME, [manifest.encode(self._manifest)])
        commit = self._stated()
        if self._compacted:
            self.write_file(history.path, [commit.line()])
        if self._replaced:
            files.sync(folder)
        return history.append(tail, commit)

    def discard(self) -> None:
        """Remove the successors that were written: they will not be committed."""
        for draft in self._replaced.values():
            files.remove(draft)

    def _stated(self) -> Commit:
        """Return the batch as one line of the journal."""
        before = self._tail.commit if self._tail else Commit(sequence=0)
        names = [*self._replaced]
        names += [manifest.FILE_NAME] if self._manifest else []
        names += [journal.FILE_NAME] if self._compacted else []
        extents = {name: each.extent for name, each in self._additions.items()}
        cells: dict[str, Cells] = {name: each.cells for name, each in self._additions.items()}
        extents.update({name: extent for name, (extent, _) in self._compacted.items()})
        cells.update({name: each for name, (_, each) in self._compacted.items()})
        return Commit(
            sequence=self._sequence,
            event=self.event,
            time=journal.now(),
            detail=self._detail,
            extents=extents,
            cells={name: each for name, each in cells.items() if each},
            replaces=tuple(dict.fromkeys(names)),
            rewritten=before.generation,
        )

    @property
    def _sequence(self) -> int:
        """The number of the commit to come."""
        return self._tail.commit.sequence + 1 if self._tail else 1

    def _write(self, before: Commit) -> None:
        for addition in self._additions.values():
            if addition.lines:
                addition.write()
            elif addition.table.name in before.cells:
                # Only the line before could restore them, and only while it is the last.
                files.sync(addition.table.counters_file.path)

    def _append(
        self, tree_name: str, node: Node, vector: NDArray[np.float32], *, first: int, parent: int
    ) -> None:
        addition = self._additions[tree_name]
        row = np.asarray(vector, dtype=VECTOR)
        if row.shape != (addition.table.dimensions,):
            raise BankError(f"the vector has shape {row.shape}, not ({addition.table.dimensions},)")
        if any(wrong_lengths(row[np.newaxis])):
            raise BankError("the vector is not finite or not of unit length", source=node.id)
        index = np.array([index_row(node, 0, first, parent)], dtype=addition.table.index_type)
        addition.extend(index, [checked_line(addition.table, node)], [row[np.newaxis]])
        self._nodes[tree_name, node.id] = (node, row)

    def _current(
        self, tree_name: str, node_id: str, first: int
    ) -> tuple[Node, NDArray[np.float32]]:
        added = self._nodes.get((tree_name, node_id))
        if added is not None:
            return added
        snapshot = self._additions[tree_name].snapshot
        row = int(snapshot.current[first])
        return Tree(tree_name, snapshot).node_at(row), snapshot.vectors[row]

    def _parent_row(self, tree_name: str, node: Node) -> int:
        if node.parent is None:
            return NO_PARENT
        first = self._additions[tree_name].first_row(node.parent)
        if first is None:
            raise BankError(f"the {tree_name} tree has no parent {node.parent}", source=node.id)
        parent, _ = self._current(tree_name, node.parent, first)
        if not node.deleted and (parent.deleted or parent.depth + 1 != node.depth):
            raise BankError(f"node {node.parent} cannot be the parent", source=node.id)
        return first


def checked_line(table: Table, node: Node, aside: bytes = b"") -> bytes:
    """Return a node's line, which a reader will accept; `aside` is a further key and its value."""
    if tuple(node.payload) != table.collection.fields:
        fields = ", ".join(table.collection.fields)
        raise BankError(f"the payload of a node of {table.name} has {fields}", source=node.id)
    line = to_line(node)[:-2] + aside + b"}\n"
    _require_short(line, f"node {node.id}")
    try:
        from_line(line, table.collection, table.lines_name, "new line")
    except BankCorruptError as error:
        raise BankError(f"node {node.id} cannot be stored: {error.message}") from error
    return line


def _require_short(line: bytes, what: str) -> None:
    if len(line) > LINE_LIMIT:
        raise BankError(f"{what} has {len(line):,} bytes, more than the {LINE_LIMIT:,} of a line")


def pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines together, a quarter of a megabyte at a time."""
    gathered: list[bytes] = []
    size = 0
    for line in lines:
        gathered.append(line)
        size += len(line)
        if size >= _PIECE_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)
