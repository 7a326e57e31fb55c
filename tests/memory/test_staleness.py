"""Stale knowledge: the share that is left agrees with a slow count, and every ranking takes it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui import create_bank
from deltamem_tui.bank import credit
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.node import Label, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.upkeep.compact import compact
from deltamem_tui.errors import ConfigurationError
from deltamem_tui.memory.deltamem.definition import Payload
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.methods import change_settings, names
from deltamem_tui.memory.settings import Settings, assigned, replaced
from deltamem_tui.memory.staleness import aged, learnt_at
from deltamem_tui.memory.vectors.search import ranked
from tests.bank.support import manifest, vector
from tests.effort import examples
from tests.memory.method_trials import real_episodes

NODES = 5
HISTORIES = st.lists(st.tuples(st.booleans(), st.sets(st.integers(0, NODES - 1))), max_size=8)
SOURCES = st.lists(st.integers(-1, 7), min_size=NODES, max_size=NODES)
LABELS = st.lists(st.sampled_from(["success", "failure"]), min_size=NODES, max_size=NODES)


def grown(
    path: Path, history: list[tuple[bool, set[int]]], sources: list[int], labels: list[Label]
) -> Bank:
    """A bank of some nodes without parents, and of episodes that were shown them, learnt or not."""
    bank = Bank.create(path, manifest())
    nodes = [
        born("task", None, label, Payload(f"when {at}", "how"), Origin(f"{source:016x}"))
        for at, (source, label) in enumerate(zip(sources, labels, strict=True))
    ]
    with bank.writing() as batch:
        for at, each in enumerate(nodes):
            batch.add_node("task", each, vector(at))
        for number, (is_learnt, _) in enumerate(history):
            batch.put_episode({"id": f"{number:016x}"})
            if is_learnt:
                batch.set_state(f"{number:016x}", EpisodeState.LEARNT)
        uses = [
            credit.Use(f"{number:016x}", [("task", nodes[at].id, 0) for at in shown], {})
            for number, (_, shown) in enumerate(history)
        ]
        credit.put(batch, bank.snapshots, uses)
        batch.log("learn")
    return bank


def shares(tree: Tree) -> list[float]:
    assert tree.freshness is not None
    return [float(each) for each in tree.freshness]


def left(
    history: list[tuple[bool, set[int]]], sources: list[int], at: int, half_life: int
) -> float:
    """The share that is left of one node, counted episode by episode."""
    known = [source for source in sources[: at + 1] if 0 <= source < len(history)]
    own = sources[at] if 0 <= sources[at] < len(history) else max(known, default=-1)
    last = max([own, *(number for number, (_, shown) in enumerate(history) if at in shown)])
    since = sum(is_learnt for is_learnt, _ in history[last + 1 :])
    share: float = 0.5 ** (since / half_life)
    return round(share, 6)


@given(HISTORIES, SOURCES, LABELS, st.integers(1, 4), st.integers(0, 99))
@examples(25)
def test_what_is_left_agrees_with_a_slow_count(
    history: list[tuple[bool, set[int]]],
    sources: list[int],
    labels: list[Label],
    half_life: int,
    seed: int,
) -> None:
    with TemporaryDirectory() as folder:
        bank = grown(Path(folder) / "bank", history, sources, labels)
        tree = aged(bank, half_life).tree("task")
        expected = [left(history, sources, at, half_life) for at in range(NODES)]
        assert shares(tree) == expected
        question = vector(1000 + seed)
        slow = []
        for at in range(NODES):
            similarity = round(float(tree.embeddings[at].astype(float) @ question.astype(float)), 6)
            kept = similarity * expected[at] if similarity > 0 else similarity
            slow.append(round(kept - 0.05 * (labels[at] == "failure"), 6))
        found = ranked(tree, question, "none", 0.05, NODES)
        scores = [each.score for _, each in found]
        assert scores == sorted(scores, reverse=True)
        for told in (
            [slow[row] for row, _ in found],
            [each.similarity - each.penalty for _, each in found],
        ):
            assert scores == pytest.approx(told, abs=2e-6)
        compact(bank)
        assert shares(aged(Bank.open(bank.path), half_life).tree("task")) == expected


@pytest.mark.parametrize("method", names())
def test_every_method_ranks_by_it_and_only_if_it_is_set(tmp_path: Path, method: str) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method=method)
    won = [each for each in real_episodes("alfworld") if each.outcome.success][:9]
    for each in won:
        learn(bank, each)
    place = {name: number for number, name in enumerate(bank.episodes.ids(), 1)}
    for tree in bank.trees.values():
        known, slow = 0, []
        for node in tree:
            own = max((place[each] for each in node.origin.episodes), default=0)
            known = max(known, own)
            slow.append(own or known)
        assert learnt_at(bank, tree)[tree.birth[tree.rows]].tolist() == slow
    task = won[0].task
    before = recall(bank, task, candidates=9)
    assert b"half_life" not in (bank.path / "bank.json").read_bytes()
    change_settings(bank, "test", partial(assigned, assignment="half_life=1"))
    after = recall(bank, task, candidates=9)
    stale = [
        (each.freshness, each.similarity, each.score)
        for answer in after.collections.values()
        for each in (answer.candidates if answer else ())
    ]
    assert min(share for share, _, _ in stale) < 1
    if method != "awm":  # shows all workflows of a kind, without a ranking
        assert any(score < similarity for _, similarity, score in stale)
    change_settings(bank, "test", partial(assigned, assignment="half_life=none"))
    assert recall(bank, task, candidates=9).collections == before.collections


@pytest.mark.parametrize("value", [0, -1, 1.5, "soon"])
def test_a_half_life_is_a_number_of_commits(value: object) -> None:
    with pytest.raises(ConfigurationError):
        replaced(Settings(), "half_life", value)


def test_learning_shows_a_node_again_and_it_is_fresh(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method="synapse")
    won = [each for each in real_episodes("alfworld") if each.outcome.success][:4]
    for each in won[:3]:
        learn(bank, each)
    first = won[0]
    assert shares(aged(bank, 1).tree("exemplars")) == [0.25, 0.5, 1.0]
    learn(bank, won[3], receipt=recall(bank, first.task, first.environment).receipt)
    assert shares(aged(bank, 1).tree("exemplars"))[:: len(won) - 1] == [1.0, 1.0]
