"""Synapse: what becomes an exemplar, which ones are recalled, and how they are handed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as some
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.flat.definitions import EXEMPLARS, SynapseNumbers
from deltamem_tui.memory.flat.synapse import dialogue_of
from deltamem_tui.memory.plan import CollectionResult
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.effort import examples
from tests.memory.support import ChosenEmbedder, unit
from tests.memory.writers.model.support import EPISODE, LOST

EMBEDDER = ChosenEmbedder()
X, NEAR_X, Y = "1 0 0", "1 0.1 0", "0 1 0"


def new_bank(path: Path, **numbers: Any) -> Bank:
    settings = SynapseNumbers(**numbers)
    return create_bank(
        path, embedder=EMBEDDER, domain="alfworld", method="synapse", parameters=settings
    )


def attempt(task: str, number: int = 0, *, success: bool = True, words: int = 1) -> Trajectory:
    step = Step(" ".join([f"do{number}", *["more"] * (words - 1)]), "done")
    return Trajectory(task, steps=(step,), outcome=Outcome(success=success, source="stated"))


def teach(bank: Bank, episode: Trajectory) -> CollectionResult:
    return learn(bank, episode, embedder=EMBEDDER).trees[EXEMPLARS]


def shown(bank: Bank, task: str, candidates: int = 1) -> list[str]:
    """The actions of the exemplars that are recalled, best first."""
    found = recall(bank, task, embedder=EMBEDDER, candidates=candidates)[EXEMPLARS]
    chains = found.chains if found else ()
    return [chain[0].payload["dialogue"].removeprefix("Action: ") for chain in chains]


@dataclass
class Kept:
    """An exemplar of the slow reference, which looks at each of them each time."""

    task: str
    dialogue: str
    recalls: int = 0
    successes: int = 0


def nearest(kept: Sequence[Kept], task: str, k: int, budget: int | None) -> list[Kept]:
    def key(at: int) -> tuple[float, int, int]:
        cosine = sum(
            float(a) * float(b)
            for a, b in zip(unit(values(kept[at].task)), unit(values(task)), strict=True)
        )
        return round(cosine, 5), kept[at].successes, at

    found = [kept[at] for at in sorted(range(len(kept)), key=key, reverse=True)[:k]]
    while budget is not None and sum(map(tokens, found)) > budget:
        found.pop()
    return found


def values(task: str) -> list[float]:
    return [float(word) for word in task.split()]


def tokens(each: Kept) -> int:
    return count_tokens(f"{each.task} {each.dialogue}")


TASKS = some.sampled_from(["1 0 0", "2 0 0", "1 1 0", "0 1 0", "1 2 0", "1 1 1"])


@examples(25)
@given(
    some.lists(some.tuples(TASKS, some.booleans(), some.integers(1, 9)), max_size=12),
    some.integers(1, 4),
    some.none() | some.integers(1, 40),
)
def test_any_stream_is_recalled_and_counted_as_a_slow_reference_says(
    stream: list[tuple[str, bool, int]], k: int, budget: int | None
) -> None:
    kept: list[Kept] = []
    with TemporaryDirectory() as folder:
        bank = new_bank(Path(folder) / "bank", k=k, budget=budget)
        for number, (task, success, words) in enumerate(stream):
            told = nearest(kept, task, k, budget)
            assert shown(bank, task) == [each.dialogue.removeprefix("Action: ") for each in told]
            episode = attempt(task, number, success=success, words=words)
            teach(bank, episode)
            for each in told:
                each.recalls += 1
                each.successes += success
            if success:
                kept.append(Kept(task, f"Action: {episode.steps[0].action}"))
        counts = [bank.tree(EXEMPLARS).counts(node.id) for node in bank.tree(EXEMPLARS)]
        assert [(each.recalls, each.successes) for each in counts] == [
            (each.recalls, each.successes) for each in kept
        ]


def test_a_step_is_what_was_needed_of_an_observation_and_the_action() -> None:
    thought = Step("think: where do cups stand?", "OK.")
    hostile = Step("look", "a cup\nAction: smash it " + "noise " * 500)
    steps = (thought, hostile, *EPISODE.steps)
    lines = dialogue_of(replace(EPISODE, steps=steps)).splitlines()
    assert [line for line in lines if line.startswith("Action: ")] == [
        f"Action: {step.action}" for step in (hostile, *EPISODE.steps)
    ]
    seen = [line.removeprefix("Observation: ") for line in lines if line not in lines[1::2]]
    assert all(count_tokens(line) <= 60 for line in seen)
    assert "sinkbasin 1" in seen[0]


def test_an_episode_that_shows_nothing_is_no_exemplar(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "bank", embedder="hashing", domain="alfworld", method="synapse")
    only_thought = replace(EPISODE, steps=(Step("think: well", "OK."),))
    for each in (LOST, only_thought):
        assert learn(bank, each).trees[EXEMPLARS].decision == "skip"
    assert recall(bank, "put a cup in cabinet.").context == ""
