"""Learning through a model: eight questions at once against one after another.

200 generated episodes are learnt through a server on the loopback that thinks for 200 ms and
answers sensibly. Then the same episodes in an order in which each one's chain rests on the one
before: the most that can be had there is the two trees side by side.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import goals
from benchmarks.goals import Goal
from deltamem_tui.llm.call import Server
from deltamem_tui.llm.client import Client
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.memory.runs.learning import LearningRun
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.trajectory.model import Trajectory
from tests.llm.server import ModelServer, serving
from tests.memory.writers.model import sensible
from tests.memory.writers.model.generated import generated
from tests.memory.writers.model.learning import bank_with, learnt_files

EPISODES = 200
DELAY = 0.2
MANY = 8


def run() -> str:
    """Measure both orders."""
    episodes = generated(EPISODES)
    orders = {"as_they_come": episodes, "by_task": sorted(episodes, key=lambda each: each.task)}
    with serving() as server, tempfile.TemporaryDirectory(prefix="deltamem-extracting-") as folder:
        server.replies = lambda request: sensible.reply(request, DELAY)
        _client(server).count("loads the library")
        measured = {
            name: _compared(Path(folder) / name, server, each) for name, each in orders.items()
        }
    usual = measured["as_they_come"]
    stated = [
        Goal("one_to_eight", usual["one_to_eight"], "at least", 4.0),
        Goal(
            "identical", float(all(each["identical"] for each in measured.values())), "at least", 1
        ),
    ]
    return goals.line("extracting", stated, measured)


def _compared(folder: Path, server: ModelServer, episodes: Iterable[Trajectory]) -> dict[str, Any]:
    folder.mkdir()
    chosen = list(episodes)
    seconds, files, bills = {}, [], {}
    for concurrency in (1, MANY):
        bank = bank_with(folder / str(concurrency), chosen)
        extractor = ModelExtractor(_client(server))
        started = perf_counter()
        with LearningRun(bank, extractor, concurrency=concurrency) as learning:
            for _ in learning.learn(waiting(bank)):
                pass
            seconds[concurrency] = perf_counter() - started
            bills[concurrency] = learning.asking.usage.calls
        files.append(learnt_files(bank))
    return {
        "one_to_eight": seconds[1] / seconds[MANY],
        "identical": files[0] == files[1],
        "seconds_one": seconds[1],
        "seconds_eight": seconds[MANY],
        "calls_one": bills[1],
        "calls_eight": bills[MANY],
    }


def _client(server: ModelServer) -> Client:
    return Client("openai/loopback-model", server=Server(server.base))
