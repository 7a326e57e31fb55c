"""What ReasoningBank's released code does wrong, by name: each fails on that behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory import editing
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.reasoningbank.definition import LESSONS, TRIALS
from tests.llm.fixtures import running, server
from tests.memory.reasoningbank.support import (
    EMBEDDER,
    TellingWriter,
    lesson,
    lessons_bank,
    recalled,
    teach,
    trial,
)
from tests.memory.support import ChosenEmbedder

__all__ = ["running", "server"]

X, Y = "1 0 0", "0 1 0"


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return lessons_bank(tmp_path / "bank")


def test_an_episode_without_lessons_leaves_no_orphan_that_is_recalled(bank: Bank) -> None:
    teach(bank, trial(Y, "first"), lesson(Y))
    assert teach(bank, trial(X, "second")).trees[LESSONS].decision == "skip"
    with pytest.raises(ExtractionError):
        teach(bank, trial(X, "third"), {"title": "no content", "description": X})
    assert [node.payload["description"] for node in bank.tree(LESSONS).roots()] == [Y]
    assert recalled(bank, X) == [lesson(Y)]


def test_an_entry_whose_lessons_a_person_deleted_is_not_recalled_either(bank: Bank) -> None:
    teach(bank, trial(Y, "first"), lesson(Y))
    teach(bank, trial(X, "second"), lesson(X))
    (last,) = (node for node in bank.tree(LESSONS) if node.payload == lesson(X))
    editing.delete(bank, LESSONS, last)
    assert recalled(bank, X) == [lesson(Y)]


def test_a_reward_of_0_is_not_called_a_success_where_trials_are_compared(tmp_path: Path) -> None:
    bank = lessons_bank(tmp_path / "bank", trials=2)
    teach(bank, trial(X, "lost", success=False), lesson(X, "a"))
    writer = TellingWriter({"won": [lesson(X, "b")]})
    learn(bank, trial(X, "won"), writer, embedder=EMBEDDER)
    ((_, notes, inputs),) = writer.asked
    assert [node.payload for node in notes] == [lesson(X, "a")]
    told = inputs[TRIALS][0]
    assert told.startswith("In this trial the task was not solved.")


@dataclass(frozen=True)
class Noting(ChosenEmbedder):
    asked: list[tuple[str, str]] = field(default_factory=list)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.extend(("passage", text) for text in texts)
        return super().embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.extend(("query", text) for text in texts)
        return super().embed_passages(texts)


def test_a_question_has_the_prefix_of_questions_and_what_is_stored_that_of_passages(
    bank: Bank,
) -> None:
    noting = Noting()
    learn(bank, trial(X, "act"), TellingWriter({"act": [lesson(Y)]}), embedder=noting)
    assert noting.asked == [("query", X), ("passage", X), ("passage", Y)]
