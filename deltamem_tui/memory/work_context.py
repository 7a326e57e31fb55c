"""What the episodes behind recalled nodes say of real work, for any method.

Where no plug-in knows a bank's domain, the rules write for a program what a person would not read:
so an agent is shown the facts of the episodes that a method recalled, counted together
(`memory.work`), and beside them only what a model or a person wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.memory.context import compose, fenced
from deltamem_tui.memory.domain import GENERAL, domain_for
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.recall_result import Query
from deltamem_tui.memory.work.advice import CHARS, advice
from deltamem_tui.memory.work.counting import Experience, Lesson
from deltamem_tui.memory.work.facts import facts_of
from deltamem_tui.memory.work.writing import task_text

_BUDGET = 300  # tokens of a context: lists of real work could go on for ever
_MOST = 32


def context_of(
    bank: Bank,
    query: Query,
    shown: Sequence[tuple[Node, float]],
    entries: Callable[[Sequence[Node]], list[str]],
) -> str:
    """Return the text for an agent's prompt.

    Args:
        bank: The bank.
        query: The question.
        shown: What is recalled, with its similarity to the question.
        entries: How the method says what nodes hold.
    """
    domain, nodes = bank.manifest.domain, [node for node, _ in shown]
    if domain_for(domain) is not GENERAL:
        return compose(domain, entries(nodes), query.folders)
    written = [node for node in nodes if node.origin.extractor != "rules"]
    told = entries(written) if written else []
    room = _BUDGET * CHARS - len(compose(domain, [*told, "-"], query.folders))
    lines = _advice(bank, query.task, shown, max(room, 0))
    if not lines and not told:
        told = entries(nodes)
    return compose(domain, [*told, *([fenced("\n".join(lines))] if lines else [])], query.folders)


def _advice(bank: Bank, task: str, shown: Sequence[tuple[Node, float]], room: int) -> list[str]:
    """Return what the episodes that nodes come from say together, as lines."""
    nearest: dict[str, float] = {}
    for node, similarity in shown:
        for source in node.origin.episodes:
            nearest[source] = max(similarity, nearest.get(source, similarity))
    lessons, similarities = [], []
    for source in [*nearest][:_MOST]:
        if episode := stored_episode(bank, source):
            facts, solved = tuple(facts_of(episode)), bool(episode.outcome.success)
            lessons.append(Lesson(source, task_text(episode.task), facts, solved))
            similarities.append(nearest[source])
    return advice(Experience(task_text(task), lessons, similarities), room).lines
