"""A batch: changes gathered in memory and committed together, or not at all.

The order on disk is the whole of crash safety:

1. the line files and arrays grow beyond what counts, and are synced;
2. one line is appended to the journal and synced: from here on the batch counts;
3. what the line states is done in place: the arrays' headers and the counters.

A process that dies in 1 leaves bytes that do not count, in 3 leaves work that the next
writer repeats from the last line. Nothing needs the embedding model. Here changes are
gathered; `append` does steps 1 and 3, the journal step 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import orjson
from numpy.typing import NDArray

from deltamem_tui.bank import append, codec, episodes, manifest, tree_index
from deltamem_tui.bank.append import Addition, VectorRows, append_all, take_back
from deltamem_tui.bank.commits import file_swap, journal
from deltamem_tui.bank.commits.journal import COUNTER_LIMIT, Commit, Journal, Tail
from deltamem_tui.bank.disk import archive_view, files
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.table import (
    LINE_LIMIT,
    VECTOR,
    Rows,
    Table,
    TableSnapshot,
    wrong_lengths,
)
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import BankCorruptError, BankError, DeltaMemError


class Batch:
    """Changes to a bank, gathered under the writer's lock."""

    def __init__(self, tail: Tail | None, snapshots: Mapping[str, TableSnapshot]) -> None:
        self._tail = tail
        self._additions = {name: Addition(snapshot) for name, snapshot in snapshots.items()}
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

    def add_node(self, tree_name: str, node: Node, vector: NDArray[np.float32]) -> None:
        """Add a new node.

        Args:
            tree_name: The tree it grows on.
            node: Its parent, if any, is in the tree or was added before. One that was revised
                elsewhere keeps that revision.
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
        self._append(tree_name, node, vector, first=addition.next_row, parent=parent)

    def revise_node(
        self, tree_name: str, node: Node, vector: NDArray[np.float32] | None = None
    ) -> Node:
        """Give a node a new last line: an edit, a mark or a tombstone.

        The vector, as for `add_node`, is given if the text that is embedded has changed.

        Returns:
            The node with its new revision.

        Raises:
            BankError: There is no such node, or as `add_node`.
            BankCorruptError: The line that it has so far is not what was written.
        """
        addition = self._additions[tree_name]
        first = addition.first_row(node.id)
        if first is None:
            raise BankError(f"the {tree_name} tree has no node {node.id}")
        before, old_vector = self._current(tree_name, node.id, first)
        revised = msgspec.structs.replace(node, revision=before.revision + 1)
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
        tree_name: str,
        node_id: str,
        *,
        hits: int = 0,
        recalls: int = 0,
        successes: int = 0,
    ) -> int:
        """Add to a node's counters. One that is full, at `COUNTER_LIMIT`, stays so.

        Returns:
            The node's hits, these included.
        """
        addition = self._additions[tree_name]
        first = addition.first_row(node_id)
        if first is None:
            raise BankError(f"the {tree_name} tree has no node {node_id}")
        cell = addition.cell(first)
        for position, more in enumerate((hits, recalls, successes)):
            cell[position] = min(cell[position] + more, COUNTER_LIMIT)
        return cell[0]

    def put_episode(self, record: Mapping[str, Any]) -> None:
        """Add an episode, waiting to be learnt, or give a known one a new record.

        The record is what JSON can hold, with its `id`. A known episode keeps its place and state.

        Raises:
            BankError: Its id is none, or its line would be longer than `LINE_LIMIT`.
        """
        episode_id = str(record["id"])
        if not codec.is_id(episode_id):
            raise BankError(f"{episode_id[:40]!r} is not an id of 16 hexadecimal digits")
        self.put_episode_line(episode_id, orjson.dumps(record) + b"\n")

    def put_episode_line(self, episode_id: str, line: bytes) -> None:
        """Add an episode that is written already, or give a known one a new record.

        Raises:
            BankError: The line is longer than `LINE_LIMIT`.
        """
        addition = self._additions[episodes.NAME]
        _bounded(line, f"episode {episode_id}")
        known = addition.first_row(episode_id)
        first = addition.next_row if known is None else known
        index = (episode_id.encode(), addition.next_offset, first)
        addition.append(episode_id, first, index, line)

    def put_new_episodes(self, ids: Sequence[str], lines: Sequence[bytes]) -> None:
        """Add episodes at once that neither the bank nor this batch have.

        Their ids are all different, and their lines no longer than `LINE_LIMIT`.
        """
        addition = self._additions[episodes.NAME]
        index = np.zeros(len(lines), dtype=addition.table.index_type)
        index["id"] = [episode_id.encode() for episode_id in ids]
        index["first"] = addition.next_row + np.arange(len(lines))
        addition.extend(index, lines)

    def replace_episode(self, episode_id: str, by: str) -> None:
        """Replace an episode of the bank by a longer record of it, which has the id `by`."""
        record = {"id": episode_id, "replaced_by": by}
        self.put_episode_line(episode_id, orjson.dumps(record) + b"\n")
        self.set_state(episode_id, EpisodeState.REPLACED)

    def set_state(self, episode_id: str, state: EpisodeState) -> None:
        """Mark an episode as waiting, learnt or replaced."""
        addition = self._additions[episodes.NAME]
        first = addition.first_row(episode_id)
        if first is None:
            raise BankError(f"the bank has no episode {episode_id}")
        addition.cell(first)[0] = int(state)

    def extend(
        self,
        table_name: str,
        lines: Sequence[bytes | memoryview],
        index: NDArray[Any],
        vectors: Sequence[NDArray[np.float32] | VectorRows] = (),
        sizes: NDArray[np.int64] | None = None,
    ) -> None:
        """Add many lines at once, as a merge does. Nothing of them is checked here.

        Args:
            table_name: The table that they are added to.
            lines: The lines, newlines included, in pieces of any number of lines.
            index: Their index rows. `first` and `parent` are rows of this bank, those that
                are added here among them; `offset` is filled in here.
            vectors: Their vectors in pieces, float32 [rows, dimensions].
            sizes: The bytes of each line, if the pieces hold more than one each. int64 [rows].
        """
        addition = self._additions[table_name]
        if len(index):
            addition.extend(index, lines, sizes)
            addition.vectors.extend(vectors)

    def next_row(self, table_name: str) -> int:
        """Return the row that the next line added to a table will have."""
        return self._additions[table_name].next_row

    def state_counters(self, table_name: str, rows: Rows, values: NDArray[np.int64]) -> None:
        """Say what some rows' counters shall be, absolutely.

        Raises:
            BankError: One is more than a counter holds.
        """
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

    def write_unseen(self) -> Commit:
        """Write the batch whole into a folder that no other process sees yet: it needs no journal.

        Returns:
            What was written, as the first line of a journal may state it: without cells.
        """
        commit = self._stated(0)
        touched = [
            addition for addition in self._additions.values() if addition.lines or addition.cells
        ]
        tables = [addition.table for addition in touched]
        for table in tables:
            table.create()
        append_all(touched)
        append.apply(commit, tables)
        for table in tables:
            for matrix in table.matrices:
                files.sync(matrix.path)
        return replace(commit, cells={})

    def commit(self, history: Journal) -> Tail:
        """Write the batch (steps 1 and 2). When this returns, it is acknowledged.

        What its commit states is still to be done in place, by `apply` or the next writer.

        Raises:
            BankError: The journal cannot say it in one line; the bank is as it was.
            StorageError: The disk refused; the bank is as it was.
        """
        if self._event is None:
            raise BankError("a batch needs a name for the journal")
        before = self._tail.commit if self._tail else Commit(sequence=0)
        commit = replace(
            self._stated(before.sequence + 1),
            replaces=(manifest.FILE_NAME,) if self._manifest else (),
            rewritten=before.generation,
        )
        commit.line()  # what cannot be read again is refused here, while nothing is written
        tail = self._tail or journal.adopt(
            history, {name: each.snapshot.extent for name, each in self._additions.items()}
        )
        try:
            append_all(self._additions.values())
            # Those of the others were synced just now.
            others = [each.table for each in self._additions.values() if not each.lines]
            append.sync_counters(tail.commit, others)
            if self._manifest:
                text = manifest.encode(self._manifest)
                file_swap.write_draft(_manifest_of(history), commit.sequence, [text])
                files.sync(history.path.parent)
            return history.append(tail, commit)
        except DeltaMemError:
            self._take_back(history, tail, commit)
            raise

    def _stated(self, sequence: int) -> Commit:
        """Return the batch as one line of the journal."""
        event, detail = self._event or ("", {})
        return Commit(
            sequence=sequence,
            event=event,
            time=journal.now(),
            detail=detail,
            extents={name: addition.extent for name, addition in self._additions.items()},
            cells={
                name: addition.cells for name, addition in self._additions.items() if addition.cells
            },
        )

    def _take_back(self, history: Journal, before: Tail, commit: Commit) -> None:
        """Leave the files as they were, unless the journal may state the commit after all."""
        with suppress(DeltaMemError):
            if archive_view.size(history.path) <= before.length:
                take_back(self._additions.values())
                files.remove(file_swap.draft_path(_manifest_of(history), commit.sequence))

    def _append(
        self,
        tree_name: str,
        node: Node,
        vector: NDArray[np.float32],
        *,
        first: int,
        parent: int,
    ) -> None:
        addition = self._additions[tree_name]
        row = np.asarray(vector, dtype=VECTOR)
        if row.shape != (addition.table.dimensions,):
            raise BankError(f"the vector has shape {row.shape}, not ({addition.table.dimensions},)")
        if any(wrong_lengths(row[np.newaxis])):
            raise BankError("the vector is not finite or not of unit length", source=node.id)
        index = tree_index.index_row(node, addition.next_offset, first, parent)
        addition.append(node.id, first, index, _checked_line(addition.table, node))
        addition.vectors.append(row[np.newaxis])
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
            return tree_index.NO_PARENT
        first = self._additions[tree_name].first_row(node.parent)
        if first is None:
            raise BankError(f"the {tree_name} tree has no parent {node.parent}", source=node.id)
        parent, _ = self._current(tree_name, node.parent, first)
        if not node.deleted and (parent.deleted or parent.depth + 1 != node.depth):
            raise BankError(f"node {node.parent} cannot be the parent", source=node.id)
        return first


def _manifest_of(history: Journal) -> Path:
    return history.path.with_name(manifest.FILE_NAME)


def _checked_line(table: Table, node: Node) -> bytes:
    """Return the node's line, which a reader will accept."""
    if tuple(node.payload) != table.collection.fields:
        fields = ", ".join(table.collection.fields)
        raise BankError(f"the payload of a node of {table.name} has {fields}", source=node.id)
    line = _bounded(codec.to_line(node), f"node {node.id}")
    try:
        codec.from_line(line, table.collection, table.lines_name, "new line")
    except BankCorruptError as error:
        raise BankError(f"node {node.id} cannot be stored: {error.message}") from error
    return line


def _bounded(line: bytes, what: str) -> bytes:
    if len(line) > LINE_LIMIT:
        raise BankError(f"{what} has {len(line):,} bytes, more than the {LINE_LIMIT:,} of a line")
    return line
