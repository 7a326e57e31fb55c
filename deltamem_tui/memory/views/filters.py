"""Which nodes a person wants to see, as it is typed, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from deltamem_tui.bank.node import Kind, Label
from deltamem_tui.memory.views.language import Bound, Language, State, Wanted

Order = Literal["birth", "newest", "hits", "recalls", "children"]
ORDERS: tuple[Order, ...] = ("birth", "newest", "hits", "recalls", "children")


@dataclass(frozen=True, slots=True)
class NodeFilter(Wanted):
    """Which nodes are shown. Every condition must hold.

    Attributes:
        kind: `root` or `residual`.
        label: `success` or `failure`.
        depth: A condition on the depth.
        hits: A condition on c(v).
        recalls: A condition on the episodes whose chain held the node.
        consolidated: Whether its chain was fused.
        due: Whether its chain is due to be fused.
    """

    kind: Kind | None = None
    label: Label | None = None
    depth: Bound | None = None
    hits: Bound | None = None
    recalls: Bound | None = None
    consolidated: bool | None = None
    due: bool | None = None


_LABELS: Mapping[str, State] = {
    "failure": ("label", "failure"),
    "success": ("label", "success"),
}
_KINDS: Mapping[str, State] = {"root": ("kind", "root"), "residual": ("kind", "residual")}

NODES = Language(
    thing="node",
    all=NodeFilter(),
    states={
        "label": _LABELS,
        "kind": _KINDS,
        "is": {
            "never-recalled": ("recalls", Bound("0")),
            "consolidated": ("consolidated", True),
            "due": ("due", True),
            **_LABELS,
            **_KINDS,
        },
    },
    numbers=("depth", "hits", "recalls"),
    help=(
        "words, or the beginning of a node's id; label:failure, kind:root, depth:>2, hits:0, "
        "recalls:1-3, is:never-recalled, is:consolidated, is:due, id:29"
    ),
)
"""The conditions on nodes."""
