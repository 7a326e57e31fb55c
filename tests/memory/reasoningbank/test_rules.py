"""Lessons without a model, from episodes of known shape."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from deltamem_tui.bank.node import Origin, born
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.reasoningbank import write as rules
from deltamem_tui.memory.reasoningbank.definition import CONTRAST, FAILURE, FIELDS, LESSONS, SUCCESS
from deltamem_tui.memory.reasoningbank.write import Trials
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.memory.writers.model.support import EPISODE, LOST

REFUSED = Step("take cup 2 from countertop 1", "Nothing happens.")
SOLVED = replace(EPISODE, steps=(REFUSED, *EPISODE.steps))
STUCK = replace(
    LOST, steps=(*LOST.steps[:2], *[Step("go to fridge 1", "The fridge 1 is closed.")] * 5)
)


def written(purpose: str, episode: Trajectory, **rest: object) -> list[dict[str, str]]:
    found = rules.write_by_rules(purpose, episode, (), **rest)  # type: ignore[arg-type]
    return [cleaned(each, FIELDS) for each in found.payloads]


def test_a_success_teaches_its_plan_a_recovery_and_where_things_were() -> None:
    plan, recovery, place = written(SUCCESS, SOLVED)
    assert plan["content"].splitlines() == [
        "1. go to [place]",
        "2. take [object] from [place]",
        "3. clean [object] with sinkbasin",
        "4. put [object] in [receptacle]",
    ]
    (unknown, *_) = written(SUCCESS, replace(SOLVED, domain=""))
    assert unknown["content"].splitlines()[-1] == "4. put cup N in cabinet N"
    assert "take [object] from countertop` is refused" in recovery["description"]
    assert "`go to countertop`, then `take [object] from countertop`" in recovery["content"]
    assert "cup at the countertop" in place["content"]
    assert not any("cup 2" in text for each in (plan, recovery, place) for text in each.values())


def test_a_failure_teaches_its_kind_a_repeat_and_what_was_not_tried() -> None:
    cause, repeat, untried = written(FAILURE, STUCK)
    assert cause["title"] == "A failure of planning"
    assert "Next time: " in cause["content"]
    assert "go to fridge" in repeat["description"]
    assert repeat["content"].startswith("5 times it changed nothing.")
    assert "sinkbasin" in untried["content"]


def test_several_trials_teach_the_difference_first_and_keep_the_shorter_plan() -> None:
    longer = {"description": "d", "title": "A plan that worked", "content": "1. x\n" * 9}
    notes = [born(LESSONS, None, "success", longer, Origin())]
    entry = born(LESSONS, None, "failure", longer, Origin())
    inputs = Trials(entry, (), (STUCK,)).inputs(EPISODE)
    found = rules.write_by_rules(CONTRAST, EPISODE, notes, inputs).payloads
    titles = [each["title"] for each in found]
    assert titles == ["What made the difference", "A plan that worked", "Where it was found"]
    assert found[1]["content"] != longer["content"]
    shorter = [born(LESSONS, None, "success", {**longer, "content": "1. x"}, Origin())]
    (plan, *_) = rules.write_by_rules(
        CONTRAST, EPISODE, shorter, Trials(entry, (), (EPISODE,)).inputs(EPISODE)
    ).payloads
    assert plan["content"] == "1. x"


def test_what_cannot_be_written_says_so() -> None:
    assert rules.write_by_rules(SUCCESS, replace(EPISODE, steps=()), ()).payload is None
    with pytest.raises(OutcomeUnknownError):
        rules.write_by_rules(SUCCESS, EPISODE.with_outcome(Outcome()), ())
    with pytest.raises(ExtractionError):
        rules.write_by_rules(SUCCESS, None, ())
