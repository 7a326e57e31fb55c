"""Nodes of any kind, for hypothesis, and what is read in their lines."""

from __future__ import annotations

from hypothesis import strategies as st

from deltamem_tui.bank.node import Node, Origin, Payload
from deltamem_tui.bank.typed_lines import Line

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
IDS = st.text("0123456789abcdef", min_size=16, max_size=16)
ORIGINS = st.builds(
    Origin,
    trajectory=TEXTS,
    outcome_source=TEXTS,
    extractor=TEXTS,
    model=TEXTS,
    prompt=TEXTS,
    nodes=st.lists(IDS, max_size=3).map(tuple),
)


@st.composite
def nodes(draw: st.DrawFn) -> Node:
    depth = draw(st.integers(1, 1000))
    return Node(
        id=draw(IDS),
        parent=None if depth == 1 else draw(IDS),
        kind="root" if depth == 1 else "residual",
        label=draw(st.sampled_from(["success", "failure"])),
        depth=depth,
        payload=Payload(draw(TEXTS), draw(TEXTS), draw(TEXTS)),
        consolidated=draw(st.booleans()),
        revision=draw(st.integers(0, 100)),
        deleted=draw(st.booleans()),
        origin=draw(ORIGINS),
    )


def as_node(line: Line) -> Node:
    """A typed line as the node that `codec` reads in it."""
    origin = line.origin
    return Node(
        line.id,
        line.parent,
        line.kind,
        line.label,
        line.depth,
        Payload(line.activation_condition, line.execution_procedure, line.termination_condition),
        line.consolidated,
        line.revision,
        line.deleted,
        Origin(
            origin.trajectory,
            origin.outcome_source,
            origin.extractor,
            origin.model,
            origin.prompt,
            tuple(origin.nodes),
        ),
    )
