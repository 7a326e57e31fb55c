"""ReasoningBank's recall: the nearest entries with all their lessons.

There is no threshold. Of equal scores a success comes first, then what was of use more often, then
the newer one. An entry without a lesson, as after a person's edit, is not looked at: it would take
the place of one that has something to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.context import fenced
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.reasoningbank.definition import (
    BY_ENTRY,
    DISPLAY,
    ENTRY_DEPTH,
    LESSONS,
    ReasoningBankSettings,
)
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import Candidate, scan_by_use
from deltamem_tui.memory.work_context import with_context
from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SHOWN = DISPLAY[LESSONS]


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall the lessons of the nearest entries."""
    task = clean(query.task).strip()
    if not task:
        return RecallResult({LESSONS: None}, "")
    vector = embedder.embed_queries([task])[0]
    found = rank(bank, LESSONS, task, vector, query.count, query.settings)
    entries = partial(context_entries, bank.manifest.domain, task)
    return with_context(bank, query, {LESSONS: found}, embedder, entries)


def rank(
    bank: Bank,
    collection: str,
    text: str,
    vector: NDArray[np.float32],
    count: int,
    settings: Settings | None = None,
) -> CollectionRecall:
    """Return the lessons for a text, each with its entry as a chain; see `Method.rank`."""
    tree, k = bank.tree(collection), of_bank(bank, ReasoningBankSettings, settings).k
    scan = scan_by_use(tree, weighting_of(bank), _without_lessons)
    found: list[Candidate] = []
    recalled = 0
    for place, (row, similarity, score) in enumerate(scan.best(vector, 0.0, max(k, count))):
        lessons = map(tree.node_at, map(int, tree.child_rows(row)))
        found += [Candidate(each, similarity, 0.0, score, BY_ENTRY) for each in lessons]
        recalled = len(found) if place < k else recalled
    chains = tuple(tree.chain(each.node.id) for each in found[:recalled])
    candidates = tuple(found[: max(count, recalled)])
    return CollectionRecall(collection, text, -1.0, candidates, chains, BY_ENTRY)


def _without_lessons(tree: Tree) -> NDArray[np.bool_]:
    """Return which rows are no entry with a lesson. bool [rows]."""
    import numpy as np

    index, left_out = tree.snapshot.index, np.ones(len(tree.dead), dtype=np.bool_)
    # A parent is named by the row of its first line, and found by that of its last.
    lessons = (tree.depth > ENTRY_DEPTH) & ~tree.dead
    left_out[tree.snapshot.current[index["parent"][lessons]]] = False
    return left_out


def context_entries(domain: str, task: str, lessons: Sequence[Node]) -> list[str]:
    """Return the lessons as they stand in a prompt, in their order, each once."""
    names = dict(goal_of(domain, task).slots)
    return list(dict.fromkeys(_entry(lesson, names) for lesson in lessons))


def _entry(lesson: Node, names: Mapping[str, str]) -> str:
    texts = {name: fenced(filled(text, names)) for name, text in lesson.payload.items()}
    warning = f" ({_SHOWN.warning})" if lesson.label == "failure" else ""
    lines = [
        f"### Lesson{warning}: {one_line(texts['title'])}".removesuffix(": "),
        f"{_SHOWN.label('description')}: {one_line(texts['description'])}",
    ]
    if content := texts["content"]:
        gap = "\n" if "\n" in content else " "
        lines.append(f"{_SHOWN.label('content')}:{gap}{content}")
    return "\n".join(lines)
