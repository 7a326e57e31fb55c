"""Random streams of episodes: stored, credited and recalled is what a slow reference has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.reasoningbank.definition import LESSONS
from tests.effort import examples
from tests.memory.reasoningbank.support import lesson, lessons_bank, recalled, teach, trial
from tests.memory.support import unit

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
            entry = same[-1]
            entry.label = label if label == "success" else entry.label
            kept = [each for each in entry.lessons if each.payload in unlike]
            told = [each.payload for each in kept]
            entry.lessons = kept + [
                self.born(each, entry.label) for each in unlike if each not in told
            ]
            return
        entry = self.born({"description": task, "title": "", "content": ""}, label)
        entry.scene = scene
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
