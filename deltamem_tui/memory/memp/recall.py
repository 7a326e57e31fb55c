"""MemP's recall: the k records that fit a task, by chance, by the task, or by its facts (AveFact).

Ties: the higher score, then a success, then more successful episodes that were shown the record,
then the newer record. Cosines count to six decimals, so that equal texts score equally on every
machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.lexical import terms
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.embedding.scan import DECIMALS
from deltamem_tui.memory.context import fenced
from deltamem_tui.memory.domain import domain_for, goal_of
from deltamem_tui.memory.memp.definition import (
    FACT_DEPTH,
    KEY,
    PROCEDURES,
    RECORD_DEPTH,
    MempNumbers,
)
from deltamem_tui.memory.method import rank_by_similarity
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import (
    Candidate,
    by_use,
    cosines,
    scan_by_use,
)
from deltamem_tui.memory.wording import distinct
from deltamem_tui.memory.work_context import with_context
from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Rows = NDArray[np.int64]

_WORDS = 4
_READ = 2000  # characters of a task
_LABELS = {"script": "How", "trajectory": "What was done"}


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall the k records that fit best, by the bank's key."""
    numbers = of_bank(bank, MempNumbers, query.settings)
    found = recalled(bank, query.task, numbers, embedder, query.count)
    domain, task = bank.manifest.domain, query.task
    return with_context(
        bank,
        query,
        {PROCEDURES: found},
        embedder,
        lambda nodes: context_entries(domain, task, nodes),
    )


def rank(
    bank: Bank,
    collection: str,
    text: str,
    vector: Vector,
    count: int,
    settings: Settings | None = None,
) -> CollectionRecall:
    """Return records by the similarity of their tasks, whatever the bank's key is."""
    if collection != PROCEDURES:
        return rank_by_similarity(bank, collection, text, vector, count)
    return _answer(text, of_bank(bank, MempNumbers, settings), _by_task(bank, vector, count))


def recalled(
    bank: Bank, task: str, numbers: MempNumbers, embedder: Embedder, count: int = 1
) -> CollectionRecall | None:
    """Return the records that fit a task, and up to `count` candidates; None without a task."""
    task = clean(task).strip()
    if not task:
        return None
    tree, most = bank.tree(PROCEDURES), max(numbers.k, count)
    vector = embedder.embed_queries([task])[0]
    if numbers.key == "query":
        return _answer(task, numbers, _by_task(bank, vector, most))
    if numbers.key == "random":
        return _answer(task, numbers, _by_chance(tree, task, vector, most))
    facts = task_facts(bank.manifest.domain, task)
    return _answer(task, numbers, _by_facts(tree, facts, vector, embedder, most))


def _answer(task: str, numbers: MempNumbers, found: list[Candidate]) -> CollectionRecall:
    least = -1.0 if numbers.tau is None else numbers.tau
    by_chance = bool(found) and found[0].rule == "random"
    chosen = [each for each in found[: numbers.k] if by_chance or each.score >= least]
    rule = found[0].rule if found else numbers.key
    chains = tuple((each.node,) for each in chosen)
    return CollectionRecall(PROCEDURES, task, least, tuple(found), chains, rule)


def _by_task(bank: Bank, vector: Vector, most: int) -> list[Candidate]:
    """Return the records whose tasks are most similar."""
    tree = bank.tree(PROCEDURES)
    scan = scan_by_use(tree, weighting_of(bank), lambda tree: tree.depth > RECORD_DEPTH)
    return [
        Candidate(tree.node_at(row), similarity, 0.0, score, "query")
        for row, similarity, score in scan.best(vector, 0.0, most)
    ]


def _records(tree: Tree) -> Rows:
    """Return the rows of the living records. int64 [records]."""
    rows: Rows = tree.rows[tree.depth[tree.rows] == RECORD_DEPTH]
    return rows


def _by_chance(tree: Tree, task: str, vector: Vector, most: int) -> list[Candidate]:
    """Return records without replacement, drawn by what the bank holds and what is asked."""
    import numpy as np

    rows = _records(tree)
    state = hashlib.sha256(tree.snapshot.index["id"][rows].tobytes() + task.encode())
    # Of all that `Random` has, this alone draws the same on every version of Python.
    chance = Random(state.digest()).random  # noqa: S311 - not a secret
    left = rows.tolist()
    drawn = [left.pop(int(chance() * len(left))) for _ in range(min(most, len(left)))]
    similar = cosines(tree, np.array(drawn, dtype=np.int64), vector)
    return [
        Candidate(tree.node_at(row), float(cosine), 0.0, 0.0, "random")
        for row, cosine in zip(drawn, similar, strict=True)
    ]


def _by_facts(
    tree: Tree, facts: Mapping[str, str], vector: Vector, embedder: Embedder, most: int
) -> list[Candidate]:
    """AveFact: the mean cosine of the facts that a record has of the question's."""
    import numpy as np

    rows = _records(tree)
    if not facts or not len(rows):
        return []
    sums, counts = np.zeros((2, len(tree.dead)))  # at the births of records
    names = _fact_names(tree)
    for name, asked in zip(facts, embedder.embed_queries(list(facts.values())), strict=True):
        own = tree.rows[names[tree.rows] == name]
        parents = tree.snapshot.index["parent"][own]
        np.add.at(sums, parents, cosines(tree, own, asked))
        np.add.at(counts, parents, 1)
    matched = counts[tree.birth[rows]]
    rows, matched = rows[2 * matched >= len(facts)], matched[2 * matched >= len(facts)]
    means = (sums[tree.birth[rows]] / matched).round(DECIMALS)
    scores = means.round(DECIMALS)
    similar = cosines(tree, rows, vector)
    order = np.lexsort((by_use(tree)[rows], -similar, -matched, -scores))[:most]
    return [
        Candidate(
            tree.node_at(int(rows[at])), float(similar[at]), 0.0, float(scores[at]), "avefact"
        )
        for at in order
    ]


def _fact_names(tree: Tree) -> NDArray[np.object_]:
    """Return the name of the fact that each row holds, empty for a record. object [rows]."""
    import numpy as np

    snapshot = tree.snapshot
    known = snapshot.derived.get("fact names", np.zeros(0, dtype=object))
    begin, count = len(known), len(snapshot.index)
    if begin < count:
        new = np.full(count - begin, "", dtype=object)
        at = np.flatnonzero(snapshot.index["depth"][begin:] == FACT_DEPTH)
        new[at] = [each["fact"] for each in snapshot.payloads(begin + at)]
        known = snapshot.derived["fact names"] = np.concatenate([known, new])
    names: NDArray[np.object_] = known[:count]
    return names


def context_entries(domain: str, task: str, records: Sequence[Node]) -> list[str]:
    """Return one entry a record.

    What the script of a task of the same kind leaves open has the names of the present task; any
    other has those of its own.
    """
    goal = goal_of(domain, task)
    entries = []
    for number, node in enumerate(records, 1):
        own = goal_of(domain, node.payload[KEY])
        is_of_kind = goal.understood and own.trigger == goal.trigger
        names = dict(goal.slots if is_of_kind else own.slots)
        script = filled(node.payload["script"], names)
        texts = {"script": script, "trajectory": node.payload["trajectory"]}
        told = [f"{_LABELS[name]}:\n{fenced(text)}" for name, text in texts.items() if text]
        entries.append(
            "\n".join([f"### Procedure {number}", f"Task: {fenced(node.payload[KEY])}", *told])
        )
    return entries


def task_facts(domain: str, task: str) -> dict[str, str]:
    """Return the facts of a task, name to value.

    The names are the domain's; where it has none, or a task is not in its words, they are `verb`
    and `nouns`.
    """
    task = one_line(task[:_READ])
    facts = domain_for(domain).task_facts(task)
    if not facts and (words := distinct(terms(task))):
        facts = {"verb": words[0], "nouns": " ".join(words[1:])}
    short = {name: value.strip(" .,:;'\"").split()[:_WORDS] for name, value in facts.items()}
    return {name: " ".join(words) for name, words in short.items() if words}
