"""Forgetting in a bank: what its rules would delete, and deleting it.

Time is counted in episodes: an episode's time is its place among those of the bank, from 1. A node
is as old as the last of the episodes that it was learnt from; one that comes from none is as old as
the node before it. No clock is asked, and a copy, a merge or a compaction says the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import NAME as EPISODES
from deltamem_tui.bank.episodes import EpisodeState, standing
from deltamem_tui.bank.ledger import UNIT, ShownTo, shown_to
from deltamem_tui.bank.tree import Tree
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.credit.credit import utility_of
from deltamem_tui.memory.editing import forget as forget_subtree
from deltamem_tui.memory.methods import display_of, method_of, settings_of
from deltamem_tui.memory.policies.forgetting import (
    Columns,
    ForgettingRules,
    Reason,
    forgotten,
    subtree_sizes,
)
from deltamem_tui.memory.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Deletion:
    """A node that a rule deletes with all below it, and the numbers that it goes by.

    Attributes:
        node: Its id.
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


def rules_of(settings: Settings) -> ForgettingRules:
    """Return the rules that a bank has among its parameters."""
    return ForgettingRules(
        settings.forgetting,
        settings.forget_period,
        settings.forget_recalls,
        settings.forget_judged,
        settings.forget_utility,
        settings.capacity,
    )


def forget_if_due(bank: Bank) -> list[Deletion]:
    """Forget by the bank's own rules, if it is to do so after the episode that it learnt last."""
    settings = settings_of(bank)
    every, rules = settings.forget_every, rules_of(settings)
    if not every or not rules.any or bank.episodes.learnt() % every:
        return []
    return apply(bank, proposed(bank, rules), rules)


def proposed(bank: Bank, rules: ForgettingRules, *, coarse: bool = False) -> list[Deletion]:
    """Return what some rules would delete now. Nothing is written.

    Utility is what log and person say, or the judge if `coarse`.
    """
    return [
        deletion
        for name, tree in bank.trees.items()
        if len(tree) and display_of(bank, name).asked
        for deletion in _of_tree(bank, tree, rules, coarse=coarse)
    ]


def apply(bank: Bank, deletions: Sequence[Deletion], rules: ForgettingRules) -> list[Deletion]:
    """Delete what was proposed, one commit each; returns what was deleted.

    A node that is gone meanwhile, or was changed, is left alone.

    Raises:
        BankFrozenError: The bank is frozen.
        StorageError: The disk refused; what was deleted before stays deleted.
    """
    numbers = msgspec.to_builtins(rules)
    done = []
    for each in deletions:
        tree = bank.tree(each.tree)
        with suppress(NodeNotFoundError):
            if tree.row(each.node) == each.row:
                reason = each.record() | {"parameters": numbers}
                forget_subtree(bank, tree.name, tree.node_at(each.row), reason)
                done.append(each)
    return done


def _of_tree(bank: Bank, tree: Tree, rules: ForgettingRules, *, coarse: bool) -> Iterator[Deletion]:
    rows = _by_depth(tree)
    nodes = columns(bank, tree, rows, rules, coarse=coarse)
    found = forgotten(nodes, rules, UNIT)
    ids, sizes = tree.snapshot.index["id"][rows], subtree_sizes(nodes) if found else []
    for place, rule in found.items():
        yield Deletion(
            tree.name,
            bytes(ids[place]).decode(),
            int(rows[place]),
            sizes[place],
            rule,
            int(nodes.age[place]),
            int(nodes.recent[place]),
            int(nodes.judged[place]),
            int(nodes.utility[place]),
        )


def _by_depth(tree: Tree) -> Rows:
    """Return the rows of the living nodes, each behind its parent's."""
    import numpy as np

    return tree.rows[np.lexsort((tree.birth[tree.rows], tree.depth[tree.rows]))]


def columns(
    bank: Bank, tree: Tree, rows: Rows, rules: ForgettingRules, *, coarse: bool = False
) -> Columns:
    """Return what the rules look at, of the nodes at some rows."""
    import numpy as np

    shown, births = shown_to(bank.snapshots, tree.name), tree.birth[rows]
    now = last_learnt(bank)
    since = shown.place > now - rules.period
    recent = np.bincount(shown.birth[since & (shown.place > 0)], minlength=shown.rows)
    since_revised = shown.kept(shown.revision >= _revised(tree, shown))
    tested = since_revised.credit(utility_of(bank))
    last = np.zeros(shown.rows, dtype=np.int64)
    np.maximum.at(last, shown.birth, shown.place)
    judged = tested.coarse if coarse else tested.strict
    place_of = np.full(len(tree.birth) + 1, -1, dtype=np.int64)
    place_of[births] = np.arange(len(rows))
    deepest = method_of(bank).key_depths.get(tree.name)
    keys_only = tree.depth[rows] >= deepest if deepest else np.zeros(len(rows), dtype=np.bool_)
    return Columns(
        parent=place_of[tree.snapshot.index["parent"][rows]],
        age=now - learnt_at(bank, tree)[births],
        recent=recent[births],
        judged=judged.judged[births],
        utility=judged.utility[births],
        last=last[births],
        failure=tree.failure[rows],
        consolidated=tree.snapshot.index["consolidated"][rows],
        key=keys_only,
    )


def _revised(tree: Tree, shown: ShownTo) -> Rows:
    """Per use, the present revision of its node: what it was shown for may say otherwise now."""
    import numpy as np

    revisions = np.zeros(len(tree.birth), dtype=np.int64)
    current = tree.snapshot.current
    edited = current != np.arange(len(current))
    for birth in np.unique(shown.birth[edited[shown.birth]]).tolist():
        revisions[birth] = _decode(tree.snapshot.line(int(current[birth]))).revision
    present: Rows = revisions[shown.birth]
    return present


# Ages


def last_learnt(bank: Bank) -> int:
    """Return the place of the last episode that was learnt; 0 if none was."""
    snapshot = bank.snapshots[EPISODES]
    learnt = snapshot.counters[standing(snapshot), 0] == EpisodeState.LEARNT
    return int(max(learnt.nonzero()[0], default=-1)) + 1


class _Sources(Struct, gc=False):
    trajectory: str = ""
    sources: tuple[str, ...] = ()

    @property
    def episodes(self) -> tuple[str, ...]:
        return (self.trajectory, *self.sources)


class _Birth(Struct, gc=False):
    """The one part of a node's line that says when it was learnt."""

    revision: int
    origin: _Sources = field(default_factory=_Sources)


_decode = msgspec.json.Decoder(_Birth).decode


def learnt_at(bank: Bank, tree: Tree) -> Rows:
    """Return the place of the episode that each living node was learnt from last. int64 [rows].

    It is at the row of the node's first line.
    """
    import numpy as np

    born = np.zeros(len(tree.birth), dtype=np.int64)
    episodes = bank.snapshots[EPISODES]
    ids = episodes.index["id"][standing(episodes)].tolist()
    place = {each.decode(): at for at, each in enumerate(ids, 1)}
    for row in tree.rows.tolist():
        origin = _decode(tree.snapshot.line(row)).origin
        born[tree.birth[row]] = max(place.get(each, 0) for each in origin.episodes)
    known = np.maximum.accumulate(born)
    found: Rows = np.where(born > 0, born, known)
    return found
