"""Node ⇄ line of `<tree>.nodes.jsonl`. A line from a stranger is checked before it is a node.

Who needs no nodes but only what stands in very many lines reads them with `typed_lines`, several
times faster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from deltamem_tui.bank.node import Node, Origin, Payload
from deltamem_tui.errors import BankCorruptError

TEXT_LIMIT = 4_000_000
DEPTH_LIMIT = 10_000
REVISION_LIMIT = 1_000_000
ID_LENGTH = 16

_FIELDS = (
    "id",
    "parent",
    "kind",
    "label",
    "depth",
    "activation_condition",
    "execution_procedure",
    "termination_condition",
    "consolidated",
    "revision",
    "origin",
)
_KNOWN = frozenset({*_FIELDS, "deleted", "meant"})
_KNOWN_ORIGIN = frozenset(("trajectory", "outcome_source", "extractor", "model", "prompt", "nodes"))
_ID_DIGITS = frozenset("0123456789abcdef")
_ID_BYTES = b"0123456789abcdef"


def to_line(node: Node) -> bytes:
    """The node as one line, newline included. Equal nodes give equal bytes."""
    record: dict[str, Any] = {
        "id": node.id,
        "parent": node.parent,
        "kind": node.kind,
        "label": node.label,
        "depth": node.depth,
        "activation_condition": node.payload.activation_condition,
        "execution_procedure": node.payload.execution_procedure,
        "termination_condition": node.payload.termination_condition,
        "consolidated": node.consolidated,
        "revision": node.revision,
        "origin": _origin_record(node.origin),
    }
    if node.deleted:
        record["deleted"] = True
    return orjson.dumps(record) + b"\n"


def _origin_record(origin: Origin) -> dict[str, Any]:
    record: dict[str, Any] = {
        "trajectory": origin.trajectory,
        "outcome_source": origin.outcome_source,
        "extractor": origin.extractor,
    }
    if origin.model:
        record["model"] = origin.model
    if origin.prompt:
        record["prompt"] = origin.prompt
    if origin.nodes:
        record["nodes"] = list(origin.nodes)
    return record


def from_line(line: bytes, source: str, position: str) -> Node:
    """Read one line.

    Args:
        line: The line, with or without its newline.
        source: The file's name, for the error.
        position: Where in the file, for the error.

    Raises:
        BankCorruptError: The line is not a node; says which field is wrong.
    """
    try:
        record = orjson.loads(line)
        if not isinstance(record, dict) or not isinstance(record.get("origin"), dict):
            raise TypeError("no JSON object, or one without an 'origin' that is an object")
        meant(record, line)
        return _node(record)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise BankCorruptError(
            f"not a node: {reason}",
            source=source,
            position=position,
            hint="restore the line from a copy of the bank",
        ) from error


def are_ids(values: Sequence[Any]) -> bool:
    """Whether all of some values are ids."""
    if set(map(type, values)) != {str} or set(map(len, values)) != {ID_LENGTH}:
        return False
    return not "".join(values).encode().translate(None, _ID_BYTES)


def _refuse_unknown(record: Mapping[str, Any], known: frozenset[str]) -> None:
    for name in record:
        if name not in known:
            raise ValueError(f"{name[:40]!r} is none of its fields")


def _node(record: dict[str, Any]) -> Node:
    _refuse_unknown(record, _KNOWN)
    _refuse_unknown(record["origin"], _KNOWN_ORIGIN)
    parent = record["parent"]
    node = Node(
        id=_id(record["id"]),
        parent=None if parent is None else _id(parent),
        kind=_one_of(record, "kind", ("root", "residual")),
        label=_one_of(record, "label", ("success", "failure")),
        depth=_natural(record, "depth", DEPTH_LIMIT),
        payload=Payload(
            activation_condition=_text(record, "activation_condition"),
            execution_procedure=_text(record, "execution_procedure"),
            termination_condition=_text(record, "termination_condition"),
        ),
        consolidated=_boolean(record, "consolidated"),
        revision=_natural(record, "revision", REVISION_LIMIT),
        deleted=_boolean(record, "deleted") if "deleted" in record else False,
        origin=_origin(record["origin"]),
    )
    if (node.kind == "root") != (node.parent is None) or (node.kind == "root") != (node.depth == 1):
        raise ValueError("kind, parent and depth contradict each other")
    if node.depth < 1:
        raise ValueError("'depth' counts from 1")
    return node


def _origin(record: dict[str, Any]) -> Origin:
    return Origin(
        trajectory=_text(record, "trajectory"),
        outcome_source=_text(record, "outcome_source"),
        extractor=_text(record, "extractor"),
        model=_text(record, "model") if "model" in record else "",
        prompt=_text(record, "prompt") if "prompt" in record else "",
        nodes=tuple(_id(value) for value in record.get("nodes", ())),
    )


def meant(record: Mapping[str, Any], line: bytes) -> Mapping[str, Any]:
    """What a node claims that its line has to say otherwise: its `parent`, or that it lives.

    Args:
        record: The parsed line.
        line: The line. Lines that keep a claim are searched for without parsing all, so the
            key has to stand there plainly.

    Returns:
        The claims; nothing if the line says all that the node claims.

    Raises:
        ValueError: It is no such thing.
    """
    if "meant" not in record:
        return {}
    claims = record["meant"]
    if isinstance(claims, dict) and set(claims) <= {"parent", "deleted"} and b'"meant"' in line:
        parent, deleted = claims.get("parent"), claims.get("deleted", False)
        if (parent is None or is_id(parent)) and isinstance(deleted, bool):
            return claims
    raise ValueError("'meant' is not what a node claims")


def is_id(value: object) -> bool:
    """Whether a value is an id: 16 hexadecimal digits in small letters."""
    return isinstance(value, str) and len(value) == ID_LENGTH and _ID_DIGITS.issuperset(value)


def _id(value: object) -> str:
    if not isinstance(value, str) or not is_id(value):
        raise ValueError(f"{str(value)[:40]!r} is not an id of {ID_LENGTH} hexadecimal digits")
    return value


def _text(record: dict[str, Any], key: str) -> str:
    value = record[key]
    if not isinstance(value, str):
        raise TypeError(f"{key!r} is not text")
    if len(value) > TEXT_LIMIT:
        raise ValueError(f"{key!r} has {len(value):,} characters, more than {TEXT_LIMIT:,}")
    return value


def _natural(record: dict[str, Any], key: str, limit: int) -> int:
    value = record[key]
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= limit:
        raise ValueError(f"{key!r} is not a number from 0 to {limit:,}")
    return value


def _boolean(record: dict[str, Any], key: str) -> bool:
    value = record[key]
    if not isinstance(value, bool):
        raise TypeError(f"{key!r} is not true or false")
    return value


def _one_of(record: dict[str, Any], key: str, choices: tuple[str, ...]) -> Any:
    value = record[key]
    if value not in choices:
        raise ValueError(f"{key!r} is {str(value)[:40]!r}, not one of {', '.join(choices)}")
    return value
