"""A batch: changes gathered in memory and committed together, or not at all.

The order on disk is the whole of crash safety:

1. the line files and arrays grow beyond what counts, and are synced;
2. one line is appended to the journal and synced: from here on the batch counts;
3. what the line states is done in place: the arrays' headers and the counters.

A process that dies in 1 leaves bytes that nobody counts, in 3 leaves work that the next
writer repeats from the last line (`settle`). Nothing needs the embedding model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank import codec, episodes, files, journal, manifest, rewriting, tree
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.journal import Commit, Extent, Journal, Tail
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Node, TreeName
from deltamem_tui.bank.shelf import (
    COUNTER,
    LINE_LIMIT,
    UNIT_TOLERANCE,
    VECTOR,
    Rows,
    Shelf,
    ShelfSnapshot,
)
from deltamem_tui.errors import BankCorruptError, BankError, DeltaMemError

_CHUNK_ROWS = 16_384


@dataclass(frozen=True, slots=True)
class Gathered:
    """Rows of an array that lies elsewhere, read when they are written.

    Attributes:
        matrix: float32 [any, dimensions].
        rows: Which of its rows, in order.
    """

    matrix: NDArray[np.float32]
    rows: Rows

    def pieces(self) -> Iterator[NDArray[np.float32]]:
        """The rows, some at a time."""
        for start in range(0, len(self.rows), _CHUNK_ROWS):
            yield np.asarray(self.matrix[self.rows[start : start + _CHUNK_ROWS]])


@dataclass(slots=True)
class _Growth:
    """What a batch adds to one shelf."""

    snapshot: ShelfSnapshot
    lines: list[bytes | memoryview] = field(default_factory=list)
    index: list[NDArray[Any]] = field(default_factory=list)
    vectors: list[NDArray[np.float32] | Gathered] = field(default_factory=list)
    cells: dict[int, list[int]] = field(default_factory=dict)
    births: dict[str, int] = field(default_factory=dict)
    added_rows: int = 0
    added_bytes: int = 0

    @property
    def shelf(self) -> Shelf:
        return self.snapshot.shelf

    @property
    def next_row(self) -> int:
        return self.snapshot.extent.rows + self.added_rows

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
        self.index.append(np.array([index], dtype=self.shelf.index_type))
        self.lines.append(line)
        self.added_rows += 1
        self.added_bytes += len(line)

    def extend(self, index: NDArray[Any], lines: Sequence[bytes | memoryview]) -> None:
        """Add many lines at once; `index` is as `Batch.extend` has it."""
        placed = index.copy()
        placed["offset"] += self.next_offset
        for record_id, first in zip(index["id"].tolist(), index["first"].tolist(), strict=True):
            self.births.setdefault(record_id.decode(), first)
        self.index.append(placed)
        self.lines.extend(lines)
        self.added_rows += len(index)
        self.added_bytes += sum(map(len, lines))

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
        self._manifest: Manifest | None = None

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
            node: Its parent, if any, is in the tree or was added before. One that was revised
                elsewhere keeps that revision.
            vector: Its activation condition's vector, float32 [dimensions], unit length.

        Raises:
            BankError: The id is taken, or the parent is missing, dead or at another depth.
        """
        growth = self._growths[tree_name]
        if node.deleted:
            raise BankError("a new node is alive", source=node.id)
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
        episode_id = str(record["id"])
        if not codec.is_id(episode_id):
            raise BankError(f"{episode_id[:40]!r} is not an id of 16 hexadecimal digits")
        self.put_episode_line(episode_id, orjson.dumps(record) + b"\n")

    def put_episode_line(self, episode_id: str, line: bytes) -> None:
        """Add an episode that is written already, or give a known one a new record.

        Args:
            episode_id: Its id; the caller has seen to it that it is one.
            line: Its record as one line of JSON, newline included, with that id.
        """
        growth = self._growths[episodes.NAME]
        _bounded(line, f"episode {episode_id}")
        known = growth.first_row(episode_id)
        first = growth.next_row if known is None else known
        index = (episode_id.encode(), growth.next_offset, first)
        growth.append(episode_id, first, index, line)

    def put_new_episodes(self, ids: Sequence[str], lines: Sequence[bytes]) -> None:
        """Add episodes at once that neither the bank nor this batch have.

        Args:
            ids: Their ids, all different.
            lines: The line of each, as for `put_episode_line`, and no longer than `LINE_LIMIT`.
        """
        growth = self._growths[episodes.NAME]
        index = np.zeros(len(lines), dtype=growth.shelf.index_type)
        index["id"] = [episode_id.encode() for episode_id in ids]
        index["offset"][1:] = np.cumsum([len(line) for line in lines[:-1]])
        index["first"] = growth.next_row + np.arange(len(lines))
        growth.extend(index, lines)

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

    def extend(
        self,
        shelf_name: str,
        lines: Sequence[bytes | memoryview],
        index: NDArray[Any],
        vectors: Sequence[NDArray[np.float32] | Gathered] = (),
    ) -> None:
        """Add many lines at once, as a merge does. Nothing of them is checked here.

        Args:
            shelf_name: The shelf that they are added to.
            lines: The lines, newlines included, in pieces of any number of lines.
            index: Their index rows. `first` and `parent` are rows of this bank, those that
                are added here among them; `offset` counts from the first of these lines.
            vectors: Their vectors in pieces, float32 [rows, dimensions].
        """
        growth = self._growths[shelf_name]
        if len(index):
            growth.extend(index, lines)
            growth.vectors.extend(vectors)

    def next_row(self, shelf_name: str) -> int:
        """The row that the next line added to a shelf will have."""
        return self._growths[shelf_name].next_row

    def state_counters(self, shelf_name: str, rows: Rows, values: NDArray[np.int64]) -> None:
        """Say what some rows' counters shall be, absolutely.

        Args:
            shelf_name: The shelf.
            rows: Rows of first lines.
            values: int64 [rows, counters].

        Raises:
            BankError: One is more than a counter holds.
        """
        if len(values) and int(values.max()) > np.iinfo(COUNTER).max:
            raise BankError(f"a counter of the {shelf_name} shelf would overflow")
        cells = dict(zip(rows.tolist(), values.tolist(), strict=True))
        self._growths[shelf_name].cells.update(cells)

    def replace_manifest(self, new: Manifest) -> None:
        """Give the bank a new manifest with this batch: both count from the same instant."""
        self._manifest = new

    def write_unseen(self) -> Commit:
        """Write the batch whole into a folder that nobody else sees yet: it needs no journal.

        Returns:
            What was written, as the first line of a journal may state it: without cells.
        """
        event, detail = self._event or ("", {})
        commit = Commit(
            sequence=0,
            event=event,
            time=journal.now(),
            detail=detail,
            extents={name: growth.extent for name, growth in self._growths.items()},
            cells={name: growth.cells for name, growth in self._growths.items()},
        )
        touched = [growth for growth in self._growths.values() if growth.lines or growth.cells]
        shelves = [growth.shelf for growth in touched]
        for shelf in shelves:
            shelf.create()
        self._grow()
        apply(commit, shelves)
        for shelf in shelves:
            for matrix in shelf.matrices:
                files.sync(matrix.path)
        return replace(commit, cells={})

    def commit(self, journal_file: Journal) -> Tail:
        """Write the batch (steps 1 and 2). When this returns, it is acknowledged.

        What its commit states is still to be done in place, by `apply` or the next writer.

        Raises:
            BankError: It is too much for one line of the journal; the bank is as it was.
            StorageError: The disk refused; the bank is as it was.
        """
        if self._event is None:
            raise BankError("a batch needs a name for the journal")
        event, detail = self._event
        before = self._tail.commit if self._tail else Commit(sequence=0)
        commit = Commit(
            sequence=before.sequence + 1,
            event=event,
            time=journal.now(),
            detail=detail,
            extents={name: growth.extent for name, growth in self._growths.items()},
            cells={name: growth.cells for name, growth in self._growths.items() if growth.cells},
            replaces=(manifest.FILE_NAME,) if self._manifest else (),
            rewritten=before.generation,
        )
        commit.line()  # one that is too long is refused here, while nothing is written
        tail = self._tail or journal.adopt(
            journal_file, {name: each.snapshot.extent for name, each in self._growths.items()}
        )
        self._grow()
        self._sync_counters(tail)
        if self._manifest:
            _write_beside(journal_file.path.with_name(manifest.FILE_NAME), self._manifest, commit)
        return journal_file.append(tail, commit)

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
        if not abs(float(np.linalg.norm(row)) - 1.0) < UNIT_TOLERANCE:
            raise BankError("the vector is not finite or not of unit length", source=node.id)
        index = tree.index_row(node, growth.next_offset, first, parent)
        growth.append(node.id, first, index, _checked_line(growth.shelf, node))
        growth.vectors.append(row[np.newaxis])
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


def _write_beside(path: Path, new: Manifest, commit: Commit) -> None:
    """Write a manifest where a commit that replaces it has it, until it is put in its place."""
    draft = rewriting.draft_path(path, commit.sequence)
    files.create_anew(draft)
    files.write_at(draft, 0, manifest.encode(new))
    files.sync(draft)
    files.sync(path.parent)


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
    shelf.index_file.write_rows(before.rows, np.concatenate(growth.index))
    zeros = np.zeros((growth.added_rows, shelf.counters), dtype=COUNTER)
    shelf.counters_file.write_rows(before.rows, zeros)
    if shelf.vectors_file:
        row = before.rows
        for block in _blocks(growth.vectors):
            shelf.vectors_file.write_rows(row, block)
            row += len(block)
    for path in (shelf.lines_path, *(matrix.path for matrix in shelf.matrices)):
        files.sync(path)


def _blocks(vectors: Iterable[NDArray[np.float32] | Gathered]) -> Iterator[NDArray[np.float32]]:
    """Vectors in as few pieces as fit into memory."""
    alone: list[NDArray[np.float32]] = []
    for each in vectors:
        if isinstance(each, Gathered):
            if alone:
                yield np.concatenate(alone)
                alone = []
            yield from each.pieces()
        else:
            alone.append(each)
    if alone:
        yield np.concatenate(alone)


def apply(commit: Commit, shelves: Iterable[Shelf]) -> None:
    """Step 3: do in place what the commit states. Doing it again changes nothing."""
    for shelf in shelves:
        if shelf.counters_name in commit.replaces:
            continue  # the new files hold what the commit states, and are on the disk
        for row, block in _runs(commit.cells.get(shelf.name, {})):
            shelf.counters_file.write_rows(row, block)
        for matrix in shelf.matrices:
            matrix.write_header(commit.extent(shelf.name).rows)


def _runs(cells: Mapping[int, Sequence[int]]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Cells as (row, values of this row and those right behind it)."""
    rows = sorted(cells)
    starts = [i for i, row in enumerate(rows) if not i or row != rows[i - 1] + 1]
    for start, stop in zip(starts, [*starts[1:], len(rows)], strict=False):
        yield rows[start], np.array([cells[row] for row in rows[start:stop]], dtype=COUNTER)


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
        _require_sound_end(shelf, commit)
        cut(shelf, extent)
    apply(commit, shelves)


def whole(shelves: Iterable[Shelf]) -> Commit:
    """The commit of a bank that is shipped without its journal: it counts as it lies there."""
    return Commit(extents={shelf.name: shelf.whole_extent() for shelf in shelves})


def _require_sound_end(shelf: Shelf, commit: Commit) -> None:
    """See that what a writer would build on is whole, as far as one look at the end can tell.

    Raises:
        BankCorruptError: The last line, its index row or its vector is not what was written.
    """
    snapshot = ShelfSnapshot(shelf, commit)
    last = snapshot.extent.rows - 1
    if last < 0:
        return
    record = snapshot.index[last]
    end = bytes(snapshot.text[max(int(record["offset"]) - 1, 0) :])
    line = end[1:] if record["offset"] else end
    alone = end[:1] == b"\n" or not record["offset"]
    try:
        named = orjson.loads(line)["id"].encode() == record["id"]
    except (ValueError, TypeError, KeyError, AttributeError):
        named = False
    if not (alone and named and line.find(b"\n") == len(line) - 1):
        raise _broken(shelf.lines_path.name, shelf, f"line {last + 1} is not what was written")
    if shelf.vectors_file:
        length = float(np.linalg.norm(snapshot.vectors[last].astype(np.float64)))
        if not abs(length - 1.0) < UNIT_TOLERANCE:
            name = shelf.vectors_file.path.name
            raise _broken(name, shelf, f"the vector at row {last} has length {length:.4g}, not 1")


def _broken(name: str, shelf: Shelf, message: str) -> BankCorruptError:
    return BankCorruptError(
        message,
        source=str(shelf.folder / name),
        hint="nothing was written; `deltamem verify` lists all that is broken",
    )


def _restore_index(shelf: Shelf, commit: Commit) -> None:
    """Write the derived index anew where it is missing or does not fit."""
    snapshot = ShelfSnapshot(shelf, commit)
    if snapshot.stored_index() is None:
        shelf.index_file.write_whole(snapshot.index)
