"""Small logs of agents that are asked something and look for the answer, and what is in them."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.trajectory.readers.samples import NO, YES, Sample, at, paid, sample_log

REFLEXION = Sample(
    sample_log("reflexion.txt"),
    [
        Trajectory(
            "Who wrote the atlas?",
            "",
            (
                Step("Search[atlas]", "A book of maps.\nIt has no one author.", "I search."),
                Step("Finish[Mercator]", "Answer is INCORRECT", "Mercator, then."),
            ),
            NO,
            at("line 10"),
            metadata={"task_id": "question-d9489fd6", "trial": "1"},
        ),
        Trajectory(
            "Who wrote the atlas?",
            "",
            (Step("Finish[Ortelius]", "Answer is CORRECT", "Read on."),),
            YES,
            at("line 29"),
            metadata={"task_id": "question-d9489fd6", "trial": "2"},
        ),
        Trajectory(
            "Why?",
            "",
            (Step("Search[why]", "", "Hm."),),
            Outcome(False, source="stated", reason="halted without an answer"),
            at("line 38"),
            metadata={"task_id": "question-5d8a995a", "trial": "2"},
        ),
    ],
)

INTERCODE = Sample(
    sample_log("intercode.json"),
    [
        Trajectory(
            "Count the files.",
            "",
            (Step("ls | wc -l", "3\n", "ls counts none.", 0.0), Step("submit", "", "", 1.0)),
            paid(1.0),
            at("record 1, key 0"),
            domain="ic_bash",
            metadata={"id": "0", "task_id": "0"},
        ),
        Trajectory(
            "Name them.",
            "",
            (Step("ls", "a b", "", 0.67),),
            paid(0.67),
            at("record 1, key 1"),
            domain="ic_bash",
            metadata={"id": "1", "task_id": "1"},
        ),
    ],
)

FIREACT = Sample(
    sample_log("fireact.json"),
    [
        Trajectory(
            "Who drew it?",
            "",
            (
                Step("search[it]", "Ada drew it.", "I search."),
                Step("finish[Ada]", "Episode finished, reward = True", "Ada."),
            ),
            paid(1.0),
            at("line 1, key 62"),
            metadata={"id": "62"},
        ),
        Trajectory(
            "Who?",
            "",
            (Step("finish[me]", "done", "Me."),),
            paid(0.5),
            at("line 1, key 63"),
            metadata={"id": "63"},
        ),
    ],
)
