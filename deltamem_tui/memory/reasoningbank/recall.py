"""ReasoningBank's recall: the nearest entries with all their lessons, or the nearest lessons.

There is no threshold. Of equal scores a success comes first, then what was of use more often, then
the newer one. An entry without a lesson, as after a person's edit, is not looked at: it would take
the place of one that has something to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder, Weighting
from deltamem_tui.embedding.scan import Scan
from deltamem_tui.memory.context import compose, fenced
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.reasoningbank.definition import (
    BY_DESCRIPTION,
    BY_ENTRY,
    BY_TASK,
    DISPLAY,
    ENTRY_DEPTH,
    LESSON_DEPTH,
    LESSONS,
    ReasoningBankSettings,
)
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import Candidate, by_use, scan_of
from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_NO_THRESHOLD = -1.0


@dataclass(frozen=True, slots=True)
class _Scans:
    """The rows of entries that have lessons, and those of lessons, ready to be compared."""

    entries: Scan
    lessons: Scan
    weighting: Weighting


_scans: WeakKeyDictionary[Tree, _Scans] = WeakKeyDictionary()


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall the lessons of the nearest entries, or the nearest lessons."""
    task = clean(query.task).strip()
    if not task:
        return RecallResult({LESSONS: None}, "")
    vector = embedder.embed_queries([task])[0]
    found = rank(bank, LESSONS, task, vector, query.count, query.settings)
    domain, lessons = bank.manifest.domain, [chain[-1] for chain in found.chains]
    entries = context_entries(domain, task, lessons)
    return RecallResult({LESSONS: found}, compose(domain, entries, query.folders))


def rank(
    bank: Bank,
    collection: str,
    text: str,
    vector: Vector,
    count: int,
    settings: Settings | None = None,
) -> CollectionRecall:
    """Return the lessons for a text; see `Method.rank`."""
    numbers = of_bank(bank, ReasoningBankSettings, settings)
    return recall_lessons(bank.tree(collection), text, vector, numbers, weighting_of(bank), count)


def recall_lessons(
    tree: Tree,
    text: str,
    vector: Vector,
    settings: ReasoningBankSettings,
    weighting: Weighting,
    count: int = 1,
) -> CollectionRecall:
    """Return the lessons for a question.

    Args:
        tree: The lessons and their entries.
        text: The question.
        vector: The same, embedded. float32 [dimensions], of unit length.
        settings: What is ranked, and how much of it is recalled.
        weighting: How the embedder has its dimensions weighted.
        count: The most candidates, if more than are recalled.

    Returns:
        A candidate a lesson, and a chain entry → lesson for each that is recalled.
    """
    scans = _scans_of(tree, weighting)
    ranked = _by_entry if settings.by == "entry" else _by_lesson
    found, recalled = ranked(tree, scans, vector, settings.k, max(settings.k, count))
    return CollectionRecall(
        tree.name,
        text,
        _NO_THRESHOLD,
        tuple(found[: max(count, recalled)]),
        tuple(tree.chain(each.node.id) for each in found[:recalled]),
        rule=settings.by,
    )


def _by_entry(
    tree: Tree, scans: _Scans, vector: Vector, k: int, wanted: int
) -> tuple[list[Candidate], int]:
    """Return the lessons of the nearest entries, in order, and how many the first k have."""
    found: list[Candidate] = []
    recalled = 0
    for place, (row, similarity, score) in enumerate(scans.entries.best(vector, 0.0, wanted)):
        for lesson in tree.child_rows(row):
            node = tree.node_at(int(lesson))
            found.append(Candidate(node, similarity, 0.0, score, BY_ENTRY))
            recalled += place < k
    return found, recalled


def _by_lesson(
    tree: Tree, scans: _Scans, vector: Vector, k: int, wanted: int
) -> tuple[list[Candidate], int]:
    """Return the lessons with the greater of both similarities, best first; and how many are
    recalled.

    Of each kind the best are enough: what is not among them has at least as many lessons before it
    as are wanted.
    """
    scores: dict[int, tuple[float, float, str]] = {}
    for row, similarity, score in _with_ties(scans.entries, vector, wanted):
        found_by_task = score, similarity, BY_TASK
        scores |= {int(lesson): found_by_task for lesson in tree.child_rows(row)}
    for row, similarity, score in _with_ties(scans.lessons, vector, wanted):
        if row not in scores or score > scores[row][0]:
            scores[row] = score, similarity, BY_DESCRIPTION
    precedence = scans.lessons.rows.precedence
    best = sorted(scores, key=lambda row: (-scores[row][0], precedence[row]))[:wanted]
    found = [
        Candidate(tree.node_at(row), similarity, 0.0, score, rule)
        for row in best
        for score, similarity, rule in [scores[row]]
    ]
    return found, min(k, len(found))


def _with_ties(scan: Scan, vector: Vector, count: int) -> list[tuple[int, float, float]]:
    """Return the best rows with similarity and score, and all that score like the last of them."""
    asked = count + 1
    while True:
        found = scan.best(vector, 0.0, asked)
        if len(found) < asked or found[-1][2] < found[count - 1][2]:
            break
        asked *= 2
    least = found[min(count, len(found)) - 1][2] if found else 0.0
    return [each for each in found if each[2] >= least]


def _scans_of(tree: Tree, weighting: Weighting) -> _Scans:
    """Return the scans of a collection, made once for each commit that a handle shows."""
    known = _scans.get(tree)
    if known is None or known.weighting != weighting:
        rows = replace(scan_of(tree, weighting).rows, precedence=by_use(tree))
        lessons = tree.depth == LESSON_DEPTH
        # A parent is named by the row of its first line, and found by that of its last.
        with_lessons = np.zeros(len(tree.dead), dtype=np.bool_)
        parents = tree.snapshot.index["parent"][lessons & ~tree.dead]
        with_lessons[tree.snapshot.current[parents]] = True
        entries = with_lessons & (tree.depth == ENTRY_DEPTH)
        known = _scans[tree] = _Scans(
            Scan(replace(rows, dead=tree.dead | ~entries), weighting),
            Scan(replace(rows, dead=tree.dead | ~lessons), weighting),
            weighting,
        )
    return known


_SHOWN = DISPLAY[LESSONS]


def context_entries(domain: str, task: str, lessons: Sequence[Node]) -> list[str]:
    """Return the lessons as they stand in a prompt, in their order; what two of them say stands
    once.
    """
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
