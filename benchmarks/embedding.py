"""Many texts through the packaged MiniLM, by numpy against sentence-transformers on torch.

What counts is the processor's time: both use every core, and torch's threads spin while they
wait for each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks import goals
from benchmarks.goals import Goal
from benchmarks.samples import sample
from deltamem_tui.embedding.load import MINILM, load
from deltamem_tui.embedding.sentence import open_model
from docs.build_minilm import published_folder

TEXTS = 500
ROUNDS = 3


def run() -> str:
    """Measure both in turns."""
    found = (
        text for each in sample() for text in (each.task, *(s.observation for s in each.steps))
    )
    texts = list(dict.fromkeys(found))
    texts = texts[:: len(texts) // TEXTS]
    by_torch = open_model(str(published_folder()), local=True)
    ours = load(MINILM)
    ways: dict[str, Callable[[], object]] = {
        "numpy": lambda: ours.embed_passages(texts),
        "torch": lambda: by_torch.encode(texts, role="passage", prefix=""),
    }
    seconds = {name: min(_processor_time(way) for _ in range(ROUNDS)) for name, way in ways.items()}
    theirs = by_torch.encode(texts, role="passage", prefix="")
    cosines = np.einsum("ij,ij->i", ours.embed_passages(texts), theirs)
    return goals.line(
        "embedding",
        [
            Goal("minilm_to_torch", seconds["numpy"] / seconds["torch"], "at most", 1.0),
            Goal("least_cosine", float(cosines.min()), "at least", 0.999),
        ],
        {"texts": len(texts), **{f"{name}_s": taken for name, taken in seconds.items()}},
    )


def _processor_time(way: Callable[[], object]) -> float:
    started = time.process_time()
    way()
    return time.process_time() - started
