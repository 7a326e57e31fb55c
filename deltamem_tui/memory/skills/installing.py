"""A folder of Agent Skills becomes a bank, which appears whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk.archive import LIMITS
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.transfer import installing
from deltamem_tui.config import DEFAULT_EMBEDDER
from deltamem_tui.embedding.load import load
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.memory.methods import method_named
from deltamem_tui.memory.settings import Settings, from_record, stored_record
from deltamem_tui.memory.skills.form import form_named
from deltamem_tui.memory.skills.layout import BANK_FILE
from deltamem_tui.memory.skills.reading import SkillBook
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EMBEDDED_AT_ONCE = 256
_PROVENANCE_LIMIT = LIMITS.manifest // 2  # the manifest holds other things, and is indented


def embedder_name(book: SkillBook) -> str:
    """The embedder that the exported bank had; the default for skills from elsewhere."""
    embedder = book.facts.get("embedder")
    model = embedder.get("model") if isinstance(embedder, Mapping) else None
    return one_line(model, 200) if isinstance(model, str) and model else DEFAULT_EMBEDDER


def install_skills(
    book: SkillBook,
    path: Path,
    *,
    embedder: Embedder | None = None,
    replacing: bool = False,
    frozen: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> Bank:
    """Make a bank of what `read_skills` found. Ids, labels and origins are kept, counts are not.

    The last part of `path` is the name of the bank. `embedder_name` is loaded if no embedder is
    given, and `advance` is called with the number of nodes embedded since its last call.

    Returns:
        The bank.

    Raises:
        RecordError: The skills hold no node, or facts that no bank can have.
        BankExistsError: Something is at `path`, and is not to be replaced.
        BankBusyError: Another process writes the bank that is to be replaced.
        StorageError: The disk refused. In all cases what was there is as it was.
    """
    if not any(book.nodes.values()) and (book.missing or not book.facts):
        raise RecordError("no skill and no knowledge here", hint="name a folder of Agent Skills")
    method = method_named(form_named(book.facts.get("method")).method)
    parameters = _parameters(book, method.settings)
    loaded = embedder or load(embedder_name(book))
    manifest = Manifest(
        name=path.name,
        method=method.name,
        collections=method.collections,
        description=_text(book, "description"),
        domain=_text(book, "domain") or "generic",
        embedder=asdict(loaded.card),
        settings=stored_record(parameters),
        provenance=_provenance(book),
    )
    with installing.place(path, replacing=replacing) as draft:
        bank = Bank.create(draft, manifest)
        with bank.writing() as batch:
            for tree, nodes in book.nodes.items():
                key = method.collections[tree].key
                vectors = _vectors(loaded, nodes, key, advance)
                for node, vector in zip(nodes, vectors, strict=True):
                    batch.add_node(tree, node, vector)
            batch.log("install", {"from": "skills", "changed": list(book.changed)})
        if frozen:
            bank.freeze()
    return Bank.open(path)


def _parameters(book: SkillBook, kind: type[Settings]) -> Settings:
    record = book.facts.get("parameters")
    if not isinstance(record, Mapping):
        return kind.preset(_text(book, "domain"))
    try:
        return from_record(kind, {str(name): value for name, value in record.items()})
    except (ConfigurationError, TypeError, ValueError) as error:
        raise RecordError(
            f"the exported parameters cannot be used: {one_line(str(error), 120)}",
            hint="correct them in deltamem.json",
        ) from error


def _text(book: SkillBook, key: str) -> str:
    value = book.facts.get(key)
    return one_line(value, 1000) if isinstance(value, str) else ""


def _provenance(book: SkillBook) -> dict[str, Any]:
    before = book.facts.get("provenance")
    kept = dict(before) if isinstance(before, Mapping) else {}
    try:
        size = len(orjson.dumps(kept))
    except TypeError:  # nested deeper than can be written again
        size = _PROVENANCE_LIMIT + 1
    if size > _PROVENANCE_LIMIT:
        raise RecordError(
            "more provenance than a bank can hold",
            source=BANK_FILE,
            hint="take out of it what is not needed",
        )
    return kept | {"installed_from": _text(book, "name") or "skills"}


def _vectors(
    embedder: Embedder, nodes: Sequence[Node], key: str, advance: Callable[[int], None]
) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(nodes), _EMBEDDED_AT_ONCE):
        part = nodes[start : start + _EMBEDDED_AT_ONCE]
        yield from embedder.embed_passages([node.payload[key] for node in part])
        advance(len(part))
