"""Recall against bare numpy and two exact vector libraries, over the same float32 unit rows.

Recall does more than the others: it takes the failure penalty off, settles ties, reads the
match and its chain from the disk's lines. Bare numpy is the matrix product alone, without
even looking for its largest entry: what the memory's speed allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import big_bank, goals
from benchmarks.goals import Goal
from benchmarks.timing import Timings, in_turns
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.deltamem.definition import TreeParameters
from deltamem_tui.memory.deltamem.recall import TreeQuestion, recall_tree

Vectors = NDArray[np.float32]
Find = Callable[[Vectors], Any]

LIMITS = {100_000: 1.25, 1_000_000: 1.25}
ROUNDS = 30

# Any score is a match, so that every recall also reads a chain.
PARAMETERS = TreeParameters(tau_base=-1.0)


def run() -> str:
    """Measure both sizes."""
    stated: list[Goal] = []
    measured: dict[str, Any] = {}
    for rows, limit in LIMITS.items():
        found = compare(big_bank.shared(rows).tree("task"), ROUNDS)
        measured[f"{rows}_rows"] = found
        stated += [
            Goal(f"to_numpy_at_{rows}", found["to_numpy"], "at most", limit),
            Goal(f"to_faiss_flat_at_{rows}", found["to_faiss_flat"], "below", 1.0),
            Goal(f"to_usearch_exact_at_{rows}", found["to_usearch_exact"], "below", 1.0),
            Goal(f"right_answers_at_{rows}", found["right_answers"], "at least", 1.0),
        ]
    return goals.line("recall", stated, measured)


def compare(tree: Tree, rounds: int) -> dict[str, Any]:
    """Recall from one tree against the other three, in turns.

    Args:
        tree: The tree that is asked.
        rounds: How many questions count.
    """
    vectors = np.array(tree.embeddings)
    questions = big_bank.unit_rows(rounds + 1, vectors.shape[1], seed=-len(vectors) % 2**32)
    finders: dict[str, Find] = {
        "recall": _recall(tree),
        "numpy": lambda question: vectors @ question,
        "faiss_flat": _faiss_flat(vectors),
        "usearch_exact": _usearch_exact(vectors),
    }
    right = [
        _best(tree, vectors, question) == finders["recall"](question) for question in questions
    ]
    timings = in_turns(
        {name: _asking(find, questions) for name, find in finders.items()}, rounds, rehearsed=True
    )
    others = [name for name in finders if name != "recall"]
    return {
        **{f"to_{name}": timings.ratio("recall", name) for name in others},
        **{f"rounds_to_{name}": _quartiles(timings, name) for name in others},
        **timings.milliseconds(),
        "right_answers": sum(right) / len(right),
    }


def _quartiles(timings: Timings, name: str) -> list[float]:
    """Return how many times the other's time recall took in a round: lower quartile, median,
    upper.
    """
    ratios = np.array(timings.seconds["recall"]) / np.array(timings.seconds[name])
    return [float(ratio) for ratio in np.quantile(ratios, (0.25, 0.5, 0.75))]


def _asking(find: Find, questions: Vectors) -> Callable[[int], object]:
    return lambda number: find(questions[number])


def _recall(tree: Tree) -> Find:
    def find(question: Vectors) -> str:
        return (
            recall_tree(tree, TreeQuestion("", question), PARAMETERS, "none").candidates[0].node.id
        )

    return find


def _best(tree: Tree, vectors: Vectors, question: Vectors) -> str:
    """Return the node that recall must find, by the definition."""
    scores = (vectors @ question).astype(np.float64)
    scores -= PARAMETERS.failure_penalty * tree.failure
    return tree.node_at(int(scores.argmax())).id


def _faiss_flat(vectors: Vectors) -> Find:
    """FAISS's exhaustive index of inner products, with as many threads as there are cores."""
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return lambda question: index.search(question[None, :], 1)


def _usearch_exact(vectors: Vectors) -> Find:
    """Return the exhaustive search of usearch, by inner product."""
    from usearch.index import MetricKind, search

    return lambda question: search(vectors, question, 1, MetricKind.IP, exact=True)
