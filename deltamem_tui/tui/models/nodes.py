"""A node as lines and sections: what an outline, the detail pane and the chain say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltamem_tui.bank.node import Node, TreeName
from deltamem_tui.bank.tree import Counts, Tree
from deltamem_tui.text import clean, count_tokens, one_line
from deltamem_tui.tui.models.apart import told_apart
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.models.words import counted

TRIGGER_CHARACTERS = 300
NOTHING = "(says nothing)"
_PREVIEW_NODES = 40
_PREVIEW_INDENTS = 20
_PREVIEW_CHARACTERS = 48

_FIELDS: dict[TreeName, tuple[str, str, str]] = {
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
    """

    trigger: str
    depth: int
    hits: int
    failure: bool
    root: bool
    consolidated: bool


def node_line(node: Node, counts: Counts) -> NodeLine:
    """What an outline says of a node."""
    text = node.payload.activation_condition[: TRIGGER_CHARACTERS * 4]
    return NodeLine(
        trigger=one_line(text, TRIGGER_CHARACTERS) or NOTHING,
        depth=node.depth,
        hits=counts.hits,
        failure=node.label == "failure",
        root=node.kind == "root",
        consolidated=node.consolidated,
    )


def detail(tree: Tree, node: Node) -> list[Section]:
    """All that a bank knows of a node."""
    payload = node.payload
    texts = (
        payload.activation_condition,
        payload.execution_procedure,
        payload.termination_condition,
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


def _heading(tree: TreeName, node: Node) -> str:
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


def chain_sections(tree: TreeName, chain: Sequence[Node]) -> list[Section]:
    """A chain exactly as an agent receives it, an entry a section."""
    from deltamem_tui.memory.context import chain_entries

    sections = []
    for node, entry in zip(chain, chain_entries(tree, chain), strict=True):
        title, _, body = entry.partition("\n")
        sections.append(Section(title, body, node.label == "failure"))
    return sections


def subtree_preview(nodes: Sequence[Node]) -> list[Section]:
    """A subtree as an outline, cut where it becomes too long to read."""
    top, before, lines = nodes[0].depth, "", []
    for node in nodes[:_PREVIEW_NODES]:
        said = one_line(node.payload.activation_condition[: TRIGGER_CHARACTERS * 4], 1000)
        indent = "  " * min(node.depth - top, _PREVIEW_INDENTS)
        mark = "✗ " if node.label == "failure" else ""
        shown = told_apart(said, before, _PREVIEW_CHARACTERS)
        lines.append(f"{indent}{mark}{one_line(shown, _PREVIEW_CHARACTERS) or NOTHING}")
        before = said
    if len(nodes) > _PREVIEW_NODES:
        lines.append(f"… and {len(nodes) - _PREVIEW_NODES:,} more")
    return [Section("", "\n".join(lines))]
