"""MemP's recall: the k records that fit a task, by chance, by the task, or by its facts (AveFact).

Ties: the higher score, then a success, then more successful episodes that were shown the record,
then the newer record. Cosines count to six decimals, so that equal texts score equally on every
machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.table import TableSnapshot
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder, Weighting
from deltamem_tui.embedding.scan import DECIMALS, Scan
from deltamem_tui.memory.context import compose, fenced
from deltamem_tui.memory.domain import Goal, domain_for, goal_of
from deltamem_tui.memory.memp.definition import (
    FACT_DEPTH,
    KEY,
    PROCEDURES,
    RECORD_DEPTH,
    WAITING,
    MempNumbers,
)
from deltamem_tui.memory.memp.rules import task_facts
from deltamem_tui.memory.method import rank_by_similarity
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import Candidate, as_fresh, by_use, scan_of
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.typed import decoder_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Rows = NDArray[np.int64]
    Sums = NDArray[np.float64]

_PIECE_ROWS = 4096


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall the k records that fit best, by the bank's key."""
    numbers = of_bank(bank, MempNumbers, query.settings)
    found = recalled(bank, query.task, numbers, embedder, query.count)
    records = [chain[0] for chain in found.chains] if found else []
    entries = context_entries(bank.manifest.domain, query.task, records)
    context = compose(bank.manifest.domain, entries, query.folders)
    return RecallResult({PROCEDURES: found, WAITING: None}, context)


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
    numbers = of_bank(bank, MempNumbers, settings)
    return by_query(bank.tree(collection), text, vector, numbers, weighting_of(bank), count)


def questions(episode: Trajectory) -> Mapping[str, str]:
    """Return the task for the procedures; episodes that wait are not asked for."""
    return {PROCEDURES: clean(episode.task).strip(), WAITING: ""}


def recalled(
    bank: Bank, task: str, numbers: MempNumbers, embedder: Embedder, count: int = 1
) -> CollectionRecall | None:
    """Return the records that fit a task, and up to `count` candidates; None without a task."""
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
    """Return the records whose tasks are most similar, at most so many of them candidates."""
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
    """Return the rows of the living records. int64 [records]."""
    rows: Rows = tree.rows[tree.depth[tree.rows] == RECORD_DEPTH]
    return rows


_scans: WeakKeyDictionary[Tree, Scan] = WeakKeyDictionary()


def _scan(tree: Tree, weighting: Weighting) -> Scan:
    """Return the scan of the records alone, made once for each commit that a handle shows."""
    scan = _scans.get(tree)
    if scan is None or scan.weighting != weighting:
        dead = tree.dead | (tree.depth > RECORD_DEPTH)
        rows = replace(scan_of(tree, weighting).rows, dead=dead, precedence=by_use(tree))
        scan = _scans[tree] = Scan(rows, weighting)
    return scan


def _cosines(tree: Tree, rows: Rows, vector: Vector) -> NDArray[np.float64]:
    """Return the cosines of some rows, many at once, to six decimals. float64 [rows]."""
    import numpy as np

    found = np.zeros(len(rows))
    for at in range(0, len(rows), _PIECE_ROWS):
        piece = np.asarray(tree.embeddings)[rows[at : at + _PIECE_ROWS]]
        found[at : at + _PIECE_ROWS] = np.einsum("ij,j->i", piece, vector, dtype=np.float64)
    return found.round(DECIMALS)


def _by_chance(tree: Tree, task: str, vector: Vector, most: int) -> list[Candidate]:
    """Return records without replacement, drawn by what the bank holds and what is asked."""
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

    rows = _records(tree)
    if not facts or not len(rows):
        return []
    asked = dict(zip(facts, embedder.embed_queries(list(facts.values())), strict=True))
    sums, matched = _fact_sums(tree, asked)
    rows = rows[2 * matched[tree.birth[rows]] >= len(facts)]
    if not len(rows):
        return []
    births = tree.birth[rows]
    scores = as_fresh(tree, rows, (sums[births] / matched[births]).round(DECIMALS)).round(DECIMALS)
    # Only of the best, and those that tie with them, the task's own cosine is needed.
    near = (
        np.flatnonzero(scores >= np.partition(scores, -most)[-most])
        if most < len(rows)
        else slice(None)
    )
    rows, scores = rows[near], scores[near]
    cosines = _cosines(tree, rows, vector)
    order = np.lexsort((by_use(tree)[rows], -cosines, -matched[tree.birth[rows]], -scores))
    return [
        Candidate(
            tree.node_at(int(rows[at])), float(cosines[at]), 0.0, float(scores[at]), "avefact"
        )
        for at in order[:most]
    ]


def _fact_sums(tree: Tree, asked: Mapping[str, Vector]) -> tuple[Sums, Sums]:
    """Return the sums of the cosines of each record's facts with a question's, and how many.

    They stand at the births of records, float64 [births]. A pair of name and value is compared
    once, however many records have it.
    """
    import numpy as np

    table = fact_table(tree)
    facts = tree.rows[tree.depth[tree.rows] == FACT_DEPTH]
    parents, codes = tree.snapshot.index["parent"][facts], table.codes[facts]
    cosines, has_name = np.zeros((2, len(table.rows)))
    for name in asked.keys() & table.of_name.keys():
        pairs = table.of_name[name]
        cosines[pairs] = _cosines(tree, table.rows[pairs], asked[name])
        has_name[pairs] = 1
    size = len(table.codes)
    sums = np.bincount(parents, cosines[codes], size).astype(np.float64)
    return sums, np.bincount(parents, has_name[codes], size).astype(np.float64)


_RENAMED = ", with the names of the present task"
_LABELS = {"script": "How", "trajectory": "What was done"}


def context_entries(domain: str, task: str, records: Sequence[Node]) -> list[str]:
    """Return one entry a record.

    What the script of a task of the same kind leaves open has the names of the present task, and
    says so; any other has those of its own.
    """
    goal = goal_of(domain, task)
    return [_entry(domain, goal, number, node) for number, node in enumerate(records, 1)]


def _entry(domain: str, goal: Goal, number: int, node: Node) -> str:
    own = goal_of(domain, node.payload[KEY])
    is_renamed = goal.understood and own.trigger == goal.trigger and own.slots != goal.slots
    names = dict(goal.slots if is_renamed else own.slots)
    lines = [f"### Procedure {number}\nTask: {fenced(node.payload[KEY])}"]
    for field, label in _LABELS.items():
        text = node.payload[field]
        if text:
            is_script = field == "script"
            text = filled(text, names) if is_script else text
            aside = _RENAMED if is_script and is_renamed else ""
            lines.append(f"{label}{aside}:\n{fenced(text)}")
    return "\n".join(lines)


_MOST_TABLES = 8
_PIECE = 10_000


def names_of(domain: str) -> tuple[str, ...]:
    """Return the names that the facts of a domain's tasks may have."""
    return domain_for(domain).fact_names


def facts_of(pairs: Sequence[Mapping[str, str]], names: Sequence[str] | None) -> dict[str, str]:
    """Name to value, of a writer's answer; of a name that comes twice the first, unknown ones none.

    `names` are those that are known, in their order; None for any.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, value = pair["name"].strip().casefold(), pair["value"].strip()
        if value:
            found.setdefault(name, value)
    return found if names is None else {name: found[name] for name in names if name in found}


@dataclass(frozen=True, slots=True)
class FactTable:
    """Which fact each row of a collection holds, deleted rows included.

    Attributes:
        index: The index of the rows that were read.
        codes: Per row the number of its pair, -1 for a record. int64 [rows].
        pairs: Name and value of each pair, to its number.
        rows: Per pair, the first row that has it, and so its vector. int64 [pairs].
        of_name: Per name, the numbers of its pairs, in order. int64 [pairs].
    """

    index: NDArray[np.void]
    codes: NDArray[np.int64]
    pairs: Mapping[tuple[str, str], int]
    rows: NDArray[np.int64]
    of_name: Mapping[str, NDArray[np.int64]]


class _Fact(Struct):
    key: str
    fact: str


_tables: dict[tuple[Path, int], FactTable] = {}


def fact_table(tree: Tree) -> FactTable:
    """Return the table of a collection; of a bank that only grew, just the new lines are read."""
    import numpy as np

    snapshot = tree.snapshot
    place = (snapshot.table.folder, snapshot.table.commit.generation)
    known = _tables.get(place)
    index = snapshot.index
    begin = 0 if known is None else len(known.index)
    if known is None or not np.array_equal(known.index, index[:begin]):
        known, begin = FactTable(index[:0], _numbers(()), {}, _numbers(()), {}), 0
    elif begin == len(index):
        return known
    codes = np.full(len(index) - begin, -1, dtype=np.int64)
    pairs, new = dict(known.pairs), dict[str, list[int]]()
    places = begin + np.flatnonzero(index["depth"][begin:] == FACT_DEPTH)
    rows: list[int] = []
    for row, fact in zip(places.tolist(), _read(snapshot, places), strict=True):
        code = pairs.setdefault((fact.fact, fact.key), len(pairs))
        codes[row - begin] = code
        if code == len(known.rows) + len(rows):
            rows.append(row)
            new.setdefault(fact.fact, []).append(code)
    of_name = dict(known.of_name)
    for name, numbers in new.items():
        of_name[name] = np.concatenate([of_name.get(name, _numbers(())), _numbers(numbers)])
    # A copy: the index on disk is mapped, and a bank may be deleted while this is kept.
    found = FactTable(
        np.array(index),
        np.concatenate([known.codes, codes]),
        pairs,
        np.concatenate([known.rows, _numbers(rows)]),
        of_name,
    )
    _tables.pop(place, None)  # the latest one comes last
    _tables[place] = found
    while len(_tables) > _MOST_TABLES:
        _tables.pop(next(iter(_tables)), None)
    return found


def _numbers(numbers: Sequence[int]) -> NDArray[np.int64]:
    import numpy as np

    return np.array(numbers, dtype=np.int64)


def _read(snapshot: TableSnapshot, rows: NDArray[np.int64]) -> Iterator[_Fact]:
    """Yield the facts at some rows, many read at once."""
    decoder = decoder_of(list[_Fact])
    for at in range(0, len(rows), _PIECE):
        piece = rows[at : at + _PIECE]
        try:
            yield from decoder.decode(b"[%b]" % b",".join(snapshot.lines(piece)))
        except msgspec.MsgspecError as error:
            where = f"lines {int(piece[0]) + 1} to {int(piece[-1]) + 1}"
            raise snapshot.table.corrupt(f"not a fact: {error}", where) from error
