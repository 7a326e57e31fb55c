"""Killed at any call, a run goes on where it stood and pays for nothing twice."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from threading import Event

import pytest

from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.statistics import history
from tests.llm.hosted import hosted
from tests.llm.server import ModelServer, Reply, Request, prompt_tokens
from tests.memory.writers.model import sensible
from tests.memory.writers.model.generated import generated
from tests.memory.writers.model.learning import bank_with, learnt_files, run_over
from tests.places import ROOT

SECONDS = 120.0
MODEL = "openai/gpt-4o-mini"


class Mortal:
    """Answers sensibly up to a fatal call, then goes silent; remembers what it answered."""

    def __init__(self) -> None:
        self.left, self.silent = 0, Event()
        self.answered: Counter[str] = Counter()
        self.prompt_tokens = 0

    def __call__(self, request: Request) -> Reply:
        self.left -= 1
        if self.left == 0:
            self.silent.set()
        if self.left <= 0:
            return Reply(manner="hang")
        self.answered[str(request.body["messages"])] += 1
        self.prompt_tokens += prompt_tokens(request.body["messages"], ModelServer())
        return sensible.reply(request)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("concurrency", [1, 6])
def test_killed_twice_it_ends_as_if_it_had_not_been(
    server: ModelServer, tmp_path: Path, concurrency: int
) -> None:
    episodes = generated(16, seed=5)
    undisturbed, bank = (bank_with(tmp_path / name, episodes) for name in ("whole", "torn"))
    server.replies = sensible.reply
    run_over(undisturbed, server, model=MODEL)
    calls, mortal, random = len(server.requests), Mortal(), Random(concurrency)
    with hosted(tmp_path / "cache") as (provider, variables):
        provider.replies = mortal
        call = ["extract", str(bank.path), "--model", MODEL]
        call += ["--concurrency", str(concurrency)]
        environment = {**os.environ, **variables, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "deltamem_tui", *call]
        for _ in range(2):
            mortal.left = random.randint(2, calls // 2)
            mortal.silent.clear()
            with subprocess.Popen(command, env=environment, cwd=tmp_path) as run:
                assert mortal.silent.wait(SECONDS)
                until_kept(tmp_path / "cache", len(mortal.answered))
                run.kill()
        bank.refresh()
        assert bank.episodes.learnt() < len(episodes)
        mortal.left = 10**9
        done = subprocess.run(command, env=environment, cwd=tmp_path, check=False)
        assert done.returncode == 0
    assert set(mortal.answered.values()) == {1}
    bank.refresh()
    assert bank.episodes.waiting() == []
    assert verify(bank) == []
    assert learnt_files(bank) == learnt_files(undisturbed)
    bill = history(bank).usage  # every answer was paid for once, and has one line
    assert (bill.calls, bill.prompt_tokens) == (len(mortal.answered), mortal.prompt_tokens)


def until_kept(cache: Path, answers: int) -> None:
    """Wait until everything that the silent server has answered is in the cache."""
    for _ in range(int(SECONDS / 0.01)):
        if len([*cache.rglob("answers/*/*.json")]) >= answers:
            return
        time.sleep(0.01)
    raise AssertionError("an answer was not kept")
