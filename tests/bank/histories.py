"""Banks with random pasts, and a slow, plain account of what merging them must give."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import orjson
from msgspec import structs

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.batch import Batch
from deltamem_tui.bank.compact import compact
from deltamem_tui.bank.merge import MergePlan, merge_into
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.transfer import copy_bank
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.deltamem.definition import COLLECTIONS
from deltamem_tui.memory.deltamem.rules import Payload
from tests.bank.support import manifest, node, vector

KINDS: tuple[str, ...] = ("add", "add", "add", "edit", "relabel", "delete", "restore", "move")
KINDS += ("count", "count", "fuse", "copy", "freeze", "ship", "cross", "compact")
KINDS += ("merge", "merge")


@dataclass
class World:
    """Some banks that all come of one, and what happened to them.

    Attributes:
        folder: Where they lie.
        random: What decides.
    """

    folder: Path
    random: Random
    banks: list[Bank] = field(default_factory=list)
    said: int = 0

    def begin(self) -> None:
        self.banks.append(Bank.create(self.folder / "bank0", manifest("bank0")))

    def happen(self, kind: str) -> None:
        """Let one thing happen to one of the banks."""
        bank = self.random.choice(self.banks)
        if kind == "copy":
            self._next(copy_bank(bank, self._path(), history=self.random.random() < 0.5))
        elif kind == "freeze":
            bank.freeze()
            bank.unfreeze()
        elif kind == "compact":
            compact(bank)
        elif kind == "ship":
            self._ship(bank)
        elif kind == "cross":
            self._cross()
        elif kind == "merge":
            self._merge()
        else:
            tree = self.random.choice(list(COLLECTIONS))
            with bank.writing() as batch:
                getattr(self, f"_{kind}")(bank.tree(tree), batch)
                batch.log(kind)

    def _path(self) -> Path:
        return self.folder / f"bank{len(self.banks)}"

    def _next(self, bank: Bank) -> None:
        self.banks.append(bank)

    def _ship(self, bank: Bank) -> None:
        """What people do with `cp -r`: freeze, copy, and go on with both."""
        bank.freeze()
        shutil.copytree(bank.path, self._path())
        bank.unfreeze()
        shipped = Bank.open(self._path())
        shipped.unfreeze()
        self._next(shipped)

    def _cross(self) -> None:
        """Two banks move two nodes below each other; there may be a newborn in between."""
        if len(self.banks) < 2:
            return
        one, two = self.random.sample(self.banks, 2)
        name = self.random.choice(list(COLLECTIONS))
        shared = sorted({n.id for n in one.tree(name)} & {n.id for n in two.tree(name)})
        if len(shared) > 1:
            left, right = self.random.sample(shared, 2)
            for bank, chosen, above in ((one, left, right), (two, right, left)):
                tree = bank.tree(name)
                with bank.writing() as batch:
                    moved, place = tree.node(chosen), tree.node(above)
                    apart = place.id not in {each.id for each in below(tree, moved)}
                    if apart and self.random.random() < 0.5:
                        place = node(self._text(), place, "success", tree.name)
                        batch.add_node(tree.name, place, vector(_seed(place)))
                    self._hang(tree, batch, moved, place)
                    batch.log("move")

    def _merge(self) -> None:
        """A bank gets what another has learnt, and is sound."""
        if len(self.banks) < 2:
            return
        one, two = self.random.sample(self.banks, 2)
        two.refresh()
        merge_into(one, lambda: MergePlan([one, two]))
        assert verify(Bank.open(one.path)) == []

    def _any(self, tree: Tree) -> Node | None:
        return tree.node_at(int(self.random.choice(tree.rows))) if len(tree) else None

    def _text(self) -> str:
        self.said += 1
        return f"{self.said} {self.random.choice('abc')}"

    def _add(self, tree: Tree, batch: Batch) -> None:
        parent = self._any(tree) if self.random.random() < 0.7 else None
        # Some of what banks learn apart is the same.
        text = self.random.choice("abcdef") if self.random.random() < 0.4 else self._text()
        new = node(text, parent, self.random.choice(("success", "failure")), tree.name)
        if tree.snapshot.first_row(new.id) is None:
            batch.add_node(tree.name, new, vector(_seed(new)))

    def _edit(self, tree: Tree, batch: Batch) -> None:
        if (chosen := self._any(tree)) is not None:
            said = structs.replace(chosen, payload=Payload(f"when {self._text()}", "how"))
            batch.revise_node(tree.name, said, vector(_seed(said)))

    def _relabel(self, tree: Tree, batch: Batch) -> None:
        if (chosen := self._any(tree)) is not None:
            other = "failure" if chosen.label == "success" else "success"
            batch.revise_node(tree.name, structs.replace(chosen, label=other))

    def _delete(self, tree: Tree, batch: Batch) -> None:
        if (chosen := self._any(tree)) is not None:
            for each in below(tree, chosen):
                batch.revise_node(tree.name, structs.replace(each, deleted=True))

    def _restore(self, tree: Tree, batch: Batch) -> None:
        """What an undo does: a deleted node lives again where it was.

        Not one whose text compaction took away: nobody can undo beyond a folded journal.
        """
        dead = [
            each
            for each in last_nodes(tree)
            if each.deleted and each.payload["activation_condition"] and _may_live(tree, each)
        ]
        if dead:
            batch.revise_node(tree.name, structs.replace(self.random.choice(dead), deleted=False))

    def _move(self, tree: Tree, batch: Batch) -> None:
        chosen, above = self._any(tree), self._any(tree)
        if chosen is not None:
            self._hang(tree, batch, chosen, above)

    def _hang(self, tree: Tree, batch: Batch, chosen: Node, above: Node | None) -> None:
        nodes = below(tree, chosen)
        above = None if above is None or above.id in {each.id for each in nodes} else above
        deeper = (above.depth if above else 0) + 1 - chosen.depth
        moved = [structs.replace(each, depth=each.depth + deeper) for each in nodes]
        kind: Any = "residual" if above else "root"
        moved[0] = structs.replace(moved[0], parent=above.id if above else None, kind=kind)
        for each in moved:
            batch.revise_node(tree.name, each)

    def _count(self, tree: Tree, batch: Batch) -> None:
        if (chosen := self._any(tree)) is not None:
            batch.count(tree.name, chosen.id, hits=1, recalls=2, successes=1)

    def _fuse(self, tree: Tree, batch: Batch) -> None:
        if (chosen := self._any(tree)) is not None:
            new = node(f"fused {chosen.id}", None, "success", tree.name)
            if tree.snapshot.first_row(new.id) is None:
                batch.add_node(tree.name, new, vector(_seed(new)))
            batch.revise_node(tree.name, structs.replace(chosen, consolidated=True))


def _seed(new: Node) -> int:
    """Equal texts have equal vectors."""
    return int(hashlib.sha256(new.payload["activation_condition"].encode()).hexdigest()[:8], 16)


def _may_live(tree: Tree, dead: Node) -> bool:
    if dead.parent is None:
        return True
    living = {each.id: each for each in tree}
    return dead.parent in living and living[dead.parent].depth + 1 == dead.depth


def below(tree: Tree, top: Node) -> list[Node]:
    """A node and all below it, parents first."""
    nodes = [top]
    for each in nodes:
        nodes.extend(tree.children(each.id))
    return nodes


def last_nodes(tree: Tree) -> list[Node]:
    """Every node as its last line has it, the deleted too."""
    births = [row for row, first in enumerate(tree.snapshot.index["first"]) if row == first]
    return [tree.node_at(int(tree.snapshot.current[row])) for row in births]


@dataclass(frozen=True)
class Account:
    """What a bank claims and counts, read from its files in the plainest way.

    Attributes:
        claims: Per tree and node: revision, tombstone, digest, fused, parent, what it says.
        counts: Per tree, node and origin: hits, recalls, successes.
    """

    claims: dict[tuple[str, str], tuple[Any, ...]]
    counts: dict[tuple[str, str, str], tuple[int, ...]]

    def merged(self, other: Account) -> Account:
        claims = dict(self.claims)
        for address, theirs in other.claims.items():
            mine = claims.get(address, theirs)
            best = max(mine, theirs, key=lambda each: each[:3])
            claims[address] = (*best[:3], mine[3] or theirs[3], *best[4:])
        counts = dict(self.counts)
        for key, values in other.counts.items():
            mine = counts.get(key, (0, 0, 0))
            counts[key] = tuple(max(pair) for pair in zip(mine, values, strict=True))
        return Account(claims, counts)

    def resolution(self) -> dict[tuple[str, str], tuple[Any, ...]]:
        """The living nodes: parent, depth, fused, what they say, and their counts."""
        parents = self._parents()
        held = {}
        for (tree, node_id), claim in self.claims.items():
            way = self._way(tree, node_id, parents)
            claimed = self._way(tree, node_id, {key: each[4] for key, each in self.claims.items()})
            if any(self.claims[tree, each][1] for each in claimed):
                continue
            parent = parents[tree, node_id]
            held[tree, node_id] = (parent, len(way), claim[3], claim[5], self._total(tree, node_id))
        return held

    def _total(self, tree: str, node_id: str) -> tuple[int, ...]:
        found = [v for (t, n, _), v in self.counts.items() if (t, n) == (tree, node_id)]
        return tuple(map(sum, zip(*found, strict=True))) if found else (0, 0, 0)

    def _parents(self) -> dict[tuple[str, str], str | None]:
        """Every node's parent, with the circles broken."""
        parents = {key: claim[4] for key, claim in self.claims.items()}
        for tree, node_id in sorted(parents, reverse=True):
            # The greatest first: whoever is on its own way up, is the greatest of its circle.
            above, steps = parents[tree, node_id], 0
            while above is not None and above != node_id and steps <= len(parents):
                above, steps = parents[tree, above], steps + 1
            if above == node_id:
                parents[tree, node_id] = None
        return parents

    def _way(self, tree: str, node_id: str, parents: dict[tuple[str, str], Any]) -> list[str]:
        way = [node_id]
        while (above := parents[tree, way[-1]]) is not None and above not in way:
            way.append(above)
        return way


def account(bank: Bank) -> Account:
    """Read a bank's files, without its indexes."""
    bank.refresh()
    claims: dict[tuple[str, str], tuple[Any, ...]] = {}
    counts: dict[tuple[str, str, str], tuple[int, ...]] = {}
    inherited: dict[tuple[str, str], list[tuple[int, ...]]] = {}
    mine = bank.manifest.counts_as
    table = bank.snapshots["origins"]
    for row, line in enumerate(_lines(bank.path / "origins.jsonl", table.extent.bytes)):
        record = json.loads(line)
        values = tuple(int(value) for value in table.counters[row])
        if record["origin"] != mine:
            counts[record["tree"], record["node"], record["origin"]] = values
            inherited.setdefault((record["tree"], record["node"]), []).append(values)
    for tree in COLLECTIONS:
        snapshot = bank.snapshots[tree]
        births: dict[str, int] = {}
        for row, line in enumerate(
            _lines(bank.path / f"{tree}.nodes.jsonl", snapshot.extent.bytes)
        ):
            record = json.loads(line)
            births.setdefault(record["id"], row)
            claims[tree, record["id"]] = _claim(tree, record)
        for node_id, row in births.items():
            own = [int(value) for value in snapshot.counters[row]]
            for values in inherited.get((tree, node_id), []):
                own = [left - value for left, value in zip(own, values, strict=True)]
            if any(own):
                counts[tree, node_id, mine] = tuple(own)
    return Account(claims, counts)


def _lines(path: Path, length: int) -> Iterable[bytes]:
    return path.read_bytes()[:length].splitlines() if path.exists() else []


def _claim(tree: str, record: dict[str, Any]) -> tuple[Any, ...]:
    meant = record.get("meant", {})
    parent = meant.get("parent", record["parent"])
    deleted = meant.get("deleted", record.get("deleted", False))
    texts = ("activation_condition", "execution_procedure", "termination_condition")
    payload = {key: record[key] for key in texts}
    origin = record["origin"]
    full = {
        "trajectory": origin["trajectory"],
        "outcome_source": origin["outcome_source"],
        "extractor": origin["extractor"],
        "model": origin.get("model", ""),
        "prompt": origin.get("prompt", ""),
        "nodes": origin.get("nodes", []),
    }
    said = [parent] if deleted else [parent, record["label"], payload, full]
    digest = hashlib.sha256(orjson.dumps(said)).digest()
    says = () if deleted else (record["label"], *payload.values())
    return record["revision"], deleted, digest, record["consolidated"], parent, says


def shown(bank: Bank) -> dict[tuple[str, str], tuple[Any, ...]]:
    """The living nodes of a bank as its readers see them, in the form of `Account.resolution`."""
    bank.refresh()
    found: dict[tuple[str, str], tuple[Any, ...]] = {}
    for name in COLLECTIONS:
        tree = bank.tree(name)
        for each in tree:
            counts = tree.counts(each.id)
            chain = tree.chain(each.id)
            payload = each.payload
            says = (
                each.label,
                payload["activation_condition"],
                payload["execution_procedure"],
                payload["termination_condition"],
            )
            assert len(chain) == each.depth
            row = tree.row(each.id)
            assert tree.embeddings[row].tolist() == vector(_seed(each)).tolist()
            total = (counts.hits, counts.recalls, counts.successes)
            found[name, each.id] = (each.parent, each.depth, each.consolidated, says, total)
    return found


def joined(accounts: Sequence[Account]) -> Account:
    first, *others = accounts
    for other in others:
        first = first.merged(other)
    return first
