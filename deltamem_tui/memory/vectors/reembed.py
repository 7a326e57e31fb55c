"""Giving a bank new vectors, of another embedder. Nothing is extracted, no text is changed.

Embedding may take hours, so no lock is held: the vectors are gathered beside the bank, and
survive an interruption. At the end all files with vectors and the manifest are replaced in
one commit. What the bank learnt meanwhile is embedded before that.

Every line gets a vector, not only the living: an undo puts an earlier line back with the
vector it has. As most earlier lines have the texts of the later ones, that costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

import numpy as np

from deltamem_tui.bank import manifest, tree
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.commits.file_swap import FileSwap
from deltamem_tui.bank.disk.npy_file import NpyFile
from deltamem_tui.bank.table import VECTOR
from deltamem_tui.embedding.protocol import Embedder, EmbedderCard
from deltamem_tui.embedding.vectors import require_same
from deltamem_tui.errors import BankRewrittenError, EmbedderMismatchError, StorageError
from deltamem_tui.memory.vectors import vector_store
from deltamem_tui.memory.vectors.embedder import card_of
from deltamem_tui.memory.vectors.vector_check import key_texts
from deltamem_tui.memory.vectors.vector_store import VectorStore, key_of

_BATCH = 64
_PIECE_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Reembedding:
    """What giving a bank new vectors takes, or took.

    Attributes:
        done: Whether it was done; not if it was only planned, or nothing had to be done.
        rows: Lines with vectors, per tree.
        texts: Different texts among them.
        kept: How many of those an interrupted run had embedded before.
    """

    before: EmbedderCard
    after: EmbedderCard
    done: bool
    rows: Mapping[str, int]
    texts: int
    kept: int
    embedded: int = 0

    @property
    def needed(self) -> bool:
        """True if the embedders differ at all."""
        return not _same(self.before, self.after)

    @property
    def left(self) -> int:
        """Texts that are still to be embedded."""
        return self.texts - self.kept - self.embedded


def planned(bank: Bank, embedder: Embedder) -> Reembedding:
    """Say what giving a bank an embedder's vectors would take. Nothing is written.

    Raises:
        BankCorruptError: The bank breaks the rules of the format.
    """
    bank.refresh()
    lines = _Lines.of(bank)
    store = VectorStore(bank.path, embedder.card)
    return Reembedding(
        before=card_of(bank),
        after=embedder.card,
        done=False,
        rows=lines.rows,
        texts=len(lines.texts),
        kept=sum(key in store for key in lines.texts),
    )


def reembed(
    bank: Bank, embedder: Embedder, *, advance: Callable[[int], None] = lambda _: None
) -> Reembedding:
    """Give a bank an embedder's vectors, and make it the bank's own embedder.

    The bank's handle shows the new vectors afterwards. `advance` is called with the number of
    texts that were embedded since its last call.

    Returns:
        What it took; if the bank has this embedder already, nothing was done.

    Raises:
        BankFrozenError: The bank is frozen.
        BankBusyError: Another process is giving it new vectors, or has been writing for long.
        BankCorruptError: It breaks the rules of the format.
        VectorError: The embedder cannot embed one of the texts.
        StorageError: The disk refused; the bank is as it was.
    """
    bank.refresh()
    bank.require_writable()
    plan = planned(bank, embedder)
    if not plan.needed:
        return plan
    embedded = 0
    with vector_store.opened(bank.path, embedder.card) as store:
        while True:
            bank.refresh()
            decided_on = bank.commit.sequence
            try:
                lines = _Lines.of(bank)
            except BankRewrittenError:
                continue
            embedded += _embed(lines, store, embedder, advance)
            with bank.swapping_files() as changes:
                if bank.commit.sequence == decided_on:
                    _write(changes, bank, lines, store, embedder.card)
                    break
        with suppress(StorageError):  # the bank has its vectors: what is left does no harm
            vector_store.remove(bank.path)
    return replace(plan, done=True, rows=lines.rows, texts=len(lines.texts), embedded=embedded)


@dataclass(frozen=True, slots=True)
class _Lines:
    """What is to be embedded.

    Attributes:
        keys: Per tree, each line's key, in order; empty for a tombstone without text.
        texts: All different texts by key.
    """

    keys: Mapping[str, Sequence[bytes]]
    texts: Mapping[bytes, str]

    @property
    def rows(self) -> dict[str, int]:
        """Lines per tree."""
        return {name: len(keys) for name, keys in self.keys.items()}

    @classmethod
    def of(cls, bank: Bank) -> _Lines:
        """Read every line of every tree."""
        texts: dict[bytes, str] = {}
        keys: dict[str, list[bytes]] = {}
        for name in bank.collections:
            keys[name] = []
            for text in key_texts(bank, name):
                key = key_of(text) if text else b""
                keys[name].append(key)
                if key:
                    texts.setdefault(key, text)
        return cls(keys, texts)


def _embed(
    lines: _Lines, store: VectorStore, embedder: Embedder, advance: Callable[[int], None]
) -> int:
    """Embed what the store lacks."""
    missing = [key for key in lines.texts if key not in store]
    for start in range(0, len(missing), _BATCH):
        keys = missing[start : start + _BATCH]
        store.add(keys, embedder.embed_passages([lines.texts[key] for key in keys]))
        advance(len(keys))
    return len(missing)


def _write(
    changes: FileSwap, bank: Bank, lines: _Lines, store: VectorStore, card: EmbedderCard
) -> None:
    """Write the trees' new vectors and the manifest that names their embedder."""
    for name, collection in bank.collections.items():
        keys = lines.keys[name]
        path = tree.table(bank.path, name, collection, card.dimensions).vectors_file
        if path is not None:
            changes.write(path.path.name, _file(path, keys, store))
    after = replace(bank.manifest.upgraded, embedder=asdict(card))
    changes.write(manifest.FILE_NAME, [manifest.encode(after)])
    detail = {"before": asdict(card_of(bank)), "after": asdict(card), "texts": len(lines.texts)}
    changes.log("reembed", detail)


def _file(matrix: NpyFile, keys: Sequence[bytes], store: VectorStore) -> Iterator[bytes]:
    yield matrix.header(len(keys))
    for vectors in store.gathered(keys, _PIECE_ROWS):
        yield np.ascontiguousarray(vectors, dtype=VECTOR).tobytes()


def _same(before: EmbedderCard, after: EmbedderCard) -> bool:
    try:
        require_same(before, after)
    except EmbedderMismatchError:
        return False
    return True
