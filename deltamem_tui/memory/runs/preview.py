"""Previews: a prompt filled in with what a bank holds, as a model would get it. Nothing is sent."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain as chained
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.context import chain_entries
from deltamem_tui.memory.episodes.outcomes import find_episode, known_episode
from deltamem_tui.memory.episodes.stored_episodes import episodes, waiting
from deltamem_tui.memory.methods import display_of, method_of
from deltamem_tui.memory.prompts import library as prompts
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
    of_episode = bool(use.inputs & {"task", "text"})
    trajectory = _episode(bank, name, use, episode_id) if of_episode else None
    if trajectory and not domain:
        wanted = trajectory.domain or wanted
    prompt = prompts.find(wanted, name, folders, use)
    chain = _chain(bank, use.collection) if "memory" in prompt.inputs else ()
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
    for found in chained(waiting(bank), episodes(bank)):
        success = found.outcome.success
        if use.label and success is (use.label == "success"):
            return found
        if not use.label and (success is not None or "outcome" not in use.inputs):
            return found
    raise UsageError(
        f"no episode in the bank that the prompt {name} is for",
        source=str(bank.path),
        hint="`deltamem import` brings some",
    )


def _chain(bank: Bank, tree: str) -> Sequence[Node]:
    """Return the chain to the first residual, else the first root alone."""
    nodes = list(bank.tree(tree))
    if not nodes:
        raise UsageError(
            f"the bank's {tree} tree is empty, and the prompt shows a chain of it",
            source=str(bank.path),
            hint="`deltamem extract` makes nodes",
        )
    chosen = next((node for node in nodes if node.kind == "residual"), nodes[0])
    return bank.chain(tree, chosen.id)
