"""A hundred shards of one import, merged, against one import: equal, but for what is declared."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from benchmarks.samples import sample, varied
from deltamem_tui import create_bank, learn
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.diff import BankDiff, diff
from deltamem_tui.bank.merge import MergePlan, merge_to
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.deltamem.definition import Parameters
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.stored_episodes import waiting
from deltamem_tui.memory.settings import assigned
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

SHARDS = 100
Shards = Sequence[Sequence[Trajectory]]


def build(path: Path, episodes: Sequence[Trajectory], *, learnt: bool) -> Bank:
    numbers = assigned(Parameters.preset("generic"), "task.tau_base=0.6")
    numbers = assigned(numbers, "env.tau_base=0.99")  # one threshold for all shards
    bank = create_bank(path, embedder="hashing", parameters=numbers)
    take_in(bank, episodes, listed=False)
    for trajectory in waiting(bank) if learnt else ():
        learn(bank, trajectory)
    return bank


def both(folder: Path, shards: Shards, episodes: Sequence[Trajectory], *, learnt: bool) -> BankDiff:
    """What differs between a bank built at once and one of shards, merged in two tiers."""
    once = build(folder / "once", episodes, learnt=learnt)
    banks = [
        build(folder / f"{number:03}", each, learnt=learnt) for number, each in enumerate(shards)
    ]
    tiers = [
        merge_to(folder / f"tier{start}", MergePlan(banks[start : start + 25]))
        for start in range(0, len(banks), 25)
    ]
    merged = merge_to(folder / "merged", MergePlan(tiers))
    assert len(shards) == SHARDS
    assert len(merged.episodes) == len(episodes)
    assert verify(merged) == []
    return diff(once, merged)


def errand(kind: int, number: int) -> Trajectory:
    """An episode whose words no other kind has. The second of a kind goes another way, or fails."""
    fails = number > 0 and kind % 3 == 0
    steps = [Step(f"fetch thing{kind}", f"You hold thing{kind}.")]
    steps += [Step(f"turn wheel{kind}", f"The gate{kind} opens.")] if number else []
    return Trajectory(
        task=f"errand{kind} bring{kind} thing{kind} across{kind} gate{kind}",
        environment=f"hall{kind} with{kind} shelf{kind} and{kind} wheel{kind}",
        steps=(
            *steps,
            Step(f"drop thing{kind}", "Nothing happens." if fails else "It lies there."),
        ),
        outcome=Outcome(success=not fails, source="stated"),
    )


def test_importing_in_shards_is_importing_once(tmp_path: Path) -> None:
    episodes = list(islice(varied(sample()), 2 * SHARDS))
    shards = [episodes[number::SHARDS] for number in range(SHARDS)]
    assert both(tmp_path, shards, episodes, learnt=False).empty


def test_learning_in_shards_is_learning_once_if_none_needs_another(tmp_path: Path) -> None:
    """Nodes and counts: whatever a shard's episodes recall, it has learnt itself."""
    shards = [[errand(kind, number) for number in range(2)] for kind in range(SHARDS)]
    episodes = [each for together in zip(*shards, strict=True) for each in together]
    assert both(tmp_path, shards, episodes, learnt=True).empty
    once = Bank.open(tmp_path / "once").tree("task")
    assert any(node.depth > 1 for node in once)
    assert {node.label for node in once} == {"success", "failure"}
    assert once.snapshot.counters.any()
