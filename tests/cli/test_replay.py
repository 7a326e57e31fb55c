"""`deltamem replay` reads what an import reads, or a bank, and compares."""

from __future__ import annotations

import pytest

from tests.cli.support import ENOUGH, Program, heat

POLICIES = (
    "--method",
    "synapse",
    "--admit",
    "strict",
    "--admit",
    "unjudged",
    "--order",
    "recorded",
)


def test_a_log_is_replayed_and_a_bank_is_the_same_log(program: Program) -> None:
    records = [*ENOUGH, heat("fig", success=False), heat("pear", success=None), ENOUGH[0]]
    log = program.log(*records)
    asked = (*POLICIES, "--extractor", "rules", "--embedder", "hashing", "--domain", "alfworld")
    found = program.json("replay", log, *asked).data
    assert found["episodes"] == len(records) - 2
    assert sorted(found["excluded"].values()) == [1, 1]
    strict, unjudged = found["contestants"]
    assert unjudged["sizes"]["nodes"] == strict["sizes"]["nodes"] + 1
    assert strict["measures"]["precision"]["estimate"]["value"] == 1
    program("init", "source", "--embedder", "hashing", "--domain", "alfworld")
    program("import", "source", log)
    of_bank = program.json("replay", "source", *POLICIES, "--extractor", "rules").data
    assert of_bank["contestants"] == found["contestants"]


def test_a_pipe_gets_a_table_and_the_limits_are_told(program: Program) -> None:
    answer = program("replay", "kitchen", *POLICIES, "--extractor", "rules")
    assert answer.code == 0
    header, *rows = (line.split("\t") for line in answer.out.splitlines() if "\t" in line)
    assert "precision" in header
    assert [len(each) for each in rows[:2]] == [len(header)] * 2
    assert "none of the numbers is a success rate" in answer.err


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (("--order", "nonsense"), 2),
        (("--admit", "coarse"), 2),
        (("--forget", "nonsense"), 2),
    ],
)
def test_what_cannot_be_replayed_is_refused(
    program: Program, wrong: tuple[str, ...], code: int
) -> None:
    answer = program("replay", "kitchen", *wrong, "--extractor", "rules")
    assert answer.code == code
    assert answer.error


def test_a_dry_run_says_how_much_there_is_to_do(program: Program) -> None:
    log = program.log(*ENOUGH, heat("pear", success=None))
    asked = (*POLICIES, "--embedder", "hashing", "--domain", "alfworld", "--dry-run")
    found = program.json("replay", log, *asked, "--extractor", "rules").data
    steps = 2 * len(ENOUGH)
    assert (found["episodes"], found["contestants"], found["steps"]) == (len(ENOUGH), 2, steps)
    assert (found["orders"], found["usage"]) == (["recorded"], None)
