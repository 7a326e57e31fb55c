"""Import the large libraries of embedding: without the collector's work, and quietly.

A library of a hundred thousand objects that will live as long as the process makes the
collector of reference cycles run over all of them many times while they are imported, for
nothing; and once more later, which takes a third of a second in which no other thread goes on.

While a model is loaded the libraries draw progress bars, log advice and raise deprecation
warnings on stderr. What goes wrong comes to us as an exception and is reported once, in one line.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_LIBRARIES = ("huggingface_hub", "sentence_transformers", "transformers")


@contextmanager
def importing(library: str) -> Iterator[None]:
    """Let the collector rest while a library is first imported, and pass over it for good."""
    if library in sys.modules:
        yield
        return
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.freeze()
            gc.enable()


def set_defaults() -> None:
    """Turn off telemetry and the tokenizers' fork warning, unless the user chose otherwise.

    The libraries read this when they are first imported: call it before.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the embedding libraries, and give the program back its settings afterwards.

    Not for two threads at once: loggers and warning filters belong to the whole process.
    """
    set_defaults()
    with warnings.catch_warnings(), ExitStack() as restoring:
        warnings.simplefilter("ignore")
        import transformers.utils.logging as bars
        from huggingface_hub.utils.tqdm import (
            are_progress_bars_disabled,
            disable_progress_bars,
            enable_progress_bars,
        )

        for library in _LIBRARIES:
            logger = logging.getLogger(library)
            restoring.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.ERROR)
        if bars.is_progress_bar_enabled():
            restoring.callback(bars.enable_progress_bar)
            bars.disable_progress_bar()
        if not are_progress_bars_disabled():
            restoring.callback(enable_progress_bars)
            disable_progress_bars()
        yield
