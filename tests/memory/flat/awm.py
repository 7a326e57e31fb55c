"""Banks of workflows, episodes with the actions that a test wants, and a writer that it decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.flat.awm import actions_in
from deltamem_tui.memory.flat.definitions import INDUCE, TASKS, WORKFLOWS
from deltamem_tui.memory.plan import CollectionResult
from deltamem_tui.memory.procedure import numbered
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

Answer = Sequence[Sequence[str]] | None
"""The steps of each workflow; None for an answer that cannot be used."""


@dataclass
class Inducer:
    """Answers what it is told to, and remembers the solved tasks that it was given."""

    answer: Answer = ()
    name: str = "rules"
    given: list[tuple[str, ...]] = field(default_factory=list)

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        assert (purpose, episode) == (INDUCE, None)
        self.given.append(tuple(inputs[TASKS]))
        if self.answer is None:
            raise ExtractionError("no answer")
        found = [{"title": "w", "steps": "\n".join(numbered(each))} for each in self.answer]
        return Extraction(found[0] if found else None, "said", further=tuple(found[1:]))


def new_bank(path: Path, domain: str = "generic") -> Bank:
    return create_bank(path, embedder="hashing", domain=domain, method="awm")


def attempt(
    task: str,
    *actions: str,
    kind: str = "chores",
    success: bool = True,
    number: int = 0,
) -> Trajectory:
    """An episode of a kind that its log states; the number tells equal ones apart."""
    return Trajectory(
        task,
        environment=f"House {number}.",
        steps=tuple(Step(each, f"{each}: done at {at}") for at, each in enumerate(actions)),
        outcome=Outcome(success=success, source="stated"),
        metadata={"task_kind": kind},
    )


def teach(bank: Bank, episode: Trajectory, writer: Writer | None = None) -> CollectionResult:
    return learn(bank, episode, writer).trees[WORKFLOWS]


def steps_of(bank: Bank) -> list[list[str]]:
    return [actions_in(node.payload["steps"]) for node in bank.tree(WORKFLOWS)]
