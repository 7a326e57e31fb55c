"""Learn an episode by rules, in banks of a thousand to a hundred thousand hashed nodes.

Each bank learns the same episodes in turns, through one handle that goes on. The seconds hold what
the disk takes to sync a commit; the processor's own are told apart, since a slow disk hides them.
"""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from benchmarks import big_bank, goals
from benchmarks.goals import Goal
from benchmarks.samples import sample, varied
from deltamem_tui.embedding.hashing import hashing_embedder
from deltamem_tui.memory.engine import learn

SIZES = (1_000, 10_000, 16_000, 100_000)
_LEAST, _HELD = 1_000, 16_000
_WARM, _ROUNDS = 3, 20


def run() -> str:
    """Measure all sizes against the smallest."""
    embedder = hashing_embedder()
    wall: dict[int, list[float]] = {size: [] for size in SIZES}
    own: dict[int, list[float]] = {size: [] for size in SIZES}
    with tempfile.TemporaryDirectory(prefix="deltamem-learning-") as folder:
        banks = {
            size: big_bank.build(Path(folder) / str(size), size, 0, embedder) for size in SIZES
        }
        for episode in islice(varied(sample()), _WARM + _ROUNDS):
            for size, bank in banks.items():
                started, used = perf_counter(), process_time()
                learn(bank, episode, embedder=embedder)
                wall[size].append(perf_counter() - started)
                own[size].append(process_time() - used)
    seconds = {size: median(each[_WARM:]) for size, each in wall.items()}
    processor = {size: median(each[_WARM:]) for size, each in own.items()}
    return goals.line(
        "learning",
        [Goal(f"{_HELD}_to_{_LEAST}", seconds[_HELD] / seconds[_LEAST], "at most", 1.5)],
        {
            "milliseconds": {size: 1000 * each for size, each in seconds.items()},
            "processor_milliseconds": {size: 1000 * each for size, each in processor.items()},
            "to_1000": {size: each / seconds[_LEAST] for size, each in seconds.items()},
        },
    )
