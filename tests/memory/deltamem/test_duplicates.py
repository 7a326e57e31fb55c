"""What a tree says already is not written again, and never an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from deltamem_tui.bank.node import Origin, born
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.editing import subtree
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.effort import examples
from tests.memory.support import (
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
