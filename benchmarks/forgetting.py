"""Forgetting in a bank of 100,000 nodes: its dry run, and learning with a policy on.

*Reading the counts* is what every face does that shows them: a fresh handle is opened, and hits and
credit of all living nodes are taken. A dry run begins with a fresh handle too. What it needs beside
the counts is when each node was learnt, which only the nodes' lines say.

Learning is that of the same episodes, by rules, into two copies of the bank, in turns of ten: one
forgets after each ten by both rules, with numbers by which nothing goes, so that both stay of one
size. What the policy adds is then the look at all nodes.
"""

from __future__ import annotations

import shutil
import tempfile
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks import big_bank, goals
from benchmarks.goals import Goal
from benchmarks.samples import sample, varied
from benchmarks.timing import in_turns
from deltamem_tui.bank import ledger
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.ledger import shown_to
from deltamem_tui.embedding.load import load
from deltamem_tui.memory import forgetting
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.method import change_settings
from deltamem_tui.memory.settings import Settings, assigned

NODES = 100_000
ROUNDS = 15
EVERY = 10
_SHOWN = 3
_POLICY = ("forgetting=combined", "forget_period=1000000", f"forget_every={EVERY}")


def run() -> str:
    """Measure a dry run against reading, and learning with a policy against without."""
    with tempfile.TemporaryDirectory(prefix="deltamem-forgetting-") as name:
        bank = big_bank.hashed(NODES)
        _remember(bank)
        period = NODES // big_bank.DEPTH - 500
        rules = Settings(forgetting="combined", forget_period=period, forget_recalls=0)
        found = forgetting.proposed(Bank.open(bank.path), rules)
        ways = {
            "counts": lambda _: _counts(bank.path),
            "dry_run": lambda _: forgetting.proposed(Bank.open(bank.path), rules),
        }
        timings = in_turns(ways, ROUNDS)
        copies = {way: _copy(bank, Path(name) / way) for way in ("learn", "learn_forgetting")}
        for rule in _POLICY:
            change = partial(assigned, assignment=rule)
            change_settings(copies["learn_forgetting"], "benchmark", change)
        embedder, episodes = load("hashing"), varied(sample())
        tens = [list(islice(episodes, EVERY)) for _ in range(ROUNDS + 1)]

        def learn_ten(way: str, number: int) -> None:
            for each in tens[number]:
                learn(copies[way], each, embedder=embedder)

        learning = in_turns({way: partial(learn_ten, way) for way in copies}, ROUNDS)
        stated = [
            Goal("dry_run_to_counts", timings.ratio("dry_run", "counts"), "below", 2.0),
            Goal(
                "learning_with_to_without",
                learning.paired_ratio("learn_forgetting", "learn"),
                "at most",
                1.1,
            ),
        ]
        measured = {"nodes": NODES, "deletions": len(found), **timings.milliseconds()}
        return goals.line("forgetting", stated, measured | learning.milliseconds())


def _remember(bank: Bank) -> None:
    """Let the bank have the episode of each root, learnt, and each be shown some nodes."""
    ids = bank.tree("task").snapshot.index["id"]
    with bank.writing() as batch:
        uses = []
        for number in range(0, NODES, big_bank.DEPTH):
            episode = f"{number:016x}"
            batch.put_episode({"id": episode})
            batch.set_state(episode, EpisodeState.LEARNT)
            shown = [bytes(ids[number * 7 % NODES + at]).decode() for at in range(_SHOWN)]
            nodes = [("task", each, 0) for each in shown]
            uses.append(ledger.Use(episode, nodes, {"stated": (number % 3 > 0, None)}))
        ledger.put(batch, bank.snapshots, uses)
        batch.log("benchmark")
    with bank.writing() as batch:  # who opens a bank reads its last commit, and that was huge
        batch.log("benchmark")


def _counts(path: Path) -> int:
    """Open a bank and take hits and credit of all living nodes; returns how many were shown."""
    bank = Bank.open(path)
    shown = 0
    for name, tree in bank.trees.items():
        births = tree.birth[tree.rows]
        hits, found = tree.snapshot.counters[births], shown_to(bank.snapshots, name).credit()
        shown += len(hits) and int((found.shown[births] > 0).sum())
    return shown


def _copy(bank: Bank, folder: Path) -> Bank:
    shutil.copytree(bank.path, folder)
    return Bank.open(folder)
