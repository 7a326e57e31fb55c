"""MemP against a slow reference, where the released code errs, and what its rules write."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.flat import memp as rules
from deltamem_tui.memory.flat.definitions import (
    ADJUST,
    KEY,
    PROCEDURES,
    MempNumbers,
)
from deltamem_tui.memory.flat.memp import task_facts
from deltamem_tui.memory.plan import CollectionResult
from deltamem_tui.memory.settings import to_record
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.receipt import Receipt, ShownNode
from tests.effort import examples
from tests.memory.flat.memp import (
    PLACES,
    STATES,
    THINGS,
    SaidWriter,
    WordEmbedder,
    attempt,
    facts,
    new_bank,
    numbered,
    records,
    rows,
    shown,
    teach,
)
from tests.memory.writers.model.support import EPISODE, LOST

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
    forgetting=st.sampled_from(["none", "history"]),
    forget_judged=st.integers(1, 3),
    forget_utility=st.sampled_from([0.49, 0.9]),
    forget_every=st.just(1),
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
        if self.numbers.forgetting == "none" or record.shown < self.numbers.forget_judged:
            return False
        return record.success and record.solved / record.shown <= self.numbers.forget_utility

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


# Recall

HOT, CLEAN = "put a hot apple in fridge.", "put a clean cup in shelf."


def grown(path: Path, count: int, **numbers: object) -> Bank:
    bank = new_bank(path, **numbers)
    for number in range(count):
        teach(bank, numbered(attempt(HOT, action=str(number)), number))
    return bank


def test_chance_is_the_same_for_the_same_bank_and_question(tmp_path: Path) -> None:
    tasks = (HOT, "put a cup in shelf.", "put a cup in fridge.", "put a lamp in fridge.")
    one, two = (grown(tmp_path / name, 8, key="random", k=3) for name in ("one", "two"))
    draws, again = ([[node.id for node in shown(bank, t)] for t in tasks] for bank in (one, two))
    assert draws == again
    assert all(len(set(drawn)) == 3 for drawn in draws)
    assert len({tuple(drawn) for drawn in draws}) > 1


def test_a_script_has_the_present_tasks_names_where_it_is_of_its_kind(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", k=2)
    wanted = "put a hot cup in shelf."
    teach(bank, attempt("put a apple in shelf.", action="take [object]"))
    teach(bank, attempt(HOT, action="take [object]"))
    context = recall(bank, wanted, embedder=WordEmbedder()).context
    assert f"Task: {HOT}\nHow:\ntake cup" in context
    assert "Task: put a apple in shelf.\nHow:\ntake apple" in context


@pytest.mark.parametrize(
    ("build", "asked", "texts"),
    [
        ("trajectory", ["memp_facts"], ("", "Action: 0\nObservation: done\nAction: look")),
        ("script", ["memp_script", "memp_facts"], ("0", "")),
    ],
)
def test_a_record_keeps_what_is_built(
    tmp_path: Path, build: str, asked: list[str], texts: tuple[str, str]
) -> None:
    bank, writer = new_bank(tmp_path / "bank", build=build), SaidWriter()
    teach(bank, numbered(attempt(HOT, action="0"), 0), writer)
    (record,) = records(bank)
    assert writer.asked == asked
    script, trajectory = record.payload["script"], record.payload["trajectory"]
    assert (script, trajectory.rpartition("\n")[0]) == texts
    context = recall(bank, HOT, embedder=WordEmbedder()).context
    assert ("How:" in context, "What was done:" in context) == (bool(script), bool(trajectory))
    assert f"Task: {HOT}" in context


# What the released code gets wrong


def test_what_a_receipt_says_was_shown_is_credited_and_repaired_and_nothing_else(
    tmp_path: Path,
) -> None:
    bank = new_bank(tmp_path / "bank", k=1)
    asked = Receipt("0" * 16, bank.manifest.counts_as, 0)

    def fail(number: int, *ids: str) -> CollectionResult:
        receipt = replace(asked, entries=tuple(ShownNode(PROCEDURES, each) for each in ids))
        episode = numbered(attempt(HOT, success=False, action="better"), number)
        return teach(bank, episode.with_facts(receipts=(receipt,)))

    first, second = (teach(bank, numbered(attempt(HOT), number)).node for number in (1, 2))
    assert first is not None
    assert second is not None
    assert shown(bank, HOT) == [first]
    assert fail(3).decision == "skip"  # it was shown nothing
    repaired = fail(4, second.id).node
    assert repaired is not None
    assert (repaired.id, repaired.revision) == (second.id, 1)
    again = fail(5, second.id).node  # which was repaired after it was shown
    assert again is not None
    assert (again.id, again.revision) == (second.id, 2)
    assert [bank.tree(PROCEDURES).counts(each.id).recalls for each in records(bank)] == [1, 2]


def test_what_would_have_been_recalled_kills_no_record(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank")
    teach(bank, attempt(HOT))
    for number in range(4):
        lost = numbered(attempt(HOT, success=False, action="shrug"), number)
        learn(bank, lost, SaidWriter(), embedder=WordEmbedder())
    assert len(records(bank)) == 1


def test_a_repaired_record_does_not_die_of_what_was_counted_before(tmp_path: Path) -> None:
    bank = new_bank(tmp_path / "bank", k=1)
    teach(bank, attempt(HOT))
    for number in range(2):
        teach(bank, numbered(attempt(HOT, success=False, action="shrug"), number))
    repaired = teach(bank, attempt(HOT, success=False, action="better"))
    assert repaired.decision == "repair"
    (record,) = records(bank)
    assert (record.payload["script"], record.id) == ("act better", repaired.match)
    for number in range(3):  # nor does it live on if it fails again
        assert records(bank) == [record]
        teach(bank, numbered(attempt(HOT, success=False, action="shrug"), 2 + number))
    assert len(bank.tree(PROCEDURES)) == 0


# What rules write


def record(script: str, trajectory: str = "") -> Node:
    payload = {KEY: EPISODE.task, "script": script, "trajectory": trajectory}
    return born(PROCEDURES, None, "success", payload, Origin())


REFUSED = replace(
    LOST,
    steps=(
        EPISODE.steps[0],
        *(type(step)(step.action, "Nothing happens.") for step in EPISODE.steps[1:]),
    ),
)


def test_a_repair_warns_of_the_first_prescribed_step_that_was_refused() -> None:
    told = record("1. take [object] from countertop\n2. clean [object] with sinkbasin")
    script = rules.write_by_rules(ADJUST, REFUSED, (told,)).payloads[0]["script"]
    *before, note = script.splitlines()
    assert before == told.payload["script"].splitlines()
    assert note == "[TRAP] take [object] from countertop → Nothing happens."
    assert not rules.write_by_rules(ADJUST, REFUSED, (record(script),)).payloads


def test_a_repair_keeps_the_last_three_notes() -> None:
    told = record("1. clean [object] with sinkbasin\n[TRAP] a → b\n[TRAP] c → d\n[TRAP] e → f")
    script = rules.write_by_rules(ADJUST, REFUSED, (told,)).payloads[0]["script"]
    assert script.splitlines()[1:3] == ["[TRAP] c → d", "[TRAP] e → f"]
    assert script.splitlines()[3].startswith("[TRAP] clean [object] with sinkbasin")
    lost = replace(LOST, steps=LOST.steps[:2])
    assert rules.write_by_rules(ADJUST, lost, (told,)).payload is None
