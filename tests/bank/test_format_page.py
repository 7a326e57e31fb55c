"""`docs/bank-format.md` is enough: a reader written from the page alone reads what `Bank` reads.

The reader knows `json`, `hashlib` and numpy. If it has to know more, the page lacks it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec import structs

from deltamem_tui.bank import ledger
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import texts
from tests.bank.fragile import NEVER, FragileOS, KilledError
from tests.bank.support import change_domain, learn_one, manifest, mark_first, notes, vector
from tests.places import ROOT

TABLES = {
    "trajectories": ("trajectories.jsonl", "trajectories.states.npy"),
    "origins": ("origins.jsonl", "origins.counts.npy"),
}
PAGE = (ROOT / "docs" / "bank-format.md").read_text(encoding="utf-8")
COLLECTIONS_1 = json.loads(PAGE.split("```json")[1].split("```")[0])


class PageReader:
    """A bank as the page tells to read it. No lock, no index, nothing of the package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commit = self._last_commit()
        self.manifest = self._manifest()
        self.trees = list(self.manifest["collections"])
        self.files = {name: (f"{name}.nodes.jsonl", f"{name}.counts.npy") for name in self.trees}
        self.files |= TABLES
        self.lines = {name: self._lines(name) for name in self.files}
        self.counts = {name: self._counts(name) for name in self.files}

    def _manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._place("bank.json").read_bytes())
        assert found["format"] in (1, 2)
        if found["format"] == 1:
            found["settings"] = found.pop("parameters")
            found |= {"method": "deltamem", "collections": COLLECTIONS_1}
        return found

    def _last_commit(self) -> dict[str, Any] | None:
        path = self.folder / "journal.jsonl"
        whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
        return json.loads(whole.split(b"\n")[-1]) if whole else None

    def _place(self, name: str) -> Path:
        commit = self.commit or {}
        beside = self.folder / f"{name}.{commit.get('sequence')}.next"
        return (
            beside if name in commit.get("replaces", ()) and beside.exists() else self.folder / name
        )

    def _lines(self, table: str) -> list[dict[str, Any]]:
        path = self._place(self.files[table][0])
        text = path.read_bytes() if path.exists() else b""
        if self.commit:
            rows, length = self.commit["extents"].get(table, (0, 0))
            assert text[:length].count(b"\n") == rows
            text = text[:length]
        return [json.loads(line) for line in text.splitlines()]

    def array(self, name: str, rows: int) -> np.ndarray[Any, Any]:
        """As many rows as count; the header may say fewer."""
        if not rows:
            return np.zeros((0, 0))
        with self._place(name).open("rb") as stream:
            assert np.lib.format.read_magic(stream) == (1, 0)
            (_, *width), _, dtype = np.lib.format.read_array_header_1_0(stream)
            row = int(np.prod(width, dtype=int)) * dtype.itemsize
            return np.frombuffer(stream.read(rows * row), dtype).reshape(rows, *width)

    def _counts(self, table: str) -> list[list[int]]:
        rows = len(self.lines[table])
        found: list[list[int]] = self.array(self.files[table][1], rows).tolist()
        for row, *values in (self.commit or {}).get("cells", {}).get(table, ()):
            found[row] = values
        return found

    def places(self, table: str) -> dict[str, tuple[int, int]]:
        """Per id, the rows of its first and its last line."""
        found: dict[str, tuple[int, int]] = {}
        for row, line in enumerate(self.lines[table]):
            found[line["id"]] = (found.get(line["id"], (row,))[0], row)
        return found

    def nodes(self, tree: str) -> dict[str, tuple[dict[str, Any], list[int], bytes]]:
        """The living nodes by id: last line, counts at the first line, the last line's vector."""
        vectors = self.array(f"{tree}.embeddings.npy", len(self.lines[tree]))
        return {
            node: (self.lines[tree][last], self.counts[tree][first], vectors[last].tobytes())
            for node, (first, last) in self.places(tree).items()
            if not self.lines[tree][last].get("deleted")
        }

    def chain(self, tree: str, node: str | None) -> list[str]:
        """The ids from the root to a node."""
        nodes = self.nodes(tree)
        chain = []
        while node is not None:
            chain.append(node)
            node = nodes[node][0]["parent"]
        assert [nodes[each][0]["depth"] for each in reversed(chain)] == [*range(1, len(chain) + 1)]
        return chain[::-1]

    def shares(self) -> dict[tuple[str, str, str], list[int]]:
        """All counts by tree, node and origin that are not all 0."""
        name = f"bank {self.manifest['name']}".encode()
        own = self.manifest.get("origin") or hashlib.sha256(name).hexdigest()[:16]
        found: dict[tuple[str, str, str], list[int]] = {}
        for tree in self.trees:
            for node, (first, _) in self.places(tree).items():
                found[tree, node, own] = list(self.counts[tree][first])
        for line, values in zip(self.lines["origins"], self.counts["origins"], strict=True):
            tree, node, origin = line["tree"], line["node"], line["origin"]
            assert line["id"] == hashlib.sha256(f"{tree} {node} {origin}".encode()).hexdigest()[:16]
            if origin != own:
                found[tree, node, origin] = values
                left = zip(found[tree, node, own], values, strict=True)
                found[tree, node, own] = [total - other for total, other in left]
        assert min(min(values) for values in found.values()) >= 0
        return {address: values for address, values in found.items() if any(values)}


def as_read(folder: Path) -> dict[str, Any]:
    """Everything the page's reader finds."""
    read = PageReader(folder)
    return {
        "manifest": read.manifest,
        "nodes": {tree: read.nodes(tree) for tree in read.trees},
        "chains": {
            tree: [read.chain(tree, node) for node in read.nodes(tree)] for tree in read.trees
        },
        "shares": read.shares(),
        "episodes": {
            episode: (read.lines["trajectories"][last], read.counts["trajectories"][first][0])
            for episode, (first, last) in read.places("trajectories").items()
        },
    }


def as_opened(bank: Bank) -> dict[str, Any]:
    """The same, of the package."""
    known = ("format", "name", "description", "domain", "method", "embedder", "settings")
    told = {key: getattr(bank.manifest, key) for key in (*known, "provenance", "frozen", "digests")}
    told["collections"] = json.loads(msgspec.json.encode(bank.collections))
    nodes = {}
    for name, tree in bank.trees.items():
        nodes[name] = {
            node.id: (
                as_line(node),
                [getattr(tree.counts(node.id), key) for key in ("hits", "recalls", "successes")],
                tree.embeddings[tree.row(node.id)].tobytes(),
            )
            for node in tree
        }
    return {
        "manifest": told | ({"origin": bank.manifest.origin} if bank.manifest.origin else {}),
        "nodes": nodes,
        "chains": {
            name: [[each.id for each in tree.chain(node.id)] for node in tree]
            for name, tree in bank.trees.items()
        },
        "shares": by_address(bank),
        "episodes": {
            each: (bank.episodes.record(each), bank.episodes.state(each))
            for each in bank.episodes.ids()
        },
    }


def as_line(node: Node) -> dict[str, Any]:
    """A node's fields by the names that the page gives them."""
    origin = node.origin
    optional = {"model": origin.model, "prompt": origin.prompt, "nodes": [*origin.nodes]}
    return {
        "id": node.id,
        "parent": node.parent,
        "kind": node.kind,
        "label": node.label,
        "depth": node.depth,
        **node.payload,
        "consolidated": node.consolidated,
        "revision": node.revision,
        "origin": {
            "trajectory": origin.trajectory,
            "outcome_source": origin.outcome_source,
            "extractor": origin.extractor,
        }
        | {key: value for key, value in optional.items() if value},
    }


def by_address(bank: Bank) -> dict[tuple[str, str, str], list[int]]:
    shares, names = ledger.shares(bank.snapshots, bank.manifest.counts_as), list(bank.trees)
    nodes, places = texts(shares["node"]).tolist(), texts(shares["third"]).tolist()
    rows = zip(shares["tree"].tolist(), nodes, places, shares["values"].tolist(), strict=True)
    return {(names[tree], node.decode(), at.decode()): values for tree, node, at, values in rows}


def written(folder: Path) -> Bank:
    """Nodes in chains, one edited, one deleted; counts of two origins; an episode given again."""
    bank = Bank.create(folder, manifest())
    for number in range(6):
        learn_one(bank, number)
    mark_first(bank)
    bank.freeze()
    bank.unfreeze()
    with bank.writing() as batch:
        leaf = next(
            node for node in bank.tree("task") if not any(bank.tree("task").children(node.id))
        )
        batch.revise_node("task", structs.replace(leaf, deleted=True))
        payload = {**leaf.payload, "activation_condition": "when else"}
        other = next(node for node in bank.tree("env") if node.parent is None)
        batch.revise_node("env", structs.replace(other, payload=payload), vector(99))
        batch.put_episode({"id": bank.episodes.ids()[0], "number": 77})
        batch.put_episode({"id": "f" * 16})
        batch.log("edit")
    for number in range(6, 9):
        learn_one(bank, number)
    return bank


def test_the_reader_of_the_page_reads_a_bank_that_was_just_written(tmp_path: Path) -> None:
    bank = written(tmp_path / "bank")
    found = as_read(bank.path)
    assert found == as_opened(Bank.open(bank.path))
    assert len({origin for _, _, origin in found["shares"]}) == 2
    assert max(len(chain) for chain in found["chains"]["task"]) > 1
    assert {state for _, state in found["episodes"].values()} == {0, 1}


@pytest.mark.parametrize("name", ["alfworld", "scienceworld"])
def test_the_reader_of_the_page_reads_the_shipped_banks(name: str) -> None:
    folder = ROOT / "memory_banks" / name
    found = as_read(folder)
    assert found == as_opened(Bank.open(folder))
    assert all(found["nodes"].values())
    assert found["episodes"]


def test_the_reader_of_the_page_reads_a_bank_of_another_method(tmp_path: Path) -> None:
    bank = notes(tmp_path / "bank", "a", "b")
    found = as_read(bank.path)
    assert found == as_opened(Bank.open(bank.path))
    assert [len(nodes) for nodes in found["nodes"].values()] == [2, 4]


STEPS: list[Callable[[Bank], None]] = [
    lambda bank: learn_one(bank, 20),
    lambda bank: change_domain(bank, "kitchen"),
]


@pytest.mark.parametrize("step", STEPS)
def test_the_reader_of_the_page_reads_what_a_killed_writer_left(
    tmp_path: Path, step: Callable[[Bank], None]
) -> None:
    """Lines beyond what counts, torn ends, counts and files that are not in their place yet."""
    base = written(tmp_path / "base").path
    shutil.copytree(base, tmp_path / "whole")
    with FragileOS(NEVER).at_work() as counting:
        step(Bank.open(tmp_path / "whole"))
    states = [as_read(base), as_read(tmp_path / "whole")]
    seen = []
    for last in range(1, len(counting.names) + 1):
        path = tmp_path / str(last)
        shutil.copytree(base, path)
        with FragileOS(last, "half").at_work(), pytest.raises(KilledError):
            step(Bank.open(path))
        found = as_read(path)
        assert found == as_opened(Bank.open(path)), f"effect {last}"
        seen.append(states.index(found))
    assert seen == sorted(seen)
    assert set(seen) == {0, 1}
