"""A node: one piece of experience in a tree.

A root holds the general case in full; a residual holds only what differs from the chain above
it. What a node says are the texts of its collection's fields.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import orjson
from msgspec import Meta, Struct

from deltamem_tui.bank.collection import DEPTH_LIMIT

TEXT_LIMIT = 4_000_000
REVISION_LIMIT = 1_000_000
ID_LENGTH = 16

Id = Annotated[str, Meta(min_length=ID_LENGTH, max_length=ID_LENGTH)]
Text = Annotated[str, Meta(max_length=TEXT_LIMIT)]
Depth = Annotated[int, Meta(ge=1, le=DEPTH_LIMIT)]
Revision = Annotated[int, Meta(ge=0, le=REVISION_LIMIT)]
Kind = Literal["root", "residual"]
Label = Literal["success", "failure"]
Utility = Literal["success", "reward"]
"""The value of an episode to the nodes it recalled: 0 or 1, or its reward, the share solved.

A verdict without a reward, as a person's, says that all was solved, or nothing.
"""


class Origin(Struct, frozen=True, gc=False):
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
    """One node of a tree, as one line of `<tree>.nodes.jsonl` holds it.

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
    tree: str,
    parent: Node | None,
    label: Label,
    payload: Mapping[str, str],
    origin: Origin,
) -> Node:
    """Return a new node: a root if it has no parent, else a residual one level deeper.

    The id is a digest of the tree, the parent and all that the node says and comes from,
    so the same episode in the same place gives the same id on every machine.
    """
    above = parent.id if parent else None
    return Node(
        id=birth_id(tree, above, label, dict(payload), origin),
        parent=above,
        kind="residual" if parent else "root",
        label=label,
        depth=parent.depth + 1 if parent else 1,
        payload=dict(payload),
        origin=origin,
    )


def birth_id(
    tree: str, parent: str | None, label: str, payload: dict[str, str], origin: Origin
) -> str:
    """Return the id of a node that was born so."""
    source: Sequence[Any] = (
        origin.trajectory,
        origin.extractor,
        origin.model,
        origin.prompt,
        origin.nodes,
        *([origin.sources] if origin.sources else []),
    )
    identity = orjson.dumps([tree, parent, label, payload, source])
    return hashlib.sha256(identity).hexdigest()[:16]
