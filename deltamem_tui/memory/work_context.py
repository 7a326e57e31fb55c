"""The context of any method for real work: the facts of the episodes it recalled.

Where no plug-in knows a bank's domain, the rules write for a program what a person would not read:
so an agent is shown the facts of the episodes that a method recalled, counted together
(`memory.work`), and beside them only what a model or a person wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.context import compose, fenced
from deltamem_tui.memory.domain import GENERAL, domain_for
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.work.advice import CHARS, advice
from deltamem_tui.memory.work.counting import Experience, Lesson
from deltamem_tui.memory.work.facts import facts_of
from deltamem_tui.memory.work.writing import task_text

_BUDGET = 300  # tokens of a context: lists of real work could go on for ever
_MOST = 32  # episodes that speak

Entries = Callable[[Sequence[Node]], list[str]]
"""How a method says what nodes hold."""


def with_context(
    bank: Bank,
    query: Query,
    found: Mapping[str, CollectionRecall | None],
    embedder: Embedder,
    entries: Entries,
    sources: Iterable[str] = (),
) -> RecallResult:
    """Return the answers of a bank's collections with their context.

    `sources` are episodes that speak beside those that the recalled nodes come from.
    """
    domain = bank.manifest.domain
    nodes = [chain[-1] for answer in found.values() if answer for chain in answer.chains]
    if domain_for(domain) is not GENERAL:
        return RecallResult(found, compose(domain, entries(nodes), query.folders))
    written = [node for node in nodes if node.origin.extractor != "rules"]
    told = entries(written) if written else []
    room = _BUDGET * CHARS - len(compose(domain, [*told, "-"], query.folders))
    behind = dict.fromkeys([*sources, *(each for node in nodes for each in node.origin.episodes)])
    lessons = [each for name in [*behind][:_MOST] if (each := _lesson(bank, name))] if nodes else []
    lines = _advice(task_text(query.task), lessons, embedder, max(room, 0))
    told = told or ([] if lines else entries(nodes))
    facts = [fenced("\n".join(lines))] if lines else []
    return RecallResult(found, compose(domain, [*told, *facts], query.folders))


def _lesson(bank: Bank, name: str) -> Lesson | None:
    """Return what an episode of a bank says; None if the bank does not have it."""
    episode = stored_episode(bank, name)
    if episode is None:
        return None
    solved = bool(episode.outcome.success)
    return Lesson(name, task_text(episode.task), tuple(facts_of(episode)), solved)


def _advice(task: str, lessons: Sequence[Lesson], embedder: Embedder, room: int) -> list[str]:
    """Return what episodes say together of a task, as lines."""
    if not lessons:
        return []
    tasks = embedder.embed_passages([each.task for each in lessons])
    similarities = (tasks @ embedder.embed_queries([task])[0]).tolist()
    return advice(Experience(task, lessons, similarities), room).lines
