"""Short tries in a few households, a writer that says what it read, and banks for both."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.cdmem import definition as uses
from deltamem_tui.memory.cdmem.definition import ContextNumbers
from deltamem_tui.memory.method import change_settings
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

TASKS = ("put a mug in shelf.", "put a pen in desk.", "heat some egg and put it in fridge.")
ROOMS = ("a shelf 1, a desk 2", "a desk 2, a shelf 1", "a shelf 3, a desk 1", "a bed 1")


def episode(
    task: str, room: str, steps: int = 1, *, success: bool = True, at: int = 0
) -> Trajectory:
    """A try that is told from others by `at`."""
    words = [f"go to desk {at}", *(f"open shelf {number}" for number in range(1, steps))]
    return Trajectory(
        task=task,
        environment=f"You are in a room. You see {room}.",
        steps=tuple(Step(each, "You arrive.") for each in words),
        outcome=Outcome(success, float(success), "stated"),
        domain="alfworld",
    )


def new_bank(path: Path, domain: str = "alfworld", **numbers: Any) -> Bank:
    bank = create_bank(path, embedder="hashing", method="cdmem", domain=domain)
    change_settings(bank, "test", lambda _: ContextNumbers(**numbers))
    return bank


@dataclass
class EchoWriter:
    """Says what it was asked about, in a few made-up words; insights grow with each batch.

    Attributes:
        batches: What it was asked for from several memories: the purpose, the batch, the insights.
        broken: Purposes that it can make nothing of.
    """

    name: str = "rules"
    batches: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    asked: list[tuple[str, tuple[str, ...], Inputs]] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        if purpose in self.broken:
            raise ExtractionError("nothing today")
        self.asked.append((purpose, tuple(node.id for node in notes), inputs))
        if episode is None:
            batch, old = inputs["batch"], inputs["insights"]
            assert isinstance(batch, tuple)
            assert isinstance(old, tuple)
            self.batches.append((purpose, batch, old))
            texts = [{"insight": text} for text in concluded(batch, old)]
            return Extraction(texts[0], "", further=tuple(texts[1:]))
        return Extraction(said(purpose, episode), "")


def said(purpose: str, episode: Trajectory) -> dict[str, str]:
    """What the writer makes of one episode."""
    number, length = episode.steps[0].action.rpartition(" ")[2], len(episode.steps)
    functions = f"lamp: shines {number}" if length % 2 else "None"
    return {
        uses.EXPERT: {
            "locations": f"mug {length}: desk {number}",
            "functions": functions,
            "actions": "go",
        },
        uses.SHORTCUT: {"actions": "go", "plan": f"go {words(episode)}"},
        uses.FAILURE: {
            "env_memory": f"all {number}",
            "failure": "search",
            "reflection": f"lost {words(episode)}",
            "next_plan": "look",
        },
    }[purpose]


def words(episode: Trajectory) -> str:
    """A few words of a small vocabulary, so that similarities differ and tie."""
    digest = hashlib.sha256(episode.id.encode()).digest()
    return " ".join("abcdef"[byte % 6] for byte in digest[:3])


def concluded(batch: Sequence[str], old: Sequence[str]) -> list[str]:
    """The insights of a batch: one of each new memory, and the first two of the old ones."""
    return list(dict.fromkeys([*(f"so {text}" for text in batch), *old[:2]]))
