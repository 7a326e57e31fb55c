"""Runs in processes of their own, which a test may kill.

litellm takes seconds to load, so one process loads it and all others are forked from that one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from unittest.mock import patch

from tests.llm.server import ModelServer, serving
from tests.places import ROOT

_PARENT = "from tests.memory.writers.model.mortal import fork_on_demand; fork_on_demand()"


@dataclass(frozen=True)
class Parent:
    """The process that the others are forked from."""

    orders: IO[str]
    news: IO[str]

    def begin(self, bank: Path, cache: Path, server: ModelServer, concurrency: int) -> int:
        """Let a new process learn all that waits in a bank; returns its number."""
        order = [str(bank), str(cache), server.base, concurrency]
        self.orders.write(json.dumps(order) + "\n")
        self.orders.flush()
        return self._told("born")

    def end(self) -> int:
        """Wait for the process that was begun last; returns how it ended."""
        return os.waitstatus_to_exitcode(self._told("dead"))

    def _told(self, what: str) -> int:
        """What the parent says next. Another thing than a number of a process is never killed."""
        said, number = self.news.readline().split()
        assert said == what
        return int(number)


@contextmanager
def parent() -> Iterator[Parent]:
    """A parent, gone when the block is left."""
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        yield Parent(process.stdin, process.stdout)
        process.stdin.close()


def fork_on_demand() -> None:
    """What the parent does: a fork for each line, and a word when it is born and when it ends."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.embedding.load import load
    from deltamem_tui.llm.cache import ResponseCache
    from tests.llm.support import client
    from tests.memory.writers.model.learning import run_over

    load("hashing")
    with serving() as server:  # a first call loads what the children need not load again
        server.answer("yes")
        client(server).ask("Are you there?", str)
    with patch("os.fsync"):  # they are killed, not cut from power
        for line in sys.stdin:
            bank, cache, base, concurrency = json.loads(line)
            child = os.fork()
            if not child:
                store = ResponseCache(Path(cache))
                found = Bank.open(bank)
                run_over(found, ModelServer(base=base), concurrency, cache=store)
                os._exit(0)
            _say("born", child)
            _say("dead", os.waitpid(child, 0)[1])


def _say(what: str, number: int) -> None:
    sys.stdout.write(f"{what} {number}\n")
    sys.stdout.flush()
