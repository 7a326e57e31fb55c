"""The generated episodes through MemP by rules, and what rules write."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.engine import learn, recall
from deltamem_tui.memory.memp import rules
from deltamem_tui.memory.memp.collections import KEY, PROCEDURES, record_payload
from deltamem_tui.memory.memp.prompt_uses import ADJUST, FACTS, SCRIPT
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs
from tests.effort import thorough
from tests.memory.writers.model.support import EPISODE, LOST
from tests.places import GENERATED

LOGS = {
    "alfworld": "alfworld_valid_train_experts.jsonl",
    "scienceworld": "scienceworld_train_variations.jsonl",
}


@pytest.mark.skipif(not GENERATED.is_dir(), reason="the generated episodes are not here")
@pytest.mark.parametrize("domain", LOGS)
def test_every_generated_episode_is_learnt_and_the_same_way_twice(
    tmp_path: Path, domain: str
) -> None:
    found = (each for each in read_logs([GENERATED / LOGS[domain]]))
    episodes = list({each.id: each for each in found if isinstance(each, Trajectory)}.values())
    most = episodes if thorough() else episodes[::4]
    files = []
    for name, some in (("all", most), ("one", episodes[:25]), ("two", episodes[:25])):
        bank = create_bank(tmp_path / name, embedder="hashing", domain=domain, method="memp")
        decisions = Counter(learn(bank, each).trees[PROCEDURES].decision for each in some)
        assert decisions["record"] == sum(bool(each.outcome.success) for each in some)
        assert verify(bank) == []
        assert PROCEDURES in recall(bank, some[0].task).collections
        paths = sorted((tmp_path / name).glob(f"{PROCEDURES}.*"))
        files.append([(path.name, path.read_bytes()) for path in paths])
    assert files[1] == files[2]


def record(script: str, trajectory: str = "") -> Node:
    return born(
        PROCEDURES, None, "success", record_payload(EPISODE.task, script, trajectory), Origin()
    )


def test_scripts_are_the_dialects_procedure_and_facts_its_goals() -> None:
    script = rules.write(SCRIPT, EPISODE, ()).payloads[0]["script"]
    assert script.splitlines()[1:3] == [
        "2. take [object] from [place]",
        "3. go to sinkbasin",
    ]
    found = {each["name"]: each["value"] for each in rules.write(FACTS, EPISODE, ()).payloads}
    assert found == {"do": "clean", "state": "clean", "object": "cup", "receptacle": "cabinet"}


REFUSED = LOST.with_facts(
    steps=(
        EPISODE.steps[0],
        *(type(step)(step.action, "Nothing happens.") for step in EPISODE.steps[1:]),
    )
)


def test_a_repair_warns_of_the_first_prescribed_step_that_was_refused() -> None:
    for told in (
        record("1. take [object] from countertop\n2. clean [object] with sinkbasin"),
        record("", "Action: take cup 2 from countertop 1"),
    ):
        script = rules.write(ADJUST, REFUSED, (told,)).payloads[0]["script"]
        *before, note = script.splitlines()
        assert before == told.payload["script"].splitlines()
        assert note == "[TRAP] take [object] from countertop → Nothing happens."
        assert not rules.write(ADJUST, REFUSED, (record(script),)).payloads or not before


def test_a_repair_else_says_what_is_missing_and_keeps_the_last_three_notes() -> None:
    lost = LOST.with_facts(steps=LOST.steps[:2])
    told = record("1. go to desk\n[TRAP] a → b\n[TRAP] c → d\n[TRAP] e → f")
    script = rules.write(ADJUST, lost, (told,)).payloads[0]["script"]
    assert script.splitlines()[:3] == ["1. go to desk", "[TRAP] c → d", "[TRAP] e → f"]
    assert script.splitlines()[3].startswith("[MISSING] clean [object]")
    assert KEY not in script
    told = record("1. clean [object] with sinkbasin")
    assert rules.write(ADJUST, lost, (told,)).payload is None
