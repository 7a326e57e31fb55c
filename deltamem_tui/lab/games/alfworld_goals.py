"""Goals of ALFWorld, commands, and the steps that brought a goal about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from deltamem_tui.text import distinct
from deltamem_tui.trajectory.model import Step, Trajectory

Verb = Literal["go", "open", "close", "take", "put", "heat", "cool", "clean", "use"]
THING = re.compile(r"\b([a-z]+) (\d{1,6})\b")
REFUSED = "Nothing happens"


def kinds(text: str) -> str:
    """Return a text without instance numbers: `drawer 3` becomes `drawer`."""
    return THING.sub(r"\1", text)


def kinds_in(text: str) -> list[str]:
    """Return the kinds of things and places that a text names with their numbers, each once."""
    return distinct(kind for kind, _ in THING.findall(text))


_OBJECT = r"(?P<object>\w+)"
_RECEPTACLE = r"(?:the |an? )?(?P<receptacle>\w+)"
_STATE = "(?P<state>clean(?:ed)?|washed|rinsed|hot|heated|warm(?:ed)?|cool(?:ed)?|cold|chilled)"
_TREAT = "(?P<state>clean|wash|rinse|heat|warm|cool|chill)"
_GOALS = tuple(
    map(
        re.compile,
        (
            rf"(?:put|find) (?P<two>two|2) {_OBJECT} (?:and put them )?(?:in|on) {_RECEPTACLE}",
            rf"put (?:an?|some)(?: {_STATE})? {_OBJECT} (?:in|on) {_RECEPTACLE}",
            rf"{_TREAT} (?:some|an?) {_OBJECT} and put it (?:in|on) {_RECEPTACLE}",
            rf"(?:look at|examine)(?: the)? {_OBJECT} (?:under|with) the (?P<tool>\w+)",
        ),
    )
)
_MARK = "your task is to:"
STATES = {"clean": "clean", "heat": "hot", "cool": "cool"}
"""The state that each treatment gives a thing."""
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
    """The goal of a task. Kinds, not instances; empty where the task has no such part.

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
    """Return the goal that a task asks for; None if it is not in the simulator's own words.

    What stands before the game's mark of a goal is its scene, and is passed over. Names may be
    plural, or apart, as people write them: `candles`, `dining table`; and a state may be in any
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
    """Return what a text asks to be done to a thing, in any clear words: `cold` is to cool."""
    return {found.lastgroup or "" for found in _TREATMENT.finditer(text)}


# Commands, and those that brought a goal about


_NAME, _AT = r"(?P<thing>[a-z]+ \d{1,6})", r"(?P<place>[a-z]+ \d{1,6})"
_COMMANDS: tuple[tuple[Verb, re.Pattern[str]], ...] = (
    ("go", re.compile(rf"go to {_AT}")),
    ("open", re.compile(rf"open {_AT}")),
    ("close", re.compile(rf"close {_AT}")),
    ("take", re.compile(rf"take {_NAME} from {_AT}")),
    ("put", re.compile(rf"(?:put|move) {_NAME} (?:in/on|in|on|to) {_AT}")),
    ("use", re.compile(rf"(?:use|toggle) {_NAME}")),
    ("heat", re.compile(rf"heat {_NAME} with {_AT}")),
    ("cool", re.compile(rf"cool {_NAME} with {_AT}")),
    ("clean", re.compile(rf"clean {_NAME} with {_AT}")),
)


@dataclass(frozen=True, slots=True)
class Command:
    """The effect of a step.

    Attributes:
        verb: `put` also for `move`, `use` also for `toggle`.
        thing: What it is done to, with its number; empty for going, opening and closing.
        place: Where, or with which appliance; empty for `use`.
    """

    verb: Verb
    thing: str = ""
    place: str = ""


def command_of(action: str) -> Command | None:
    """Return the command that an action is; None if it changes nothing in the house."""
    for verb, pattern in _COMMANDS:
        if found := pattern.fullmatch(action.strip()):
            part = found.groupdict()
            return Command(verb, part.get("thing", ""), part.get("place", ""))
    return None


def commands(steps: Sequence[Step]) -> list[tuple[int, Command]]:
    """Return the commands that were not refused, each with the number of its step, from 0."""
    known = ((at, command_of(step.action)) for at, step in enumerate(steps))
    return [(at, each) for at, each in known if each and REFUSED not in steps[at].observation]


def needed_steps(trajectory: Trajectory) -> tuple[int, ...]:
    """Return the numbers of the steps that brought the goal about, from 0, as they go best.

    They are, of each thing that the goal asks for, how it was first taken, last treated, and put
    in its place; of a lamp, how it was last used; and the ways there. Empty if the episode does
    not show them all.
    """
    goal, did = house_goal(trajectory.task), commands(trajectory.steps)
    if goal is None:
        return ()
    acts = _under_the_lamp(goal, did) if goal.tool else _things_put(goal, did)
    return tuple(dict.fromkeys(at for act in sorted(acts) for at in (*_way_to(did, act), act)))


def _under_the_lamp(goal: HouseGoal, did: Sequence[tuple[int, Command]]) -> list[int]:
    taken = [at for at, each in did if each.verb == "take" and kinds(each.thing) == goal.object]
    used = [at for at, each in did if each.verb == "use" and kinds(each.thing) == goal.tool]
    return [taken[-1], used[-1]] if taken and used else []


def _things_put(goal: HouseGoal, did: Sequence[tuple[int, Command]]) -> list[int]:
    put: dict[str, int] = {}
    for at, each in did:
        if kinds(each.thing) == goal.object and each.verb in ("take", "put"):
            put.pop(each.thing, None)
            if each.verb == "put" and kinds(each.place) == goal.receptacle:
                put[each.thing] = at
    acts: list[int] = []
    for thing in list(put)[-goal.count :]:
        before = [(at, each) for at, each in did if each.thing == thing and at < put[thing]]
        taken = [at for at, each in before if each.verb == "take"][:1]
        treated = [at for at, each in before if each.verb == goal.treatment][-1:]
        if taken and (treated or not goal.treatment):
            acts += [*taken, *treated, put[thing]]
    return acts if len(put) >= goal.count else []


def _way_to(did: Sequence[tuple[int, Command]], act: int) -> Iterator[int]:
    """Yield how the place of an act was last gone to before it, and opened if it goes in or out."""
    made = next(each for at, each in did if at == act)
    before = [(at, each) for at, each in did if at < act]
    gone = [(at, each.place) for at, each in before if each.verb == "go"]
    yield from [at for at, place in gone if place == made.place or not made.place][-1:]
    if made.verb in ("take", "put"):
        yield from [at for at, each in before if each == Command("open", place=made.place)][-1:]
