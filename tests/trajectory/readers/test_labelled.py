"""Labelled text: what bounds an episode and an observation, and what has two readings."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.errors import LogFormatError
from deltamem_tui.trajectory.logs.notice import Notice
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.trajectory.readers.samples import only, readings

ASKED = """Question: Who drew it?
Thought 1: I search.
Action 1: Search[it]
Observation 1: Ada drew it.
Thought 2: That is it.
Action 2: Finish[Ada]
Observation 2: Answer is CORRECT
"""
STEPS = (
    Step("Search[it]", "Ada drew it.", "I search."),
    Step("Finish[Ada]", "Answer is CORRECT", "That is it."),
)


def test_what_lacks_the_answer_that_others_have_is_told(tmp_path: Path) -> None:
    imagined = ASKED.replace("Who drew it?", "And what else?")
    log = f"{ASKED}Correct answer: Ada\n\n{imagined}\n"
    found, told = readings(tmp_path, log, "log.txt")
    assert isinstance(found, Trajectory)
    assert (found.task, found.steps) == ("Who drew it?", STEPS)
    assert isinstance(told, Notice)
    assert told.position == "line 10"


def test_the_last_observation_ends_where_the_others_would(tmp_path: Path) -> None:
    printed = "{'em': True}\n" * 999
    found, told = readings(tmp_path, f"{ASKED}\n{printed}", "log.txt")
    assert isinstance(found, Trajectory)
    assert found.steps == STEPS
    assert isinstance(told, Notice)
    spaced = ASKED.replace("Ada drew it.", "Ada\n\ndrew it.")
    assert (
        only(readings(tmp_path, f"{spaced}\nmore", "log.txt")).steps[1].observation.endswith("more")
    )


@pytest.mark.parametrize("kind", ["PROMPT: ", "SAMPLED ACTION: ['x']", "NEW NODE: Node(depth=1)"])
@pytest.mark.parametrize("text", [ASKED, "Action: search[x]\nObservation: a page\n"])
def test_the_log_of_a_search_has_two_readings(tmp_path: Path, kind: str, text: str) -> None:
    log = f"2023-10-10 01:48:25,501 - INFO - {kind}\n{text}"
    with pytest.raises(LogFormatError):
        readings(tmp_path, log, "log.txt")
