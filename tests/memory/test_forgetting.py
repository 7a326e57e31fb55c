"""The rules of forgetting agree with slow ones, node by node; what goes comes back by an undo."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from deltamem_tui import create_bank
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.ledger import UNIT
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory import forgetting
from deltamem_tui.memory.editing import undo, undoable
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.episodes.credit import node_credit
from deltamem_tui.memory.episodes.stored_episodes import put_episode
from deltamem_tui.memory.forgetting import (
    Columns,
    forgotten,
)
from deltamem_tui.memory.method import change_settings, names
from deltamem_tui.memory.policies import Forgetting
from deltamem_tui.memory.settings import Settings, assigned
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.receipt import ShownNode, made
from tests.effort import examples
from tests.memory.method_trials import real_episodes


@dataclass
class One:
    """A node of the slow reference."""

    parent: int
    age: int
    recent: int
    judged: int
    utility: int
    failure: bool
    consolidated: bool
    key: bool


@st.composite
def forests(draw: st.DrawFn) -> list[One]:
    nodes: list[One] = []
    for number in range(draw(st.integers(0, 9))):
        whole = [at for at in range(number) if not nodes[at].key]
        parent = draw(st.sampled_from([-1, *whole]))
        judged = draw(st.integers(0, 4))
        nodes.append(
            One(
                parent,
                age=draw(st.integers(0, 5)),
                recent=draw(st.integers(0, 5)),
                judged=judged,
                utility=draw(st.integers(0, judged)) * UNIT,
                failure=draw(st.booleans()),
                consolidated=draw(st.booleans()),
                key=parent >= 0 and draw(st.booleans()),
            )
        )
    return nodes


RULES = st.builds(
    Settings,
    forgetting=st.sampled_from(get_args(Forgetting)),
    forget_period=st.integers(1, 5),
    forget_recalls=st.integers(0, 2),
    forget_judged=st.integers(1, 4),
    forget_utility=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
)


def as_columns(nodes: list[One]) -> Columns:
    whole = {name: [getattr(each, name) for each in nodes] for name in Columns.__slots__}
    flags = ("failure", "consolidated", "key")
    return Columns(**{k: np.array(v, dtype=bool if k in flags else int) for k, v in whole.items()})


def below(nodes: list[One], place: int) -> set[int]:
    """A node and all below it."""
    found = {place}
    for at, each in enumerate(nodes):
        if each.parent in found:
            found.add(at)
    return found


def left(nodes: list[One], rules: Settings) -> set[int]:
    """What the rules leave, each node looked at by itself."""
    gone: set[int] = set()
    for place, node in enumerate(nodes):
        under = [nodes[at] for at in below(nodes, place) if not nodes[at].key]
        idle = all(e.recent <= rules.forget_recalls and e.age >= rules.forget_period for e in under)
        if rules.forgetting in ("periodical", "combined") and idle and not node.key:
            gone |= below(nodes, place)
        if rules.forgetting not in ("history", "combined") or node.key:
            continue
        least = rules.forget_utility * UNIT
        tested = [each for each in under if each.judged >= rules.forget_judged]
        good = [
            each
            for each in tested
            if each.utility > least * each.judged and each is not node and not each.consolidated
        ]
        poor = node in tested and node.utility <= least * node.judged and not node.failure
        if poor and not good:
            gone |= below(nodes, place)
    return set(range(len(nodes))) - gone


@given(forests(), RULES)
@examples(300)
def test_the_rules_agree_with_slow_ones(nodes: list[One], rules: Settings) -> None:
    found = forgotten(as_columns(nodes), rules)
    gone = [below(nodes, place) for place in found]
    assert set(range(len(nodes))) - set().union(*gone) == left(nodes, rules)
    assert sum(map(len, gone)) == len(set().union(*gone))  # no deletion within another


def shown(bank: Bank, episode: Trajectory, *nodes: tuple[str, str]) -> Trajectory:
    entries = [ShownNode(collection, node) for collection, node in nodes]
    receipt = made("f" * 16, bank.commit.sequence, entries, episode.task, "")
    return episode.with_facts(receipts=(receipt,))


@pytest.mark.parametrize("method", names())
def test_what_goes_leaves_a_sound_bank_and_comes_back(tmp_path: Path, method: str) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method=method)
    for each in real_episodes("alfworld")[:12]:
        learn(bank, each)
    before = {name: [node.id for node in tree] for name, tree in bank.trees.items()}
    rules = Settings(forgetting="periodical", forget_period=2, forget_recalls=0)
    found = forgetting.proposed(bank, rules)
    assert {each.rule for each in found} == {"periodical"}
    assert all(each.age >= 2 for each in found)
    assert forgetting.apply(bank, found, rules) == found
    assert verify(Bank.open(bank.path)) == []
    assert forgetting.proposed(bank, rules) == []
    commit = undoable(bank)
    assert commit is not None
    why = commit.detail["why"]
    assert (why["rule"], why["parameters"]["forget_period"]) == ("periodical", 2)
    for _ in found:
        undo(bank)
    assert {name: [node.id for node in tree] for name, tree in bank.trees.items()} == before
    learn(bank, real_episodes("alfworld")[12])


def test_idle_nodes_go_shown_ones_stay_and_learning_does_it_by_itself(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method="synapse")
    for rule in ("forgetting=periodical", "forget_period=4", "forget_recalls=0", "forget_every=1"):
        change_settings(bank, "test", partial(assigned, assignment=rule))
    won = [each for each in real_episodes("alfworld") if each.outcome.success][:8]
    learn(bank, won[0])
    (first,) = bank.tree("exemplars")
    for each in won[1:]:
        learn(bank, shown(bank, each, ("exemplars", first.id)))
    kept = {each.origin.trajectory for each in bank.tree("exemplars")}
    assert kept == {won[0].id, *(each.id for each in won[-4:])}


def test_a_revision_restarts_the_test(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method="synapse")
    episodes = real_episodes("alfworld")
    won = [each for each in episodes if each.outcome.success]
    learn(bank, won[0])
    (node,) = bank.tree("exemplars")
    for each in [each for each in episodes if not each.outcome.success][:3]:
        learn(bank, shown(bank, each, ("exemplars", node.id)))
    rules = Settings(forgetting="history", forget_judged=3)
    (found,) = forgetting.proposed(bank, rules)
    assert (found.node, found.rule, found.judged, found.utility) == (node.id, "history", 3, 0)
    assert forgetting.proposed(bank, replace(rules, forget_judged=4)) == []
    with bank.writing() as batch:
        batch.revise_node("exemplars", node)
        batch.log("edit")
    assert forgetting.proposed(bank, rules) == []


def episode(number: int, outcome: Outcome, nodes: list[str]) -> Trajectory:
    found = Trajectory(f"task {number}", "", (Step("act", "done"),), outcome)
    receipt = made("f" * 16, number, [ShownNode("task", each) for each in nodes], "task", "")
    return found.with_facts(receipts=(receipt,))


def test_where_utility_is_the_reward_half_a_success_is_worth_half(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld")
    learn(bank, next(each for each in real_episodes("alfworld") if each.outcome.success))
    node = next(each for each in bank.tree("task") if each.label == "success")
    with bank.writing() as batch:
        put_episode(batch, bank, episode(0, Outcome(False, 0.6, "stated"), [node.id]))
        batch.log("import")
    rules = Settings(forgetting="history", forget_judged=1)
    assert [each.utility for each in forgetting.proposed(bank, rules)] == [0]
    assert node_credit(bank, "task", node.id).strict.utility == 0
    change_settings(bank, "test", partial(assigned, assignment="utility=reward"))
    assert forgetting.proposed(bank, rules) == []
    assert node_credit(bank, "task", node.id).strict.utility == 6_000
