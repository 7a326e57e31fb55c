"""A node: one piece of experience in a tree.

A root holds the general case in full; a residual holds only what differs from the
chain above it. The task tree's payload is a skill (when, how, until when), the env
tree's is knowledge (where, what; the termination condition stays empty).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

TreeName = Literal["task", "env"]
TREES: tuple[TreeName, ...] = ("task", "env")
Kind = Literal["root", "residual"]
Label = Literal["success", "failure"]


@dataclass(frozen=True, slots=True)
class Payload:
    """What a node says.

    Attributes:
        activation_condition: When it applies (α). This text is what is embedded.
        execution_procedure: The skill's procedure (π), or the knowledge's facts (κ).
        termination_condition: When the skill is done (ω); empty for failures and knowledge.
    """

    activation_condition: str
    execution_procedure: str
    termination_condition: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a node comes from.

    Attributes:
        trajectory: Id of the episode it was learnt from; empty if there was none.
        outcome_source: Who said how that episode ended.
        extractor: What wrote it: `rules`, `model`, or `user` for an edit by hand.
        model: The language model, where one was asked.
        prompt: Digest of the prompt, where one was used.
        nodes: For a consolidated root, the ids of the chain it was fused from.
    """

    trajectory: str = ""
    outcome_source: str = "unknown"
    extractor: str = "rules"
    model: str = ""
    prompt: str = ""
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a tree, as one line of `<tree>.nodes.jsonl` holds it.

    Attributes:
        id: 16 hexadecimal digits: a digest of the node at birth, kept for life.
        parent: Id of the parent; None for a root.
        kind: `root` or `residual`.
        label: The outcome of the episode that wrote it.
        depth: 1 for a root.
        payload: What it says.
        consolidated: Whether its chain was already fused into a new root.
        revision: 0 at birth, one more for each later line of the same id.
        deleted: Whether this line is a tombstone.
        origin: Where it comes from.
    """

    id: str
    parent: str | None
    kind: Kind
    label: Label
    depth: int
    payload: Payload
    consolidated: bool = False
    revision: int = 0
    deleted: bool = False
    origin: Origin = Origin()

    @property
    def text(self) -> str:
        """The node's text; its tokens are what a unit of memory costs."""
        payload = self.payload
        parts = (
            payload.activation_condition,
            payload.execution_procedure,
            payload.termination_condition,
        )
        return "\n".join(part for part in parts if part)


def born(
    tree: TreeName,
    parent: Node | None,
    label: Label,
    payload: Payload,
    origin: Origin,
) -> Node:
    """A new node: a root if it has no parent, else a residual one level deeper.

    The id is a digest of the tree, the parent and all that the node says and comes from,
    so the same episode in the same place gives the same id on every machine.
    """
    return Node(
        id=_birth_id(tree, parent.id if parent else None, label, payload, origin),
        parent=parent.id if parent else None,
        kind="residual" if parent else "root",
        label=label,
        depth=parent.depth + 1 if parent else 1,
        payload=payload,
        origin=origin,
    )


def _birth_id(tree: str, parent: str | None, label: Label, payload: Payload, origin: Origin) -> str:
    identity = [
        tree,
        parent,
        label,
        payload,
        [origin.trajectory, origin.extractor, origin.model, origin.prompt, list(origin.nodes)],
    ]
    return identity_digest(identity)


def identity_digest(identity: Sequence[Any]) -> str:
    """The id of a node that was born as `identity` says: tree, parent, label, payload, origin."""
    return hashlib.sha256(orjson.dumps(identity)).hexdigest()[:16]
