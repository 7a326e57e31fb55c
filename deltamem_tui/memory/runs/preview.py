"""Previews: a prompt filled in with what a bank holds, as a model would get it. Nothing is sent."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.context import chain_entries
from deltamem_tui.memory.engine import search
from deltamem_tui.memory.episodes.outcomes import find_episode, known_episode
from deltamem_tui.memory.episodes.stored_episodes import episodes, waiting
from deltamem_tui.memory.methods import display_of, method_of
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.library import Prompt
from deltamem_tui.memory.prompts.use import HEADER, SYSTEM, PromptUse
from deltamem_tui.memory.writers.model.request import RequestMaker, block, outcome_text
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Trajectory


def preview(
    bank: Bank,
    name: str,
    *,
    domain: str | None = None,
    episode_id: str | None = None,
    folders: Sequence[Path] | None = None,
    embedder: Embedder | None = None,
) -> str:
    """Fill a prompt in with an episode of a bank, and a chain of it where the prompt takes one.

    The episode is the one whose id begins with `episode_id`, else the first that the prompt is for,
    those that wait before those that were learnt. The prompt is that of `domain`, else of the
    episode's domain, else of the bank's.

    Returns:
        The whole prompt. The episode is not cut, because no model's window is known.

    Raises:
        UsageError: The bank has no episode, or no node, that the prompt could be filled in with.
        TrajectoryError: No episode has this id, or several have.
        ConfigurationError: The prompt file is wrong.
    """
    wanted = domain or bank.manifest.domain
    if name in (HEADER, SYSTEM):
        return prompts.find(wanted, name, folders).body.strip()
    use = method_of(bank).use_of(name)
    if not use.inputs & {"task", "text"}:
        prompt = prompts.find(wanted, name, folders, use)
        chain = _any_chain(bank, use.collection) if "memory" in prompt.inputs else ()
        return _filled(bank, prompt, use, None, chain, folders)
    trajectory = _episode(bank, name, use, episode_id)
    prompt = prompts.find(domain or trajectory.domain or wanted, name, folders, use)
    chain = _chain(bank, use, trajectory, embedder) if "memory" in prompt.inputs else ()
    return _filled(bank, prompt, use, trajectory, chain, folders)


def _filled(
    bank: Bank,
    prompt: Prompt,
    use: PromptUse,
    trajectory: Trajectory | None,
    chain: Sequence[Node],
    folders: Sequence[Path] | None,
) -> str:
    failure = bool(chain) and all(node.label == "failure" for node in chain)
    entries = chain_entries(display_of(bank, use.collection), chain)
    # What only the method gives is not known here.
    fixed: dict[str, object] = {
        **{each: block(each, "…") for each in prompt.inputs},
        "memory": block("notes", "\n\n".join(entries)),
        "failure": failure,
        "may_skip": prompt.skip,
        "words": prompt.output,
    }
    if trajectory is None:
        return prompts.render(prompt, fixed, folders)
    instruction = "\n\n".join(part for part in (trajectory.environment, trajectory.task) if part)
    fixed |= {
        "task": block("task", trajectory.task),
        "outcome": block("outcome", outcome_text(trajectory)),
        "text": block("instruction", instruction),
    }
    maker = RequestMaker(prompt.domain, sys.maxsize, count_tokens, folders)
    return maker.episode_prompt(prompt, trajectory, fixed)[0]


def _episode(bank: Bank, name: str, use: PromptUse, wanted: str | None) -> Trajectory:
    if wanted is not None:
        return known_episode(bank, find_episode(bank, wanted))
    for found in _candidates(bank):
        if _is_for(use, found):
            return found
    raise UsageError(
        f"no episode in the bank that the prompt {name} is for",
        source=str(bank.path),
        hint="`deltamem import` brings some",
    )


def _candidates(bank: Bank) -> Iterator[Trajectory]:
    yield from waiting(bank)
    yield from episodes(bank)


def _is_for(use: PromptUse, trajectory: Trajectory) -> bool:
    success = trajectory.outcome.success
    if use.label:
        return success is (use.label == "success")
    return success is not None or "outcome" not in use.inputs


def _chain(
    bank: Bank, use: PromptUse, trajectory: Trajectory, embedder: Embedder | None
) -> Sequence[Node]:
    """Return the chain of the match, or of the node that comes nearest to being one."""
    tree = use.collection
    question = method_of(bank).questions(trajectory)[tree]
    answer = search(bank, question, (tree,), 1, embedder=embedder)[0]
    if not answer.candidates:
        raise _no_node(bank, tree)
    return answer.chain or bank.chain(tree, answer.candidates[0].node.id)


def _any_chain(bank: Bank, tree: str) -> Sequence[Node]:
    """Return the chain to the first residual, else the first root alone."""
    shown = bank.tree(tree)
    first = next(iter(shown), None)
    if first is None:
        raise _no_node(bank, tree)
    chosen = next((node for node in shown if node.kind == "residual"), first)
    return bank.chain(tree, chosen.id)


def _no_node(bank: Bank, tree: str) -> UsageError:
    return UsageError(
        f"the bank's {tree} tree is empty, and the prompt shows a chain of it",
        source=str(bank.path),
        hint="`deltamem extract` makes nodes",
    )
