"""MemP's procedures with their facts, the episodes that wait for an update, and how both are shown.

A record is a root: what it is found by is the task, in its own words. Its facts are its children:
what each is found by is the fact's value, so that every fact has a vector of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.collection import Collection
from deltamem_tui.memory.display import Display

PROCEDURES = "procedures"
WAITING = "waiting"
KEY = "key"
RECORD_DEPTH, FACT_DEPTH = 1, 2

COLLECTIONS: Mapping[str, Collection] = {
    PROCEDURES: Collection(fields=(KEY, "fact", "script", "trajectory"), key=KEY, depth=FACT_DEPTH),
    WAITING: Collection(fields=("task", "shown"), key="task"),
}
"""What is recalled, and episodes that wait until enough have come for the next update."""

DISPLAY: Mapping[str, Display] = {
    PROCEDURES: Display(
        title="procedures",
        noun="procedure",
        heading="Procedures",
        labels={
            KEY: "Found by",
            "fact": "As the fact",
            "script": "Script",
            "trajectory": "Trajectory",
        },
        optional=("fact", "script", "trajectory"),
        levels=("procedure", "fact"),
        name="fact",
        instruction="script",
    ),
    WAITING: Display(
        title="waiting for the update",
        noun="episode",
        heading="Waiting for the update",
        labels={"task": "Task", "shown": "Procedures shown"},
        optional=("shown",),
        levels=("episode",),
        asked=False,
    ),
}


def record_payload(task: str, script: str, trajectory: str) -> dict[str, str]:
    """The texts of a record."""
    return {KEY: task, "fact": "", "script": script, "trajectory": trajectory}


def fact_payload(name: str, value: str) -> dict[str, str]:
    """The texts of one of a record's facts."""
    return {KEY: value, "fact": name, "script": "", "trajectory": ""}
