"""Small banks with random vectors, and everything they hold as comparable data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from deltamem_tui.bank import ledger
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Collection, Label, Node, Origin, born
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, METHOD
from deltamem_tui.memory.deltamem.rules import Payload

DIMENSIONS = 8


def manifest(name: str = "test", dimensions: int = DIMENSIONS) -> Manifest:
    return Manifest(
        name, METHOD.name, COLLECTIONS, embedder={"model": "test", "dimensions": dimensions}
    )


def vector(seed: int, dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    row = np.random.default_rng(seed).normal(size=dimensions)
    return (row / np.linalg.norm(row)).astype(np.float32)


def node(
    text: str, parent: Node | None = None, label: Label = "success", tree: str = "task"
) -> Node:
    return born(
        tree, parent, label, Payload(f"when {text}", f"how {text}"), Origin(f"episode {text}")
    )


def learn_one(bank: Bank, number: int, *, shown: bool = False) -> None:
    """One commit as an episode makes it: a node in each tree, counts, the episode's state.

    If it was `shown` the nodes that its own hang from, these get credit, and it counts under its
    id. Else, and for the first two, counts are the bank's, as in banks of earlier versions.
    """
    nodes: list[tuple[str, str, int]] = []
    with bank.writing() as batch:
        for tree in COLLECTIONS:
            rows = bank.tree(tree).rows
            hangs = number % 3 and len(rows)
            parent = bank.tree(tree).node_at(int(rows[number % len(rows)])) if hangs else None
            new = node(str(number), parent, "failure" if number % 4 == 0 else "success", tree)
            batch.add_node(tree, new, vector(number))
            if parent is not None:
                if number < 2 or not shown:
                    batch.count(tree, parent.id, hits=1, recalls=1, successes=number % 2)
                else:
                    counts = {(tree, parent.id): (1, 1, number % 2)}
                    ledger.count_learnt(batch, bank.snapshots, f"{number:016x}", counts)
                nodes.append((tree, parent.id, 0))
        record = {"id": f"{number:016x}", "number": number}
        batch.put_episode(record)
        batch.set_state(str(record["id"]), EpisodeState.LEARNT)
        if shown and nodes:
            use = ledger.Use(str(record["id"]), nodes, {"stated": (number % 2 == 0, None)})
            ledger.put(batch, bank.snapshots, [use])
        batch.log("learn", {"number": number})


def learnt(path: Path, episodes: int) -> Bank:
    """A new bank that has learnt so many episodes."""
    bank = Bank.create(path, manifest())
    for number in range(episodes):
        learn_one(bank, number)
    return bank


def mark_first(bank: Bank) -> None:
    """One commit that gives a known node a new line."""
    with bank.writing() as batch:
        first = next(iter(bank.tree("task")))
        batch.revise_node("task", structs.replace(first, consolidated=True))
        batch.log("mark")


def change_domain(bank: Bank, domain: str) -> None:
    """One change of the manifest."""
    bank.change_manifest("parameters", lambda now: (replace(now, domain=domain), {"why": "user"}))


def contents(bank: Bank) -> dict[str, Any]:
    """Everything a bank holds, as data that can be compared."""
    trees = {
        name: [
            (each, tree.counts(each.id), tree.embeddings[tree.row(each.id)].tobytes())
            for each in tree
        ]
        for name, tree in bank.trees.items()
    }
    episodes = [
        (each, bank.episodes.state(each), bank.episodes.record(each))
        for each in bank.episodes.ids()
    ]
    return {"trees": trees, "episodes": episodes}


def file_bytes(folder: Path) -> dict[str, bytes]:
    """The bytes of every file but those that carry a clock."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.name not in {"journal.jsonl", ".lock"}
    }


NOTES = {
    "workflows": Collection(("task", "steps"), "task"),
    "key_facts": Collection(("text",), "text", depth=2),
}


def notes(path: Path, *texts: str) -> Bank:
    """A bank of a method that is not known here."""
    bank = Bank.create(
        path,
        replace(manifest(path.name), method="notes", collections=NOTES, settings={"window": 3}),
    )
    with bank.writing() as batch:
        for number, text in enumerate(texts):
            flow = born("workflows", None, "success", {"task": text, "steps": "go"}, Origin())
            batch.add_node("workflows", flow, vector(number))
            fact = born("key_facts", None, "success", {"text": text}, Origin())
            batch.add_node("key_facts", fact, vector(number))
            below = born("key_facts", fact, "failure", {"text": f"not {text}"}, Origin())
            batch.add_node("key_facts", below, vector(number + 50))
            batch.count("workflows", flow.id, hits=1, recalls=2)
        batch.put_episode({"id": "f" * 16})
        batch.log("learn")
    return bank
