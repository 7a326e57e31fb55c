"""Previews: a prompt filled in with what a bank holds, as a model would get it. Nothing is sent."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import TrajectoryError, UsageError
from deltamem_tui.memory.context import chain_entries
from deltamem_tui.memory.engine import search
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode, episodes, waiting
from deltamem_tui.memory.methods import display_of
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.check import HEADER
from deltamem_tui.memory.prompts.file import Prompt
from deltamem_tui.memory.writers.model.episode_prompt import RequestMaker, block, outcome_text
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
    if name == HEADER:
        return prompts.find(wanted, name, folders).body.strip()
    if name.endswith("_consolidation"):
        chain = _any_chain(bank, _tree_of(name))
        return _filled(bank, prompts.find(wanted, name, folders), None, chain, folders)
    trajectory = _episode(bank, name, episode_id)
    prompt = prompts.find(domain or trajectory.domain or wanted, name, folders)
    chain = _chain(bank, name, trajectory, embedder) if "memory" in prompt.inputs else ()
    return _filled(bank, prompt, trajectory, chain, folders)


def _filled(
    bank: Bank,
    prompt: Prompt,
    trajectory: Trajectory | None,
    chain: Sequence[Node],
    folders: Sequence[Path] | None,
) -> str:
    failure = bool(chain) and all(node.label == "failure" for node in chain)
    entries = chain_entries(display_of(bank, _tree_of(prompt.name)), chain)
    fixed = {
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


def _tree_of(name: str) -> str:
    return "env" if name.startswith("env_") else "task"


def _episode(bank: Bank, name: str, wanted: str | None) -> Trajectory:
    if wanted is not None:
        return _episode_called(bank, wanted)
    for found in _candidates(bank):
        if _is_for(name, found):
            return found
    raise UsageError(
        f"no episode in the bank that the prompt {name} is for",
        source=str(bank.path),
        hint="`deltamem import` brings some",
    )


def _candidates(bank: Bank) -> Iterator[Trajectory]:
    yield from waiting(bank)
    yield from episodes(bank)


def _is_for(name: str, trajectory: Trajectory) -> bool:
    success = trajectory.outcome.success
    if name.endswith(("_success", "_failure")):
        return success is name.endswith("_success")
    return success is not None or not name.startswith("env_")


def _episode_called(bank: Bank, wanted: str) -> Trajectory:
    ids = [each for each in bank.episodes.ids() if each.startswith(wanted)]
    if len(ids) != 1:
        many = f"{len(ids)} episodes have an id that begins" if ids else "no episode's id begins"
        raise TrajectoryError(f"{many} with {wanted!r}", source=str(bank.path))
    found = episode(bank, ids[0])
    if found is None:
        raise TrajectoryError(f"there is no episode {wanted}", source=str(bank.path))
    return found


def _chain(
    bank: Bank, name: str, trajectory: Trajectory, embedder: Embedder | None
) -> Sequence[Node]:
    """The chain of the match, or of the node that comes nearest to being one."""
    tree = _tree_of(name)
    question = scene_of(trajectory) if tree == "env" else trajectory.task
    answer = search(bank, question, (tree,), 1, embedder=embedder)[0]
    if not answer.candidates:
        raise _no_node(bank, tree)
    return answer.chain or bank.chain(tree, answer.candidates[0].node.id)


def _any_chain(bank: Bank, tree: str) -> Sequence[Node]:
    """The chain to the first residual, else the first root alone."""
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
