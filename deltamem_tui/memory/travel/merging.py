"""Merging banks as the method sees it: one embedder, and roots that say nearly the same.

The bank package joins by id. Two banks that learnt the same thing apart have two roots of it,
with different ids; only their vectors tell. Such pairs are always listed; what becomes of them
is a policy. The laws of merging hold for `keep` alone: the others change what is merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk.shelf import Rows
from deltamem_tui.bank.node import Label, Node, TreeName
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.union import claims
from deltamem_tui.bank.union.claims import Claims, Flags
from deltamem_tui.bank.union.joining import Join
from deltamem_tui.bank.union.merge import Plan, Reconciliation, merge_into, merge_to
from deltamem_tui.embedding.fingerprint import require_same
from deltamem_tui.errors import EmbedderMismatchError, UsageError
from deltamem_tui.memory.vectors.embedder import card_of
from deltamem_tui.memory.vectors.nearness import nearest
from deltamem_tui.text import one_line

NearPolicy = Literal["keep", "skip", "hang"]
"""What becomes of a root that is near one of another bank: both stay; it is left out with all
below; or it becomes a residual of the other."""

_POLICIES: tuple[NearPolicy, ...] = get_args(NearPolicy)

NEAR = 0.95
"""The similarity from which two roots are near, unless another is given."""


@dataclass(frozen=True, slots=True)
class NearRoots:
    """Two roots of different banks that say nearly the same.

    Attributes:
        tree: `task` or `env`.
        label: The label of both.
        similarity: The cosine of their activation conditions.
        root: The root that was there first.
        bank: The name of its bank.
        near: The other one, which is nearer to this root than to any other.
        near_bank: The name of its bank.
    """

    tree: TreeName
    label: Label
    similarity: float
    root: Node
    bank: str
    near: Node
    near_bank: str


@dataclass(frozen=True, slots=True)
class Merge:
    """What a merge did, or would do.

    Attributes:
        plan: Everything that changes in the first bank.
        near: Roots of different banks that say nearly the same.
        bank: The bank that holds the result; None if nothing was to be written.
        changed: Whether it is another bank than before.
    """

    plan: Plan
    near: tuple[NearRoots, ...]
    bank: Bank | None
    changed: bool


def merge(
    banks: Sequence[Bank],
    output: Path | None = None,
    *,
    near: float | None = NEAR,
    near_policy: str = "keep",
    with_episodes: bool = True,
    dry_run: bool = False,
) -> Merge:
    """Merge banks into a new one, or into the first of them.

    Args:
        banks: At least two, of one embedder. Frozen ones will do, but for one that is written.
        output: The folder of a new bank; None merges into the first.
        near: The similarity from which two roots of different banks are near; None does not
            look for any.
        near_policy: What becomes of a near root: `keep`, `skip` or `hang`.
        with_episodes: Whether the episodes are merged too.
        dry_run: Make the plan, and write nothing.

    Raises:
        EmbedderMismatchError: Two banks have different embedders.
        BankFrozenError: The bank that would be written is frozen.
        BankExistsError: Something is at `output` already.
        BankCorruptError: A bank is not sound.
        StorageError: The disk refused; everything is as it was.
        UsageError: Fewer than two banks, or an impossible limit or policy.
    """
    _refuse_impossible(banks, near)
    policy = _policy(near_policy)
    for other in banks[1:]:
        _require_one_embedder(banks[0], other)
    neighbours = _Neighbours([bank.name for bank in banks], near, policy)

    def plan() -> Plan:
        neighbours.found.clear()
        reconcile = None if near is None else neighbours.reconcile
        return Plan(banks, reconcile=reconcile, with_episodes=with_episodes)

    if output is None:
        banks[0].require_writable()
        made = plan() if dry_run else merge_into(banks[0], plan)
        bank, changed = banks[0], not made.empty
    else:
        made = plan()
        bank, changed = (banks[0] if dry_run else merge_to(output, made)), True
    return Merge(made, tuple(neighbours.found), None if dry_run else bank, changed)


def _refuse_impossible(banks: Sequence[Bank], near: float | None) -> None:
    if len(banks) < 2:
        raise UsageError(
            "a merge needs at least two banks", hint="name the others behind the first"
        )
    if near is not None and not -1 <= near <= 1:
        raise UsageError(f"{near:g} is no similarity", hint="choose one from -1 to 1, such as 0.95")


def _policy(name: str) -> NearPolicy:
    for policy in _POLICIES:
        if policy == name:
            return policy
    raise UsageError(
        f"there is no policy {one_line(name, 40)!r} for near roots", hint=" or ".join(_POLICIES)
    )


def _require_one_embedder(first: Bank, other: Bank) -> None:
    try:
        require_same(card_of(first), card_of(other))
    except EmbedderMismatchError as error:
        raise EmbedderMismatchError(
            f"{one_line(first.name)} and {one_line(other.name)} have different embedders: "
            f"{error.message}",
            source=one_line(str(other.path)),
            hint=f"`deltamem reembed {one_line(other.name)} --embedder "
            f"{one_line(card_of(first).model, 80)}` gives it vectors that can be compared",
        ) from error


class _Neighbours:
    """Finds the near roots while the trees are joined, and deals with them."""

    def __init__(self, names: Sequence[str], limit: float | None, policy: NearPolicy) -> None:
        self.found: list[NearRoots] = []
        self._names = names
        self._limit = limit
        self._policy = policy

    def reconcile(self, join: Join, side: Claims) -> Reconciliation:
        """What shall happen to the roots of the next bank."""
        pairs: list[tuple[int, int]] = []
        for label in get_args(Label):
            pairs += self._pairs(join, side, label)
        if not pairs or self._policy == "keep":
            return Reconciliation()
        if self._policy == "hang":
            return Reconciliation(hung=pairs)
        return Reconciliation(left_out=_with_all_below(side, [place for place, _ in pairs]))

    def _pairs(self, join: Join, side: Claims, label: Label) -> list[tuple[int, int]]:
        here, there = _roots(join, side, label), _new_roots(join, side, label)
        best, similarities = nearest(
            np.asarray(side.snapshot.vectors[side.rows[there]]),
            _vectors(join, here),
            self._limit if self._limit is not None else 1.0,
        )
        pairs = []
        for place, which, similarity in zip(there, best, similarities, strict=True):
            if which >= 0:
                pairs.append((int(place), int(here[which])))
                self._note(join, side, pairs[-1], label, float(similarity))
        return pairs

    def _note(
        self, join: Join, side: Claims, pair: tuple[int, int], label: Label, similarity: float
    ) -> None:
        tree = Tree(join.tree, side.snapshot)
        self.found.append(
            NearRoots(
                tree=join.tree,
                label=label,
                similarity=round(similarity, 6),
                root=join.node(pair[1]),
                bank=self._names[int(join.source[pair[1]])],
                near=tree.node_at(int(side.rows[pair[0]])),
                near_bank=self._names[len(join.sides)],
            )
        )


def _roots(join: Join, side: Claims, label: Label) -> Rows:
    """The living roots of what was joined so far that the next bank does not have itself."""
    failure = np.zeros(len(join), dtype=np.bool_)
    for number, each in enumerate(join.sides):
        mine = join.source == number
        failure[mine] = each.snapshot.index["failure"][each.rows[join.place[mine]]]
    roots = join.holding.living & (join.holding.above == len(join))
    wanted = roots & (failure == (label == "failure")) & ~np.isin(join.ids, side.ids)
    places: Rows = np.flatnonzero(wanted)
    return places


def _new_roots(join: Join, side: Claims, label: Label) -> Rows:
    """The living roots of the next bank that nobody before it has."""
    index = side.snapshot.index[side.rows]
    roots = (index["parent"] < 0) & ~index["deleted"] & (index["failure"] == (label == "failure"))
    places: Rows = np.flatnonzero(roots & ~np.isin(side.ids, join.ids))
    return places


def _vectors(join: Join, places: Rows) -> NDArray[np.float32]:
    vectors = np.empty((len(places), join.sides[0].snapshot.vectors.shape[1]), dtype=np.float32)
    for number, side in enumerate(join.sides):
        mine = join.source[places] == number
        vectors[mine] = side.snapshot.vectors[side.rows[join.place[places[mine]]]]
    return vectors


def _with_all_below(side: Claims, tops: Sequence[int]) -> Flags:
    """Some nodes of a bank and everything that claims a place below them. bool [nodes]."""
    chosen = np.zeros(len(side), dtype=np.bool_)
    chosen[list(tops)] = True
    holds = claims.holding(side.ids, side.parents, side.roots, side.deleted)
    return ~claims.with_all_above(holds.above, ~chosen)
