"""ALFWorld's goals: what is asked for, in either of the wordings that each kind of goal has."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OBJECT = r"(?P<object>\w+)"
_RECEPTACLE = r"(?:the |an? )?(?P<receptacle>\w+)"
_GOALS = tuple(
    re.compile(do + rest)
    for do, rest in (
        (
            r"(?:put|find) (?P<two>two) ",
            rf"{_OBJECT} (?:in|and put them in) {_RECEPTACLE}",
        ),
        (
            r"put (?:an?|some)(?: (?P<state>clean|hot|cool))? ",
            rf"{_OBJECT} (?:in|on) {_RECEPTACLE}",
        ),
        (
            r"(?P<state>clean|heat|cool) (?:some|an?) ",
            rf"{_OBJECT} and put it in {_RECEPTACLE}",
        ),
        (
            r"(?:look at|examine)(?: the)? ",
            rf"{_OBJECT} (?:under|with) the (?P<tool>\w+)",
        ),
    )
)
_MARK = "your task is to:"
STATES = {"clean": "clean", "heat": "hot", "cool": "cool"}
"""What each treatment makes of a thing."""


@dataclass(frozen=True, slots=True)
class HouseGoal:
    """What a task asks for. Kinds, not instances; empty where the task has no such part.

    Attributes:
        object: The kind of thing that it is about.
        receptacle: The kind of place that it is to be put in or on.
        state: What is to be made of it before: `clean`, `hot` or `cool`.
        tool: The kind of lamp to look at it under; then there is no receptacle.
        count: How many of them.
    """

    object: str
    receptacle: str = ""
    state: str = ""
    tool: str = ""
    count: int = 1

    @property
    def treatment(self) -> str:
        """The verb that brings the state about: `clean`, `heat` or `cool`; empty for none."""
        return next((verb for verb, state in STATES.items() if state == self.state), "")

    @property
    def trigger(self) -> str:
        """The two wordings that goals of one kind come in (`cool some … `, `put a cool … `)."""
        if self.state:
            return f"{self.treatment} some … and put it in …, or put a {self.state} … in …"
        if self.count > 1:
            return "put two … in …, or find two … and put them in …"
        if self.receptacle:
            return "put a … in …, or put some … on …"
        return f"look at … under the {self.tool}, or examine the … with the {self.tool}"


def house_goal(task: str) -> HouseGoal | None:
    """The goal that a task asks for; None if it is not in the simulator's own words.

    What stands before the game's mark of a goal is its scene, and is passed over.
    """
    task = " ".join(task.lower().split()).rpartition(_MARK)[2].strip().rstrip(".")
    found = next((match for goal in _GOALS if (match := goal.fullmatch(task))), None)
    if found is None:
        return None
    part = found.groupdict()
    state = part.get("state") or ""
    return HouseGoal(
        object=part["object"],
        receptacle=part.get("receptacle") or "",
        state=STATES.get(state, state),
        tool=part.get("tool") or "",
        count=2 if part.get("two") else 1,
    )
