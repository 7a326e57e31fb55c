"""Common parts of flat methods: recall from one collection, and what an episode adds to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.flat.definitions import NEAREST
from deltamem_tui.memory.plan import Change, CollectionResult, LearnResult, Plan
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.vectors.search import Candidate, ranked, weighting_of
from deltamem_tui.memory.work_context import with_context
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Rank = Callable[[Bank, Query, Embedder], CollectionRecall]
Entries = Callable[[str, str, Sequence[Node]], list[str]]
"""How records stand in a prompt; takes the domain, the task and the records."""


def asked(task: str) -> Query:
    """Return the question that an episode's task is."""
    return Query(clean(task).strip())


def nearest(
    bank: Bank,
    collection: str,
    query: Query,
    embedder: Embedder,
    k: int,
    left_out: Callable[[Tree], NDArray[np.bool_]],
    rule: str = NEAREST,
) -> list[Candidate]:
    """Return the k records whose keys are most similar, of equals the most useful first."""
    tree, vector = bank.tree(collection), embedder.embed_queries([query.task])[0]
    return ranked(tree, vector, weighting_of(bank), 0.0, max(k, query.count), left_out, rule)


def recalled(
    bank: Bank,
    query: Query,
    embedder: Embedder,
    collection: str,
    rank: Rank,
    entries: Entries,
    sources: Callable[[CollectionRecall], Iterable[str]] = lambda _: (),
) -> RecallResult:
    """Recall from one collection; see `work_context.with_context` for the sources."""
    query = replace(query, task=clean(query.task).strip())
    answer = rank(bank, query, embedder) if query.task else None
    found = {**dict.fromkeys(bank.trees), collection: answer}
    told = partial(entries, bank.manifest.domain, query.task)
    return with_context(bank, query, found, embedder, told, sources(answer) if answer else ())


def of_success(
    collection: str, episode: Trajectory, payload: Callable[[], Mapping[str, str]]
) -> tuple[Node | None, str]:
    """Return the record that a success becomes as it went; None for any other, and why."""
    if not episode.outcome.success:
        return None, "the episode failed"
    texts = payload()
    if not all(texts.values()):
        return None, "nothing was done"
    origin = Origin(trajectory=episode.id, outcome_source=episode.outcome.source)
    return born(collection, None, "success", texts, origin), "a success"


def learnt(
    episode: Trajectory,
    decision: str,
    reason: str,
    node: Node | None,
    changes: Sequence[Change],
    found: CollectionRecall,
    calls: Sequence[Call] = (),
) -> Plan[LearnResult]:
    """Return the plan of an episode; the first record that it was shown is the match."""
    shown = next(found.shown, None)
    result = CollectionResult(
        found.collection,
        decision,
        reason,
        node,
        match=shown.node if shown else None,
        score=shown.score if shown else None,
        calls=tuple(calls),
    )
    return Plan(LearnResult(episode.id, True, {found.collection: result}), tuple(changes))
