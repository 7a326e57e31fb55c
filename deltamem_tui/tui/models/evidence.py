"""Where a node comes from: its episodes, and the steps that it repeats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.node import Node
from deltamem_tui.trajectory.model import Step

_SHARE = 0.75
"""So much of a clause's words a step must say."""

_FEWEST = 2
"""Of fewer words a clause says too little to tell a step by."""

_LIMIT = 4_000
"""Characters of a step's answer, and clauses of a node, that are compared."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The episodes that a node was learnt from.

    Attributes:
        kept: The ids of those that the bank has.
        missing: The ids of the others: their records did not come with the bank.
    """

    kept: tuple[str, ...]
    missing: tuple[str, ...]


def evidence_of(bank: Bank, tree: str, node: Node) -> Evidence:
    """Return a node's episodes; of a fused node those of the nodes that it was made from."""
    named = list(node.origin.episodes)
    if not named:
        nodes = bank.tree(tree)
        made_from = [each for each in node.origin.nodes if nodes.find(each) == [each]]
        named = [each for id_ in made_from for each in nodes.node(id_).origin.episodes]
    ids = tuple(dict.fromkeys(named))
    kept = tuple(each for each in ids if _is_kept(bank, each))
    return Evidence(kept, tuple(each for each in ids if each not in kept))


def why_no_episode(found: Evidence) -> str:
    """Return why a node has no episode that can be shown."""
    if not found.missing:
        return "this node is not from an episode"
    return "this bank was shipped without the node's episodes"


def _is_kept(bank: Bank, episode_id: str) -> bool:
    return bank.episodes.state(episode_id) not in (None, EpisodeState.REPLACED)


def steps_repeated(payload: Mapping[str, str], steps: Sequence[Step]) -> list[int]:
    """Return the numbers, from 1, of the steps that a node says again.

    Nodes do not record the steps that they were made of. A step counts if action and answer have
    three quarters of the words of one clause of what the node says below its first text.
    Placeholders, numbers and what is in brackets are left out.

    Args:
        payload: The node's texts; the first says when it holds.
        steps: The steps of its episode.
    """
    texts = list(payload.values())
    clauses = list(_clauses("\n".join(texts[1:] or texts)))[:_LIMIT]
    found = []
    for number, step in enumerate(steps, start=1):
        said = _words(f"{step.action}\n{step.observation[:_LIMIT]}")
        if any(len(clause & said) >= _SHARE * len(clause) for clause in clauses):
            found.append(number)
    return found


def _clauses(text: str) -> Iterator[frozenset[str]]:
    """Return the words of each clause; what stands before a colon belongs to all of its line."""
    for line in text.splitlines():
        head, colon, rest = re.sub(r"\[[^\]]*\]|\([^)]*\)", " ", line).partition(":")
        for clause in rest.split(";") if colon else [head]:
            words = _words(f"{head} {clause}" if colon else clause)
            if len(words) >= _FEWEST:
                yield words


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.casefold()))
