"""A node as lines and sections, and the episodes that it comes from."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.display import Display
from deltamem_tui.text import clean, count_tokens, counted, one_line
from deltamem_tui.tui.models.sections import Section

NOTHING = "(empty)"
_PREVIEW_NODES = 40
_PREVIEW_INDENTS = 20


def detail(
    tree: Tree, node: Node, display: Display, missing: Collection[str] = ()
) -> list[Section]:
    """Return all that a bank knows of a node; of a delta, what it repeats is told from what is new.

    `missing` are those of its episodes that did not come with the bank.
    """
    above = tree.chain(node.id)[:-1] if display.layered and node.parent else ()
    sections = [
        Section(_heading(tree.name, display, node), _facts(tree, node), node.label == "failure")
    ]
    sections += [
        Section(
            display.label(name), text, above=tuple(each.payload.get(name, "") for each in above)
        )
        for name, text in node.payload.items()
        if clean(text).strip()
    ]
    if len(sections) == 1:
        sections.append(Section("", NOTHING))
    sections.append(Section("Origin", _origin(node, missing), quiet=True))
    return sections


def _heading(tree: str, display: Display, node: Node) -> str:
    warning = " · FAILURE, a warning" if node.label == "failure" else " · success"
    sort = display.level(node) if display.levels else f"{tree} {node.kind}"
    return f"{sort} {node.id}{warning}"


def _facts(tree: Tree, node: Node) -> str:
    counts = tree.counts(node.id)
    recalls = f"matched {counted(counts.recalls, 'later episode')}: {counts.successes:,} "
    recalls += f"succeeded, {counts.hits:,} of them with it as the best match"
    facts = [
        f"depth {node.depth}",
        counted(len(tree.child_rows(tree.row(node.id))), "child", "children"),
        recalls if counts.recalls else "never matched",
        counted(count_tokens(node.text), "token"),
    ]
    if node.consolidated:
        facts.append("its chain was fused into a root")
    if node.revision:
        facts.append(f"revision {node.revision}")
    return " · ".join(facts)


def _origin(node: Node, missing: Collection[str]) -> str:
    origin = node.origin
    lines = [
        f"episode {origin.trajectory} (outcome: {origin.outcome_source})"
        if origin.trajectory
        else "no episode",
        f"written by {origin.extractor}" + (f", model {origin.model}" if origin.model else ""),
    ]
    if missing:
        whose = counted(len(missing), "episode") if len(node.origin.episodes) > 1 else "the episode"
        lines[0] += f"; the bank was shipped without {whose}"
    if origin.prompt:
        lines.append(f"prompt {origin.prompt}")
    if origin.nodes:
        lines.append(f"fused from {', '.join(origin.nodes)}")
    return "\n".join(one_line(line, 2000) for line in lines)


def chain_sections(display: Display, chain: Sequence[Node]) -> list[Section]:
    """Return a chain, an entry a section, in which what the entries above say gives way."""
    from deltamem_tui.memory.recall_result import chain_entries

    sections, above = list[Section](), list[str]()
    for node, entry in zip(chain, chain_entries(display, chain), strict=True):
        title, _, body = entry.partition("\n")
        told = tuple(above) if display.layered else ()
        sections.append(Section(title, body, node.label == "failure", above=told))
        above.append(body)
    return sections


def subtree_preview(nodes: Sequence[Node], display: Display) -> list[Section]:
    """Return a subtree as an outline, its root whole, cut where it becomes too long to read."""
    top, *below = nodes
    known = {each.id: each for each in nodes}
    texts = "\n".join(one_line(text, 400) for text in top.payload.values() if text)
    sections = [Section(f"{display.level(top)} {top.id}", texts, top.label == "failure")]
    lines = []
    for node in below[: _PREVIEW_NODES - 1]:
        title = display.difference(node, known.get(node.parent or ""))
        indent = "  " * min(node.depth - top.depth - 1, _PREVIEW_INDENTS)
        mark = "✗ " if node.label == "failure" else ""
        lines.append(f"{indent}{node.id} {mark}{title}")
    if len(nodes) > _PREVIEW_NODES:
        lines.append(f"… and {len(nodes) - _PREVIEW_NODES:,} more")
    if lines:
        sections.append(Section("All below it", "\n".join(lines)))
    return sections


def evidence_of(bank: Bank, tree: str, node: Node) -> tuple[list[str], list[str]]:
    """Return a node's episodes, those that the bank has and those that did not come with it.

    Of a fused node those of the nodes that it was made from.
    """
    named = list(node.origin.episodes)
    if not named:
        nodes = bank.tree(tree)
        made_from = [each for each in node.origin.nodes if nodes.find(each) == [each]]
        named = [each for id_ in made_from for each in nodes.node(id_).origin.episodes]
    kept, missing = list[str](), list[str]()
    for each in dict.fromkeys(named):
        gone = bank.episodes.state(each) in (None, EpisodeState.REPLACED)
        (missing if gone else kept).append(each)
    return kept, missing
