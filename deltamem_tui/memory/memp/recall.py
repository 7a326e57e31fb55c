"""MemP's recall: the k records that fit a task, by chance, by the task, or by its facts (AveFact).

Ties: the higher score, then more successful episodes that were shown the record, then the newer
record. Cosines count to six decimals, so that equal texts score equally on every machine.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder, Weighting
from deltamem_tui.embedding.scan import DECIMALS, Scan
from deltamem_tui.memory.memp.collections import PROCEDURES
from deltamem_tui.memory.memp.facts import fact_table
from deltamem_tui.memory.memp.settings import MempNumbers
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import Candidate, by_use, scan_of
from deltamem_tui.memory.writers.rules.task_facts import task_facts
from deltamem_tui.text import clean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Rows = NDArray[np.int64]


def recalled(
    bank: Bank, task: str, numbers: MempNumbers, embedder: Embedder, count: int = 1
) -> CollectionRecall | None:
    """The records that fit a task, and up to `count` candidates; None if there is no task."""
    task = clean(task).strip()
    if not task:
        return None
    tree = bank.tree(PROCEDURES)
    most = max(numbers.k, count)
    vector = embedder.embed_queries([task])[0]
    if numbers.key == "query":
        return by_query(tree, task, vector, numbers, weighting_of(bank), most)
    if numbers.key == "random":
        return _answer(task, numbers, _by_chance(tree, task, vector, most))
    facts = task_facts(bank.manifest.domain, task)
    return _answer(task, numbers, _by_facts(tree, facts, vector, embedder, most))


def by_query(
    tree: Tree, task: str, vector: Vector, numbers: MempNumbers, weighting: Weighting, most: int
) -> CollectionRecall:
    """The records whose tasks are most similar, at most so many of them candidates."""
    found = [
        Candidate(tree.node_at(row), similarity, 0.0, score, "query")
        for row, similarity, score in _scan(tree, weighting).best(vector, 0.0, most)
    ]
    return _answer(task, numbers, found)


def _answer(task: str, numbers: MempNumbers, found: list[Candidate]) -> CollectionRecall:
    least = -1.0 if numbers.tau is None else numbers.tau
    by_chance = bool(found) and found[0].rule == "random"
    chosen = [each for each in found[: numbers.k] if by_chance or each.score >= least]
    rule = found[0].rule if found else numbers.key
    chains = tuple((each.node,) for each in chosen)
    return CollectionRecall(PROCEDURES, task, least, tuple(found), chains, rule)


def _records(tree: Tree) -> Rows:
    """The rows of the living records. int64 [records]."""
    rows: Rows = tree.rows[tree.depth[tree.rows] == 1]
    return rows


_scans: WeakKeyDictionary[Tree, Scan] = WeakKeyDictionary()


def _scan(tree: Tree, weighting: Weighting) -> Scan:
    """The scan of the records alone, made once for each commit that a handle shows."""
    scan = _scans.get(tree)
    if scan is None or scan.weighting != weighting:
        dead = tree.dead | (tree.depth > 1)
        rows = replace(scan_of(tree, weighting).rows, dead=dead, precedence=by_use(tree))
        scan = _scans[tree] = Scan(rows, weighting)
    return scan


def _cosines(tree: Tree, rows: Rows, vector: Vector) -> NDArray[np.float64]:
    import numpy as np

    found = np.einsum("ij,j->i", tree.embeddings[rows], vector, dtype=np.float64)
    cosines: NDArray[np.float64] = found.round(DECIMALS)
    return cosines


def _by_chance(tree: Tree, task: str, vector: Vector, most: int) -> list[Candidate]:
    """Records without replacement, drawn by what the bank holds and what is asked."""
    rows = _records(tree)
    state = hashlib.sha256(tree.snapshot.index["id"][rows].tobytes() + task.encode())
    # Of all that `Random` has, this alone draws the same on every version of Python.
    chance = Random(state.digest()).random  # noqa: S311 - not a secret
    left = rows.tolist()
    drawn = [left.pop(int(chance() * len(left))) for _ in range(min(most, len(left)))]
    cosines = _cosines(tree, _as_rows(drawn), vector)
    return [
        Candidate(tree.node_at(row), float(cosine), 0.0, 0.0, "random")
        for row, cosine in zip(drawn, cosines, strict=True)
    ]


def _as_rows(rows: list[int]) -> Rows:
    import numpy as np

    return np.array(rows, dtype=np.int64)


def _by_facts(
    tree: Tree, facts: dict[str, str], vector: Vector, embedder: Embedder, most: int
) -> list[Candidate]:
    """AveFact: the mean cosine of the facts that a record has of the question's.

    A record matches if it has at least half of them, so that no single lucky fact wins. Of equal
    means that of more facts goes first, then the task's own cosine.
    """
    import numpy as np

    if not facts or not len(_records(tree)):
        return []
    table = fact_table(tree)
    cosine = np.zeros(len(table.rows) + 1)  # the last is that of records, which hold no fact
    asked = np.zeros(len(table.rows) + 1)
    of_name: dict[str, list[int]] = {}
    for (name, _), code in table.pairs.items():
        of_name.setdefault(name, []).append(code)
    values = embedder.embed_queries(list(facts.values()))
    for name, value in zip(facts, values, strict=True):
        codes = of_name.get(name, [])
        if codes:
            cosine[codes] = _cosines(tree, np.array(table.rows)[codes], value)
            asked[codes] = 1
    living = tree.rows[tree.depth[tree.rows] > 1]
    parents = tree.snapshot.index["parent"][living]
    codes_of = table.codes[living]
    matched = np.bincount(parents, asked[codes_of], len(table.codes))
    total = np.bincount(parents, cosine[codes_of], len(table.codes))
    rows = _records(tree)
    births = tree.birth[rows]
    matching = 2 * matched[births] >= len(facts)
    rows, births = rows[matching], births[matching]
    if not len(rows):
        return []
    scores = (total[births] / matched[births]).round(DECIMALS)
    least = np.partition(scores, -min(most, len(rows)))[-min(most, len(rows))]
    near = scores >= least  # only of these the task's own cosine is needed
    rows, births, scores = rows[near], births[near], scores[near]
    cosines = _cosines(tree, rows, vector)
    order = np.lexsort((by_use(tree)[rows], -cosines, -matched[births], -scores))
    return [
        Candidate(
            tree.node_at(int(rows[at])), float(cosines[at]), 0.0, float(scores[at]), "avefact"
        )
        for at in order[:most]
    ]
