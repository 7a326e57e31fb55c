"""Killed at any call, however often, a run goes on where it stood and pays for nothing twice."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from deltamem_tui.bank.verify import verify
from tests.llm.server import ModelServer, Reply, Request
from tests.memory.model import sensible
from tests.memory.model.generated import generated
from tests.memory.model.learning import bank_with, learnt_files, run_over
from tests.memory.model.mortal import Parent, parent

KILLS = 10
SECONDS = 60.0


@pytest.fixture(scope="module")
def family() -> Iterator[Parent]:
    with parent() as found:
        yield found


@pytest.mark.parametrize("concurrency", [1, 4])
def test_killed_ten_times_over_it_ends_as_if_it_had_not_been(
    server: ModelServer, family: Parent, tmp_path: Path, concurrency: int
) -> None:
    episodes = generated(20, seed=5)
    undisturbed = bank_with(tmp_path / "undisturbed", episodes)
    server.replies = sensible.reply
    run_over(undisturbed, server)
    bank = bank_with(tmp_path / "bank", episodes)
    random = Random(concurrency)
    answers: Counter[str] = Counter()
    for kill in range(KILLS + 1):
        fatal = random.randint(1, 5) if kill < KILLS else 0
        answered, reached = _mortally(server, fatal)
        child = family.begin(bank.path, tmp_path / "cache", server, concurrency)
        if fatal:
            assert reached.wait(SECONDS)
            os.kill(child, signal.SIGKILL)
        assert family.end() == (-signal.SIGKILL if fatal else 0)
        answers.update(answered)
    bank.refresh()
    assert bank.episodes.waiting() == []
    assert learnt_files(bank) == learnt_files(undisturbed)
    assert verify(bank) == []
    # An answer may still have been on its way to one of the other threads when they were killed.
    on_their_way = KILLS * (concurrency - 1)
    assert sum(answers.values()) - len(answers) <= on_their_way


def _mortally(server: ModelServer, fatal: int) -> tuple[list[str], threading.Event]:
    """Have the server go silent at a fatal call.

    Returns:
        What will have been answered, and an event for when the call is reached.
    """
    answered: list[str] = []
    reached = threading.Event()
    number = 0

    def replies(request: Request) -> Reply:
        nonlocal number
        number += 1
        if fatal and number >= fatal:
            reached.set()
            return Reply(manner="hang")
        answered.append(str(request.body["messages"]))
        return sensible.reply(request)

    server.replies = replies
    return answered, reached
