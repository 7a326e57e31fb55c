"""Verification: does a bank keep every promise of its format? Reads everything, changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deltamem_tui.bank import codec, freezing
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.node import TREES, Node
from deltamem_tui.bank.shelf import ShelfSnapshot
from deltamem_tui.errors import BankCorruptError, BankError

_UNIT_TOLERANCE = 1e-3
_CHUNK_ROWS = 16_384


@dataclass(frozen=True, slots=True)
class Flaw:
    """One broken promise.

    Attributes:
        message: What is wrong.
        source: The file.
        position: Where in the file, if known.
    """

    message: str
    source: str
    position: str | None = None


def verify(bank: Bank) -> list[Flaw]:
    """Check a bank: digests if it is frozen, then every line, tree, vector and counter.

    Returns:
        Every flaw found; none for a sound bank.
    """
    flaws = list(_digest_flaws(bank)) if bank.frozen else []
    for name in TREES:
        flaws += _shelf_flaws(bank.tree(name).snapshot)
    flaws += _index_flaws(bank.episodes.snapshot)
    flaws += _state_flaws(bank.episodes.snapshot)
    flaws += _journal_flaws(bank)
    return list(dict.fromkeys(flaws))


def _digest_flaws(bank: Bank) -> Iterator[Flaw]:
    for name, message in freezing.broken_promises(bank.path, bank.manifest):
        yield Flaw(message, name)


def _shelf_flaws(snapshot: ShelfSnapshot) -> Iterator[Flaw]:
    yield from _node_flaws(snapshot)
    yield from _index_flaws(snapshot)
    yield from _vector_flaws(snapshot)


def _node_flaws(snapshot: ShelfSnapshot) -> Iterator[Flaw]:
    """Lines one by one: readable, ids once, revisions rising, parents alive one level above."""
    shelf = snapshot.shelf
    nodes: dict[str, Node] = {}
    try:
        for row, _, line in shelf.lines(snapshot.extent):
            position = f"line {row + 1}"
            try:
                node = codec.from_line(line, shelf.lines_name, position)
            except BankCorruptError as error:
                yield Flaw(error.message, shelf.lines_name, position)
                continue
            before = nodes.get(node.id)
            if before is not None and node.revision <= before.revision:
                yield Flaw(f"id {node.id} stands twice", shelf.lines_name, position)
            nodes[node.id] = node
    except BankError as error:
        yield Flaw(error.message, shelf.lines_name, error.position)
    for node in nodes.values():
        parent = nodes.get(node.parent) if node.parent else None
        if node.deleted or node.parent is None:
            continue
        if parent is None:
            yield Flaw(f"node {node.id} has a parent that does not exist", shelf.lines_name)
        elif parent.deleted:
            yield Flaw(f"node {node.id} has a deleted parent", shelf.lines_name)
        elif parent.depth + 1 != node.depth:
            # Depths that rise by one from parent to child also rule out every cycle.
            yield Flaw(f"node {node.id} is not one level below its parent", shelf.lines_name)


def _index_flaws(snapshot: ShelfSnapshot) -> Iterator[Flaw]:
    """The stored index says what the lines say, and the counters are there."""
    shelf = snapshot.shelf
    if not snapshot.extent.rows:
        return
    stored = snapshot.stored_index()
    name = shelf.index_file.path.name
    if stored is None and shelf.index_file.path.exists():
        yield Flaw("does not fit the lines; delete it and it is made again", name)
    try:
        built = shelf.build_index(shelf, shelf.lines(snapshot.extent), snapshot.extent.rows)
    except BankError as error:
        yield Flaw(error.message, shelf.lines_name, error.position)
        return
    if stored is not None and not np.array_equal(stored, built):
        row = int(np.flatnonzero(stored != built)[0])
        yield Flaw("contradicts the lines; delete it and it is made again", name, f"row {row}")


def _vector_flaws(snapshot: ShelfSnapshot) -> Iterator[Flaw]:
    matrix = snapshot.shelf.vectors_file
    if matrix is None:
        return
    try:
        vectors = snapshot.vectors
    except BankError as error:
        yield Flaw(error.message, matrix.path.name)
        return
    for start in range(0, len(vectors), _CHUNK_ROWS):
        lengths = np.linalg.norm(vectors[start : start + _CHUNK_ROWS].astype(np.float64), axis=1)
        wrong = np.flatnonzero(~(np.abs(lengths - 1.0) < _UNIT_TOLERANCE))
        for row in wrong[:10]:
            yield Flaw(
                f"the vector has length {lengths[row]:.4g} instead of 1",
                matrix.path.name,
                f"row {start + int(row)}",
            )


def _state_flaws(snapshot: ShelfSnapshot) -> Iterator[Flaw]:
    """Every episode is in a state that there is."""
    for row in np.flatnonzero(snapshot.counters[:, 0] > max(EpisodeState))[:10]:
        state = int(snapshot.counters[row, 0])
        yield Flaw(f"no state {state}", snapshot.shelf.counters_name, f"row {row}")


def _journal_flaws(bank: Bank) -> Iterator[Flaw]:
    """Every line is a commit, sequences rise by one, and the counters are their sum."""
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
                complete = commit.event == "init"
            elif commit.sequence != sequence + 1:
                yield Flaw(f"commit {commit.sequence} follows commit {sequence}", name)
            sequence = commit.sequence
            for shelf, rows in commit.cells.items():
                counters.update({(shelf, row): list(values) for row, values in rows.items()})
    except BankError as error:
        yield Flaw(error.message, name, error.position)
        return
    if complete:
        yield from _counter_flaws(bank, counters)


def _counter_flaws(bank: Bank, counters: dict[tuple[str, int], list[int]]) -> Iterator[Flaw]:
    snapshots = [tree.snapshot for tree in bank.trees.values()] + [bank.episodes.snapshot]
    for snapshot in snapshots:
        shelf = snapshot.shelf
        for row in range(snapshot.extent.rows):
            stated = counters.get((shelf.name, row), [0] * shelf.counters)
            found = [int(value) for value in snapshot.counters[row]]
            if found != stated:
                yield Flaw(
                    f"counts {found} where the journal states {stated}",
                    shelf.counters_name,
                    f"row {row}",
                )
