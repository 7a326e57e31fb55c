"""ReasoningBank against a slow reference, where the released code errs, and what rules write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Origin, born
from deltamem_tui.errors import ExtractionError, TrajectoryError
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.flat import reasoningbank as rules
from deltamem_tui.memory.flat.definitions import (
    CONTRAST,
    FAILURE,
    FIELDS,
    LESSONS,
    SUCCESS,
    TRIALS,
)
from deltamem_tui.memory.method import cleaned
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.effort import examples
from tests.memory.flat.reasoningbank import (
    EMBEDDER,
    TellingWriter,
    lesson,
    lessons_bank,
    recalled,
    teach,
    trial,
)
from tests.memory.support import unit
from tests.memory.writers.model.support import EPISODE, LOST

KEYS = ("1 0 0", "0 1 0", "1 1 0", "3 2 1", "1 1 0 again")


@dataclass(eq=False)
class Record:
    """A node of the reference."""

    payload: dict[str, str]
    label: str
    birth: int
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])
    lessons: list[Record] = field(default_factory=list)
    scene: str = ""
    ended: bool = False


@dataclass
class Reference:
    """ReasoningBank as it is told: lists, and everything compared with everything."""

    k: int
    trials: int
    entries: list[Record] = field(default_factory=list)
    births: int = 0

    def recall(self, task: str) -> list[tuple[Record, Record]]:
        """(entry, lesson) of what is recalled, best first."""
        full = [each for each in self.entries if each.lessons]
        best = sorted(full, key=lambda each: self.place(each, cosine(task, each)))[: self.k]
        return [(entry, each) for entry in best for each in entry.lessons]

    @staticmethod
    def place(record: Record, score: float) -> tuple[float, bool, int, int]:
        return -score, record.label == "failure", -record.counts[2], -record.birth

    def learn(self, task: str, scene: str, success: bool, texts: list[dict[str, str]]) -> None:
        shown = self.recall(task)
        for record in {id(each): each for pair in shown for each in pair}.values():
            leaf = any(record is each for _, each in shown)
            record.counts[0] += success and leaf
            record.counts[1] += 1
            record.counts[2] += success
        unlike = [each for at, each in enumerate(texts) if each not in texts[:at]]
        if not unlike:
            return
        label = "success" if success else "failure"
        same = [
            each
            for each in self.entries
            if (each.payload["description"], each.scene) == (task, scene)
        ]
        if self.trials > 1 and same:
            # Of two trials at most only the one before it is left.
            label = "success" if success or same[-1].ended else "failure"
            self.entries.remove(same[-1])
        entry = self.born({"description": task, "title": "", "content": ""}, label)
        entry.scene, entry.ended = scene, success
        entry.lessons = [self.born(each, label) for each in unlike]
        self.entries.append(entry)

    def born(self, payload: dict[str, str], label: str) -> Record:
        self.births += 1
        return Record(payload, label, self.births)

    def state(self) -> list[Any]:
        records = [each for entry in self.entries for each in (entry, *entry.lessons)]
        records.sort(key=lambda each: each.birth)
        return [(each.payload, each.label, each.counts) for each in records]


def cosine(task: str, record: Record) -> float:
    one, other = (
        unit([float(word) for word in text.split()[:3]]).astype(np.float64)
        for text in (task, record.payload["description"])
    )
    return round(float(one @ other), 6)


def state(bank: Bank) -> list[Any]:
    tree = bank.tree(LESSONS)
    counts = {node.id: tree.counts(node.id) for node in tree}
    return [
        (
            dict(node.payload),
            node.label,
            [counts[node.id].hits, counts[node.id].recalls, counts[node.id].successes],
        )
        for node in tree
    ]


TEXTS = st.lists(st.builds(lesson, st.sampled_from(KEYS), st.sampled_from("abcd")), max_size=3)
EPISODES = st.lists(
    st.tuples(st.sampled_from(KEYS), st.sampled_from(("here", "there")), st.booleans(), TEXTS),
    max_size=9,
)


@given(k=st.integers(1, 3), trials=st.integers(1, 2), stream=EPISODES)
@examples(20, one_folder=True)
def test_streams_of_episodes(
    tmp_path: Path, k: int, trials: int, stream: list[tuple[str, str, bool, Any]]
) -> None:
    bank = lessons_bank(tmp_path / uuid4().hex, k=k, trials=trials)
    reference = Reference(k, trials)
    for number, (task, scene, success, texts) in enumerate(stream):
        teach(bank, trial(task, f"act {number}", success=success, scene=scene), *texts)
        reference.learn(task, scene, success, texts)
    assert state(bank) == reference.state()
    for task in KEYS:
        expected: list[Mapping[str, str]] = [each.payload for _, each in reference.recall(task)]
        assert recalled(bank, task) == expected


def test_a_trial_is_compared_with_the_one_right_before_it(tmp_path: Path) -> None:
    bank = lessons_bank(tmp_path / "bank", k=1, trials=2)
    for number, success in enumerate((False, True, False)):
        teach(bank, trial(KEYS[0], f"act {number}", success=success), lesson(KEYS[0], "a"))
    assert {node.label for node in bank.tree(LESSONS)} == {"success"}


# What the released code gets wrong

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


def test_a_reward_of_0_is_not_called_a_success_where_trials_are_compared(tmp_path: Path) -> None:
    bank = lessons_bank(tmp_path / "bank", trials=2)
    teach(bank, trial(X, "lost", success=False), lesson(X, "a"))
    writer = TellingWriter({"won": [lesson(X, "b")]})
    learn(bank, trial(X, "won"), writer, embedder=EMBEDDER)
    ((_, notes, inputs),) = writer.asked
    assert [node.payload for node in notes] == [lesson(X, "a")]
    told = inputs[TRIALS][0]
    assert told.startswith("In this trial the task was not solved.")


# What rules write

REFUSED = Step("take cup 2 from countertop 1", "Nothing happens.")
SOLVED = replace(EPISODE, steps=(REFUSED, *EPISODE.steps))
STUCK = replace(
    LOST, steps=(*LOST.steps[:2], *[Step("go to fridge 1", "The fridge 1 is closed.")] * 5)
)


def written(purpose: str, episode: Trajectory, **rest: object) -> list[dict[str, str]]:
    found = rules.write_by_rules(purpose, episode, (), **rest)  # type: ignore[arg-type]
    return [cleaned(each, FIELDS) for each in found.payloads]


def test_a_success_teaches_its_plan() -> None:
    (plan,) = written(SUCCESS, SOLVED)
    assert plan["content"].splitlines() == [
        "1. go to [place]",
        "2. take [object] from [place]",
        "3. go to sinkbasin",
        "4. clean [object] with sinkbasin",
        "5. go to [receptacle]",
        "6. put [object] in [receptacle]",
    ]
    (unknown, *_) = written(SUCCESS, replace(SOLVED, domain=""))
    assert unknown["content"].splitlines()[-1] == "4. put cup N in cabinet N"


def test_a_failure_teaches_its_kind_and_a_repeat() -> None:
    cause, repeat = written(FAILURE, STUCK)
    assert cause["title"] == "A failure of planning"
    assert "Next time: " in cause["content"]
    assert "go to fridge" in repeat["description"]
    assert repeat["content"].startswith("5 times it changed nothing.")


def test_trials_keep_earlier_lessons_behind_their_own() -> None:
    known = {"description": "d", "title": "Ask first", "content": "1. x"}
    older = {"description": "d", "title": "A plan that worked", "content": "1. x"}
    notes = [born(LESSONS, None, "success", each, Origin()) for each in (older, known)]
    found = rules.write_by_rules(CONTRAST, EPISODE, notes).payloads
    titles = [each["title"] for each in found]
    assert titles == ["A plan that worked", "Ask first"]
    assert found[0]["content"] != older["content"]


def test_what_cannot_be_written_says_so() -> None:
    assert rules.write_by_rules(SUCCESS, replace(EPISODE, steps=()), ()).payload is None
    with pytest.raises(TrajectoryError):
        rules.write_by_rules(SUCCESS, EPISODE.with_outcome(Outcome()), ())
    with pytest.raises(ExtractionError):
        rules.write_by_rules(SUCCESS, None, ())
