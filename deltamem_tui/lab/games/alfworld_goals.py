"""ALFWorld's goals: what is asked for, in either of the wordings that each kind of goal has."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OBJECT = r"(?P<object>\w+)"
_RECEPTACLE = r"(?:the |an? )?(?P<receptacle>\w+)"
_STATE = "(?P<state>clean(?:ed)?|washed|rinsed|hot|heated|warm(?:ed)?|cool(?:ed)?|cold|chilled)"
_TREAT = "(?P<state>clean|wash|rinse|heat|warm|cool|chill)"
_GOALS = tuple(
    re.compile(do + rest)
    for do, rest in (
        (
            r"(?:put|find) (?P<two>two|2) ",
            rf"{_OBJECT} (?:and put them )?(?:in|on) {_RECEPTACLE}",
        ),
        (
            rf"put (?:an?|some)(?: {_STATE})? ",
            rf"{_OBJECT} (?:in|on) {_RECEPTACLE}",
        ),
        (
            rf"{_TREAT} (?:some|an?) ",
            rf"{_OBJECT} and put it (?:in|on) {_RECEPTACLE}",
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
_TREATMENT = re.compile(
    r"\b(?:(?P<clean>clean(?:s|ed|ing)?|wash(?:es|ed|ing)?|rins(?:e|es|ed|ing))"
    r"|(?P<heat>heat(?:s|ed|ing)?|hot|warm(?:s|ed|ing)?)"
    r"|(?P<cool>cool(?:s|ed|ing)?|cold|chill(?:s|ed|ing)?))\b",
    re.IGNORECASE,
)
# The simulator writes these names as one word.
_COMPOUND = re.compile(
    r"\b(?:(?:hand )?towel holder|toilet paper hanger|alarm clock|arm chair|baseball bat"
    r"|basket ball|bathtub basin|butter knife|cell phone|coffee (?:machine|table)|counter top"
    r"|credit card|(?:desk|floor) lamp|(?:dining|side) table|dish sponge|garbage can|glass bottle"
    r"|hand towel|key chain|laundry hamper|paper towel|(?:pepper|salt) shaker|remote control"
    r"|sink basin|soap (?:bar|bottle)|spray bottle|stove burner|tennis racket|tissue box"
    r"|toilet paper|tv stand|watering can|wine bottle)(?=(?:e?s)?\b)"
    r"|\bbutter (?=knives\b)"
)
_PLURALS = (
    (re.compile(r"knives$"), "knife"),
    (re.compile(r"shelves$"), "shelf"),
    (re.compile(r"(o|x|ch|sh|ss)es$"), r"\1"),
    (re.compile(r"([^s])s$"), r"\1"),
)


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

    What stands before the game's mark of a goal is its scene, and is passed over. Names may be
    of several, or apart, as people write them: `candles`, `dining table`; and a state may be in any
    words that are clear: `cleaned`, `cold`.
    """
    task = " ".join(task.lower().split()).rpartition(_MARK)[2].strip().rstrip(".")
    task = _COMPOUND.sub(lambda found: found[0].replace(" ", ""), task)
    found = next((match for goal in _GOALS if (match := goal.fullmatch(task))), None)
    if found is None:
        return None
    part = found.groupdict()
    asked = treatments(part.get("state") or "")
    return HouseGoal(
        object=_singular(part["object"]),
        receptacle=_singular(part.get("receptacle") or ""),
        state=next((STATES[each] for each in asked), ""),
        tool=part.get("tool") or "",
        count=2 if part.get("two") else 1,
    )


def _singular(name: str) -> str:
    plural = next((pair for pair in _PLURALS if pair[0].search(name)), None)
    return plural[0].sub(plural[1], name) if plural else name


def treatments(text: str) -> set[str]:
    """What a text asks to be done to a thing, in any words that are clear: `cold` is to cool."""
    return {found.lastgroup or "" for found in _TREATMENT.finditer(text)}
