"""Node ⇄ line of `<tree>.nodes.jsonl`, and ids ⇄ numbers. A stranger's lines are checked.

A line has the keys that every node has and, beside them, the fields of its collection; the type
that it is parsed into is made for the collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Any

import msgspec
import numpy as np
import orjson
from msgspec import UNSET, Meta, Struct, UnsetType
from numpy.typing import NDArray

from deltamem_tui.bank.collection import Collection
from deltamem_tui.bank.node import (
    ID_LENGTH,
    Depth,
    Id,
    Kind,
    Label,
    Node,
    Origin,
    Revision,
    Text,
    birth_id,
)
from deltamem_tui.errors import BankCorruptError
from deltamem_tui.text import one_line
from deltamem_tui.typed import decoder_of

_MAY_BE_MISSING = frozenset(("model", "prompt", "nodes", "sources"))
_DIGITS = b"0123456789abcdef"
_WRONG = (msgspec.MsgspecError, ValueError, RecursionError)


class LineOrigin(Origin, kw_only=True, frozen=True, forbid_unknown_fields=True, gc=False):
    """A node's origin as its line has it: three of the keys are required."""

    trajectory: Text
    outcome_source: Text
    extractor: Text


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
    origin: LineOrigin
    deleted: bool = False
    meant: Meant | UnsetType = UNSET


@lru_cache(maxsize=64)
def _decoder(collection: Collection) -> msgspec.json.Decoder[Line]:
    """Read the lines of a collection."""
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
    record: dict[str, Any] = {
        "id": node.id,
        "parent": node.parent,
        "kind": node.kind,
        "label": node.label,
        "depth": node.depth,
        **node.payload,
        "consolidated": node.consolidated,
        "revision": node.revision,
        "origin": _origin_record(node.origin),
    }
    if node.deleted:
        record["deleted"] = True
    return orjson.dumps(record) + b"\n"


def _origin_record(origin: Origin) -> dict[str, Any]:
    record = msgspec.structs.asdict(origin)
    return {key: value for key, value in record.items() if value or key not in _MAY_BE_MISSING}


def node_of(record: Line, collection: Collection) -> Node:
    """Return the node of a line."""
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
        Origin(**msgspec.structs.asdict(record.origin)),
    )


def payload_of(record: Line, collection: Collection) -> dict[str, str]:
    """Return what the node of a line says."""
    return {name: getattr(record, name) for name in collection.fields}


def from_line(line: bytes, collection: Collection, source: str, position: str) -> Node:
    """Read one line as a node."""
    (record,) = read([line], [position], collection, source)
    return node_of(record, collection)


def read(
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
            _require_node(decoder, line, source, position)
        raise


def _decoded(decoder: msgspec.json.Decoder[Line], lines: Sequence[bytes]) -> list[Line]:
    records = list(map(decoder.decode, lines))
    _require_sound(records, lines)
    return records


def _require_node(
    decoder: msgspec.json.Decoder[Line], line: bytes, source: str, position: str
) -> None:
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
        wrong = next(each for each in ids if not is_id(each))
        raise ValueError(f"{wrong!r} is not an id of {ID_LENGTH} hexadecimal digits")


def are_ids(values: Sequence[Any]) -> bool:
    """Return whether all of some values are ids: 16 hexadecimal digits in small letters each."""
    if set(map(type, values)) != {str} or set(map(len, values)) != {ID_LENGTH}:
        return False
    return not "".join(values).encode(errors="replace").translate(None, _DIGITS)


def is_id(value: object) -> bool:
    """Return whether a value is an id."""
    return are_ids([value])


def is_as_born(tree: str, record: Line, collection: Collection) -> bool:
    """Return whether a line of revision 0 says what its node's id is the digest of."""
    # One that a merge had to make a root says aside whose child it was born as.
    parent = record.parent
    if record.meant is not UNSET and record.meant.parent is not UNSET:
        parent = record.meant.parent
    made = birth_id(tree, parent, record.label, payload_of(record, collection), record.origin)
    return made == record.id


Keys = NDArray[np.uint64]

_NO_DIGIT = 255
_VALUES = np.full(256, _NO_DIGIT, dtype=np.uint8)
_VALUES[list(_DIGITS)] = np.arange(len(_DIGITS), dtype=np.uint8)


def key(text: str) -> np.uint64:
    """Return one id as a number."""
    return np.uint64(int(text, 16))


def keys(ids: NDArray[Any]) -> Keys:
    """Ids, bytes [n] of 16 hexadecimal digits in small letters each, as numbers."""
    if not len(ids):
        return np.zeros(0, dtype=np.uint64)
    digits = _VALUES[np.ascontiguousarray(ids).view(np.uint8).reshape(len(ids), ID_LENGTH)]
    if (digits == _NO_DIGIT).any():
        raise BankCorruptError(
            "an index names something that is not an id",
            hint="delete the bank's `.index.npy` files, and they are made again",
        )
    halves = np.ascontiguousarray(digits[:, ::2] << 4 | digits[:, 1::2])
    return halves.view(">u8").reshape(len(ids)).astype(np.uint64)


def places(ids: Keys, wanted: Keys) -> NDArray[np.int64]:
    """Return where the wanted ids stand among others, each once, in any order; -1 for those that
    do not.

    uint64 [n] and uint64 [wanted] to int64 [wanted].
    """
    if not len(ids):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(ids)
    at = np.searchsorted(ids[order], wanted)  # a sorted copy is quicker than looking by `sorter`
    found: NDArray[np.int64] = order[np.minimum(at, len(ids) - 1)]
    return np.where(ids[found] == wanted, found, -1)


def texts(numbers: Keys) -> NDArray[Any]:
    """Numbers as ids: bytes [n]."""
    if not len(numbers):
        return np.zeros(0, dtype=f"S{ID_LENGTH}")
    octets = np.ascontiguousarray(numbers.astype(">u8")).view(np.uint8).reshape(-1, 8)
    digits = np.empty((len(octets), ID_LENGTH), dtype=np.uint8)
    letters = np.frombuffer(_DIGITS, dtype=np.uint8)
    digits[:, ::2], digits[:, 1::2] = letters[octets >> 4], letters[octets & 15]
    return digits.view(f"S{ID_LENGTH}").reshape(-1)
