"""Vector checks: every text is embedded again and compared with the vector that it has.

Digests show that a frozen bank is as it was frozen, unit length that a row is a vector. That
it is the vector of its own line, only the embedder can show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.tree import parse_lines
from deltamem_tui.bank.upkeep.verify import Flaw
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.embedding.vectors import TOLERANCE

_BATCH = 64
_HINT = "`deltamem reembed` makes all vectors anew"


def strange_vectors(
    bank: Bank, embedder: Embedder, *, advance: Callable[[int], None] = lambda _: None
) -> Iterator[Flaw]:
    """Find the vectors that are not those of their lines.

    `advance` is called with the number of lines checked since its last call.

    Raises:
        BankCorruptError: A line or an array breaks the format.
        VectorError: The embedder cannot embed one of the texts.
    """
    for name in bank.trees:
        yield from _strange_in(bank, name, embedder, advance)


def _strange_in(
    bank: Bank, name: str, embedder: Embedder, advance: Callable[[int], None]
) -> Iterator[Flaw]:
    stored = bank.tree(name).snapshot.vectors
    texts = ((row, text) for row, text in enumerate(key_texts(bank, name)) if text)
    while batch := list(islice(texts, _BATCH)):
        rows = [row for row, _ in batch]
        expected = embedder.embed_passages([text for _, text in batch])
        apart = np.linalg.norm(stored[rows] - expected, axis=1)
        for row, distance in zip(rows, apart.tolist(), strict=True):
            if not distance <= TOLERANCE:  # what is not a number is strange too
                yield Flaw(
                    f"the vector is {distance:.2f} away from that of the line's text",
                    f"{name}.embeddings.npy",
                    f"row {row}",
                    _HINT,
                )
        advance(len(rows))


def key_texts(bank: Bank, name: str) -> Iterator[str]:
    """Yield every line's key text in one tree, in order; empty for a bare tombstone.

    Raises:
        BankCorruptError: A line breaks the format.
        BankRewrittenError: Another commit has replaced the files meanwhile.
    """
    snapshot, key = bank.tree(name).snapshot, bank.collections[name].key
    for row, _, line in snapshot.table.lines(snapshot.extent):
        (record,) = parse_lines(snapshot.table, [line], [row])
        yield getattr(record, key)
    snapshot.require_current()
