"""Forgetting: which nodes of a bank a rule deletes, and deleting them.

The rules are those of memory management: *periodical* (old and hardly shown of late), *history*
(judged often enough, and of little use), *combined* (either). A node of a tree goes with all below
it, since a delta means nothing under another base: so an inner node is idle only if all below it
are, and one of little use stays as the base of one that is good, until that was fused into a root
of its own.

Time is counted in episodes: an episode's time is its place among those of the bank, from 1. A node
is as old as the last of the episodes that it was learnt from; one that a person wrote is never old.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import orjson

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import NAME as EPISODES
from deltamem_tui.bank.episodes import EpisodeState, standing
from deltamem_tui.bank.ledger import UNIT, ShownTo, shown_to
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.editing import delete
from deltamem_tui.memory.episodes.credit import utility_of
from deltamem_tui.memory.method import display_of, method_of, settings_of
from deltamem_tui.memory.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Rows = NDArray[np.int64]

Reason = Literal["periodical", "history"]

_BY_AGE, _BY_USE = ("periodical", "combined"), ("history", "combined")
RULES = ("forgetting", "forget_period", "forget_recalls", "forget_judged", "forget_utility")
"""The settings that say what is forgotten."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """A node that a rule deletes with all below it, and the numbers that it goes by.

    Attributes:
        row: The row of its last line when this was proposed.
        nodes: How many go together.
        age: Episodes since it was learnt.
        recent: Episodes within the period that were shown it.
        judged: Judged episodes since its last revision.
        utility: What those were worth, in ten-thousandths.
    """

    tree: str
    node: str
    row: int
    nodes: int
    rule: Reason
    age: int
    recent: int
    judged: int
    utility: int

    def record(self) -> dict[str, Any]:
        """As the journal and commands have it."""
        return {name: value for name, value in asdict(self).items() if name != "row"}


def forget_if_due(bank: Bank) -> list[Deletion]:
    """Forget by the bank's own rules, if it is to do so after the episode that it learnt last."""
    rules = settings_of(bank)
    every = rules.forget_every
    if not every or rules.forgetting == "none" or bank.episodes.learnt() % every:
        return []
    return apply(bank, proposed(bank, rules), rules)


def proposed(bank: Bank, rules: Settings) -> list[Deletion]:
    """Return what some rules would delete now. Nothing is written.

    Utility is what log and person say.
    """
    return [
        deletion
        for name, tree in bank.trees.items()
        if len(tree) and display_of(bank, name).asked
        for deletion in _of_tree(bank, tree, rules)
    ]


def apply(bank: Bank, deletions: Sequence[Deletion], rules: Settings) -> list[Deletion]:
    """Delete what was proposed, one commit each; returns what was deleted.

    A node that is gone meanwhile, or was changed, is left alone.
    """
    numbers = {name: getattr(rules, name) for name in RULES}
    done = []
    for each in deletions:
        tree = bank.tree(each.tree)
        with suppress(NodeNotFoundError):
            if tree.row(each.node) == each.row:
                reason = each.record() | {"parameters": numbers}
                delete(bank, tree.name, tree.node_at(each.row), by_rule=reason)
                done.append(each)
    return done


def _of_tree(bank: Bank, tree: Tree, rules: Settings) -> Iterator[Deletion]:
    import numpy as np

    rows = tree.rows[np.lexsort((tree.birth[tree.rows], tree.depth[tree.rows]))]
    nodes = _columns(bank, tree, rows, rules)
    found = forgotten(nodes, rules)
    for at, rule in found.items():
        going = int(nodes.going(np.arange(len(rows)) == at).sum())
        numbers = (nodes.age, nodes.recent, nodes.judged, nodes.utility)
        node = bytes(tree.snapshot.index["id"][rows[at]]).decode()
        yield Deletion(
            tree.name, node, int(rows[at]), going, rule, *(int(each[at]) for each in numbers)
        )


# The facts that the rules look at


@dataclass(frozen=True, slots=True)
class Columns:
    """The living nodes of one tree by depth and birth, so that each stands behind its parent.

    Rows are int64 [nodes], flags bool [nodes]; the numbers are those of `Deletion`.

    Attributes:
        parent: The place of its parent, or -1.
        failure: Whether it was written by a failure: those are recalled where tasks are hard, and
            a low utility is not their fault.
        consolidated: Whether it was fused into another root.
        key: Whether it is only a key of the node above: it goes with that.
    """

    parent: Rows
    age: Rows
    recent: Rows
    judged: Rows
    utility: Rows
    failure: Flags
    consolidated: Flags
    key: Flags

    def below(self, flags: Flags) -> Flags:
        """Return which nodes have a flagged one below them. bool [nodes]."""
        found, above = flags & False, self.parent[flags]
        while len(above):
            above = above[above >= 0]
            above = above[~found[above]]
            found[above] = True
            above = self.parent[above]
        return found

    def going(self, flags: Flags) -> Flags:
        """Return the nodes that go if the flagged ones do with all below them. bool [nodes]."""
        going, under = flags.copy(), (self.parent >= 0).nonzero()[0]
        while len(more := under[going[self.parent[under]] & ~going[under]]):
            going[more] = True
        return going


def _columns(bank: Bank, tree: Tree, rows: Rows, rules: Settings) -> Columns:
    """Return what the rules look at, of the nodes at some rows."""
    import numpy as np

    shown, births = shown_to(bank.snapshots, tree.name), tree.birth[rows]
    episodes = bank.snapshots[EPISODES]
    learnt = episodes.counters[standing(episodes), 0] == EpisodeState.LEARNT
    now = int(max(learnt.nonzero()[0], default=-1)) + 1
    since = shown.place > now - rules.forget_period
    recent = np.bincount(shown.birth[since & (shown.place > 0)], minlength=shown.rows)
    tested = shown.kept(shown.revision >= _revised(tree, shown)).credit(utility_of(bank)).strict
    place_of = np.full(len(tree.birth) + 1, -1, dtype=np.int64)
    place_of[births] = np.arange(len(rows))
    deepest = method_of(bank).key_depths.get(tree.name)
    ages = rules.forgetting in _BY_AGE  # else no rule reads them
    return Columns(
        parent=place_of[tree.snapshot.index["parent"][rows]],
        age=now - _learnt_at(bank, tree, rows, now) if ages else np.zeros_like(rows),
        recent=recent[births],
        judged=tested.judged[births],
        utility=tested.utility[births],
        failure=tree.failure[rows],
        consolidated=tree.snapshot.index["consolidated"][rows],
        key=tree.depth[rows] >= (deepest or len(rows) + 1),
    )


def _revised(tree: Tree, shown: ShownTo) -> Rows:
    """Per use, the present revision of its node: what it was shown for may say otherwise now."""
    import numpy as np

    revisions = np.zeros(len(tree.birth), dtype=np.int64)
    current = tree.snapshot.current
    edited = current != np.arange(len(current))
    for birth in np.unique(shown.birth[edited[shown.birth]]).tolist():
        revisions[birth] = orjson.loads(tree.snapshot.line(int(current[birth])))["revision"]
    present: Rows = revisions[shown.birth]
    return present


def _learnt_at(bank: Bank, tree: Tree, rows: Rows, now: int) -> Rows:
    """Return where the last episode of each node stands, 0 of a lost one. int64 [rows]."""
    import numpy as np

    episodes = bank.snapshots[EPISODES]
    ids = episodes.index["id"][standing(episodes)].tolist()
    place = {each.decode(): at for at, each in enumerate(ids, 1)}
    found = np.full(len(rows), now, dtype=np.int64)
    for at, row in enumerate(rows.tolist()):
        origin = orjson.loads(tree.snapshot.line(row)).get("origin", {})  # a node takes far longer
        if learnt_from := origin.get("trajectory"):
            found[at] = max(place.get(e, 0) for e in (learnt_from, *origin.get("sources", ())))
    return found


# The rules


def forgotten(nodes: Columns, rules: Settings) -> dict[int, Reason]:
    """Return the topmost nodes that go with all below them, in that order, and why."""
    found: dict[int, Reason] = {}
    if rules.forgetting in _BY_AGE:
        seldom = nodes.recent <= rules.forget_recalls
        idle = seldom & (nodes.age >= rules.forget_period) | nodes.key
        found |= dict.fromkeys(_tops(nodes, idle & ~nodes.below(~idle)), "periodical")
    if rules.forgetting in _BY_USE:
        enough = (nodes.judged >= rules.forget_judged) & ~nodes.key
        little = nodes.utility <= rules.forget_utility * UNIT * nodes.judged
        good = enough & ~little & ~nodes.consolidated
        poor = enough & little & ~nodes.failure & ~nodes.below(good)
        found |= {at: "history" for at in _tops(nodes, poor) if at not in found}
    gone = nodes.key & False
    gone[list(found)] = True
    gone = nodes.going(gone)
    tops = {*_tops(nodes, gone)}
    return {at: why for at, why in found.items() if at in tops}


def _tops(nodes: Columns, flags: Flags) -> list[int]:
    """Return the flagged nodes that are not below another of them, and no mere keys."""
    going = nodes.going(flags & ~nodes.key)
    under: Flags = (nodes.parent >= 0) & going[nodes.parent]
    found: list[int] = (going & ~under).nonzero()[0].tolist()
    return found
