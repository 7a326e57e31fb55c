"""Many lines of `<tree>.nodes.jsonl` at once, for who needs no nodes but what stands in them.

Lines are decoded into typed records, so that they are checked while they are parsed, by the same
rules by which `codec` checks one line; where one is doubted, `codec` says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from deltamem_tui.bank.codec import (
    DEPTH_LIMIT,
    REVISION_LIMIT,
    TEXT_LIMIT,
    are_ids,
    from_line,
    is_id,
)
from deltamem_tui.bank.node import identity_digest


class LineOrigin(Struct, forbid_unknown_fields=True, gc=False):
    """Where a line says that its node comes from; see `Origin`."""

    trajectory: str
    outcome_source: str
    extractor: str
    model: str = ""
    prompt: str = ""
    nodes: list[str] = []


class Claims(Struct, forbid_unknown_fields=True, gc=False):
    """What a node claims that its line has to say otherwise; see `codec.meant`."""

    parent: str | UnsetType | None = UNSET
    deleted: bool = False


class Line(Struct, forbid_unknown_fields=True, gc=False):
    """A line; see `Node` for what its fields mean."""

    id: str
    parent: str | None
    kind: Literal["root", "residual"]
    label: Literal["success", "failure"]
    depth: Annotated[int, Meta(ge=1, le=DEPTH_LIMIT)]
    activation_condition: str
    execution_procedure: str
    termination_condition: str
    consolidated: bool
    revision: Annotated[int, Meta(ge=0, le=REVISION_LIMIT)]
    origin: LineOrigin
    deleted: bool = False
    meant: Claims | UnsetType = UNSET


_DECODER = msgspec.json.Decoder(Line)


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


def decode(lines: Sequence[bytes], rows: Iterable[int], source: str) -> list[Line]:
    """The lines as typed records.

    Args:
        lines: The lines.
        rows: Where in the file each is, for the error.
        source: The file's name, for the error.

    Raises:
        BankCorruptError: A line is not a node; says which, and which field is wrong.
    """
    if max(map(len, lines), default=0) <= TEXT_LIMIT:  # else a text in them may be too long
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            records = list(map(_DECODER.decode, lines))
            if _are_sound(records, lines):
                return records
    for row, line in zip(rows, lines, strict=True):
        from_line(line, source, f"line {row + 1}")
    return list(map(_DECODER.decode, lines))  # only their length was doubted


def outline(lines: Sequence[bytes], rows: Iterable[int], source: str, tree: str = "") -> Outline:
    """What the index keeps of some lines.

    Args:
        lines: The lines.
        rows: Where in the file each is, for the error.
        source: The file's name, for the error.
        tree: The tree that they are of, to look too whether each node is as it was born.

    Raises:
        BankCorruptError: As `decode`.
    """
    records = decode(lines, rows, source)
    return Outline(
        [record.id for record in records],
        [record.parent for record in records],
        [record.depth for record in records],
        [record.revision for record in records],
        [record.label == "failure" for record in records],
        [record.kind == "residual" for record in records],
        [record.consolidated for record in records],
        [record.deleted for record in records],
        _altered(tree, records) if tree else (),
    )


def _are_sound(records: Sequence[Line], lines: Sequence[bytes]) -> bool:
    """What types do not say: ids are ids, a root is one in every way, claims stand plainly."""
    roots = [record.parent is None for record in records]
    ids = [record.id for record in records]
    ids += [record.parent for record in records if record.parent is not None]
    ids += [node_id for record in records if record.origin.nodes for node_id in record.origin.nodes]
    return (
        are_ids(ids)
        and roots == [record.kind == "root" for record in records]
        and roots == [record.depth == 1 for record in records]
        and all(
            _stands_plainly(record.meant, line)
            for record, line in zip(records, lines, strict=True)
            if record.meant is not UNSET
        )
    )


def _stands_plainly(claims: Claims | UnsetType, line: bytes) -> bool:
    """Whether claims are sound, and found by who searches the lines without parsing them."""
    if claims is UNSET:
        return True
    return b'"meant"' in line and (claims.parent in (None, UNSET) or is_id(claims.parent))


def _altered(tree: str, records: Sequence[Line]) -> list[int]:
    """Which of some lines are a node's first revision, and not what its id was made from."""
    altered = []
    for place, record in enumerate(records):
        if record.revision:
            continue
        # One that a merge had to make a root says aside whose child it was born as.
        parent = record.parent
        if record.meant is not UNSET and record.meant.parent is not UNSET:
            parent = record.meant.parent
        payload = {
            "activation_condition": record.activation_condition,
            "execution_procedure": record.execution_procedure,
            "termination_condition": record.termination_condition,
        }
        origin = record.origin
        origin_told = [
            origin.trajectory,
            origin.extractor,
            origin.model,
            origin.prompt,
            origin.nodes,
        ]
        if identity_digest([tree, parent, record.label, payload, origin_told]) != record.id:
            altered.append(place)
    return altered
