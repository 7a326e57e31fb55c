"""A bank's vectors made anew by another embedder.

Nothing is extracted and no text is changed. Embedding takes its time, so no lock is held: at the
end all files with vectors and the manifest are replaced in one commit, and what the bank learnt
meanwhile is embedded before that. Every line gets a vector, not only the living: an undo puts an
earlier line back with the vector it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from deltamem_tui.bank import tree
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.table import VECTOR, NpyFile
from deltamem_tui.embedding.protocol import Embedder, EmbedderCard, require_same
from deltamem_tui.errors import BankRewrittenError, EmbedderMismatchError
from deltamem_tui.memory.vectors.search import card_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = dict[str, NDArray[np.float32]]

_BATCH = 64
_PIECE_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Reembedding:
    """The cost of giving a bank new vectors, spent or planned.

    Attributes:
        rows: Lines with vectors, per tree.
        texts: Different texts among them, each embedded once.
    """

    before: EmbedderCard
    after: EmbedderCard
    rows: Mapping[str, int]
    texts: int

    @property
    def needed(self) -> bool:
        """True if the embedders differ at all."""
        try:
            require_same(self.before, self.after)
        except EmbedderMismatchError:
            return True
        return False


def planned(bank: Bank, embedder: Embedder) -> Reembedding:
    """Say what giving a bank an embedder's vectors would take. Nothing is written."""
    bank.refresh()
    return _plan(bank, embedder)[0]


def _plan(bank: Bank, embedder: Embedder) -> tuple[Reembedding, Mapping[str, Sequence[str]]]:
    """Read every line's key text; a BankRewrittenError says that other files came meanwhile."""
    lines = dict[str, list[str]]()
    for name, collection in bank.collections.items():
        snapshot = bank.tree(name).snapshot
        rows_lines = ((row, line) for row, _, line in snapshot.table.lines(snapshot.extent))
        parsed = (tree.parse_lines(snapshot.table, [line], [row])[0] for row, line in rows_lines)
        lines[name] = [getattr(each, collection.key) for each in parsed]
        snapshot.require_current()
    texts = {text for each in lines.values() for text in each} - {""}
    rows = {name: len(each) for name, each in lines.items()}
    return Reembedding(card_of(bank), embedder.card, rows, len(texts)), lines


def reembed(
    bank: Bank,
    embedder: Embedder,
    *,
    settings: Callable[[Bank], Mapping[str, Any]] = lambda bank: bank.manifest.settings,
    advance: Callable[[int], None] = lambda _: None,
) -> Reembedding:
    """Give a bank an embedder's vectors, and make it the bank's own; returns what that took.

    Nothing is done if it is. The bank's handle shows the new vectors afterwards. `settings` are the
    method's numbers from then on. `advance` is called with the number of texts embedded since its
    last call. A VectorError says that one of the texts cannot be embedded.
    """
    vectors: Vectors = {}
    while True:
        bank.refresh()
        bank.require_writable()
        decided_on = bank.commit.sequence
        try:
            plan, lines = _plan(bank, embedder)
        except BankRewrittenError:
            continue
        if not plan.needed:
            return plan
        texts = dict.fromkeys(text for each in lines.values() for text in each if text)
        missing = iter([text for text in texts if text not in vectors])
        while batch := list(islice(missing, _BATCH)):
            vectors |= zip(batch, embedder.embed_passages(batch), strict=True)
            advance(len(batch))
        with bank.writing() as changes:
            if bank.commit.sequence == decided_on:
                _write(changes, bank, lines, vectors, plan, settings(bank))
                return plan


def _write(
    changes: Batch,
    bank: Bank,
    lines: Mapping[str, Sequence[str]],
    vectors: Vectors,
    plan: Reembedding,
    settings: Mapping[str, Any],
) -> None:
    """Write the trees' new vectors and the manifest that names their embedder."""
    card = plan.after
    for name, collection in bank.collections.items():
        matrix = tree.table(bank.path, name, collection, card.dimensions).vectors_file
        if matrix is not None:
            changes.write_file(matrix.path, _file(matrix, lines[name], vectors, card.dimensions))
    after = replace(bank.manifest.upgraded, embedder=asdict(card), settings=settings)
    changes.replace_manifest(after)
    detail = {"before": asdict(plan.before), "after": asdict(card), "texts": plan.texts}
    changes.log("reembed", detail)


def _file(
    matrix: NpyFile, texts: Sequence[str], vectors: Vectors, dimensions: int
) -> Iterator[bytes]:
    """Yield the bytes of an array; a line without text gets a unit vector without a meaning."""
    yield matrix.header(len(texts))
    none = np.zeros(dimensions, dtype=np.float32)
    none[0] = 1.0
    for start in range(0, len(texts), _PIECE_ROWS):
        rows = [vectors.get(text, none) for text in texts[start : start + _PIECE_ROWS]]
        yield np.ascontiguousarray(rows, dtype=VECTOR).tobytes()
