"""A collection: one family of nodes in a bank, as the bank's method declares it.

A bank may come from a stranger, so a declaration is bounded, and no name in it can be mistaken
for one of the bank's own files or for a key that every node's line has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from deltamem_tui.typed import converted

DEPTH_LIMIT = 10_000

Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*\Z", max_length=32)]

_OWN_FILES = frozenset({"bank", "credit", "journal", "origins", "reembed", "trajectories", "usage"})
LINE_KEYS = ("id", "parent", "kind", "label", "depth", "consolidated", "revision", "origin")
"""Keys that every node's line has beside the collection's fields."""
RARE_KEYS = ("deleted", "meant")
"""Optional keys."""


class Collection(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields and limits of one family of nodes.

    Attributes:
        fields: The names of a node's texts, in the order that its id digests.
        key: The field whose text is embedded.
        depth: How deep a node may lie: 1 for a flat list in which every node is a root.
    """

    fields: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=16)]
    key: str
    depth: Annotated[int, Meta(ge=1, le=DEPTH_LIMIT)] = 1

    def __post_init__(self) -> None:
        if len(set(self.fields)) < len(self.fields):
            raise ValueError("a field stands twice")
        if taken := {*LINE_KEYS, *RARE_KEYS}.intersection(self.fields):
            raise ValueError(f"{min(taken)!r} is a key of every node's line")
        if self.key not in self.fields:
            raise ValueError(f"the key {self.key[:40]!r} is not one of the fields")


def parse(record: object) -> Mapping[str, Collection]:
    """Return the collections that a manifest declares, by name.

    Raises:
        ValueError: It is not such a declaration; says what is wrong.
    """
    try:
        collections = converted(record, _Collections)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
    if taken := _OWN_FILES.intersection(collections):
        raise ValueError(f"{min(taken)!r} is the name of one of the bank's own files")
    return collections


def to_record(collections: Mapping[str, Collection]) -> dict[str, Any]:
    """Return the declaration as a manifest holds it."""
    return {name: msgspec.to_builtins(each) for name, each in collections.items()}


_Collections = Annotated[dict[Name, Collection], Meta(min_length=1, max_length=16)]
