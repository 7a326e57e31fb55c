"""The kinds of an episode: stated, understood, chosen by a model, or other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory import method as methods
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.domain import domain_for
from deltamem_tui.memory.kinds import OTHER, resolve_kind, task_kind
from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.memory import flat_method
from tests.memory.writers.model.support import EPISODE

STRANGE = Trajectory("Book it.", "An office.", (Step("a"),), Outcome(True, 1.0, "stated"))


class Chooser:
    """Names a kind as a model would, or does not."""

    name = "model"

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.given: Inputs = NO_INPUTS

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        self.given = inputs
        if self.answer is None:
            raise ExtractionError("nothing")
        return Extraction({"kind": self.answer}, "", attempts=1)


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bank:
    monkeypatch.setattr(methods, "PLACES", {**methods.PLACES})
    flat_method.register()
    return create_bank(tmp_path / "bank", embedder="hashing", method="flat", domain="alfworld")


def test_rules_know_kinds_of_their_worlds() -> None:
    one, other = "You see a shelf 2, a desk 1 and a shelf 1.", "You see a desk 1, a shelf 10."
    house, science = domain_for("ALFWorld"), domain_for("scienceworld")
    assert house.exact_env(one) == "desk 1, shelf 1, shelf 2"
    assert house.env_kind(one) == house.env_kind(other) == "desk, shelf"
    assert science.env_kind("This room is called the kitchen. In it, you see:") == "kitchen"
    assert domain_for("").exact_env(one) == task_kind("", "Book it.") == ""
    cup, mug = (task_kind("alfworld", f"put a clean {each} in cabinet.") for each in ("cup", "mug"))
    assert cup == mug != ""


def test_the_rules_count_then_what_the_record_states_then_a_model(bank: Bank) -> None:
    kinds = resolve_kind(bank, EPISODE, RulesExtractor())
    assert kinds.task == task_kind("alfworld", EPISODE.task)
    facts = {"task_kind": "rinse", "task_type": "pick_clean"}
    assert resolve_kind(bank, EPISODE.with_facts(metadata=facts), Chooser("no")).task == kinds.task
    stating = resolve_kind(bank, STRANGE.with_facts(metadata=facts), Chooser("no"))
    assert stating.task == "rinse"
    for answer, kind in (
        ("BOOK a flight", "book a flight"),
        ("a new one", "a new one"),
        ("other", OTHER),
        (None, OTHER),
    ):
        chooser = Chooser(answer)
        found = resolve_kind(bank, STRANGE, chooser, lambda: ["book a flight", "rinse"])
        assert (found.task, len(found.calls)) == (kind, answer is not None)
        assert chooser.given == {"kinds": "book a flight\nrinse"}
    assert resolve_kind(bank, STRANGE, RulesExtractor()).task == OTHER
