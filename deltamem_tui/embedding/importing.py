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
from contextlib import contextmanager

_LIBRARIES = ("huggingface_hub", "sentence_transformers", "transformers")


@contextmanager
def importing(library: str) -> Iterator[None]:
    """Let the collector rest while a library is first imported, and pass over it for good.

    It passes over all else that is there by then, too: cycles that were given up before are
    not taken down any more. They are few beside a library for which that pays.

    Args:
        library: The library's name; nothing happens if it was imported before.
    """
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import transformers.utils.logging as transformers_logging
        from huggingface_hub.utils.tqdm import (
            are_progress_bars_disabled,
            disable_progress_bars,
            enable_progress_bars,
        )

        loggers = [logging.getLogger(library) for library in _LIBRARIES]
        levels = [logger.level for logger in loggers]
        bars = transformers_logging.is_progress_bar_enabled()
        hub_bars = not are_progress_bars_disabled()
        try:
            for logger in loggers:
                logger.setLevel(logging.ERROR)
            transformers_logging.disable_progress_bar()
            disable_progress_bars()
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
            if bars:
                transformers_logging.enable_progress_bar()
            if hub_bars:
                enable_progress_bars()
