"""What a tree says already is not written again, and never an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from deltamem_tui.bank.node import Origin, born
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.memory.deltamem.definition import Payload
from deltamem_tui.memory.editing import subtree
from deltamem_tui.memory.methods import change_settings
from deltamem_tui.memory.runs.learning import consolidate
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.effort import examples
from tests.memory.support import (
    ChosenEmbedder,
    EchoExtractor,
    episode,
    new_bank,
    parameters,
    teach,
    unit,
)

X, NEAR_X, Y = (1, 0, 0), (1, 0.1, 0), (0, 1, 0)


def numbered(trajectory: Trajectory, number: int) -> Trajectory:
    """Another episode that gives the same payload."""
    return replace(trajectory, steps=(*trajectory.steps, Step(f"step {number}", "")))


def test_an_equal_delta_is_written_once(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", parameters(tau_base=0.9, env=False))
    teach(bank, episode(X))
    # So near that the root stays the match: at the same place the same is said twice.
    change_settings(bank, "test", lambda _: parameters(tau_base=0.9, d_max=2, env=False))
    first = teach(bank, episode(NEAR_X)).trees["task"]
    again = teach(bank, numbered(episode(NEAR_X), 1)).trees["task"]
    assert (first.decision, again.decision) == ("residual", "skip")
    assert first.node is not None
    assert again.node is None
    assert again.reason == f"node {first.node.id} says exactly this already"
    assert len(bank.tree("task")) == 2
    assert bank.tree("task").counts(first.node.id).recalls == 1  # it was met all the same
    other = teach(bank, numbered(episode(NEAR_X, success=False), 2)).trees["task"]
    assert other.decision == "residual"  # of another label: nothing of the sort was said
    assert bank.episodes.learnt() == 4
    assert verify(bank) == []


@pytest.mark.parametrize("deleted", [False, True])
def test_an_id_that_is_taken_is_a_skip(tmp_path: Path, deleted: bool) -> None:
    bank = new_bank(tmp_path / "bank", parameters(env=False))
    trajectory = episode(X)
    origin = Origin(trajectory.id, trajectory.outcome.source, "rules")
    there = born("task", None, "success", Payload("1 0 0", "act"), origin)
    with bank.writing() as batch:  # as a merge may bring it, alive or as a tombstone
        batch.add_node("task", there, unit(Y))
        if deleted:
            batch.revise_node("task", structs.replace(there, deleted=True))
        batch.log("merge")
    lesson = teach(bank, trajectory).trees["task"]
    assert lesson.decision == "skip"
    assert ("was deleted before" if deleted else "already") in lesson.reason
    assert len(bank.tree("task")) == (0 if deleted else 1)
    assert bank.episodes.learnt() == 1


@pytest.mark.parametrize("way", ["learn", "consolidate"])
@pytest.mark.parametrize("deleted", [False, True])
def test_a_chain_that_was_fused_before_is_only_marked(
    tmp_path: Path, way: str, deleted: bool
) -> None:
    bank = new_bank(tmp_path / "bank", parameters(tau_base=0.9, k_cons=1, env=False))
    teach(bank, episode(X))
    teach(bank, episode(NEAR_X))
    fused = teach(bank, replace(episode(NEAR_X, action="skip"))).trees["task"].consolidated
    assert fused is not None
    (match,) = [node for node in bank.tree("task") if node.consolidated]
    with bank.writing() as batch:  # as an undo puts the mark back
        batch.revise_node("task", structs.replace(match, consolidated=False))
        batch.revise_node("task", structs.replace(fused, deleted=True))
        if not deleted:
            batch.revise_node("task", structs.replace(fused))
        batch.log("undo")
    if way == "learn":
        change_settings(bank, "test", lambda _: parameters(tau_base=0.9, k_cons=1, env=False))
        below = NEAR_X if deleted else (1, 0.1, 0.0)
        teach(bank, numbered(episode(below, action="skip"), 1))
    found = list(consolidate(bank, EchoExtractor(), embedder=ChosenEmbedder()))
    if way == "consolidate":
        assert [fusion.root for fusion in found] == [
            None if deleted else structs.replace(fused, revision=2)
        ]
        assert ("was deleted before" if deleted else "already") in found[0].reason
        assert bank.tree("task").node(match.id).consolidated
    assert len(bank.tree("task")) == (2 if deleted else 3)
    assert list(consolidate(bank, EchoExtractor(), embedder=ChosenEmbedder())) == []
    assert verify(bank) == []


QUESTIONS = st.sampled_from([X, NEAR_X, Y, (1, 1, 0)])


@examples(20)
@given(
    steps=st.lists(
        st.tuples(QUESTIONS, QUESTIONS, st.booleans(), st.sampled_from(["act", "skip", "undo"])),
        min_size=2,
        max_size=12,
    ),
    tau=st.sampled_from([0.5, 0.9, 1.0]),
)
def test_no_episode_is_ever_an_error(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[tuple[int, ...], tuple[int, ...], bool, str]],
    tau: float,
) -> None:
    """The same said again and again, with marks and tombstones put back in between."""
    folder = tmp_path_factory.mktemp("twins") / "bank"
    bank = new_bank(folder, parameters(tau_base=tau, d_max=3, k_cons=1))
    for number, (task, scene, success, action) in enumerate(steps):
        if action == "undo":
            with bank.writing() as batch:
                for name, tree in bank.trees.items():
                    fused = {node.id for node in tree if node.origin.nodes and number % 2}
                    # A tombstone is never without those of all below it.
                    dead = {each.id for root in fused for each in subtree(tree, root)}
                    for node in tree:
                        batch.revise_node(
                            name, structs.replace(node, consolidated=False, deleted=node.id in dead)
                        )
                batch.log("undo")
            continue
        teach(bank, numbered(episode(task, scene, success=success, action=action), number))
        for tree in bank.trees.values():
            said = [(node.parent, node.label, *node.payload.values()) for node in tree]
            assert len(said) == len(set(said))
    assert verify(bank) == []
