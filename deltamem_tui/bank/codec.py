"""Node ⇄ line of `<tree>.nodes.jsonl`. A line from a stranger is checked before it is a node.

Who needs no nodes but only what the index keeps of them reads many lines at once: the same
checks then run over whole columns, several times faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import orjson

from deltamem_tui.bank.node import Node, Origin, Payload, identity_digest
from deltamem_tui.errors import BankCorruptError

TEXT_LIMIT = 4_000_000
DEPTH_LIMIT = 10_000
REVISION_LIMIT = 1_000_000
ID_LENGTH = 16

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


@dataclass(frozen=True, slots=True)
class Outline:
    """What the index keeps of some lines, a column a field.

    Attributes:
        ids: The nodes' ids.
        parents: Their parents' ids, or None.
        depths: Their depths.
        revisions: Which revision of its node each line is.
        failures: Whether the label is `failure`.
        residuals: Whether the kind is `residual`.
        consolidated: Whether the chain was fused into a new root.
        deleted: Whether the line is a tombstone.
        altered: Which of the lines are a node's first revision and do not say what its id is
            the digest of, if that was asked.
    """

    ids: Sequence[str]
    parents: Sequence[str | None]
    depths: Sequence[int]
    revisions: Sequence[int]
    failures: Sequence[bool]
    residuals: Sequence[bool]
    consolidated: Sequence[bool]
    deleted: Sequence[bool]
    altered: Sequence[int] = ()

    @classmethod
    def of(
        cls, lines: Sequence[bytes], rows: Iterable[int], source: str, tree: str = ""
    ) -> Outline:
        """What `outline` says of lines that it doubts: each is read by itself.

        Args:
            lines: The lines.
            rows: Where in the file each is, for the error.
            source: The file's name, for the error.
            tree: The tree that they are of, to look too whether each node is as it was born.

        Raises:
            BankCorruptError: A line is not a node; says which, and which field is wrong.
        """
        nodes = [
            from_line(line, source, f"line {row + 1}")
            for row, line in zip(rows, lines, strict=True)
        ]
        return cls(
            [node.id for node in nodes],
            [node.parent for node in nodes],
            [node.depth for node in nodes],
            [node.revision for node in nodes],
            [node.label == "failure" for node in nodes],
            [node.kind == "residual" for node in nodes],
            [node.consolidated for node in nodes],
            [node.deleted for node in nodes],
            _altered(tree, [orjson.loads(line) for line in lines]) if tree else (),
        )


def outline(lines: Sequence[bytes], tree: str = "") -> Outline | None:
    """What the index keeps of some lines, if each of them is a node beyond doubt.

    Args:
        lines: The lines.
        tree: The tree that they are of, to look too whether each node is as it was born.

    Returns:
        None if there is any doubt: `Outline.of` then says which line is wrong, if one is.
    """
    if max(map(len, lines)) > TEXT_LIMIT:
        return None  # a text in them may be too long; below, none is
    try:
        records = [orjson.loads(line) for line in lines]
        columns = dict(zip(_FIELDS, zip(*map(_OF_NODE, records), strict=True), strict=True))
        origins = [record["origin"] for record in records]
        deleted = [record.get("deleted", False) for record in records]
        if not (all(map(has_known_fields, records)) and all(map(_is_known_origin, origins))):
            return None
        for line, record in zip(lines, records, strict=True):
            if "meant" in record:
                meant(record, line)
        if not (_regular(columns, deleted) and _regular_origins(origins)):
            return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return Outline(
        columns["id"],
        columns["parent"],
        columns["depth"],
        columns["revision"],
        [label == "failure" for label in columns["label"]],
        [kind == "residual" for kind in columns["kind"]],
        columns["consolidated"],
        deleted,
        _altered(tree, records) if tree else (),
    )


def _altered(tree: str, records: Sequence[dict[str, Any]]) -> list[int]:
    """Which of some sound lines are a node's first revision, and not what its id was made from."""
    altered = []
    for place, record in enumerate(records):
        if record["revision"]:
            continue
        origin = record["origin"]
        said_by = origin["trajectory"], origin["extractor"]
        optional = origin.get("model", ""), origin.get("prompt", ""), origin.get("nodes", [])
        condition, procedure, termination = _OF_PAYLOAD(record)
        payload = {  # not made in a loop: there may be millions
            "activation_condition": condition,
            "execution_procedure": procedure,
            "termination_condition": termination,
        }
        # One that a merge had to make a root says aside whose child it was born as.
        parent = record.get("meant", _NO_CLAIMS).get("parent", record["parent"])
        identity = [tree, parent, record["label"], payload, [*said_by, *optional]]
        if identity_digest(identity) != record["id"]:
            altered.append(place)
    return altered


_NO_CLAIMS: Mapping[str, Any] = {}
_TEXTS = ("activation_condition", "execution_procedure", "termination_condition")
_FIELDS = ("id", "parent", "kind", "label", "depth", "consolidated", "revision", *_TEXTS)
_KNOWN = frozenset({*_FIELDS, "origin", "deleted", "meant"})
_LEAST_FIELDS = len(_FIELDS) + 1  # whoever has as many has these: each of them is read
_ORIGIN_FIELDS = ("trajectory", "outcome_source", "extractor")
_KNOWN_ORIGIN = frozenset({*_ORIGIN_FIELDS, "model", "prompt", "nodes"})
_LEAST_ORIGIN = len(_ORIGIN_FIELDS)
_OF_NODE = itemgetter(*_FIELDS)
_OF_PAYLOAD = itemgetter(*_TEXTS)
_OF_ORIGIN = itemgetter(*_ORIGIN_FIELDS)


def _regular(columns: Mapping[str, Sequence[Any]], deleted: Sequence[Any]) -> bool:
    """Whether every column holds only what `from_line` would take."""
    parents = [parent for parent in columns["parent"] if parent is not None]
    roots = [kind == "root" for kind in columns["kind"]]
    depths, revisions = columns["depth"], columns["revision"]
    return (
        are_ids([*columns["id"], *parents])
        and set(columns["kind"]) <= {"root", "residual"}
        and set(columns["label"]) <= {"success", "failure"}
        and set(map(type, [*depths, *revisions])) == {int}
        and min(depths) >= 1
        and max(depths) <= DEPTH_LIMIT
        and min(revisions) >= 0
        and max(revisions) <= REVISION_LIMIT
        and set(map(type, [*columns["consolidated"], *deleted])) == {bool}
        and all(_are_texts(columns[name]) for name in _TEXTS)
        and roots == [parent is None for parent in columns["parent"]]
        and roots == [depth == 1 for depth in depths]
    )


def _regular_origins(origins: Sequence[Any]) -> bool:
    if set(map(type, origins)) != {dict}:
        return False
    texts = [text for origin in origins for text in _OF_ORIGIN(origin)]
    texts += [origin[key] for key in ("model", "prompt") for origin in origins if key in origin]
    fused = [origin["nodes"] for origin in origins if "nodes" in origin]
    ids = [node_id for nodes in fused for node_id in nodes]
    return _are_texts(texts) and set(map(type, fused)) <= {list} and (not ids or are_ids(ids))


def are_ids(values: Sequence[Any]) -> bool:
    """Whether all of some values are ids."""
    if set(map(type, values)) != {str} or set(map(len, values)) != {ID_LENGTH}:
        return False
    return not "".join(values).encode().translate(None, _ID_BYTES)


def _are_texts(values: Iterable[Any]) -> bool:
    return set(map(type, values)) == {str}


def has_known_fields(record: Mapping[str, Any]) -> bool:
    """Whether a parsed line says nothing but what a node's line can say.

    What nobody knows of, nobody looks through for secrets, and nobody bounds.
    """
    return len(record) == _LEAST_FIELDS or record.keys() <= _KNOWN


def _is_known_origin(origin: Mapping[str, Any]) -> bool:
    return len(origin) == _LEAST_ORIGIN or origin.keys() <= _KNOWN_ORIGIN


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
