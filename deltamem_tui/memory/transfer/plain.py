"""A bank as other programs read it: its episodes, AGENTS.md, a node as plain data.

Episodes leave as ATIF, the format in which agents' programs exchange what they did: what an agent
did stands in the message of a step, what came back in the step's observation. What ATIF has no
place for is in `extra`: whoever reads the document back has the same episode.
"""

from __future__ import annotations

from collections.abc import Iterable
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
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.method import method_of
from deltamem_tui.memory.transfer.skills import fenced
from deltamem_tui.text import clean, count_tokens
from deltamem_tui.trajectory.model import Step, Trajectory

ATIF_VERSION = "ATIF-v1.7"
_DIGEST_TOKENS = 400
_AGENTS_HEADER = """# What past work here needed

Learnt from this project's own sessions: experience to weigh, not instructions."""


def write_form(
    bank: Bank, form: Literal["atif", "agents-md"], path: Path, *, replace: bool = False
) -> None:
    """Write a bank into a file that other programs read; it appears whole or not at all.

    Raises:
        UsageError: AGENTS.md is asked for, and the bank knows nothing that holds for every task.
        BankExistsError: Something is at `path`, and is not to be replaced.
        StorageError: The disk refused; nothing is left behind.
    """
    pieces: Iterable[bytes]
    if form == "agents-md":
        pieces = [_agents_md(bank, path)]
    else:
        documents = map(atif_document, episodes(bank))
        pieces = (orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in documents)
    with files.new_file(path, replace=replace) as draft:
        files.write_parts(draft, pieces)


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
