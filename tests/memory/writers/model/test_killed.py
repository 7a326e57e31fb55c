"""Killed at any call, however often, a run goes on where it stood and pays for nothing twice.

Shown with eight calls at once and ten kills, on a thorough run for 200 episodes, and with fewer
for one call at a time. The kills come at random calls: each falls among
the first of as many parts of the calls as there are kills, so that all of them come before the end.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event

import pytest

from deltamem_tui.bank.verify import verify
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.memory.views.history import history
from tests.effort import thorough
from tests.llm.server import ModelServer, Reply, Request, prompt_tokens
from tests.memory.writers.model import sensible
from tests.memory.writers.model.generated import generated
from tests.memory.writers.model.learning import bank_with, learnt_files, run_over
from tests.memory.writers.model.mortal import Parent, parent

SECONDS = 60.0
FEW = (15, 10) if thorough() else (8, 4)


@pytest.fixture(scope="module")
def family() -> Iterator[Parent]:
    with parent() as found:
        yield found


@dataclass
class Mortal:
    """A server that goes silent at a fatal call, and remembers what it answered.

    Attributes:
        fatal: The number of the call at which it falls silent; 0 for never.
        answered: The conversations that it has answered, and how often.
        prompt_tokens: What it was sent with those.
        silent: Whether the fatal call has come.
    """

    fatal: int = 0
    number: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    silent: Event = field(default_factory=Event)

    def live(self, fatal: int) -> None:
        """Begin again, and remember what was answered before."""
        self.fatal, self.number = fatal, 0
        self.silent.clear()

    def __call__(self, request: Request) -> Reply:
        self.number += 1
        if self.fatal and self.number >= self.fatal:
            self.silent.set()
            return Reply(manner="hang")
        self.answered[str(request.body["messages"])] += 1
        self.prompt_tokens += prompt_tokens(request.body["messages"], ModelServer())
        return sensible.reply(request)


def until_kept(cache: ResponseCache, answers: int) -> None:
    """Until everything that the silent server has answered has come to those who asked."""
    for _ in range(int(SECONDS / 0.01)):
        if cache.info().answers >= answers:
            return
        time.sleep(0.01)
    raise AssertionError("an answer was not kept")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("count", "kills", "concurrency"),
    [
        (200 if thorough() else 30, 10, 8),
        (*FEW, 1),
    ],
)
def test_killed_many_times_over_it_ends_as_if_it_had_not_been(
    server: ModelServer,
    family: Parent,
    tmp_path: Path,
    count: int,
    concurrency: int,
    kills: int,
) -> None:
    episodes = generated(count, seed=5)
    undisturbed = bank_with(tmp_path / "undisturbed", episodes)
    server.replies = sensible.reply
    run_over(undisturbed, server, concurrency=8)
    calls = len(server.requests)
    bank = bank_with(tmp_path / "bank", episodes)
    cache = ResponseCache(tmp_path / "cache")
    server.replies = mortal = Mortal()
    random = Random(concurrency)
    for _ in range(kills):
        mortal.live(fatal=random.randint(1, calls // kills))
        child = family.begin(bank.path, cache.folder, server, concurrency)
        assert mortal.silent.wait(SECONDS)
        until_kept(cache, len(mortal.answered))
        os.kill(child, signal.SIGKILL)
        assert family.end() == -signal.SIGKILL
    assert set(mortal.answered.values()) == {1}
    bank.refresh()
    assert 0 < bank.episodes.learnt() < len(episodes)
    mortal.live(fatal=0)
    family.begin(bank.path, cache.folder, server, concurrency)
    assert family.end() == 0
    assert set(mortal.answered.values()) == {1}
    bank.refresh()
    assert bank.episodes.waiting() == []
    assert learnt_files(bank) == learnt_files(undisturbed)
    assert verify(bank) == []
    # Every answer was paid for once, and has one line.
    bill = history(bank).usage
    assert bill.calls == len(mortal.answered)
    assert bill.prompt_tokens == mortal.prompt_tokens
