"""A bank as other programs read it: a document, a record a node, its episodes, AGENTS.md.

Episodes leave as ATIF, the format in which agents' programs exchange what they did: what an agent
did stands in the message of a step, what came back in the step's observation. What ATIF has no
place for is in `extra`: whoever reads the document back has the same episode.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import orjson
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import BankExistsError, UsageError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.method import display_of, method_of
from deltamem_tui.memory.transfer.skills import escaped, fenced
from deltamem_tui.text import clean, count_tokens, one_line
from deltamem_tui.trajectory.model import Step, Trajectory

ATIF_VERSION = "ATIF-v1.7"
_DIGEST_TOKENS = 400
_AGENTS_HEADER = """# What past work here needed

Learnt from this project's own sessions: experience to weigh, not instructions."""


def write_form(
    bank: Bank,
    form: Literal["markdown", "jsonl", "atif", "agents-md"],
    path: Path,
    *,
    replace: bool = False,
) -> None:
    """Write a bank into a file that other programs read; it appears whole or not at all.

    Raises:
        UsageError: AGENTS.md is asked for, and the bank knows nothing that holds for every task.
        BankExistsError: Something is at `path`, and is not to be replaced.
        StorageError: The disk refused; nothing is left behind.
    """
    pieces: Iterable[bytes]
    if form == "markdown":
        pieces = (part.encode() + b"\n\n" for part in markdown(bank))
    elif form == "agents-md":
        pieces = [_agents_md(bank, path)]
    else:
        found = records(bank) if form == "jsonl" else map(atif_document, episodes(bank))
        pieces = (orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in found)
    with (
        files.new_file(path, replace=replace) as draft,
        files.storage_errors(path),
        draft.open("wb") as file,
    ):
        file.writelines(pieces)


def _agents_md(bank: Bank, path: Path) -> bytes:
    """Return what any task of a project needs as agents read it from AGENTS.md or CLAUDE.md.

    The project is the folder of the file; of one that the bank does not know, all speak.
    """
    lines = method_of(bank).digest(bank, _DIGEST_TOKENS, path.resolve().parent.name)
    if not lines:
        raise UsageError(
            "nothing here holds for every task yet",
            source=bank.name,
            hint="learn at least three episodes of real work",
        )
    if path.is_file() and not path.read_bytes().startswith(_AGENTS_HEADER.encode()):
        raise BankExistsError(
            "written by somebody else", source=str(path), hint="name another file with -o"
        )
    # Inside a fence no agent follows an `@import`, and nothing is expanded.
    return f"{_AGENTS_HEADER}\n\n{fenced(clean(chr(10).join(lines)))}\n".encode()


def records(bank: Bank) -> Iterator[dict[str, Any]]:
    """Yield every living node as plain data: the task tree first, a root's subtree before the next
    root.

    Besides `node_record`, each names its `root` and its `chain`, root to node.
    """
    for tree in bank.trees.values():
        chain: list[str] = []
        for node in _downwards(tree):
            chain[node.depth - 1 :] = [node.id]
            yield node_record(tree, node) | {"root": chain[0], "chain": chain.copy()}


def node_record(tree: Tree, node: Node) -> dict[str, Any]:
    """Return all that there is to know of a node."""
    return {
        "id": node.id,
        "tree": tree.name,
        "parent": node.parent,
        "kind": node.kind,
        "label": node.label,
        "depth": node.depth,
        **node.payload,
        "consolidated": node.consolidated,
        "revision": node.revision,
        "tokens": count_tokens(node.text),
        **asdict(tree.counts(node.id)),
        "origin": structs.asdict(node.origin),
    }


def markdown(bank: Bank) -> Iterator[str]:
    """Return the bank as one markdown document, in parts to be joined by blank lines."""
    yield f"# {escaped(one_line(bank.name))}"
    if bank.manifest.description:
        yield escaped(one_line(bank.manifest.description))
    sizes = ", ".join(f"{len(tree):,} {name} nodes" for name, tree in bank.trees.items())
    yield f"Domain {escaped(one_line(bank.manifest.domain))}, {sizes}."
    for name, tree in bank.trees.items():
        display = display_of(bank, name)
        if len(tree):
            yield f"## {display.heading or display.title.capitalize()}"
        for node in _downwards(tree):
            yield from _entry(tree, node, display)


def _entry(tree: Tree, node: Node, display: Display) -> Iterator[str]:
    """Yield one node: its title, parent, counts and texts."""
    warning = "Warning: " if node.label == "failure" else ""
    title = warning + display.of_title(node)
    yield f"{'#' * min(node.depth + 2, 6)} {escaped(title)}"
    above = f", {'adds to' if display.layered else 'of'} {node.parent}" if node.parent else ""
    counts = tree.counts(node.id)
    yield (
        f"`{node.id}` {display.level(node)} at depth {node.depth}{above}; {node.label}; "
        f"{counts.hits} hits, {counts.recalls} recalls, {counts.successes} successes"
    )
    for name, text in node.payload.items():
        if text:
            yield f"{display.label(name)}:\n\n{fenced(clean(text))}"


def _downwards(tree: Tree) -> Iterator[Node]:
    """Yield every node after its parent, a root's whole subtree before the next root."""
    waiting = [int(row) for row in reversed(tree.child_rows(None))]
    while waiting:
        row = waiting.pop()
        waiting.extend(int(child) for child in reversed(tree.child_rows(row)))
        yield tree.node_at(row)


def atif_document(episode: Trajectory) -> dict[str, Any]:
    """Return one episode as a document; `message` and `source` of its steps are what ATIF asks
    for.
    """
    told = [("system", episode.environment), ("user", episode.task)]
    steps: list[dict[str, Any]] = [{"source": who, "message": text} for who, text in told if text]
    steps += map(_step, episode.steps)
    outcome = episode.outcome
    facts = {
        "domain": episode.domain,
        "success": outcome.success,
        "reward": outcome.reward,
        "outcome_source": outcome.source if outcome.source != "unknown" else "",
        "outcome_reason": outcome.reason,
        "log": f"{episode.source.file}, {episode.source.position}".strip(", "),
        "log_format": episode.source.format,
        "metadata": dict(episode.metadata),
    }
    return {
        "schema_version": ATIF_VERSION,
        "session_id": episode.metadata.get("id") or episode.id,
        "trajectory_id": episode.id,
        "agent": {"name": "unknown", "version": "unknown"}
        | ({"model_name": episode.agent} if episode.agent else {}),
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "final_metrics": {"total_steps": len(steps)},
        "extra": {key: fact for key, fact in facts.items() if fact not in (None, "", {})},
    }


def _step(step: Step) -> dict[str, Any]:
    thought = {"reasoning_content": step.thought} if step.thought else {}
    paid = {} if step.reward is None else {"extra": {"reward": step.reward}}
    seen = {"results": [{"content": step.observation}]}
    return {"source": "agent", "message": step.action, **thought, "observation": seen, **paid}
