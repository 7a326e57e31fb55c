"""A node as lines and sections: what an outline, the detail pane and the chain say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Counts, Tree
from deltamem_tui.text import clean, count_tokens, counted, one_line
from deltamem_tui.tui.models.label_diff import same_but, told_apart
from deltamem_tui.tui.models.sections import Section

TRIGGER_CHARACTERS = 300
NOTHING = "(says nothing)"
_PREVIEW_NODES = 40
_PREVIEW_INDENTS = 20
_PREVIEW_CHARACTERS = 48

_FIELDS: dict[str, tuple[str, str, str]] = {
    "task": ("When", "How", "Done when"),
    "env": ("Where", "What", "Done when"),
}


@dataclass(frozen=True, slots=True)
class NodeLine:
    """What one line of an outline says.

    Attributes:
        trigger: The activation condition on one line.
        depth: Its depth.
        hits: c(v).
        failure: Whether a failed episode wrote it.
        root: Whether it is a root.
        consolidated: Whether its chain was fused.
        id: Its id.
        procedure: What to do, on one line.
    """

    trigger: str
    depth: int
    hits: int
    failure: bool
    root: bool
    consolidated: bool
    id: str
    procedure: str


def node_line(node: Node, counts: Counts) -> NodeLine:
    """What an outline says of a node."""
    payload = node.payload
    return NodeLine(
        trigger=_on_a_line(payload["activation_condition"]) or NOTHING,
        depth=node.depth,
        hits=counts.hits,
        failure=node.label == "failure",
        root=node.kind == "root",
        consolidated=node.consolidated,
        id=node.id,
        procedure=_on_a_line(payload["execution_procedure"]),
    )


def _on_a_line(text: str) -> str:
    return one_line(text[: TRIGGER_CHARACTERS * 4], TRIGGER_CHARACTERS)


def detail(tree: Tree, node: Node) -> list[Section]:
    """All that a bank knows of a node."""
    payload = node.payload
    texts = (
        payload["activation_condition"],
        payload["execution_procedure"],
        payload["termination_condition"],
    )
    sections = [Section(_heading(tree.name, node), _facts(tree, node), node.label == "failure")]
    sections += [
        Section(title, text)
        for title, text in zip(_FIELDS[tree.name], texts, strict=True)
        if clean(text).strip()
    ]
    if len(sections) == 1:
        sections.append(Section("", NOTHING))
    sections.append(Section("Origin", _origin(node), quiet=True))
    return sections


def _heading(tree: str, node: Node) -> str:
    warning = " · FAILURE, a warning" if node.label == "failure" else " · success"
    return f"{tree} {node.kind} {node.id}{warning}"


def _facts(tree: Tree, node: Node) -> str:
    counts = tree.counts(node.id)
    facts = [
        f"depth {node.depth}",
        counted(len(tree.child_rows(tree.row(node.id))), "child", "children"),
        counted(counts.hits, "hit"),
        f"recalled {counted(counts.recalls, 'time')}, {counts.successes:,} succeeded"
        if counts.recalls
        else "never recalled",
        counted(count_tokens(node.text), "token"),
    ]
    if node.consolidated:
        facts.append("its chain was fused into a root")
    if node.revision:
        facts.append(f"revision {node.revision}")
    return " · ".join(facts)


def _origin(node: Node) -> str:
    origin = node.origin
    lines = [
        f"episode {origin.trajectory} (outcome: {origin.outcome_source})"
        if origin.trajectory
        else "no episode",
        f"written by {origin.extractor}" + (f", model {origin.model}" if origin.model else ""),
    ]
    if origin.prompt:
        lines.append(f"prompt {origin.prompt}")
    if origin.nodes:
        lines.append(f"fused from {', '.join(origin.nodes)}")
    return "\n".join(one_line(line, 2000) for line in lines)


def chain_sections(tree: str, chain: Sequence[Node]) -> list[Section]:
    """A chain exactly as an agent receives it, an entry a section."""
    from deltamem_tui.memory.deltamem.context import chain_entries

    sections = []
    for node, entry in zip(chain, chain_entries(tree, chain), strict=True):
        title, _, body = entry.partition("\n")
        sections.append(Section(title, body, node.label == "failure"))
    return sections


def subtree_preview(nodes: Sequence[Node]) -> list[Section]:
    """A subtree as an outline, cut where it becomes too long to read.

    The node itself is told as a whole: siblings may part late, or in what to do only.
    """
    top, *below = nodes
    trigger = _on_a_line(top.payload["activation_condition"]) or NOTHING
    procedure = one_line(_on_a_line(top.payload["execution_procedure"]), _PREVIEW_CHARACTERS)
    sections = [
        Section(f"{top.kind} {top.id}", f"{trigger}\n→ {procedure}", top.label == "failure")
    ]
    before, lines = trigger, []
    told = {trigger: _on_a_line(top.payload["execution_procedure"])}
    for node in below[: _PREVIEW_NODES - 1]:
        said = _on_a_line(node.payload["activation_condition"]) or NOTHING
        indent = "  " * min(node.depth - top.depth - 1, _PREVIEW_INDENTS)
        mark = "✗ " if node.label == "failure" else ""
        procedure = _on_a_line(node.payload["execution_procedure"])
        shown = (
            same_but(procedure, told[said], node.id)
            if said in told
            else told_apart(said, before, _PREVIEW_CHARACTERS)
        )
        lines.append(f"{indent}{node.id} {mark}{one_line(shown, _PREVIEW_CHARACTERS)}")
        before = said
        told.setdefault(said, procedure)
    if len(nodes) > _PREVIEW_NODES:
        lines.append(f"… and {len(nodes) - _PREVIEW_NODES:,} more")
    if lines:
        sections.append(Section("All below it", "\n".join(lines)))
    return sections
