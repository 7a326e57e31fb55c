"""Small logs of agents that are asked something and look for the answer, and what is in them."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.trajectory.readers.samples import NO, YES, Sample, at, dumped, paid

REFLEXION = Sample(
    b"""
########################################
BEGIN TRIAL 1
Trial summary: Correct: 0, Incorrect: 1, Halted: 0
#######################################
------------- BEGIN CORRECT AGENTS -------------

------------- BEGIN INCORRECT AGENTS -----------

Question: Who wrote the atlas?
Thought 1: I search.
Action 1: Search[atlas]
Observation 1: A book of maps.
It has no one author.

Thought 2: Mercator, then.
Action 2: Finish[Mercator]
Observation 2: Answer is INCORRECT
Correct answer: Ortelius

------------- BEGIN HALTED AGENTS --------------


########################################
BEGIN TRIAL 2
#######################################
------------- BEGIN CORRECT AGENTS -------------

Question: Who wrote the atlas?You have attempted to answer following question before and failed.
Reflections:
- I should have read on.
Thought 1: Read on.
Action 1: Finish[Ortelius]
Observation 1: Answer is CORRECT
Correct answer: Ortelius

------------- BEGIN HALTED AGENTS --------------
Question: Why?
Thought 1: Hm.
Action 1: Search[why]
Observation 1:
""",
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
    dumped(
        {
            "0": {
                "environment": "ic_bash",
                "task_id": 0,
                "query": "Count the files.",
                "turn_history": {
                    "thoughts": ["ls counts none."],
                    "actions": ["ls | wc -l", "submit"],
                    "observations": ["3\n", ""],
                    "rewards": [0, 1.0],
                },
                "summary": {"max_reward": 1.0, "turns_taken": 2},
            },
            "1": {
                "environment": "ic_bash",
                "task_id": 1,
                "query": "Name them.",
                "turn_history": {"actions": ["ls"], "observations": ["a b"], "rewards": [0.67]},
                "summary": {"max_reward": 0.67},
            },
        },
        indent=2,
    ),
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
    dumped(
        {
            "62": {
                "em": True,
                "f1": 1.0,
                "reward": True,
                "traj": [
                    {"role": "user", "content": "Who drew it?"},
                    {"role": "assistant", "content": "Thought: I search.\nAction: search[it]"},
                    {"role": "user", "content": "Observation: Ada drew it."},
                    {"role": "assistant", "content": "Thought: Ada.\nAction: finish[Ada]"},
                    {"role": "user", "content": "Observation: Episode finished, reward = True"},
                ],
            },
            "63": {
                "em": 0,
                "f1": 0.5,
                "reward": 0,
                "traj": "Question: Who?\nThought: Me.\nAction: finish[me]\nObservation: done\n",
            },
        }
    ),
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
