"""Stale knowledge: with a half-life, what was not shown for long counts for less.

A node's score is its similarity, and of that the share 2^(−c/h) is left: h is the bank's
`half_life`, and c the learn commits since the node was last learnt from an episode, or last shown
to one, whichever came later. Learning an episode is one commit, so c counts the learnt episodes
behind that one in the bank's order (see `memory.ages`): no clock is asked, and a copy, a merge or
a compaction says the same. What receipts say counts as shown. A change by a person is not of an
episode, and makes nothing fresh.

It is the ranking that all methods share which this lowers: what they recall without one, as all
workflows of a kind, they recall as before. A deeper node's chain is shown with it, so what others
hang below is at least as fresh as they are. Learning asks for the places of new nodes without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.credit import shown_to
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.ages import learn_commits_by_place, learnt_at
from deltamem_tui.memory.methods import method_of, settings_of
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DECIMALS = 6
_LEAST = 10.0**-_DECIMALS
_aged: WeakKeyDictionary[Bank, tuple[Mapping[str, Tree], int, Bank]] = WeakKeyDictionary()


def recalled(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """What a bank's method recalls, of a bank with a half-life by fresh scores. Nothing is written.

    Raises:
        BankCorruptError: The bank breaks the rules of the format.
    """
    half_life = (query.settings or settings_of(bank)).half_life
    if half_life is None:
        return method_of(bank).recall(bank, query, embedder)
    asked = aged(bank, half_life)
    found = method_of(bank).recall(asked, query, embedder)
    answers = {
        name: answer and _with_freshness(asked.tree(answer.collection), answer)
        for name, answer in found.collections.items()
    }
    return found.with_answers(answers)


def aged(bank: Bank, half_life: int) -> Bank:
    """The same commit of a bank, its trees with their freshness.

    It is made once for each commit that a handle shows.
    """
    known = _aged.get(bank)
    if known is None or known[0] is not bank.trees or known[1] != half_life:
        fresh = {name: freshness(bank, tree, half_life) for name, tree in bank.trees.items()}
        known = _aged[bank] = bank.trees, half_life, bank.with_freshness(fresh)
    return known[2]


def freshness(bank: Bank, tree: Tree, half_life: int) -> NDArray[np.float64]:
    """What share of their scores is left of nodes, at the rows of their lines. float64 [rows]."""
    import numpy as np

    commits, last = learn_commits_by_place(bank), learnt_at(bank, tree)
    shown = shown_to(bank.snapshots, tree.name)
    np.maximum.at(last, shown.birth, shown.place)
    since = (commits[-1] - commits[last])[tree.birth]
    # Rounded like scores, so that all machines rank alike. It never is 0: of what is very stale the
    # more similar still comes first.
    left: NDArray[np.float64] = np.exp2(-since / half_life).round(_DECIMALS).clip(_LEAST, 1.0)
    return left


def _with_freshness(tree: Tree, answer: CollectionRecall) -> CollectionRecall:
    """An answer whose candidates say how fresh they are."""
    if tree.freshness is None:
        return answer
    candidates = tuple(
        replace(each, freshness=float(tree.freshness[tree.row(each.node.id)]))
        for each in answer.candidates
    )
    return replace(answer, candidates=candidates)
