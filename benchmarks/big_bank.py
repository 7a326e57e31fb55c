"""Big banks of made-up nodes, written in the bank's format in a few large pieces.

A bank grows by one commit an episode, and a batch looks every parent up; for a million
nodes that takes long. So the lines, the index, the counters and the vectors are written by
the bank's own codecs and array files, and one commit of the journal says that they count.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank import journal
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.journal import Commit, Extent, Journal
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Label, Node, Origin, born, to_line
from deltamem_tui.bank.table import COUNTER
from deltamem_tui.bank.tree import INDEX_TYPE, NO_PARENT, index_row, table
from deltamem_tui.embedding.hashing import HashingEmbedder, hashing_embedder
from deltamem_tui.embedding.protocol import EmbedderCard
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, METHOD, Parameters
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.settings import to_record

DIMENSIONS = 384
EMBEDDER = EmbedderCard(model="benchmark", dimensions=DIMENSIONS, fingerprint="00" * 32)
"""What the banks remember of an embedder that is none: their vectors are random."""

DEPTH = 4
_PIECE_ROWS = 20_000
_FAILURE_EVERY = 5

# About as long as what the rules write for the sample episodes: some 700 bytes a line.
_WORDS = (
    "go to the counter and open what is closed there until the object is seen",
    "take it from its place, then look around for what the goal names next",
    "`use` answers with the new state; nothing happens while the door is closed",
    "put it in or on the receptacle once it is in hand and the device is off",
)


_THINGS = [f"thing{number}" for number in range(5_000)]
_FREQUENCY = list(accumulate(1 / (number + 1) for number in range(len(_THINGS))))


def unit_rows(rows: int, dimensions: int = DIMENSIONS, seed: int = 0) -> NDArray[np.float32]:
    """Random unit rows: float32 [rows, dimensions]."""
    generator = np.random.default_rng(seed)
    vectors = generator.standard_normal((rows, dimensions), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@cache
def shared(rows: int) -> Bank:
    """Return a big bank that several benchmarks of one run read, and none writes."""
    return build(_workroom() / f"rows-{rows}", rows)


@cache
def _workroom() -> Path:
    """Return a folder that lasts as long as the process."""
    _kept.append(tempfile.TemporaryDirectory(prefix="deltamem-bench-"))
    return Path(_kept[0].name)


_kept: list[tempfile.TemporaryDirectory[str]] = []


def hashed(rows: int) -> Bank:
    """Return a big bank of the hashing embedder, like `shared`."""
    return build(_workroom() / f"hashed-{rows}", rows, embedder=hashing_embedder())


def build(folder: Path, rows: int, first: int = 0, embedder: HashingEmbedder | None = None) -> Bank:
    """Return a bank whose task tree holds `rows` nodes in chains of four; its env tree is empty.

    Args:
        folder: The new bank's folder.
        rows: How many nodes.
        first: The number of the first one; nodes of other numbers are others.
        embedder: What embeds the nodes' triggers; without one the vectors are random.
    """
    card = embedder.card if embedder else EMBEDDER
    bank = Bank.create(folder, _manifest(folder.name, card))
    kept = table(folder, "task", bank.collections["task"], card.dimensions)
    vectors_file = kept.vectors_file
    if vectors_file is None:
        raise ValueError("a tree keeps vectors")
    length = 0
    for start, nodes in _pieces(rows, first):
        lines = [to_line(node) for node in nodes]
        files.write_at(kept.lines_path, length, b"".join(lines))
        kept.index_file.write_rows(start, _index(nodes, lines, start, length))
        kept.counters_file.write_rows(start, np.zeros((len(nodes), 3), dtype=COUNTER))
        if embedder:
            triggers = [node.payload["activation_condition"] for node in nodes]
            vectors_file.write_rows(start, embedder.embed_passages(triggers))
        else:
            vectors_file.write_rows(start, unit_rows(len(nodes), seed=first + start))
        length += sum(map(len, lines))
    for matrix in kept.matrices:
        matrix.write_header(rows)
    tail = bank.journal.tail()
    commit = Commit(
        sequence=tail.commit.sequence + 1,
        event="benchmark",
        time=journal.now(),
        extents={"task": Extent(rows, length)},
    )
    Journal(folder / journal.FILE_NAME).append(tail, commit)
    bank.refresh()
    return bank


def _manifest(name: str, card: EmbedderCard) -> Manifest:
    return Manifest(
        name=name,
        method=METHOD.name,
        collections=COLLECTIONS,
        embedder=asdict(card),
        settings=to_record(Parameters.preset("generic")),
    )


def _pieces(rows: int, first: int) -> Iterator[tuple[int, list[Node]]]:
    """Yield all nodes in pieces: a root, then residuals down to `DEPTH`, and so on."""
    parent: Node | None = None
    for start in range(0, rows, _PIECE_ROWS):
        nodes = []
        for number in range(start, min(start + _PIECE_ROWS, rows)):
            parent = _node(first + number, None if number % DEPTH == 0 else parent)
            nodes.append(parent)
        yield start, nodes


def _node(number: int, parent: Node | None) -> Node:
    label: Label = "failure" if number % _FAILURE_EVERY == 0 else "success"
    payload = Payload(
        activation_condition=trigger(number),
        execution_procedure="\n".join(f"{i}. {words}" for i, words in enumerate(_WORDS, 1)),
        termination_condition="the last action is answered by a reward",
    )
    return born("task", parent, label, payload, Origin(trajectory=f"{number:016x}"))


def trigger(number: int) -> str:
    """Return a node's trigger: sixteen words, few of which are frequent."""
    things = Random(number).choices(_THINGS, cum_weights=_FREQUENCY, k=14)
    return f"clean some {' '.join(things)}"


def _index(nodes: list[Node], lines: list[bytes], start: int, length: int) -> NDArray[np.void]:
    """Return the pieces of the index for these nodes; every parent stands one row above its
    child.
    """
    offsets = length + np.concatenate(([0], np.cumsum([len(line) for line in lines])))
    rows = [
        index_row(node, int(offset), row, row - 1 if node.parent else NO_PARENT)
        for row, (node, offset) in enumerate(zip(nodes, offsets[:-1], strict=True), start)
    ]
    return np.array(rows, dtype=INDEX_TYPE)
