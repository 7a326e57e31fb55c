"""Merging banks as the method sees it: one embedder, and roots that say nearly the same.

The bank package joins by id. Two banks that learnt the same independently have two roots of it
with different ids; only their vectors are near. Such pairs are always listed, and a policy says
what becomes of them; not so where the method's roots are not statements that can be compared, such
as kinds. The laws of merging hold for `keep` alone: the others change what is merged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node
from deltamem_tui.bank.table import Rows
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.union import columns
from deltamem_tui.bank.union.columns import Claims, Flags
from deltamem_tui.bank.union.merge import MergePlan, Reconciliation, merge_into, merge_to
from deltamem_tui.bank.union.resolve import Join
from deltamem_tui.bank.upkeep.verify import line_flaws, vector_flaws
from deltamem_tui.embedding.vectors import require_same
from deltamem_tui.errors import BankCorruptError, EmbedderMismatchError, UsageError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_of
from deltamem_tui.memory.transfer import NEAR, NEAR_POLICIES
from deltamem_tui.memory.vectors.embedder import card_of
from deltamem_tui.memory.vectors.nearest_pairs import nearest
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.domains import GENERIC, key


@dataclass(frozen=True, slots=True)
class NearRoots:
    """Two roots of different banks that are nearly the same.

    Attributes:
        similarity: The cosine of their activation conditions.
        root: The root that was there first.
        near: The other one, which is nearer to this root than to any other.
    """

    tree: str
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
        bank: The bank that holds the result; None if nothing was to be written.
        changed: Whether it is another bank than before.
    """

    plan: MergePlan
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
    across_domains: bool = False,
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
        across_domains: Whether banks of different domains are merged at all.
        dry_run: Make the plan, and write nothing.

    Raises:
        EmbedderMismatchError: Two banks have different embedders.
        BankFrozenError: The bank that would be written is frozen.
        BankExistsError: Something is at `output` already.
        BankCorruptError: A bank is not sound.
        BankError: A near root cannot hang below the other, or the tree would be too deep.
        StorageError: The disk refused; everything is as it was.
        UsageError: Fewer than two banks, of different domains, or an impossible limit or policy.
    """
    _refuse_impossible(banks, near, near_policy)
    for other in banks[1:]:
        _require_one_embedder(banks[0], other)
    if not across_domains:
        _require_one_domain(banks)
    displays = {name: display_of(banks[0], name) for name in banks[0].trees}
    if near_policy == "hang" and not any(each.layered for each in displays.values()):
        raise UsageError(
            "a root of this method cannot hang below another one", hint="`keep` or `skip`"
        )
    neighbours = _Neighbours([bank.name for bank in banks], near, near_policy, displays)

    def plan() -> MergePlan:
        neighbours.found.clear()
        reconcile = None if near is None else neighbours.reconcile
        return MergePlan(banks, reconcile=reconcile, with_episodes=with_episodes)

    if output is None:
        banks[0].require_writable()
        made = plan() if dry_run else merge_into(banks[0], plan)
        bank, changed = banks[0], not made.empty
    else:
        _refuse_unsound_archive(banks[0])
        made = plan()
        bank, changed = (banks[0] if dry_run else merge_to(output, made)), True
    if dry_run:
        made.check()  # what would be refused then is refused now
    return Merge(made, tuple(neighbours.found), None if dry_run else bank, changed)


def _require_one_domain(banks: Sequence[Bank]) -> None:
    domains = dict.fromkeys(key(bank.manifest.domain) for bank in banks)
    named = [one_line(each) for each in domains if each not in ("", GENERIC)]
    if len(named) > 1:
        raise UsageError(
            f"these banks are of different domains: {', '.join(named)}",
            hint="--across-domains merges them all the same, under the first bank's domain",
        )


def _refuse_impossible(banks: Sequence[Bank], near: float | None, policy: str) -> None:
    if len(banks) < 2:
        raise UsageError(
            "a merge needs at least two banks", hint="name the others behind the first"
        )
    if near is not None and not -1 <= near <= 1:
        raise UsageError(
            f"{near:g} is not a similarity", hint=f"choose one from -1 to 1, such as {NEAR}"
        )
    if policy not in NEAR_POLICIES:
        raise UsageError(
            f"there is no policy {one_line(policy, 40)!r} for near roots",
            hint=" or ".join(NEAR_POLICIES),
        )


def _refuse_unsound_archive(first: Bank) -> None:
    """Return the first bank is copied as it is, and an archive has not been checked yet."""
    if not first.archived:
        return
    for flaw in chain(line_flaws(first), vector_flaws(first)):
        where = one_line(str(first.path / flaw.source))
        raise BankCorruptError(flaw.message, source=where, position=flaw.position, hint=flaw.hint)


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
    """Finds the near roots while the trees are joined, and applies the policy."""

    def __init__(
        self,
        names: Sequence[str],
        limit: float | None,
        policy: str,
        displays: Mapping[str, Display],
    ) -> None:
        self.found: list[NearRoots] = []
        self._names = names
        self._limit = limit
        self._policy = policy
        self._displays = displays

    def reconcile(self, join: Join, side: Claims) -> Reconciliation:
        """Return what happens to the roots of the next bank."""
        if not self._displays[join.tree].comparable:
            return Reconciliation()
        pairs: list[tuple[int, int]] = []
        here, there = _roots(join, side), _new_roots(join, side)
        for label in get_args(Label):
            fails = label == "failure"
            of_label = here[join.failure[here] == fails], there[side.failure[there] == fails]
            pairs += self._pairs(join, side, label, *of_label)
        if not pairs or self._policy == "keep":
            return Reconciliation()
        if self._policy == "hang":
            layered = self._displays[join.tree].layered
            return Reconciliation(hung=pairs) if layered else Reconciliation()
        return Reconciliation(left_out=_with_all_below(side, [place for place, _ in pairs]))

    def _pairs(
        self, join: Join, side: Claims, label: Label, here: Rows, there: Rows
    ) -> list[tuple[int, int]]:
        best, similarities = nearest(
            np.asarray(side.snapshot.vectors[side.rows[there]]),
            _vectors(join, here),
            self._limit if self._limit is not None else 1.0,
        )
        tree = Tree(join.tree, side.snapshot)
        pairs = []
        for place, which, similarity in zip(there, best, similarities, strict=True):
            if which >= 0:
                root = int(here[which])
                pairs.append((int(place), root))
                self.found.append(
                    NearRoots(
                        tree=join.tree,
                        label=label,
                        similarity=round(float(similarity), 6),
                        root=join.node(root),
                        bank=self._names[int(join.source[root])],
                        near=tree.node_at(int(side.rows[place])),
                        near_bank=self._names[len(join.sides)],
                    )
                )
        return pairs


def _roots(join: Join, side: Claims) -> Rows:
    """Return the living roots of what was joined so far that the next bank does not have itself."""
    roots = join.resolution.living & (join.resolution.above == len(join))
    places: Rows = np.flatnonzero(roots & ~np.isin(join.ids, side.ids))
    return places


def _new_roots(join: Join, side: Claims) -> Rows:
    """Return the living roots that only the next bank has."""
    index = side.snapshot.index[side.rows]
    roots = (index["parent"] < 0) & ~index["deleted"]
    places: Rows = np.flatnonzero(roots & ~np.isin(side.ids, join.ids))
    return places


def _vectors(join: Join, places: Rows) -> NDArray[np.float32]:
    """Return the vectors of some nodes, read bank by bank. float32 [places, dimensions]."""
    vectors = np.empty((len(places), join.sides[0].snapshot.vectors.shape[1]), dtype=np.float32)
    source = join.source[places]
    order = np.argsort(source, kind="stable")
    for of_one in np.split(order, np.flatnonzero(np.diff(source[order])) + 1):
        if len(of_one):
            side = join.sides[int(source[of_one[0]])]
            vectors[of_one] = side.snapshot.vectors[join.rows[places[of_one]]]
    return vectors


def _with_all_below(side: Claims, tops: Sequence[int]) -> Flags:
    """Return some nodes of a bank and everything that claims a place below them. bool [nodes]."""
    chosen = np.zeros(len(side), dtype=np.bool_)
    chosen[list(tops)] = True
    holds = columns.resolution(side.ids, side.parents, side.roots, side.deleted)
    return ~columns.with_all_above(holds.above, ~chosen)
