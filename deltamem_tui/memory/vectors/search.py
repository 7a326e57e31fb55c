"""Search a bank's vectors: its embedder, and the nodes nearest to a question or exactly a text.

A bank's vectors mean nothing to another model, so every question and every new node goes through
the embedder that the bank remembers.
Of many sparse vectors what they hold is scanned (`SparseRows`): made in memory once a handle asks a
second time, and of rows that came since only those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from msgspec import ValidationError

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.load import load_for
from deltamem_tui.embedding.protocol import Embedder, EmbedderCard, Weighting, no_rows, require_same
from deltamem_tui.embedding.scan import DECIMALS, Parts, Rows, Scan
from deltamem_tui.errors import BankCorruptError
from deltamem_tui.typed import converted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node and how well it fits a question.

    Attributes:
        similarity: cos(e_q, e_v), rounded to six decimals.
        penalty: What is taken off it: for a failure.
        score: What it is ranked by.
        rule: Which rule found it, in the method's words.
    """

    node: Node
    similarity: float
    penalty: float
    score: float
    rule: str = "threshold"


SAME_TEXT = 1.0 - 1e-3
"""The least similarity of a text to itself: in another batch its vector differs by 1e-6 at most."""
_SURE_ROWS = 256
_PIECE_NUMBERS = 2**21
_PIECE_ROWS = 4096  # a bank's vectors may be more than the memory holds

_scans: WeakKeyDictionary[Tree, dict[tuple[Weighting, bool], Scan]] = WeakKeyDictionary()


def scan_of(
    tree: Tree, weighting: Weighting, left_out: Callable[[Tree], NDArray[np.bool_]] | None = None
) -> Scan:
    """Return the scan of a collection, made once for each commit that a handle shows.

    Where some rows are left out, always the same, the most useful of equals come first.
    """
    known, kind = _scans.setdefault(tree, {}), (weighting, left_out is None)
    if kind not in known:
        if left_out is None:
            rows = _with_cells(rows_of(tree), tree)
        else:
            rows = scan_of(tree, weighting).rows
            rows = replace(rows, dead=tree.dead | left_out(tree), precedence=by_use(tree))
        known[kind] = Scan(rows, weighting)
    return known[kind]


def by_use(tree: Tree) -> NDArray[np.int64]:
    """Per row its place among equals: a success, what more of them were shown, then the newer.

    int64 [rows].
    """
    import numpy as np

    birth = tree.birth.astype(np.int64)
    precedence = np.empty(len(birth), dtype=np.int64)
    precedence[np.lexsort((-birth, -successes(tree), tree.failure))] = np.arange(len(birth))
    return precedence


def successes(tree: Tree) -> NDArray[np.int64]:
    """Per row how many successful episodes were shown its node. int64 [rows]."""
    found: NDArray[np.int64] = tree.snapshot.counters[tree.birth, 2].astype("int64")
    return found


def nodes_with_key(tree: Tree, text: str, vector: NDArray[np.float32]) -> list[Node]:
    """Return the living nodes of a collection whose key is this text, in order of birth.

    `vector` is the text's as a passage, float32 [dimensions], of unit length: only nodes with the
    same vector are read.
    """
    key = tree.snapshot.table.collection.key
    # No weighting matters to what is alike; the first scan leaves nothing out.
    scan = next(iter(_scans.get(tree, {}).values()), None) or scan_of(tree, "none")
    rows = scan.alike(vector[None], SAME_TEXT)
    rows = rows[tree.birth[rows].argsort(kind="stable")]
    nodes = (tree.node_at(int(row)) for row in rows)
    return [node for node in nodes if node.payload[key] == text]


@dataclass(frozen=True, slots=True)
class _Cells:
    """Sparse rows as an earlier snapshot of the same files had them: how many, and the last."""

    parts: Sequence[Parts]
    rows: int
    last: NDArray[np.float32]


def _with_cells(rows: Rows, tree: Tree) -> Rows:
    """Return the rows with their cells, if they are sparse and a second commit is asked."""
    from deltamem_tui.embedding.scan import SparseRows, cells_of, is_sparse

    derived, commit = tree.snapshot.derived, tree.snapshot.table.commit.sequence
    if derived.setdefault("first scan", commit) == commit:
        return rows
    vectors = rows.vectors
    sparse = derived.get("is sparse")
    if sparse is None:
        sparse = is_sparse(vectors)
        if len(vectors) >= _SURE_ROWS:
            derived["is sparse"] = sparse
    if not sparse:
        return rows
    known: _Cells | None = derived.get("cells")
    rows_then = known.rows if known else 0
    last = vectors[rows_then - 1 : rows_then]
    if known is None or rows_then > len(vectors) or (known.last != last).any():
        known = _Cells((), 0, vectors[:0])
    if known.rows < len(vectors) or not known.parts:
        step = max(_PIECE_NUMBERS // max(vectors.shape[1], 1), 1)
        new = [cells_of(vectors[at : at + step]) for at in range(known.rows, len(vectors), step)]
        known = _Cells(_joined(known.parts, new), len(vectors), vectors[-1:].copy())
        derived["cells"] = known
    return replace(rows, sparse=SparseRows(known.parts, vectors.shape[1]))


def _joined(parts: Sequence[Parts], new: Sequence[Parts]) -> Sequence[Parts]:
    """Return all parts; the last one grows, so that a commit an episode makes no thousand parts."""
    import numpy as np

    if not parts or len(new) != 1 or len(parts[-1]["lengths"]) >= _PIECE_ROWS:
        return [*parts, *new]
    last = {name: np.concatenate([parts[-1][name], new[0][name]]) for name in new[0]}
    return [*parts[:-1], last]


def rows_of(tree: Tree) -> Rows:
    """Return the rows of a collection, deleted and outdated ones marked dead."""
    source = str(tree.snapshot.table.folder / f"{tree.name}.embeddings.npy")
    # A node that stands by itself comes before one that needs its chain, so that a fused
    # root takes the place of the chain it was made from; then the older before the younger.
    precedence = tree.depth * (len(tree.birth) + 1) + tree.birth
    return Rows(tree.embeddings, tree.dead, tree.failure, precedence, source)


def cosines(
    tree: Tree, rows: NDArray[np.integer], vector: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Return the cosines of some rows, many at once, to six decimals. float64 [rows]."""
    import numpy as np

    found = np.zeros(len(rows))
    for at in range(0, len(rows), _PIECE_ROWS):
        piece = np.asarray(tree.embeddings)[rows[at : at + _PIECE_ROWS]]
        found[at : at + _PIECE_ROWS] = np.einsum("ij,j->i", piece, vector, dtype=np.float64)
    return found.round(DECIMALS)


def ranked(
    tree: Tree,
    vector: NDArray[np.float32],
    weighting: Weighting,
    penalty: float,
    count: int,
    left_out: Callable[[Tree], NDArray[np.bool_]] | None = None,
    rule: str = "threshold",
) -> list[Candidate]:
    """Return the best nodes for a question, best first; see `scan_of` for what is left out.

    `vector` is float32 [dimensions], of unit length; `penalty` is taken off the similarity of
    failures.
    """
    best = scan_of(tree, weighting, left_out).best(vector, penalty, max(count, 1))
    return [
        Candidate(tree.node_at(row), similarity, penalty if tree.failure[row] else 0.0, score, rule)
        for row, similarity, score in best
    ]


def embedder_of(bank: Bank, given: Embedder | None = None) -> Embedder:
    """Return the bank's embedder: the given one if it fits, else loaded.

    Raises an EmbedderUnavailableError or EmbedderMismatchError.
    """
    if given is None:
        return load_for(card_of(bank))
    require_same(card_of(bank), given.card)
    return given


def weighting_of(bank: Bank) -> Weighting:
    """Return how the bank's embedder has its dimensions weighted."""
    return card_of(bank).weighting


def card_of(bank: Bank) -> EmbedderCard:
    """Return what the bank remembers of its embedder."""
    record = bank.manifest.embedder
    with suppress(ValidationError):
        card = converted(record, EmbedderCard)
        if record.keys() <= asdict(card).keys():
            return card
    raise BankCorruptError(
        "'embedder' does not describe an embedder", source=str(bank.path / "bank.json")
    )


class EmbeddingCache:
    """An embedder that embeds no text twice. For a few texts: it forgets nothing."""

    def __init__(self, embedder: Embedder) -> None:
        self.card = embedder.card
        # Each alone: a vector's last bits depend on the texts that are embedded beside it.
        self._query = cache(lambda text: embedder.embed_queries([text])[0])
        self._passage = cache(lambda text: embedder.embed_passages([text])[0])

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed each text once, each by itself."""
        return self._rows([self._passage(text) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed each text once, each by itself."""
        return self._rows([self._query(text) for text in texts])

    def _rows(self, rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        import numpy as np

        return np.stack(rows) if rows else no_rows(self.card.dimensions)
