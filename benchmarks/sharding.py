"""A corpus of 16 shards built by two Dask workers and merged, against one process for all of it.

Both ways are what a user would start: `docs/build_in_shards.py`, and the commands `init`,
`import` and `extract`. Learning costs more the larger the bank is, so shards save more than
the number of workers says; starting the workers costs some seconds, whatever the corpus.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from time import perf_counter

from benchmarks import goals
from benchmarks.goals import Goal
from benchmarks.samples import sample, varied
from deltamem_tui.memory.banks import open_bank
from deltamem_tui.trajectory.readers.native import to_line

SCRIPT = Path(__file__).parents[1] / "docs" / "build_in_shards.py"
EPISODES = 480
SHARDS = 16
DOMAIN = "scienceworld"


def run() -> str:
    """Build both, once each: a round takes long enough to be steady."""
    with tempfile.TemporaryDirectory(prefix="deltamem-sharding-") as name:
        folder = Path(name)
        logs = [folder / f"{number:02}.jsonl" for number in range(SHARDS)]
        episodes = tuple(each for each in sample() if each.domain == DOMAIN)
        lines = [to_line(each) for each in islice(varied(episodes), EPISODES)]
        for number, log in enumerate(logs):
            log.write_bytes(b"".join(lines[number::SHARDS]))
        texts = [str(log) for log in logs]
        distributed = _seconds([str(SCRIPT), "sharded", *texts, "--domain", DOMAIN], folder)
        one = sum(
            _seconds(["-m", "deltamem_tui", *command], folder)
            for command in (
                ["init", "./whole", "--embedder", "hashing", "--domain", DOMAIN],
                ["import", "./whole", *texts],
                ["extract", "./whole", "--extractor", "rules"],
            )
        )
        banks = {each: open_bank(folder / each) for each in ("sharded", "whole")}
        nodes = {
            f"{each}_{tree}_nodes": len(bank.tree(tree))
            for each, bank in banks.items()
            for tree in ("task", "env")
        }
    return goals.line(
        "sharding",
        [Goal("dask_vs_one_process", distributed / one, "below", 1)],
        {"episodes": EPISODES, "shards": SHARDS, "workers": 2, "one_process_s": one} | nodes,
    )


def _seconds(arguments: list[str], folder: Path) -> float:
    started = perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=folder, check=True, capture_output=True)
    return perf_counter() - started
