"""Differences between two banks, node by node. Lines that are equal need no look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import Episodes
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.table import Rows
from deltamem_tui.bank.tree import Counts, Tree, keys


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that two banks have differently."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node, as the second bank has it, and which of its fields the first has otherwise."""

    node: Node
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class CountChange:
    """A node that lives in both banks and counts differently."""

    node: str
    before: Counts
    after: Counts


@dataclass(frozen=True, slots=True)
class TreeDiff:
    """Differences in one tree, in order of birth.

    `added` and `removed` nodes live in the second or the first bank alone; `changed` ones say
    something else, or are labelled or marked otherwise.
    """

    added: tuple[Node, ...] = ()
    removed: tuple[Node, ...] = ()
    changed: tuple[NodeChange, ...] = ()
    moved: tuple[NodeChange, ...] = ()
    counted: tuple[CountChange, ...] = ()


@dataclass(frozen=True, slots=True)
class EpisodeDiff:
    """The ids of episodes that only one bank has, keeps another record of, or learnt."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    learnt: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BankDiff:
    """Differences between two banks. Their names, origins and histories do not matter.

    Of the manifests: description, domain, embedder and settings (`task.tau_base`, …).
    """

    manifest: tuple[FieldChange, ...]
    trees: Mapping[str, TreeDiff]
    episodes: EpisodeDiff

    @property
    def empty(self) -> bool:
        """True if the banks hold the same."""
        trees = all(tree == TreeDiff() for tree in self.trees.values())
        return not self.manifest and trees and self.episodes == EpisodeDiff()


def diff(before: Bank, after: Bank) -> BankDiff:
    """Compare two banks."""
    names = before.collections
    return BankDiff(
        manifest=tuple(manifest_changes(before.manifest, after.manifest)),
        trees={name: _tree_diff(before.tree(name), after.tree(name)) for name in names},
        episodes=_episode_diff(before.episodes, after.episodes),
    )


def manifest_changes(before: Manifest, after: Manifest) -> Iterator[FieldChange]:
    """Yield what two manifests say differently of description, domain, embedder and settings."""
    yield from _changes(_told(before), _told(after))
    old, new = before.flat_settings, after.flat_settings
    both = [name for name in old if name in new]  # an older bank does not state all
    names = sorted(both, key=lambda name: name.partition(".")[0])
    yield from _changes({name: old[name] for name in names}, {name: new[name] for name in names})


def _told(bank: Manifest) -> dict[str, Any]:
    embedder = {f"embedder.{name}": value for name, value in bank.embedder.items()}
    return {"description": bank.description, "domain": bank.domain, **embedder}


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FieldChange]:
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield FieldChange(name, before.get(name), after.get(name))


def _tree_diff(before: Tree, after: Tree) -> TreeDiff:
    mine, theirs = _shared(before, after)
    pairs = [
        (before.node_at(row), after.node_at(other))
        for row, other in zip(mine.tolist(), theirs.tolist(), strict=True)
        if before.snapshot.line(row) != after.snapshot.line(other)
    ]
    changed = ((new, tuple(_changes(_said(old), _said(new)))) for old, new in pairs)
    parents = ((new, FieldChange("parent", old.parent, new.parent)) for old, new in pairs)
    return TreeDiff(
        added=_only(after, theirs),
        removed=_only(before, mine),
        changed=tuple(NodeChange(node, fields) for node, fields in changed if fields),
        moved=tuple(NodeChange(node, (it,)) for node, it in parents if it.before != it.after),
        counted=tuple(_counted(before, after, mine, theirs)),
    )


def _shared(before: Tree, after: Tree) -> tuple[Rows, Rows]:
    """Return the rows of the nodes that live in both trees, in the second one's order of birth."""
    mine = keys(before.snapshot.index["id"][before.rows])
    theirs = keys(after.snapshot.index["id"][after.rows])
    _, left, right = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    order = np.argsort(right)
    return before.rows[left[order]], after.rows[right[order]]


def _only(tree: Tree, shared: Rows) -> tuple[Node, ...]:
    alone = tree.rows[~np.isin(tree.rows, shared)]
    return tuple(tree.node_at(row) for row in alone.tolist())


def _said(node: Node) -> dict[str, Any]:
    return {"label": node.label, **node.payload, "consolidated": node.consolidated}


def _counted(before: Tree, after: Tree, mine: Rows, theirs: Rows) -> Iterator[CountChange]:
    old = before.snapshot.counters[before.birth[mine]]
    new = after.snapshot.counters[after.birth[theirs]]
    for place in np.flatnonzero((old != new).any(axis=1)).tolist():
        row, other = int(mine[place]), int(theirs[place])
        node_id = bytes(after.snapshot.index["id"][other]).decode()
        yield CountChange(node_id, before.counts_at(row), after.counts_at(other))


def _episode_diff(before: Episodes, after: Episodes) -> EpisodeDiff:
    mine, theirs = before.ids(), after.ids()
    known, other = set(mine), set(theirs)
    shared = [each for each in theirs if each in known]
    return EpisodeDiff(
        added=tuple(each for each in theirs if each not in known),
        removed=tuple(each for each in mine if each not in other),
        changed=tuple(each for each in shared if before.record(each) != after.record(each)),
        learnt=tuple(each for each in shared if before.state(each) != after.state(each)),
    )
