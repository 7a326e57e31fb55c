"""Verification of a bank against every promise of its format, and the repair of a torn journal.

Verification reads everything and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import codec, credit, freezing, manifest, replicas
from deltamem_tui.bank.bank import Bank, writers_turn
from deltamem_tui.bank.commits import journal
from deltamem_tui.bank.commits.journal import Journal
from deltamem_tui.bank.disk import archive_view
from deltamem_tui.bank.disk.archive import FILE_NAME
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.table import (
    Table,
    TableSnapshot,
    first_rows,
    last_rows,
    wrong_lengths,
)
from deltamem_tui.bank.tree_index import NO_PARENT, read_lines
from deltamem_tui.errors import BankCorruptError, BankError, BankFrozenError, Remedy

Between = Callable[[], None]
"""Called between two pieces of a check. What it raises ends the check."""

_CHUNK_ROWS = 16_384
_CHUNK_LINES = 4_096
_ELSEWHERE = "get it again from where it came from"
_IF_MEANT = (
    "restore the bank from a copy; if you changed it yourself, `deltamem unfreeze` and "
    "`deltamem freeze` state it as it is"
)
ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class Flaw:
    """One broken promise of a file; the hint is what to do, if not to restore it from a copy."""

    message: str
    source: str
    position: str | None = None
    hint: str | None = None


def verify(bank: Bank, between: Between = lambda: None) -> list[Flaw]:
    """Check a bank: digests if it is frozen, then every line, tree, vector and counter.

    Returns:
        Every flaw found; none for a sound bank.
    """
    found = chain(
        _digest_flaws(bank, between),
        _link_flaws(bank),
        line_flaws(bank, between),
        vector_flaws(bank, between),
    )
    return list(dict.fromkeys(found))


def repair(path: Path) -> bytes:
    """Cut the journal of the bank in a folder back to its last whole commit.

    What a power cut left behind that commit was never acknowledged. A line that commits follow
    is not cut: they were.

    Returns:
        What was cut off; nothing if the journal ends with a whole commit.

    Raises:
        BankCorruptError: The journal holds no whole commit; it is as it was.
        BankFrozenError: The bank is frozen, or an archive.
    """
    if archive_view.is_archive(path) or manifest.read(path).frozen:
        raise BankFrozenError(
            "a frozen bank is never written", source=str(path), hint=Remedy.ALLOW_WRITING
        )
    history = Journal(path / journal.FILE_NAME)
    if not history.exists:
        return b""
    with writers_turn(path):
        return history.cut_torn_end()


def line_flaws(bank: Bank, between: Between = lambda: None) -> Iterator[Flaw]:
    """Check every line, tree and counter of a bank; no vector's file need be there yet.

    Flaws are yielded as they are found, and the same one may come twice: who reads a
    stranger's bank can stop at the first.
    """
    for tree in bank.trees.values():
        yield from _tree_flaws(tree.snapshot, between)
    for check in (_episode_flaws, _replica_flaws, _credit_flaws, _journal_flaws):
        between()
        yield from check(bank)


def vector_flaws(bank: Bank, between: Between = lambda: None) -> Iterator[Flaw]:
    """Check every vector of a bank; flaws are yielded as they are found."""
    for tree in bank.trees.values():
        yield from _vector_flaws(tree.snapshot, between)


def unchecked(bank: Bank) -> list[str]:
    """Return what could not be checked here, because the bank came without what would prove it.

    Returns:
        One line each; none for a bank whose journal holds every commit.
    """
    missing = [
        f"the last {length} bytes of {name} belong to no commit, and go with the next"
        for snapshot in bank.snapshots.values()
        for name, length in _unclaimed(snapshot)
    ]
    if not bank.journal.exists:
        missing.append("no journal is there: neither the counts nor the history can be proved")
    elif not _tells_all(bank):
        missing.append("the journal begins later than the bank: earlier counts cannot be proved")
    if not len(bank.episodes):
        missing.append("there are no episodes: what the nodes were learnt from cannot be looked up")
    return missing


def _unclaimed(snapshot: TableSnapshot) -> Iterator[tuple[str, int]]:
    """Files that hold more than counts, as a writer leaves them that was stopped, and how much."""
    table, extent = snapshot.table, snapshot.extent
    counted = {table.lines_path: extent.bytes}
    counted |= {matrix.path: matrix.position(extent.rows) for matrix in table.matrices}
    for path, length in counted.items():
        if (more := archive_view.size(path) - length) > 0:
            yield path.name, more


def _tells_all(bank: Bank) -> bool:
    """Return whether the journal states every count: from the bank's beginning, or summed up."""
    try:
        first = next(bank.journal.commits(), None)
    except BankError:
        return False
    return first is not None and first.event in {"init", "compact"}


def _digest_flaws(bank: Bank, between: Between) -> Iterator[Flaw]:
    """Yield the files of a frozen bank are those that were frozen."""
    if not bank.frozen:
        return
    for name, message in freezing.broken_promises(bank.path, bank.manifest, between):
        yield Flaw(message, name, hint=_ELSEWHERE if bank.archived else _IF_MEANT)


def _link_flaws(bank: Bank) -> Iterator[Flaw]:
    """Nothing that lies in a bank is a link: writers refuse one. A frozen bank's digests say it."""
    if not bank.frozen and not bank.archived:
        for name in archive_view.names(bank.path):
            if FILE_NAME.fullmatch(name) and (bank.path / name).is_symlink():
                yield Flaw("is not a plain file", name, hint="put the file itself in its place")


def _tree_flaws(snapshot: TableSnapshot, between: Between) -> Iterator[Flaw]:
    """Yield the lines of a tree are nodes of one forest, and its index says what they say."""
    table, extent = snapshot.table, snapshot.extent
    built: NDArray[Any] | Flaw
    try:
        lines = _pausing(table.lines(extent), between)
        built, altered = read_lines(table, lines, extent.rows, born=True)
    except BankError as error:
        built, altered = Flaw(error.message, table.lines_name, error.position), []
    if isinstance(built, Flaw) or not _is_forest(built):
        yield from _node_flaws(snapshot, between)
    elif altered:
        yield from _identity_flaws(snapshot, built, altered)
    yield from _index_flaws(snapshot, built)


def _built_index(snapshot: TableSnapshot) -> NDArray[Any] | Flaw:
    """Return the index as the lines have it, or why there is none."""
    table = snapshot.table
    try:
        return table.build_index(table, table.lines(snapshot.extent), snapshot.extent.rows)
    except BankError as error:
        return Flaw(error.message, table.lines_name, error.position)


def _is_forest(index: NDArray[Any]) -> bool:
    """Return whether all parents of living nodes live, one level above, and so no node has a
    flaw.
    """
    current = last_rows(index["first"])
    living = current[first_rows(index["first"])]
    children = living[(index["parent"][living] != NO_PARENT) & ~index["deleted"][living]]
    parents = current[index["parent"][children]]
    rising = index["depth"][parents] + 1 == index["depth"][children]
    return bool(np.all(rising & ~index["deleted"][parents]))


def _identity_flaws(
    snapshot: TableSnapshot, index: NDArray[Any], altered: Iterable[int]
) -> Iterator[Flaw]:
    """Yield a node that was never changed still says what its id is the digest of."""
    for row in altered:
        node_id = bytes(index["id"][row]).decode()
        message = f"node {node_id} does not say what its id was made from"
        yield Flaw(message, snapshot.table.lines_name, f"line {row + 1}")


def _node_flaws(snapshot: TableSnapshot, between: Between) -> Iterator[Flaw]:
    """Lines one by one: readable, ids once, revisions rising, parents alive one level above."""
    table = snapshot.table
    nodes: dict[str, Node] = {}
    try:
        for row, _, line in _pausing(table.lines(snapshot.extent), between):
            position = f"line {row + 1}"
            try:
                node = codec.from_line(line, table.collection, table.lines_name, position)
            except BankCorruptError as error:
                yield Flaw(error.message, table.lines_name, position)
                continue
            before = nodes.get(node.id)
            # A merge may put a node right without changing its revision.
            if before is not None and (node.revision < before.revision or node == before):
                yield Flaw(f"id {node.id} stands twice", table.lines_name, position)
            nodes[node.id] = node
    except BankError as error:
        yield Flaw(error.message, table.lines_name, error.position)
    for node in nodes.values():
        parent = nodes.get(node.parent) if node.parent else None
        if node.deleted or node.parent is None:
            continue
        if parent is None:
            yield Flaw(f"node {node.id} has a parent that does not exist", table.lines_name)
        elif parent.deleted:
            yield Flaw(f"node {node.id} has a deleted parent", table.lines_name)
        elif parent.depth + 1 != node.depth:
            # Depths that rise by one from parent to child also rule out every cycle.
            yield Flaw(f"node {node.id} is not one level below its parent", table.lines_name)


def _index_flaws(snapshot: TableSnapshot, built: NDArray[Any] | Flaw) -> Iterator[Flaw]:
    """Yield the stored index says what the lines say."""
    table = snapshot.table
    if not snapshot.extent.rows:
        yield from _empty_array_flaws(table)
        return
    stored = snapshot.stored_index()
    name = table.index_file.path.name
    if stored is None and archive_view.exists(table.index_file.path):
        yield Flaw("does not fit the lines; delete it and it is made again", name)
    if isinstance(built, Flaw):
        yield built
        return
    if stored is not None and not np.array_equal(stored, built):
        row = int(np.flatnonzero(stored != built)[0])
        yield Flaw("contradicts the lines; delete it and it is made again", name, f"row {row}")


def _empty_array_flaws(table: Table) -> Iterator[Flaw]:
    """Yield the arrays of a table where nothing counts yet: nothing else opens them."""
    for matrix in (table.index_file, table.counters_file):
        try:
            if archive_view.exists(matrix.path):
                matrix.rows()
        except BankError as error:
            yield Flaw(error.message, matrix.path.name)


def _vector_flaws(snapshot: TableSnapshot, between: Between) -> Iterator[Flaw]:
    """Yield every vector of a tree has the length 1."""
    matrix = snapshot.table.vectors_file
    if matrix is None:
        return
    try:
        vectors = snapshot.vectors
    except BankError as error:
        yield Flaw(error.message, matrix.path.name)
        return
    for start in range(0, len(vectors), _CHUNK_ROWS):
        between()
        for row, length in islice(wrong_lengths(vectors[start : start + _CHUNK_ROWS]), 10):
            message = f"the vector has length {length:.4g} instead of 1"
            yield Flaw(message, matrix.path.name, f"row {start + row}")


def _episode_flaws(bank: Bank) -> Iterator[Flaw]:
    """Yield the index of the episodes says what their lines say; each is in a state that there
    is.
    """
    snapshot = bank.episodes.snapshot
    yield from _index_flaws(snapshot, _built_index(snapshot))
    for row in np.flatnonzero(snapshot.counters[:, 0] > max(EpisodeState))[:10]:
        state = int(snapshot.counters[row, 0])
        yield Flaw(f"no state {state}", snapshot.table.counters_name, f"row {row}")


def _replica_flaws(bank: Bank) -> Iterator[Flaw]:
    """Yield what others counted is of nodes that are there, and at most their totals."""
    table = bank.snapshots[replicas.NAME]
    built = _built_index(table)
    yield from _index_flaws(table, built)
    if isinstance(built, Flaw):
        return
    try:
        for message in replicas.contradictions(bank.snapshots, bank.manifest.counts_as):
            yield Flaw(message, table.table.counters_name)
    except BankError as error:
        yield Flaw(error.message, table.table.lines_name, error.position)


def _credit_flaws(bank: Bank) -> Iterator[Flaw]:
    """Yield the index of what episodes were shown says what the lines say."""
    table = bank.snapshots[credit.NAME]
    yield from _index_flaws(table, _built_index(table))


def _journal_flaws(bank: Bank) -> Iterator[Flaw]:
    """Yield every line is a commit, sequences rise by one, and the counters are their sum."""
    if not bank.journal.exists:
        return
    name = bank.journal.path.name
    counters: dict[tuple[str, int], list[int]] = {}
    complete, sequence = False, None
    try:
        for commit in bank.journal.commits():
            if commit.sequence > bank.commit.sequence:
                break
            if sequence is None:
                complete = commit.event in {"init", "compact"}
            elif commit.sequence != sequence + 1:
                yield Flaw(f"commit {commit.sequence} follows commit {sequence}", name)
            sequence = commit.sequence
            for table, rows in commit.cells.items():
                counters.update({(table, row): list(values) for row, values in rows.items()})
    except BankError as error:
        yield Flaw(error.message, name, error.position)
        return
    if complete:
        yield from _counter_flaws(bank, counters)


def _counter_flaws(bank: Bank, counters: dict[tuple[str, int], list[int]]) -> Iterator[Flaw]:
    for snapshot in bank.snapshots.values():
        table = snapshot.table
        stated = np.zeros_like(snapshot.counters)
        for (name, row), values in counters.items():
            if name == table.name and row < len(stated) and len(values) == table.counters:
                stated[row] = values
        for row in np.flatnonzero((snapshot.counters != stated).any(axis=1)).tolist():
            yield Flaw(
                f"counts {snapshot.counters[row].tolist()} where the journal states "
                f"{stated[row].tolist()}",
                table.counters_name,
                f"row {row}",
            )


def _pausing(items: Iterable[ItemT], between: Between) -> Iterator[ItemT]:
    for number, item in enumerate(items):
        if number % _CHUNK_LINES == 0:
            between()
        yield item
