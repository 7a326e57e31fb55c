"""Resident memory of a process that recalls from a million nodes, against its matrix.

The process is a fresh one, and what it held before it opened the bank, the libraries, is
taken off. Its pages of the matrix are the file's own, mapped: several processes share them,
and the system takes them back when it needs to. What is the process's own is told apart.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson

from benchmarks import big_bank, goals
from benchmarks.goals import Goal

ROWS = 1_000_000


def run() -> str:
    """Measure in a process of its own."""
    bank = big_bank.shared(ROWS)
    command = [sys.executable, "-m", "benchmarks.memory", str(bank.path)]
    finished = subprocess.run(command, check=True, capture_output=True)
    found = orjson.loads(finished.stdout)
    matrix = bank.tree("task").embeddings.nbytes
    return goals.line(
        "memory",
        [Goal("resident_to_matrix", found["resident"] / matrix, "at most", 1.25)],
        {
            "rows": ROWS,
            "own_to_matrix": found["own"] / matrix,
            "matrix_megabytes": matrix / 1e6,
            "resident_megabytes": found["resident"] / 1e6,
        },
    )


def _probe(folder: Path) -> dict[str, int]:
    """Return what opening a bank and ten recalls add to this process, in bytes."""
    import psutil  # type: ignore[import-untyped]

    from benchmarks.recall import PARAMETERS
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.deltamem.recall import TreeQuestion, recall_tree

    process = psutil.Process()
    questions = big_bank.unit_rows(10, seed=1)
    before = process.memory_info()
    tree = Bank.open(folder).tree("task")
    for question in questions:
        recall_tree(tree, TreeQuestion("", question), PARAMETERS, "none")
    after = process.memory_info()
    resident = after.rss - before.rss
    mapped = after.shared - before.shared
    return {"resident": resident, "own": resident - mapped}


if __name__ == "__main__":
    print(orjson.dumps(_probe(Path(sys.argv[1]))).decode())
