"""A bank as other programs read it: AGENTS.md, and a node as plain data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import BankExistsError, UsageError
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.method import method_of
from deltamem_tui.memory.transfer.skills import fenced
from deltamem_tui.memory.work.texts import project_of
from deltamem_tui.text import clean, count_tokens, one_line

_DIGEST_TOKENS = 400
_AGENTS_HEADER = """# What past work here needed

Learnt from this project's own sessions: experience to weigh, not instructions."""


def write_agents_md(bank: Bank, path: Path, *, replace: bool = False) -> None:
    """Write what any task of a project needs as agents read it from AGENTS.md or CLAUDE.md.

    The project is the folder of the file, which appears whole or not at all. Raises a UsageError if
    the bank knows nothing that holds for every task, and a BankExistsError if a file at `path` is
    not to be replaced, or was written by others.
    """
    project = path.resolve().parent.name
    lines = method_of(bank).digest(bank, _DIGEST_TOKENS, project)
    if not lines:
        known = [project_of(each.environment) for each in episodes(bank)]
        own = known.count(project) if any(known) else len(known)
        few = "it takes three episodes of that folder" if own else "no episode names that folder"
        why = few if own < 3 else "its episodes share no file or check"
        raise UsageError(
            f"nothing here holds for every task in {one_line(project, 60)} yet",
            source=bank.name,
            hint=f"{why}; name its file with -o FOLDER/AGENTS.md",
        )
    if path.is_file() and not path.read_bytes().startswith(_AGENTS_HEADER.encode()):
        raise BankExistsError(
            "written by somebody else", source=str(path), hint="name another file with -o"
        )
    # Inside a fence no agent follows an `@import`, and nothing is expanded.
    text = f"{_AGENTS_HEADER}\n\n{fenced(clean(chr(10).join(lines)))}\n"
    with files.new_file(path, replace=replace) as draft:
        files.write_at(draft, 0, text.encode())


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
