"""Merging banks as the method sees it: one embedder, and roots that say nearly the same.

The bank package joins by id. Two banks that learnt the same independently have two roots of it
with different ids; only their vectors are near. Such pairs are listed, and both stay; not so where
the method's roots are not statements that can be compared, such as kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.join import Claims, Join
from deltamem_tui.bank.merge import MergePlan, merge_into, merge_to
from deltamem_tui.bank.node import Label, Node
from deltamem_tui.bank.table import Rows, TableSnapshot
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.verify import require_sound
from deltamem_tui.embedding.protocol import require_same
from deltamem_tui.embedding.scan import DECIMALS
from deltamem_tui.errors import EmbedderMismatchError, UsageError
from deltamem_tui.memory.method import display_of
from deltamem_tui.memory.transfer import NEAR
from deltamem_tui.memory.vectors.search import card_of
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import GENERIC, domain_key

_ROWS = 64  # of a piece that is compared with all others at once

Matrix = NDArray[np.float32]


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
    """The result of a merge, done or planned.

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
        with_episodes: Whether the episodes are merged too.
        across_domains: Whether banks of different domains are merged at all.
        dry_run: Make the plan, and write nothing.

    Raises:
        EmbedderMismatchError: Two banks have different embedders.
        BankFrozenError: The bank that would be written is frozen.
        BankExistsError: Something is at `output` already.
        BankCorruptError: A bank is not sound.
        BankError: The tree would be too deep.
        StorageError: The disk refused; everything is as it was.
        UsageError: Fewer than two banks, of different domains, or an impossible limit.
    """
    _refuse_impossible(banks, near)
    for other in banks[1:]:
        _require_one_embedder(banks[0], other)
    if not across_domains:
        _require_one_domain(banks)
    found: list[NearRoots] = []

    def look(join: Join, side: TableSnapshot, claims: Claims) -> None:
        """Note the near roots of the next bank."""
        if near is not None and display_of(banks[0], join.tree).comparable:
            found.extend(_near_roots(join, side, claims, near, [bank.name for bank in banks]))

    def plan() -> MergePlan:
        found.clear()
        return MergePlan(banks, look=look, with_episodes=with_episodes)

    if output is None:
        banks[0].require_writable()
        made = plan() if dry_run else merge_into(banks[0], plan)
        bank, changed = banks[0], not made.empty
    else:
        if banks[0].archived:
            require_sound(banks[0])  # it is copied as it is
        made = plan()
        bank, changed = (banks[0] if dry_run else merge_to(output, made)), True
    if dry_run:
        made.check()  # what would be refused then is refused now
    return Merge(made, tuple(found), None if dry_run else bank, changed)


def _require_one_domain(banks: Sequence[Bank]) -> None:
    domains = dict.fromkeys(domain_key(bank.manifest.domain) for bank in banks)
    named = [one_line(each) for each in domains if each not in ("", GENERIC)]
    if len(named) > 1:
        raise UsageError(
            f"these banks are of different domains: {', '.join(named)}",
            hint="--across-domains merges them all the same, under the first bank's domain",
        )


def _refuse_impossible(banks: Sequence[Bank], near: float | None) -> None:
    if len(banks) < 2:
        raise UsageError(
            "a merge needs at least two banks", hint="name the others behind the first"
        )
    if near is not None and not -1 <= near <= 1:
        raise UsageError(
            f"{near:g} is not a similarity", hint=f"choose one from -1 to 1, such as {NEAR}"
        )


def _require_one_embedder(first: Bank, other: Bank) -> None:
    try:
        require_same(card_of(first), card_of(other))
    except EmbedderMismatchError as error:
        raise EmbedderMismatchError(
            f"{one_line(first.name)} and {one_line(other.name)} have different embedders: "
            f"{error.message}",
            source=one_line(str(other.path)),
            hint=f"`deltamem bank reembed {one_line(other.name)} --embedder "
            f"{one_line(card_of(first).model, 80)}` gives it vectors that can be compared",
        ) from error


def _near_roots(
    join: Join, side: TableSnapshot, claims: Claims, limit: float, names: Sequence[str]
) -> Iterator[NearRoots]:
    """Yield the next bank's new roots that are near one of what was joined so far."""
    all_here, all_there, tree = _roots(join, claims), _new_roots(join, side, claims), None
    for label in get_args(Label):
        fails = label == "failure"
        here = all_here[join.claims["failure"][all_here] == fails]
        there = all_there[claims["failure"][all_there] == fails]
        rows = claims["row"][there]
        best, similarities = nearest(np.asarray(side.vectors[rows]), join.vectors(here), limit)
        for row, which, similarity in zip(rows.tolist(), best, similarities, strict=True):
            if which >= 0:
                root, tree = int(here[which]), tree or Tree(join.tree, side)
                yield NearRoots(
                    tree=join.tree,
                    label=label,
                    similarity=round(float(similarity), 6),
                    root=join.node(root),
                    bank=names[int(join.claims["source"][root])],
                    near=tree.node_at(row),
                    near_bank=names[len(join.sides)],
                )


def _roots(join: Join, side: Claims) -> Rows:
    """Return the living roots of what was joined so far that the next bank does not have itself."""
    roots = join.resolution.living & (join.resolution.above == len(join))
    places: Rows = np.flatnonzero(roots & ~np.isin(join.ids, side["id"]))
    return places


def _new_roots(join: Join, side: TableSnapshot, claims: Claims) -> Rows:
    """Return the living roots that only the next bank has."""
    index = side.index[claims["row"]]
    roots = (index["parent"] < 0) & ~index["deleted"]
    places: Rows = np.flatnonzero(roots & ~np.isin(claims["id"], join.ids))
    return places


def nearest(
    vectors: Matrix, others: Matrix, limit: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the nearest of `others` to each unit row, from `limit` on; of equals the first.

    Returns:
        Which of the others is nearest, or -1, int64 [rows]; and how similar, float64 [rows],
        rounded to six decimals.
    """
    best = np.full(len(vectors), -1, dtype=np.int64)
    similarity = np.full(len(vectors), -np.inf)
    # Exactly, so that the same banks have the same pairs on every machine.
    columns = others.astype(np.float64).T
    for top in range(0, len(vectors) if len(others) else 0, _ROWS):
        rows = slice(top, top + _ROWS)
        exact = np.round(vectors[rows].astype(np.float64) @ columns, DECIMALS)
        best[rows], similarity[rows] = exact.argmax(axis=1), exact.max(axis=1)
    best[similarity < limit] = -1
    return best, similarity
