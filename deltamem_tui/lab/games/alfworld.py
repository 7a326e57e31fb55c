"""ALFWorld: things move between episodes, so places and things are named by their kinds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from deltamem_tui.memory.chances import Chance, TaskAtHand, chances
from deltamem_tui.memory.domain import Diagnosis, Domain, Effect, Fact, Goal, Move, Shortcut
from deltamem_tui.memory.findings import moves_of, of_actions
from deltamem_tui.memory.places import place_fact, thing_fact
from deltamem_tui.memory.procedure import Procedure, filled
from deltamem_tui.memory.wording import condense, distinct, listed
from deltamem_tui.trajectory.model import Step, Trajectory

Verb = Literal["go", "open", "close", "take", "put", "heat", "cool", "clean", "use"]
_THING = re.compile(r"\b([a-z]+) (\d{1,6})\b")
_GONE = re.compile(r"^go to ([a-z]+)$", re.MULTILINE)
_ACT = re.compile(r"(?:take|put|move|heat|cool|clean|slice|use|toggle)\b")
_WHERE = re.compile(r" (?:from|in/on|in|on|to|with) (?P<place>[a-z]+ \d+)$")
_SEEN = re.compile(
    r"(?:(?:On|In) the (?P<place>[a-z]+ \d+)|(?:The (?P<open>[a-z]+ \d+) is open\. )?(?:On|In) it)"
    r", you see (?P<things>[^.]*)"
)
_OPENED = re.compile(r"You open the (?P<place>[a-z]+) \d+")
_CLOSED = re.compile(r"The (?P<place>[a-z]+) \d+ is closed")
_REFUSED = "Nothing happens"
_OF_ALL_THAT_LIES = ("look", "inventory")
_APPLIANCES = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}
_SHOWN = 6


class AlfworldDomain(Domain):
    """A house of receptacles: go, open, take, put, heat, cool, clean, use."""

    about = "household tasks in text"
    presets = MappingProxyType({"deltamem": {"tau_task": 0.75, "tau_env": 0.85, "k_cons": 5}})
    fact_names = ("do", "state", "object", "receptacle", "tool", "count")

    def goal(self, trajectory: Trajectory) -> Goal:
        """Return the kind of goal in both its wordings, object and receptacle left open."""
        asked = house_goal(trajectory.task)
        if asked is None:
            return super().goal(trajectory)
        known = (("object", asked.object), ("receptacle", asked.receptacle), ("tool", asked.tool))
        slots = tuple((slot, name) for slot, name in known if name)
        return Goal(
            trigger=asked.trigger,
            variant=listed([name for slot, name in slots if slot != "tool"]),
            names=tuple((re.compile(rf"\b{name}(?: \d+)?\b"), f"[{slot}]") for slot, name in slots),
            slots=slots,
            understood=True,
        )

    def contradicts(self, task: str, condition: str) -> bool:
        """Return whether both ask for a treatment, and not for the same."""
        asked, known = treatments(task), treatments(condition)
        return bool(asked and known and not asked & known)

    def moves(self, trajectory: Trajectory, goal: Goal) -> list[Move]:
        """Return the steps, those marked that brought the goal about."""
        needed = frozenset(needed_steps(trajectory))
        moves = super().moves(trajectory, goal)
        return [replace(move, is_needed=at in needed) for at, move in enumerate(moves)]

    def move(self, step: Step, goal: Goal) -> Move:
        """Return one step, its things named by their kinds."""
        answer = re.sub(r"You arrive at loc \d+\. ", "", step.observation)
        gone = command_of(step.action)
        place = gone.place if gone and gone.verb == "go" else ""
        return Move(
            action=condense(kinds(goal.generalise(step.action)), 12) or "no action",
            answer=condense(_counted(goal.generalise(answer)), 16) or "no answer",
            effect=self.effect(step),
            reward=step.reward or 0.0,
            wording=step.action,
            place=kinds(goal.generalise(place)),
        )

    def effect(self, step: Step) -> Effect:
        """Acting on a thing has an effect; going, opening and looking are search."""
        if _REFUSED in step.observation:
            return "refused"
        return "done" if _ACT.match(step.action.strip()) else "looked"

    def procedure(self, moves: Sequence[Move]) -> list[str]:
        """Return the acts that brought the goal about, each with the way to where it is done."""
        lines: list[str] = []
        here = ""
        opened: set[str] = set()
        for at in _acts(moves):
            place = _place_of(moves, at)
            if place and place != here:
                here, kind = place, _place_in(moves[at], place)
                lines.append(f"go to {kind}")
                was_closed = any(move.wording.strip() == f"open {place}" for move in moves[:at])
                act = command_of(moves[at].wording)
                if was_closed and place not in opened and act and act.verb in ("take", "put"):
                    opened.add(place)
                    lines.append(f"open {kind}")
            lines += [] if moves[at].place else [moves[at].action]
        return lines

    def unexplored(self, trajectory: Trajectory, goal: Goal) -> list[str]:
        """Return kinds of places in sight never visited, and things in hand never put down."""
        did = [command for _, command in commands(trajectory.steps)]
        visited = {kinds(each.place) for each in did if each.verb == "go"}
        shown = kinds_in(trajectory.environment)
        never = [f"go to {goal.generalise(kind)}" for kind in shown if kind not in visited]
        of_object = {each.verb for each in did if goal.generalise(each.thing) == "[object]"}
        wanted = any(slot == "receptacle" for slot, _ in goal.slots)
        if "take" in of_object and "put" not in of_object and wanted:
            never.insert(0, "put [object] in/on [receptacle] once it is in hand")
        return never

    def scene(self, trajectory: Trajectory) -> str:
        """Return the room by the kinds of receptacles in it."""
        shown = kinds_in(trajectory.environment)
        if not shown:
            return super().scene(trajectory)
        return f"in the middle of a room, looking around you see a {', a '.join(shown)}"

    def facts(self, trajectory: Trajectory) -> list[Fact]:
        """Return which things lie in which kinds of places, and how appliances answered."""
        return [*self.functions(trajectory), *_place_facts(trajectory)]

    def further_facts(self, trajectory: Trajectory) -> list[Fact]:
        """Return how appliances answered, and where the things of the task were looked for."""
        wanted = [name for slot, name in self.goal(trajectory).slots if slot != "receptacle"]
        sought = [fact for name in wanted for fact in _search_of(trajectory, name)]
        return [*sought, *self.functions(trajectory)]

    def likely_places(
        self, task: TaskAtHand, known: Sequence[Procedure]
    ) -> dict[str, list[Chance]]:
        """Return the kinds of places in the room, by how likely a look there finds the thing."""
        return likely_places(task, known)

    def at_hand(self, procedure: Procedure, task: TaskAtHand) -> list[str]:
        """Return the steps with each thing where it is likeliest to be, and doors opened."""
        closes = {fact.place: False for fact in task.facts if not fact.sought}
        closes |= {fact.place: True for fact in task.facts if fact.closes}
        places = likely_places(task, [procedure])
        return super().at_hand(located(procedure, places, task.names, closes), task)

    def lacking(self, steps: Sequence[str], task: TaskAtHand) -> list[str]:
        """Return the kinds of places gone to that are not in the room, if it is described."""
        shown = kinds_in(task.scene)
        gone = distinct(_GONE.findall("\n".join(steps)))
        return [kind for kind in gone if kind not in shown] if shown else []

    def is_effective(self, move: Move) -> bool:
        """Count going, opening and closing as part of what was done, too."""
        looked = move.effect == "looked" and command_of(move.wording) is not None
        return looked or super().is_effective(move)

    def blanked(self, action: str) -> str:
        """Return an action with things and places named by their kinds."""
        return kinds(action)

    def source_left_open(self, actions: Iterable[str]) -> tuple[str, ...]:
        """Return actions without where the object lay, and the way there: houses differ.

        It is not where the object is to be put, though both may be of one kind.
        """
        steps: list[str] = []
        for action in actions:
            if not action.startswith(_TAKE):
                steps.append(action)
                continue
            before = len(steps)
            while steps and steps[-1].startswith((_GO, _OPEN)):
                steps.pop()
            steps += [f"{_GO}[place]"] * (len(steps) < before) + [f"{_TAKE}[place]"]
        return tuple(steps)

    def shortcut(self, trajectory: Trajectory) -> Shortcut | None:
        """Return the steps that brought the goal about, if the episode shows them all."""
        way = tuple(trajectory.steps[at].action.strip() for at in needed_steps(trajectory))
        return of_actions(trajectory, way) if way else None

    def places_of_things(self, trajectory: Trajectory) -> Iterator[tuple[str, str]]:
        """Yield instances as they are shown or moved: `mug 1` → `shelf 2`."""
        here = ""
        for step in trajectory.steps:
            if _REFUSED in step.observation:
                continue
            command = command_of(step.action)
            here = command.place if command and command.verb == "go" else here
            if command and command.verb == "take":
                yield command.thing, command.place
                yield command.thing, self.in_hand
            elif command and command.verb == "put":
                yield command.thing, command.place
            for place, things in _shown(step, here):
                yield from ((thing, place) for thing in things)

    def kind_of(self, thing: str) -> str:
        """Return `drawer` for `drawer 3`."""
        return kinds(thing)

    def functions(self, trajectory: Trajectory) -> list[Fact]:
        """Return what was heated, cooled, cleaned or used, and with what answer."""
        closed: set[str] = set()
        facts: dict[str, dict[str, None]] = {}
        for step in trajectory.steps:
            closed.update(_CLOSED.findall(step.observation))
            closed.difference_update(_OPENED.findall(step.observation))
            command = command_of(step.action)
            if command is None or command.verb not in (*STATES, "use"):
                continue
            device = kinds(command.place or command.thing)
            if _REFUSED in step.observation:
                answer = f"{command.verb} did nothing"
            else:
                answer = f"{command.verb} works"
                answer += " with its door closed" * (device in closed)
            facts.setdefault(device, {})[answer] = None
        return [Fact(device, tuple(answers)) for device, answers in facts.items()]

    def diagnosis(self, trajectory: Trajectory) -> Diagnosis | None:
        """Return the first step of the goal that was never reached, and why."""
        goal = house_goal(trajectory.task)
        return _diagnosis(self, trajectory, goal) if goal else None

    def task_facts(self, task: str) -> dict[str, str]:
        """Return what is done to which thing, and where."""
        goal = house_goal(task)
        if goal is None:
            return {}
        return {
            "do": goal.treatment or ("look at" if goal.tool else "put"),
            "state": goal.state,
            "object": goal.object,
            "receptacle": goal.receptacle,
            "tool": goal.tool,
            "count": "two" if goal.count > 1 else "",
        }

    def exact_env(self, scene: str) -> str:
        """Return the receptacles with their numbers."""
        return ", ".join(sorted({found[0] for found in _THING.finditer(scene)}))

    def env_kind(self, scene: str) -> str:
        """Return the receptacles without their numbers."""
        return ", ".join(sorted({found[1] for found in _THING.finditer(scene)}))


def kinds(text: str) -> str:
    """Return a text without instance numbers: `drawer 3` becomes `drawer`."""
    return _THING.sub(r"\1", text)


def kinds_in(text: str) -> list[str]:
    """Return the kinds of things and places that a text names with their numbers, each once."""
    return distinct(kind for kind, _ in _THING.findall(text))


def _counted(answer: str) -> str:
    """Return an answer with things named by kind, each kind once."""
    head, see, things = answer.partition("you see ")
    seen = kinds_in(things)
    return f"{kinds(head)}you see {listed(seen, 6)}" if see and seen else kinds(answer)


# Goals


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
    """What a step does.

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
    return [(at, each) for at, each in known if each and _REFUSED not in steps[at].observation]


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
    last = [at for at, each in did if each.verb == "go"][-1:]
    if not taken or not used:
        return []
    # A lamp that was lit before is come back to with the thing in hand.
    return [taken[-1], used[-1], *(last if used[-1] < taken[-1] else ())]


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


def _acts(moves: Sequence[Move]) -> list[int]:
    """Return which moves brought the goal about, else all with what it names.

    The way to them goes without saying, if it is not the last that is needed.
    """
    needed = [at for at, move in enumerate(moves) if move.is_needed]
    if needed:
        return [at for at in needed if moves[at].effect == "done" or at == needed[-1]]
    done = [at for at, move in enumerate(moves) if move.effect == "done"]
    return [at for at in done if "[object]" in moves[at].action] or done


def _place_of(moves: Sequence[Move], at: int) -> str:
    """Return the place, with its number, where a move was made: named by it, else last gone to."""
    if found := _WHERE.search(moves[at].wording.strip()):
        return found["place"]
    gone = (command_of(move.wording) for move in reversed(moves[: at + 1]))
    return next((each.place for each in gone if each and each.verb == "go"), "")


def _place_in(act: Move, place: str) -> str:
    """Return a place as the act itself calls it: `[receptacle]` where the goal names it, else its
    kind.
    """
    kind = kinds(place)
    return "[receptacle]" if _WHERE.search(act.wording.strip()) and kind not in act.action else kind


# What lies where


def _shown(step: Step, here: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each place that an answer shows, and the things there."""
    for found in _SEEN.finditer(step.observation):
        if place := found["place"] or found["open"] or here:
            yield place, [thing[0] for thing in _THING.finditer(found["things"])]


def _first_looks(trajectory: Trajectory) -> Iterator[tuple[str, list[str]]]:
    """Yield each place with the kinds of things that lay there at first, before anything was
    put.
    """
    here = ""
    known: set[str] = set()
    for step in trajectory.steps:
        command = command_of(step.action)
        here = command.place if command and command.verb == "go" else here
        if step.action.strip() in _OF_ALL_THAT_LIES:
            continue
        for place, things in _shown(step, here):
            if place not in known:
                known.add(place)
                yield place, distinct(map(kinds, things))


def _place_facts(trajectory: Trajectory) -> list[Fact]:
    """Per kind of place how many were looked at, and in how many of them each kind of thing lay."""
    seen: dict[str, Counter[str]] = {}
    looked: Counter[str] = Counter()
    for place, things in _first_looks(trajectory):
        looked[kinds(place)] += 1
        seen.setdefault(kinds(place), Counter()).update(things)
    doors = {kind for step in trajectory.steps for kind in _OPENED.findall(step.observation)}
    return [place_fact(kind, looked[kind], seen[kind], closes=kind in doors) for kind in seen]


def _search_of(trajectory: Trajectory, thing: str) -> list[Fact]:
    """Return where a thing that the task is about was looked for, and in how many places it lay."""
    found: Counter[str] = Counter()
    looked: Counter[str] = Counter()
    for place, things in _first_looks(trajectory):
        looked[kinds(place)] += 1
        found[kinds(place)] += thing in things
    return [thing_fact(thing, found, looked)] if found.total() else []


# A procedure for the places at hand


_GO, _OPEN, _TAKE = "go to ", "open ", "take [object] from "
_PUT = ("put ", "move ")
_MOVED = ("take ", *_PUT)
_SOUGHT = re.compile(r"take (?P<object>\[object\]) from .+|use (?P<tool>\[tool\])")


def likely_places(task: TaskAtHand, known: Iterable[Procedure]) -> dict[str, list[Chance]]:
    """Return per open place of a procedure the kinds of places for what the task names there.

    Where nothing is known of a thing's places there are none: the procedure's own is better.
    What is only moved is not looked for where it is to be.
    """
    among = kinds_in(task.scene)
    goal = task.names.get("receptacle") if any(map(only_moves, known)) else None
    likely = {
        slot: [each for each in chances(task.facts, thing, among) if each.place != goal]
        for slot, thing in task.names.items()
        if thing not in among
    }
    return {slot: some for slot, some in likely.items() if some and some[0].chance > 0}


def located(
    procedure: Procedure,
    places: Mapping[str, Sequence[Chance]],
    names: Mapping[str, str],
    closes: Mapping[str, bool] = MappingProxyType({}),
) -> Procedure:
    """Return the procedure with each thing taken or used where it is likeliest to be.

    Args:
        procedure: Commands with the names of the task left open.
        places: Per slot (`object`) the kinds of places for what stands there, the likeliest
            first.
        names: What stands at each open place.
        closes: The kinds of places that are known, and whether they are to be opened before
            anything is put in or taken out.
    """
    if not any(_SOUGHT.fullmatch(step) for step in procedure.steps):
        return procedure
    closed = {place for place, is_closed in closes.items() if is_closed}
    for step in procedure.steps:
        if step.startswith(_OPEN):
            place = step.removeprefix(_OPEN)
            here = filled(place, names)
            closed.add(filled(place, procedure.names) if here in closes else here)
    steps = _opening(_led(_ended(procedure.steps, names), places), names, closed)
    return replace(procedure, steps=tuple(steps))


def only_moves(procedure: Procedure) -> bool:
    """Return whether the object is only brought to its place: what lies there stays."""
    about = [step for step in procedure.steps if "[object]" in step]
    return bool(about) and all(step.startswith(_MOVED) for step in about)


def _ended(steps: Sequence[str], names: Mapping[str, str]) -> Sequence[str]:
    """Return the steps with the goal's last act: a game may be won before it, by what lay there."""
    if "receptacle" not in names or any(step.startswith(_PUT) for step in steps):
        return steps
    return (*steps, f"{_GO}[receptacle]", "put [object] in/on [receptacle]")


def _led(steps: Sequence[str], likely: Mapping[str, Sequence[Chance]]) -> list[str]:
    """Return the steps without doors, each way to a thing replaced by the way to where it likely
    is.
    """
    led: list[str] = []
    for step in steps:
        sought = _SOUGHT.fullmatch(step)
        slot = (sought.lastgroup or "") if sought else ""
        if some := likely.get(slot):
            place = some[0].place
            while led and led[-1].startswith(_GO):
                led.pop()
            led += [f"{_GO}{place}", f"{_TAKE}{place}" if slot == "object" else step]
        elif not step.startswith(_OPEN):
            led.append(step)
    return led


def _opening(
    steps: Iterable[str], names: Mapping[str, str], closed: Collection[str]
) -> Iterator[str]:
    """Yield the steps with each closed place opened once, before anything goes in or out.

    A way to the kind of place where one is already is left out: an appliance may be the goal's.
    """
    here = ""
    opened = set()
    for step in steps:
        if here and step.startswith(_GO) and filled(step, names) == f"{_GO}{filled(here, names)}":
            continue
        if step.startswith(_GO):
            here = step.removeprefix(_GO)
        kind = filled(here, names)
        if step.startswith(_MOVED) and kind in closed and kind not in opened:
            opened.add(kind)
            yield f"{_OPEN}{here}"
        yield step


# Why a failure failed


_REMEDIES = {
    "take": "Stand at the place that holds [object], open it if it is closed, with empty hands",
    "put": "Go to [receptacle] with [object] in hand and open it if it is closed",
    "use": "Go to the place where the lamp stands",
    **{verb: f"Go to a {place} with [object] in hand" for verb, place in _APPLIANCES.items()},
}


def _diagnosis(domain: Domain, trajectory: Trajectory, goal: HouseGoal) -> Diagnosis:
    missing, verb = _missing(goal, [command for _, command in commands(trajectory.steps)])
    for step, move in zip(trajectory.steps, moves_of(trajectory)[1], strict=True):
        command = command_of(step.action) if move.effect == "refused" else None
        about = kinds(command.thing) if command else ""
        if command and command.verb == verb and about in (goal.object, goal.tool):
            return Diagnosis(
                "operation",
                f"`{move.action}` was refused where the goal needed it: {move.answer.rstrip('.')}.",
                f"{_REMEDIES[verb]}, then {missing}.",
                move.action,
                move.answer,
                missing,
            )
    if verb == "take":
        return _not_found(domain, trajectory, goal, missing)
    return Diagnosis(
        "planning",
        f"The episode had [object] in hand and never came to this step: {missing}.",
        f"Once [object] is in hand: {missing}.",
        missing=missing,
    )


def _missing(goal: HouseGoal, did: Sequence[Command]) -> tuple[str, str]:
    """Return the first step of a goal that commands do not reach, and the verb that reaches it."""
    of_object = [each for each in did if kinds(each.thing) == goal.object]
    held = {each.thing for each in of_object if each.verb == "take"}
    if len(held) < goal.count:
        return f"take {'a second ' if held else ''}[object]", "take"
    if goal.tool:
        if any(each.verb == "use" and kinds(each.thing) == goal.tool for each in did):
            return f"hold [object] where the {goal.tool} stands that is turned on", ""
        return f"go to the {goal.tool} with [object] in hand and use it", "use"
    verb = goal.treatment
    if verb and all(each.verb != verb for each in of_object):
        return f"{verb} [object] with the {_APPLIANCES[verb]}", verb
    there = (each for each in of_object if kinds(each.place) == goal.receptacle)
    placed = {each.thing for each in there if each.verb == "put"}
    if len(placed) >= goal.count:
        return "put [object] in/on [receptacle] again, as the last step", "put"
    return f"put {'a second ' if placed else ''}[object] in/on [receptacle]", "put"


def _not_found(domain: Domain, trajectory: Trajectory, goal: HouseGoal, missing: str) -> Diagnosis:
    """Return a failure of search: where it looked, and where it did not."""
    did = [command for _, command in commands(trajectory.steps)]
    visited = distinct(each.place for each in did if each.verb == "go")
    shown = distinct(found[0] for found in _THING.finditer(trajectory.environment))
    others = distinct(kinds(place) for place in shown if place not in visited)
    looked = distinct(map(kinds, visited))
    new = [kind for kind in others if kind not in looked]
    taken = {each.thing for each in did if each.verb == "take"}
    seen = [
        place
        for thing, place in domain.places_of_things(trajectory)
        if place != domain.in_hand and thing not in taken and kinds(thing) == goal.object
    ]
    if seen:
        plan = f"Take [object] from the {kinds(seen[0])} where it was seen."
    elif others:
        where = f"next in: {listed(new, _SHOWN)}" if new else f"again in: {listed(others, _SHOWN)}"
        plan = f"Look {where}."
    else:
        plan = "Open what is closed, and look again where nothing was opened."
    second = "a second " if "second" in missing else ""
    places = listed(looked, _SHOWN) or "no place"
    reflection = f"It never had {second}[object] in hand; it looked in: {places}."
    return Diagnosis("search", reflection, plan, missing=missing)
