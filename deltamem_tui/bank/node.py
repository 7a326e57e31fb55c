"""Nodes: what a collection declares, a node as a value, and its line on disk.

A root holds the general case in full; a residual holds only what differs from the chain above
it. What a node says are the texts of its collection's fields. A declaration or a line may be a
stranger's, so both are bounded and checked; the type that lines are parsed into is made for the
collection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec
import orjson
from msgspec import UNSET, Meta, Struct, UnsetType

from deltamem_tui.errors import BankCorruptError
from deltamem_tui.text import one_line
from deltamem_tui.typed import converted, decoder_of

DEPTH_LIMIT = 10_000
TEXT_LIMIT = 4_000_000
REVISION_LIMIT = 1_000_000
ID_LENGTH = 16

Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*\Z", max_length=32)]
Id = Annotated[str, Meta(min_length=ID_LENGTH, max_length=ID_LENGTH)]
Text = Annotated[str, Meta(max_length=TEXT_LIMIT)]
Depth = Annotated[int, Meta(ge=1, le=DEPTH_LIMIT)]
Revision = Annotated[int, Meta(ge=0, le=REVISION_LIMIT)]
Kind = Literal["root", "residual"]
Label = Literal["success", "failure"]
Utility = Literal["success", "reward"]
"""The worth of an episode to the nodes it recalled: 0 or 1, or its reward, the share solved.

A verdict without a reward, as a person's, says that all was solved, or nothing.
"""

_OWN_FILES = frozenset({"bank", "credit", "journal", "origins", "reembed", "trajectories", "usage"})
LINE_KEYS = ("id", "parent", "kind", "label", "depth", "consolidated", "revision", "origin")
"""Keys that every node's line has beside the collection's fields."""
RARE_KEYS = ("deleted", "meant")
"""Optional keys."""


class Collection(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields and limits of one family of nodes, as the bank's method declares it.

    Attributes:
        fields: The names of a node's texts, in the order that its id digests.
        key: The field whose text is embedded.
        depth: How deep a node may lie: 1 for a flat list in which every node is a root.
    """

    fields: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=16)]
    key: str
    depth: Depth = 1

    def __post_init__(self) -> None:
        if len(set(self.fields)) < len(self.fields):
            raise ValueError("a field stands twice")
        if taken := {*LINE_KEYS, *RARE_KEYS}.intersection(self.fields):
            raise ValueError(f"{min(taken)!r} is a key of every node's line")
        if self.key not in self.fields:
            raise ValueError(f"the key {self.key[:40]!r} is not one of the fields")


_Collections = Annotated[dict[Name, Collection], Meta(min_length=1, max_length=16)]


def parse_collections(record: object) -> Mapping[str, Collection]:
    """Return the collections that a manifest declares, by name."""
    try:
        collections = converted(record, _Collections)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
    if taken := _OWN_FILES.intersection(collections):
        raise ValueError(f"{min(taken)!r} is the name of one of the bank's own files")
    return collections


class Origin(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The origin of a node.

    Attributes:
        trajectory: Id of the episode it was learnt from; empty if there was none.
        outcome_source: Who said how that episode ended.
        extractor: What wrote it: `rules`, `model`, or `user` for an edit by hand.
        model: The language model, where one was asked.
        prompt: Digest of the prompt, where one was used.
        nodes: The ids of the nodes that it was made from: a consolidated root's chain.
        sources: Ids of further episodes, where it comes from several.
    """

    trajectory: Text = ""
    outcome_source: Text = "unknown"
    extractor: Text = "rules"
    model: Text = ""
    prompt: Text = ""
    nodes: tuple[Id, ...] = ()
    sources: tuple[Id, ...] = ()

    @property
    def episodes(self) -> tuple[str, ...]:
        """The ids of all episodes that it comes from."""
        return (*([self.trajectory] if self.trajectory else []), *self.sources)


class Node(Struct, frozen=True):
    """One node of a tree, as one line of `<collection>.nodes.jsonl` holds it.

    Attributes:
        id: 16 hexadecimal digits: a digest of the node at birth, kept for life.
        parent: Id of the parent; None for a root.
        kind: `root` or `residual`.
        label: The outcome of the episode that wrote it.
        depth: 1 for a root.
        payload: What it says: field → text, in the order of its collection's fields.
        consolidated: Whether its chain was already fused into a new root.
        revision: 0 at birth, one more for each later line of the same id.
        deleted: Whether this line is a tombstone.
        origin: Where it comes from.
    """

    id: Id
    parent: Id | None
    kind: Kind
    label: Label
    depth: Depth
    payload: Mapping[str, Text]
    consolidated: bool = False
    revision: Revision = 0
    deleted: bool = False
    origin: Origin = Origin()

    @property
    def title(self) -> str:
        """The first of its texts, by which it is listed."""
        return next(iter(self.payload.values()), "")

    @property
    def text(self) -> str:
        """The node's text; its tokens are what a unit of memory costs."""
        return text_of(self.payload)


def text_of(payload: Mapping[str, str]) -> str:
    """Return all that a payload says, a part a paragraph."""
    return "\n".join(filter(None, payload.values()))


def born(
    collection: str, parent: Node | None, label: Label, payload: Mapping[str, str], origin: Origin
) -> Node:
    """Return a new node: a root if it has no parent, else a residual one level deeper.

    The id is a digest of the collection's name, the parent and all that the node says and comes
    from, so the same episode in the same place gives the same id on every machine.
    """
    above = parent.id if parent else None
    return Node(
        id=_birth_id(collection, above, label, dict(payload), origin),
        parent=above,
        kind="residual" if parent else "root",
        label=label,
        depth=parent.depth + 1 if parent else 1,
        payload=dict(payload),
        origin=origin,
    )


def _birth_id(
    collection: str, parent: str | None, label: str, payload: dict[str, str], origin: Origin
) -> str:
    source = [origin.trajectory, origin.extractor, origin.model, origin.prompt, origin.nodes]
    source += [origin.sources] if origin.sources else []
    identity = orjson.dumps([collection, parent, label, payload, source])
    return hashlib.sha256(identity).hexdigest()[:ID_LENGTH]


_MAY_BE_MISSING = frozenset(("model", "prompt", "nodes", "sources"))
DIGITS = b"0123456789abcdef"
_WRONG = (msgspec.MsgspecError, ValueError, RecursionError)


class Meant(Struct, forbid_unknown_fields=True, gc=False):
    """Claims of a node that its line has to repeat: its parent, or that it lives."""

    parent: Id | UnsetType | None = UNSET
    deleted: bool | UnsetType = UNSET


class Line(Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The keys of every node's line; see `Node`. A collection's lines have a type with more."""

    id: Id
    parent: Id | None
    kind: Kind
    label: Label
    depth: Depth
    consolidated: bool
    revision: Revision
    origin: Origin
    deleted: bool = False
    meant: Meant | UnsetType = UNSET


@lru_cache(maxsize=64)
def _decoder(collection: Collection) -> msgspec.json.Decoder[Line]:
    """Return what reads the lines of a collection."""
    depth = Annotated[int, Meta(ge=1, le=collection.depth)]
    line: Any = msgspec.defstruct(
        "CollectionLine",
        [("depth", depth), *((name, Text) for name in collection.fields)],
        bases=(Line,),
        kw_only=True,
        forbid_unknown_fields=True,
        gc=False,
    )
    return decoder_of(line)


def to_line(node: Node) -> bytes:
    """Return the node as one line, newline included. Equal nodes give equal bytes."""
    origin = msgspec.structs.asdict(node.origin)
    record: dict[str, Any] = {
        "id": node.id,
        "parent": node.parent,
        "kind": node.kind,
        "label": node.label,
        "depth": node.depth,
        **node.payload,
        "consolidated": node.consolidated,
        "revision": node.revision,
        "origin": {
            name: value for name, value in origin.items() if value or name not in _MAY_BE_MISSING
        },
    }
    if node.deleted:
        record["deleted"] = True
    return orjson.dumps(record) + b"\n"


def payload_of(record: Line, collection: Collection) -> dict[str, str]:
    """Return what the node of a line says."""
    return {name: getattr(record, name) for name in collection.fields}


def from_line(line: bytes, collection: Collection, source: str, position: str) -> Node:
    """Read one line as a node."""
    (record,) = read_lines([line], [position], collection, source)
    return Node(
        record.id,
        record.parent,
        record.kind,
        record.label,
        record.depth,
        payload_of(record, collection),
        record.consolidated,
        record.revision,
        record.deleted,
        record.origin,
    )


def read_lines(
    lines: Sequence[bytes], positions: Iterable[str], collection: Collection, source: str
) -> list[Line]:
    """Read lines.

    Raises:
        BankCorruptError: A line is not a node; says which, and what is wrong with it.
    """
    decoder = _decoder(collection)
    try:
        return _decoded(decoder, lines)
    except _WRONG:
        for line, position in zip(lines, positions, strict=True):
            try:
                _decoded(decoder, [line])
            except _WRONG as error:
                reason = one_line(str(error), 200)
                raise BankCorruptError(
                    f"not a node: {reason[:1].lower()}{reason[1:]}",
                    source=source,
                    position=position,
                    hint="restore the line from a copy of the bank",
                ) from error
        raise


def _decoded(decoder: msgspec.json.Decoder[Line], lines: Sequence[bytes]) -> list[Line]:
    records = list(map(decoder.decode, lines))
    _require_sound(records, lines)
    return records


def _require_sound(records: Sequence[Line], lines: Sequence[bytes]) -> None:
    """Check what types cannot: ids, roots and claims."""
    ids = [record.id for record in records]
    ids += [record.parent for record in records if record.parent is not None]
    ids += [each for record in records for each in record.origin.nodes]
    ids += [each for record in records for each in record.origin.sources]
    roots = [record.parent is None for record in records]
    if roots != [record.kind == "root" for record in records] or roots != [
        record.depth == 1 for record in records
    ]:
        raise ValueError("kind, parent and depth contradict each other")
    for record, line in zip(records, lines, strict=True):
        if record.meant is not UNSET:
            # Lines that keep a claim are searched for without parsing all.
            if b'"meant"' not in line:
                raise ValueError("`meant` is written with escapes")
            ids += [record.meant.parent] if isinstance(record.meant.parent, str) else []
    if records and not are_ids(ids):
        wrong = next(each for each in ids if not are_ids([each]))
        raise ValueError(f"{wrong!r} is not an id of {ID_LENGTH} hexadecimal digits")


def is_as_born(name: str, record: Line, collection: Collection) -> bool:
    """Return whether a line of revision 0 says what its node's id is the digest of."""
    # One that a merge had to make a root says aside whose child it was born as.
    parent = record.parent
    if record.meant is not UNSET and record.meant.parent is not UNSET:
        parent = record.meant.parent
    payload = payload_of(record, collection)
    return _birth_id(name, parent, record.label, payload, record.origin) == record.id


def are_ids(values: Sequence[Any]) -> bool:
    """Return whether all of some values are ids: 16 hexadecimal digits in small letters each."""
    if set(map(type, values)) != {str} or set(map(len, values)) != {ID_LENGTH}:
        return False
    return not "".join(values).encode(errors="replace").translate(None, DIGITS)
