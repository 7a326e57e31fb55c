"""Receipts of recalled nodes, handed out by a bank and brought back by episodes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from deltamem_tui.errors import RecordError
from deltamem_tui.text import clean, one_line
from deltamem_tui.typed import converted

Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{16}\Z")]
MaybeDigest = Annotated[str, Meta(pattern=r"^([0-9a-f]{16})?\Z")]
_COUNT_LIMIT = 2**31


class ShownNode(Struct, frozen=True, omit_defaults=True, gc=False):
    """A node that was shown.

    Attributes:
        collection: The name of its collection.
        node: Its id.
        rank: The place of its chain among those of its collection, from 1.
        score: The score of that chain's match.
        revision: The node's revision when it was shown.
    """

    collection: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}\Z")]
    node: Digest
    rank: Annotated[int, Meta(ge=1, le=_COUNT_LIMIT)] = msgspec.field(default_factory=lambda: 1)
    score: Annotated[float, Meta(ge=-1e9, le=1e9)] = 0.0
    revision: Annotated[int, Meta(ge=0, le=_COUNT_LIMIT)] = 0


class Receipt(Struct, frozen=True, omit_defaults=True, gc=False):
    """The receipt of one recall. One without entries says that nothing was shown.

    Attributes:
        id: A digest of all the rest.
        bank: The id under which the bank counts that handed it out.
        commit: The bank's commit; -1 for a bank that came without its journal.
        task: `digest_of` the task that was asked about.
        environment: That of the scene; empty if none was given.
    """

    id: Digest
    bank: Digest
    commit: Annotated[int, Meta(ge=-1, le=2**62)]
    entries: Annotated[tuple[ShownNode, ...], Meta(max_length=1000)] = msgspec.field(
        default_factory=tuple
    )
    task: MaybeDigest = ""
    environment: MaybeDigest = ""


Receipts = Annotated[tuple[Receipt, ...], Meta(max_length=100)]
"""Those of one episode."""


def digest_of(text: str) -> str:
    """16 hexadecimal digits of a text, by which an episode is known again; empty if it is."""
    text = clean(text).strip()
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""


def made(
    bank: str, commit: int, entries: Iterable[ShownNode], task: str, environment: str
) -> Receipt:
    """Return a receipt of a recall for a task and a scene; equal recalls have equal ones."""
    rest = (bank, commit, tuple(entries), digest_of(task), digest_of(environment))
    digest = hashlib.sha256(msgspec.json.encode(rest)).hexdigest()[:16]
    return Receipt(digest, *rest)


def parsed(record: object) -> Receipt:
    """Return the receipt that a JSON object states."""
    try:
        return converted(record, Receipt)
    except msgspec.ValidationError as error:
        raise RecordError(f"not a receipt: {one_line(str(error), 200)}") from error


def together(receipts: Iterable[Receipt]) -> tuple[Receipt, ...]:
    """Return some receipts, each once."""
    return tuple({each.id: each for each in receipts}.values())
