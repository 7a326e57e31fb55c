"""A batch: changes gathered in memory and committed together, or not at all.

The order on disk is the whole of crash safety:

1. the line files and arrays grow beyond what counts, and are synced;
2. one line is appended to the journal and synced: from here on the batch counts;
3. what the line states is done in place: the arrays' headers and the counters.

A process that dies in 1 leaves bytes that nobody counts, in 3 leaves work that the next
writer repeats from the last line (`settle`). Nothing needs the embedding model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank import codec, episodes, files, journal, tree
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.journal import Commit, Extent, Journal, Tail
from deltamem_tui.bank.node import Node, TreeName
from deltamem_tui.bank.shelf import COUNTER, LINE_LIMIT, VECTOR, Shelf, ShelfSnapshot
from deltamem_tui.errors import BankCorruptError, BankError, DeltaMemError

_UNIT_TOLERANCE = 1e-3


@dataclass(slots=True)
class _Growth:
    """What a batch adds to one shelf."""

    snapshot: ShelfSnapshot
    lines: list[bytes] = field(default_factory=list)
    index: list[tuple[Any, ...]] = field(default_factory=list)
    vectors: list[NDArray[np.float32]] = field(default_factory=list)
    cells: dict[int, list[int]] = field(default_factory=dict)
    births: dict[str, int] = field(default_factory=dict)
    added_bytes: int = 0

    @property
    def shelf(self) -> Shelf:
        return self.snapshot.shelf

    @property
    def next_row(self) -> int:
        return self.snapshot.extent.rows + len(self.lines)

    @property
    def next_offset(self) -> int:
        return self.snapshot.extent.bytes + self.added_bytes

    @property
    def extent(self) -> Extent:
        return Extent(self.next_row, self.next_offset)

    def first_row(self, record_id: str) -> int | None:
        added = self.births.get(record_id)
        return self.snapshot.first_row(record_id) if added is None else added

    def append(self, record_id: str, first: int, index: tuple[Any, ...], line: bytes) -> None:
        """Add a line whose record has its first line at row `first`."""
        self.births.setdefault(record_id, first)
        self.index.append(index)
        self.lines.append(line)
        self.added_bytes += len(line)

    def cell(self, row: int) -> list[int]:
        """The counters of a row, to be changed."""
        if row not in self.cells:
            known = row < self.snapshot.extent.rows
            self.cells[row] = (
                [int(value) for value in self.snapshot.counters[row]]
                if known
                else [0] * self.shelf.counters
            )
        return self.cells[row]


class Batch:
    """Changes to a bank, gathered under the writer's lock."""

    def __init__(self, tail: Tail | None, snapshots: Mapping[str, ShelfSnapshot]) -> None:
        self._tail = tail
        self._growths = {name: _Growth(snapshot) for name, snapshot in snapshots.items()}
        self._nodes: dict[tuple[str, str], tuple[Node, NDArray[np.float32]]] = {}
        self._event: tuple[str, Mapping[str, Any]] | None = None

    @property
    def event(self) -> str:
        """What the batch was named; empty if it shall not be committed."""
        return self._event[0] if self._event else ""

    def log(self, event: str, detail: Mapping[str, Any] | None = None) -> None:
        """Name what the batch is, for the journal. A batch without a name is not committed."""
        self._event = (event, detail or {})

    def add_node(self, tree_name: TreeName, node: Node, vector: NDArray[np.float32]) -> None:
        """Add a new node.

        Args:
            tree_name: The tree it grows on.
            node: Revision 0; its parent, if any, is in the tree or was added before.
            vector: Its activation condition's vector, float32 [dimensions], unit length.

        Raises:
            BankError: The id is taken, or the parent is missing, dead or at another depth.
        """
        growth = self._growths[tree_name]
        if node.revision or node.deleted:
            raise BankError("a new node begins at revision 0 and alive", source=node.id)
        if growth.first_row(node.id) is not None:
            raise BankError(f"the {tree_name} tree has a node {node.id} already")
        parent = self._parent_row(tree_name, node)
        self._append(tree_name, node, vector, first=growth.next_row, parent=parent)

    def revise_node(
        self, tree_name: TreeName, node: Node, vector: NDArray[np.float32] | None = None
    ) -> Node:
        """Give a node a new last line: an edit, a mark or a tombstone.

        Args:
            tree_name: The tree that holds it.
            node: The node as it shall be; its revision is set here.
            vector: Its vector, if the activation condition changed.

        Returns:
            The node with its new revision.

        Raises:
            BankError: There is no such node, or its parent is missing.
        """
        growth = self._growths[tree_name]
        first = growth.first_row(node.id)
        if first is None:
            raise BankError(f"the {tree_name} tree has no node {node.id}")
        before, old_vector = self._current(tree_name, node.id, first)
        revised = replace(node, revision=before.revision + 1)
        self._append(
            tree_name,
            revised,
            old_vector if vector is None else vector,
            first=first,
            parent=self._parent_row(tree_name, node),
        )
        return revised

    def count(
        self,
        tree_name: TreeName,
        node_id: str,
        *,
        hits: int = 0,
        recalls: int = 0,
        successes: int = 0,
    ) -> int:
        """Add to a node's counters.

        Returns:
            The node's hits, these included.
        """
        growth = self._growths[tree_name]
        first = growth.first_row(node_id)
        if first is None:
            raise BankError(f"the {tree_name} tree has no node {node_id}")
        cell = growth.cell(first)
        for position, more in enumerate((hits, recalls, successes)):
            cell[position] += more
        return cell[0]

    def put_episode(self, record: Mapping[str, Any]) -> None:
        """Add an episode, waiting to be learnt, or give a known one a new record."""
        growth = self._growths[episodes.NAME]
        episode_id = str(record["id"])
        if not codec.is_id(episode_id):
            raise BankError(f"{episode_id[:40]!r} is not an id of 16 hexadecimal digits")
        line = _bounded(orjson.dumps(record) + b"\n", f"episode {episode_id}")
        known = growth.first_row(episode_id)
        first = growth.next_row if known is None else known
        index = (episode_id.encode(), growth.next_offset, first)
        growth.append(episode_id, first, index, line)

    def set_state(self, episode_id: str, state: EpisodeState) -> None:
        """Mark an episode as waiting or learnt.

        Raises:
            BankError: The bank does not have the episode.
        """
        growth = self._growths[episodes.NAME]
        first = growth.first_row(episode_id)
        if first is None:
            raise BankError(f"the bank has no episode {episode_id}")
        growth.cell(first)[0] = int(state)

    def commit(self, journal_file: Journal) -> Tail:
        """Write the batch (steps 1 and 2). When this returns, it is acknowledged.

        What its commit states is still to be done in place, by `apply` or the next writer.

        Raises:
            StorageError: The disk refused; the bank is as it was.
        """
        if self._event is None:
            raise BankError("a batch needs a name for the journal")
        event, detail = self._event
        tail = self._tail or self._adopt(journal_file)
        commit = Commit(
            sequence=tail.commit.sequence + 1,
            event=event,
            time=journal.now(),
            detail=detail,
            extents={name: growth.extent for name, growth in self._growths.items()},
            cells={name: growth.cells for name, growth in self._growths.items() if growth.cells},
        )
        self._grow()
        self._sync_counters(tail)
        return journal_file.append(tail, commit)

    def _adopt(self, journal_file: Journal) -> Tail:
        """Begin the journal of a bank that was shipped without, by what counts before anything
        grows beyond it.
        """
        extents = {name: growth.snapshot.extent for name, growth in self._growths.items()}
        adopted = Commit(sequence=0, event="adopt", time=journal.now(), extents=extents)
        return journal_file.append(None, adopted)

    def _grow(self) -> None:
        touched = []
        try:
            for growth in self._growths.values():
                if growth.lines:
                    touched.append(growth)
                    _write_growth(growth)
        except DeltaMemError:
            for growth in touched:
                with suppress(DeltaMemError):
                    cut(growth.shelf, growth.snapshot.extent)
            raise

    def _sync_counters(self, before: Tail) -> None:
        """Settle the counters of the commit before, which only its own line could restore."""
        for name, growth in self._growths.items():
            if name in before.commit.cells:
                files.sync(growth.shelf.counters_file.path)

    def _append(
        self,
        tree_name: TreeName,
        node: Node,
        vector: NDArray[np.float32],
        *,
        first: int,
        parent: int,
    ) -> None:
        growth = self._growths[tree_name]
        row = np.asarray(vector, dtype=VECTOR)
        if row.shape != (growth.shelf.dimensions,):
            raise BankError(f"the vector has shape {row.shape}, not ({growth.shelf.dimensions},)")
        if not abs(float(np.linalg.norm(row)) - 1.0) < _UNIT_TOLERANCE:
            raise BankError("the vector is not finite or not of unit length", source=node.id)
        index = tree.index_row(node, growth.next_offset, first, parent)
        growth.append(node.id, first, index, _checked_line(growth.shelf, node))
        growth.vectors.append(row)
        self._nodes[tree_name, node.id] = (node, row)

    def _current(
        self, tree_name: TreeName, node_id: str, first: int
    ) -> tuple[Node, NDArray[np.float32]]:
        added = self._nodes.get((tree_name, node_id))
        if added is not None:
            return added
        snapshot = self._growths[tree_name].snapshot
        row = int(snapshot.current[first])
        return tree.Tree(tree_name, snapshot).node_at(row), snapshot.vectors[row]

    def _parent_row(self, tree_name: TreeName, node: Node) -> int:
        if node.parent is None:
            return tree.NO_PARENT
        first = self._growths[tree_name].first_row(node.parent)
        if first is None:
            raise BankError(f"the {tree_name} tree has no parent {node.parent}", source=node.id)
        parent, _ = self._current(tree_name, node.parent, first)
        if not node.deleted and (parent.deleted or parent.depth + 1 != node.depth):
            raise BankError(f"node {node.parent} cannot be the parent", source=node.id)
        return first


def _checked_line(shelf: Shelf, node: Node) -> bytes:
    """The node's line, which a reader will accept."""
    line = _bounded(codec.to_line(node), f"node {node.id}")
    try:
        codec.from_line(line, shelf.lines_name, "new line")
    except BankCorruptError as error:
        raise BankError(f"node {node.id} cannot be stored: {error.message}") from error
    return line


def _bounded(line: bytes, what: str) -> bytes:
    if len(line) > LINE_LIMIT:
        raise BankError(f"{what} has {len(line):,} bytes, more than the {LINE_LIMIT:,} of a line")
    return line


def _write_growth(growth: _Growth) -> None:
    """Step 1 for one shelf: grow beyond what counts, and sync."""
    shelf, before = growth.shelf, growth.snapshot.extent
    files.write_at(shelf.lines_path, before.bytes, b"".join(growth.lines))
    index = np.array(growth.index, dtype=shelf.index_type)
    shelf.index_file.write_rows(before.rows, index)
    zeros = np.zeros((len(growth.lines), shelf.counters), dtype=COUNTER)
    shelf.counters_file.write_rows(before.rows, zeros)
    if shelf.vectors_file:
        shelf.vectors_file.write_rows(before.rows, np.stack(growth.vectors))
    for path in (shelf.lines_path, *(matrix.path for matrix in shelf.matrices)):
        files.sync(path)


def apply(commit: Commit, shelves: Iterable[Shelf]) -> None:
    """Step 3: do in place what the commit states. Doing it again changes nothing."""
    for shelf in shelves:
        for row, values in sorted(commit.cells.get(shelf.name, {}).items()):
            shelf.counters_file.write_rows(row, np.array([values], dtype=COUNTER))
        for matrix in shelf.matrices:
            matrix.write_header(commit.extent(shelf.name).rows)


def cut(shelf: Shelf, extent: Extent) -> None:
    """Remove what lies beyond what counts: the remains of a batch that never was."""
    files.truncate(shelf.lines_path, extent.bytes)
    for matrix in shelf.matrices:
        files.truncate(matrix.path, matrix.position(extent.rows))


def settle(tail: Tail | None, shelves: list[Shelf]) -> None:
    """Bring the files to what the last commit states, whatever the last writer was doing.

    Raises:
        BankCorruptError: A file is shorter than what was acknowledged.
    """
    commit = tail.commit if tail else whole(shelves)
    for shelf in shelves:
        extent = commit.extent(shelf.name)
        if not extent.rows:
            shelf.create()
        shelf.require(extent)
        _restore_index(shelf, commit)
        cut(shelf, extent)
    apply(commit, shelves)


def whole(shelves: Iterable[Shelf]) -> Commit:
    """The commit of a bank that is shipped without its journal: it counts as it lies there."""
    return Commit(extents={shelf.name: shelf.whole_extent() for shelf in shelves})


def _restore_index(shelf: Shelf, commit: Commit) -> None:
    """Write the derived index anew where it is missing or does not fit."""
    snapshot = ShelfSnapshot(shelf, commit)
    if snapshot.stored_index() is None:
        shelf.index_file.write_whole(snapshot.index)
