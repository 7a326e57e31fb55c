"""The memory methods side by side, over the same episodes, written by rules.

Each learns the generated episodes of two simulators but for those variations that are held out
(a third within each kind), and is asked the tasks of these: does what is recalled come from an
episode of the asked kind? Calls and tokens are those of learning some of them through a model's
server on the loopback (`asking`).
The time of a recall is that of a bank whose records were multiplied, its vectors with noise, until
there are 100,000; the question is embedded beforehand.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import goals
from benchmarks.asking import asked
from benchmarks.quality import LOGS, episodes_of, fold_numbers, kind_of, variation_of
from benchmarks.remembering import RememberingEmbedder
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.load import load
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.method import RulesExtractor, method_named, names
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Trajectory

RECORDS = 100_000
ROUNDS = 20
_NOISE = 0.02
_BATCH = 20_000
_LEARNT = 60
_ASKED = 60


def run() -> str:
    """Measure every method on both simulators, and the time of a recall on the first."""
    missing = [path.name for path in LOGS.values() if not path.exists()]
    if missing:
        return goals.skipped("methods", f"no {', '.join(missing)} in ../shared/data/generated")
    embedder = RememberingEmbedder(load("hashing"))
    measured: dict[str, Any] = {}
    for method in names():
        with tempfile.TemporaryDirectory(prefix="deltamem-methods-") as folder:
            measured[method] = {
                simulator: compared(Path(folder) / simulator, method, simulator, path, embedder)
                for simulator, path in LOGS.items()
            }
            measured[method]["recall_ms"] = _recall_ms(Path(folder) / "large", method)
    return goals.line("methods", [], measured)


def compared(
    folder: Path, method: str, simulator: str, log: Path, embedder: Embedder
) -> dict[str, Any]:
    """Return what a method makes of the episodes of a simulator, and what it recalls of it."""
    episodes = episodes_of(log)
    folds = fold_numbers(episodes)
    held_out = {variation_of(each): each for each in episodes if not folds[variation_of(each)]}
    training = [each for each in episodes if variation_of(each) not in held_out]
    bank = create_bank(folder, embedder=embedder, domain=simulator, method=method)
    for episode in training:
        learn(bank, episode, embedder=embedder)
    nodes = sum(len(tree) for tree in bank.trees.values())
    tokens = sum(count_tokens(node.text) for tree in bank.trees.values() for node in tree)
    return {
        "episodes": len(training),
        "nodes": nodes,
        "tokens_an_episode": tokens / len(training),
        "by_model": _by_model(folder.with_name(f"{simulator}-model"), bank, training, embedder),
        **_asked(bank, training, list(held_out.values()), embedder),
    }


def _by_model(
    folder: Path, like: Bank, episodes: Sequence[Trajectory], embedder: Embedder
) -> dict[str, float]:
    """Return what learning some of the episodes through a model takes, evenly chosen."""
    chosen = episodes[:: max(len(episodes) // _ASKED, 1)][:_ASKED]
    domain, method = like.manifest.domain, like.manifest.method
    bank = create_bank(folder, embedder=embedder, domain=domain, method=method)
    return asked(bank, chosen, embedder)


def _asked(
    bank: Bank, training: Sequence[Trajectory], questions: Sequence[Trajectory], embedder: Embedder
) -> dict[str, float]:
    """Return the share of questions for which what is recalled first comes from an episode of the
    kind.
    """
    kinds = {each.id: kind_of(each) for each in training}
    same, context = 0, 0
    for question in questions:
        found = recall(bank, question.task, question.environment, embedder=embedder)
        context += count_tokens(found.context)
        answers = (answer for answer in found.collections.values() if answer)
        sources = (
            episodes_behind(bank.tree(answer.collection), node)
            for answer in answers
            for node in reversed(answer.chain)
        )
        first = next(filter(None, sources), [])
        same += any(kinds.get(each) == kind_of(question) for each in first)
    return {
        "same_kind": same / len(questions),
        "context_tokens": context / len(questions),
    }


def episodes_behind(tree: Tree, node: Node) -> list[str]:
    """Return the ids of the episodes that a node comes from; a fused root's are those of its
    chain.
    """
    living = (tree.node(name) for name in node.origin.nodes if tree.find(name))
    parts = (each for part in living for each in episodes_behind(tree, part))
    return [*node.origin.episodes, *parts]


def _recall_ms(folder: Path, method: str) -> float:
    """Return the time of a recall from a bank of many records and dense vectors, in
    milliseconds.
    """
    embedder = RememberingEmbedder(load("minilm"))
    bank = create_bank(folder, embedder=embedder, domain="alfworld", method=method)
    for episode in episodes_of(LOGS["alfworld"])[:_LEARNT]:
        learn(bank, episode, RulesExtractor(method_named(method)), embedder=embedder)
    multiply(bank, RECORDS)
    return 1000 * seconds_of_recall(bank, embedder)


def multiply(bank: Bank, records: int) -> None:
    """Add copies of a bank's nodes, as if other episodes had left them, until there are enough."""
    generator = np.random.default_rng(0)
    known = [
        (name, node, np.array(tree.embeddings[tree.row(node.id)]))
        for name, tree in bank.trees.items()
        for node in tree
    ]
    wanted = islice(cycle(known), max(records - len(known), 0))
    born_of: dict[tuple[str, str], Node] = {}
    number = 0
    while piece := list(islice(wanted, _BATCH)):
        with bank.writing() as changes:
            for name, node, vector in piece:
                number += 1
                parent = born_of.get((name, node.parent)) if node.parent else None
                if node.parent and parent is None:
                    continue
                origin = Origin(trajectory=f"{number:016x}", outcome_source="stated")
                copy = born(name, parent, node.label, node.payload, origin)
                noisy = vector + generator.normal(0, _NOISE, len(vector)).astype(np.float32)
                changes.add_node(name, copy, noisy / np.linalg.norm(noisy))
                born_of[name, node.id] = copy
            changes.log("learn")


def seconds_of_recall(bank: Bank, embedder: Embedder) -> float:
    """Return the median time of a recall, once what it needs was read."""
    found = []
    for task in ("put a clean mug in coffeemachine.", "look at book under the desklamp."):
        for _ in range(ROUNDS // 2 + 1):
            begin = perf_counter()
            recall(bank, task, "", embedder=embedder)
            found.append(perf_counter() - begin)
    return median(found[1:])
