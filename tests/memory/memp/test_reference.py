"""Recall, credit, repair and deletion against a slow reference that knows nothing of the code."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.memory.memp.definition import KEY, PROCEDURES, MempNumbers
from deltamem_tui.memory.memp.recall import task_facts
from deltamem_tui.memory.settings import to_record
from deltamem_tui.trajectory.model import Trajectory
from tests.effort import examples
from tests.memory.memp.support import (
    PLACES,
    STATES,
    THINGS,
    attempt,
    facts,
    new_bank,
    numbered,
    records,
    rows,
    shown,
    teach,
)

TASKS = st.one_of(
    st.builds(
        "put a {}{} in {}.".format,
        st.sampled_from(STATES),
        st.sampled_from(THINGS),
        st.sampled_from(PLACES),
    ),
    st.builds("put two {} in {}.".format, st.sampled_from(THINGS), st.sampled_from(PLACES)),
    st.builds("look at {} under the desklamp.".format, st.sampled_from(THINGS)),
)
EPISODES = st.lists(
    st.builds(
        lambda task, success, action: attempt(task, success=success, action=action),
        TASKS,
        st.booleans(),
        st.sampled_from(["act", "do", "shrug"]),
    ),
    max_size=12,
)
NUMBERS = st.builds(
    MempNumbers,
    key=st.sampled_from(["query", "avefact"]),
    k=st.integers(1, 3),
    tau=st.sampled_from([None, 0.75]),
    update=st.sampled_from(["vanilla", "validation", "adjustment"]),
    least_recalls=st.sampled_from([None, 1, 2, 3]),
    least_success=st.sampled_from([0.5, 1.0]),
)


def cosine(one: str, other: str) -> float:
    first, second = rows([one])[0].astype(float), rows([other])[0].astype(float)
    return round(float(np.dot(first, second)), 6)


@dataclass(eq=False)
class Record:
    task: str
    script: str
    born: int
    success: bool = True
    recalls: int = 0
    successes: int = 0
    shown: int = 0  # since it was repaired
    solved: int = 0


@dataclass
class Reference:
    numbers: MempNumbers
    records: list[Record] = field(default_factory=list)
    births: int = 0

    def recall(self, task: str) -> list[Record]:
        asked = task_facts("alfworld", task)
        ranked: list[tuple[tuple[float, ...], float, Record]] = []
        for each in self.records:
            known = task_facts("alfworld", each.task)
            common = [name for name in asked if name in known]
            by_task = cosine(task, each.task)
            ties = (-by_task, not each.success, -each.successes, -each.born)
            if self.numbers.key == "query":
                ranked.append((ties, by_task, each))
            elif 2 * len(common) >= len(asked):
                mean = sum(cosine(asked[name], known[name]) for name in common) / len(common)
                ranked.append(((-round(mean, 6), -len(common), *ties), round(mean, 6), each))
        ranked.sort(key=lambda row: row[0])
        least = -1 if self.numbers.tau is None else self.numbers.tau
        return [each for _, score, each in ranked[: self.numbers.k] if score >= least]

    def learn(self, episode: Trajectory) -> None:
        found = self.recall(episode.task)
        for each in found:
            each.recalls += 1
            each.successes += bool(episode.outcome.success)
            each.shown += 1
            each.solved += bool(episode.outcome.success)
        repaired = self.take(episode, found)
        for record in found:
            if record is not repaired and self.is_useless(record):
                self.records.remove(record)

    def is_useless(self, record: Record) -> bool:
        enough = self.numbers.least_recalls
        if enough is None or record.shown < enough:
            return False
        return record.solved / record.shown < self.numbers.least_success

    def take(self, episode: Trajectory, found: list[Record]) -> Record | None:
        action = episode.steps[0].action
        if episode.outcome.success or self.numbers.update == "vanilla":
            self.add(episode.task, action, bool(episode.outcome.success))
        elif self.numbers.update == "adjustment" and found and action != "shrug":
            found[0].script += f" {action}"
            found[0].shown = found[0].solved = 0
            return found[0]
        return None

    def add(self, task: str, script: str, success: bool) -> Record:
        self.births += 1
        self.records.append(Record(task, script, self.births, success))
        return self.records[-1]


@given(EPISODES, NUMBERS)
@examples(30)
def test_a_bank_does_what_the_reference_does(
    episodes: list[Trajectory], numbers: MempNumbers
) -> None:
    reference = Reference(numbers)
    with tempfile.TemporaryDirectory() as folder:
        bank = new_bank(Path(folder) / "bank", **to_record(numbers))
        for number, episode in enumerate(episodes):
            expected = [(each.task, each.script) for each in reference.recall(episode.task)]
            found = [(n.payload[KEY], n.payload["script"]) for n in shown(bank, episode.task)]
            assert found == expected
            teach(bank, numbered(episode, number))
            reference.learn(episode)
        tree = bank.tree(PROCEDURES)
        counts = [tree.counts(node.id) for node in records(bank)]
        assert [
            (node.payload[KEY], node.payload["script"], each.recalls, each.successes)
            for node, each in zip(records(bank), counts, strict=True)
        ] == [(r.task, r.script, r.recalls, r.successes) for r in reference.records]
        for node in records(bank):
            assert facts(bank, node) == task_facts("alfworld", node.payload[KEY])
        assert not verify(bank)
