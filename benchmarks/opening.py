"""Opening a bank of 100,000 nodes and asking it once, against parsing its lines with orjson.

Each round opens the bank anew, so that index, counters, vectors and lines are mapped and
checked again; only the operating system's cache of the files stays warm, for both sides.
"""

from __future__ import annotations

import orjson

from benchmarks import big_bank, goals
from benchmarks.goals import Goal
from benchmarks.recall import PARAMETERS
from benchmarks.timing import in_turns
from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.deltamem.recall import TreeQuestion, recall_tree

ROWS = 100_000
ROUNDS = 15


def run() -> str:
    """Measure both in turns."""
    folder = big_bank.shared(ROWS).path
    lines = folder / "task.nodes.jsonl"
    questions = big_bank.unit_rows(ROUNDS + 1, seed=1)

    def open_and_recall(number: int) -> None:
        tree = Bank.open(folder).tree("task")
        recall_tree(tree, TreeQuestion("", questions[number]), PARAMETERS, "none")

    def parse_all(_: int) -> None:
        with lines.open("rb") as stream:
            for line in stream:
                orjson.loads(line)

    timings = in_turns({"open_and_recall": open_and_recall, "orjson": parse_all}, ROUNDS)
    ratio = timings.ratio("open_and_recall", "orjson")
    return goals.line(
        "opening",
        [Goal("to_orjson_of_all_lines", ratio, "at most", 0.5)],
        {"rows": ROWS, "line_bytes": lines.stat().st_size / ROWS, **timings.milliseconds()},
    )
