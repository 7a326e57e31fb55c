"""ScienceWorld: the rooms are fixed, so facts are exact; tasks differ in their substances."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile
from types import MappingProxyType

from deltamem_tui.memory.chances import Chance, TaskAtHand
from deltamem_tui.memory.domain import Diagnosis, Domain, Effect, Fact, Goal, Move, Shortcut
from deltamem_tui.memory.findings import moves_of, stuck, unexplored
from deltamem_tui.memory.procedure import Procedure
from deltamem_tui.memory.wording import condense, distinct, key, listed
from deltamem_tui.text import clean, one_line
from deltamem_tui.trajectory.model import Step, Trajectory

_REFUSED = re.compile(
    r"No known action|Unknown action|not open|not clear how|can't move something into itself"
    r"|not sure how|appears broken|does not appear to produce|so there are no items"
)
_NEEDLESS = re.compile(r"is already|already connected")
_LOOKING = re.compile(r"(?:look|inventory|task|objects|help|examine|read|wait)")
_ENTERED = re.compile(r"You move to the ([\w ]+)\.")
_CHOSEN = re.compile(r"focus on [^\[]+$")
_FETCHED = re.compile(r"(?:pick up|focus on) \[\w+\]")
_READING = re.compile(r"temperature of -?\d+ degrees|time reads \d+ ticks")
_ANYWHERE = re.compile(r"\b(?:around|in|near) the (?:house|building)\b")

_VERB = re.compile(
    r"measure the (?:melting point|temperature)|change the state|turn on|use chemistry|focus on"
    r"|determine (?:which|whether|if)|\w+"
)
_INSTRUMENT = re.compile(r"\bthermometer\b|\b(?:non)?renewable power source\b")
_TARGET = re.compile(
    r"\bfind a\(n\) ([\w-]+(?: thing)?)|\bcreate ([\w-]+ paint)\b"
    r"|\bhas the (\w+ (?:angle|friction))\b|\bwith the (\w+ life span)\b"
)
_TARGETS = ("trait", "substance", "device", "fruit", "plant", "animal")
_MORE = re.compile(r" and \d+ more$")
_NUMBERED = re.compile(r"\b([a-z]+) (\d+)\b")
_SCENERY = frozenset(("agent", "substance called air"))
_SHOWN = 6

_Act = tuple[list[tuple[str, str]], Move]


class ScienceWorldDomain(Domain):
    """Ten rooms, exact commands, points for sub-goals."""

    answer_words = 14
    about = "school science in text"
    presets = MappingProxyType({"deltamem": {"tau_task": 0.82, "tau_env": 0.82, "k_cons": 3}})
    fact_names = ("verb", "target", "instrument", "place")

    def contradicts(self, task: str, condition: str) -> bool:
        """Return whether one asks for the most of something, and the other for the least of it."""
        return contradict(task, condition)

    def goal(self, trajectory: Trajectory) -> Goal:
        """Return the task's own sentences with substances, colours, rooms and degrees left open."""
        return _goal(trajectory)

    def move(self, step: Step, goal: Goal) -> Move:
        """Return one step, with the room it led to."""
        entered = _ENTERED.match(step.observation)
        return replace(super().move(step, goal), place=entered[1] if entered else "")

    def moves(self, trajectory: Trajectory, goal: Goal) -> list[Move]:
        """Return the steps, each with the room it was made in."""
        room = room_of(trajectory.environment)
        moves = []
        for step, move in zip(trajectory.steps, super().moves(trajectory, goal), strict=True):
            moves.append(replace(move, room=room))
            room = move.place or room_of(step.observation) or room
        return moves

    def effect(self, step: Step) -> Effect:
        """Tell what changed something: looking, reading and waiting do not."""
        if _REFUSED.search(step.observation[:300]) or step.observation.startswith("Ambiguous"):
            return "refused"
        needless = _NEEDLESS.search(step.observation[:300])
        return "looked" if needless or _LOOKING.match(step.action.strip()) else "done"

    def is_lesson(self, move: Move) -> bool:
        """Return what the simulator has no command for, or lets one do with anything, teaches
        nothing.
        """
        return is_lesson(move)

    def procedure(self, moves: Sequence[Move]) -> list[str]:
        """Return what led to the points: the last use of each thing backwards, and the way
        between.

        It begins with the room where something is done first, wherever the episode began.
        """
        doors = {move.action for move in moves if move.action.startswith("open door")}
        acts = list(_apart(_acts(shortest(moves))))
        chosen = next((at for at, (_, act) in enumerate(acts) if _CHOSEN.match(act.action)), -1)
        lines: list[str] = []
        for at, (route, act) in enumerate(acts):
            start = route[-1:] or [(act.room, act.room)] * bool(act.room)
            rooms = route if lines else start
            for room, name in rooms:
                opened = bool(lines) and f"open door to {name}" in doors
                # The task means the room where something is done, and not where a thing was
                # found that it leaves to be chosen.
                meant = name if room == rooms[-1][0] and at > chosen else room
                lines += [f"open door to {meant}"] * opened + [f"go to {meant}"]
            lines += act.action.split("\n")
        return lines

    def readings(self, moves: Sequence[Move]) -> list[str]:
        """Return the last number that was read of each thing in its place."""
        last: dict[str, str] = {}
        put = ""
        for move in moves:
            if move.effect == "done" and move.action.startswith(("move ", "pour ")):
                put = move.action
            if found := _READING.search(move.answer):
                of = move.action if move.action.startswith("use ") else put
                last[put] = f"`{of}`: {found[0]}"
        return list(last.values())

    def ingredients(self, steps: Sequence[str]) -> dict[str, str]:
        """Return the colours of the paints that are mixed."""
        return ingredients(steps)

    def likely_places(
        self, task: TaskAtHand, known: Sequence[Procedure]
    ) -> dict[str, list[Chance]]:
        """Return where things were seen; not that of which the task says itself where it is."""
        likely = super().likely_places(task, known)
        told = ("substance",) if "room" in task.names else ()
        return {slot: some for slot, some in likely.items() if slot not in told}

    def unexplored(self, trajectory: Trajectory, goal: Goal) -> list[str]:
        """Return what the task asks to focus on, and the rooms it names that were not entered."""
        did = [goal.generalise(step.action) for step in trajectory.steps]
        never = []
        if "focus on" in trajectory.task and not any("focus on" in action for action in did):
            never.append("focus on what the task names")
        entered = {room for step in trajectory.steps for room in _ENTERED.findall(step.observation)}
        entered.add(room_of(trajectory.environment))
        shown = [trajectory.environment, *(step.observation for step in trajectory.steps)]
        doors = distinct(room for text in shown for room in doors_of(text))
        anywhere = _ANYWHERE.search(trajectory.task)
        wanted = [room for room in doors if anywhere or room in trajectory.task]
        return never + [f"go to {room}" for room in wanted if room not in entered]

    def scene(self, trajectory: Trajectory) -> str:
        """Return the room, its things and its doors, without what changes between episodes."""
        if room_of(trajectory.environment):
            return scene_of(trajectory.environment)
        return super().scene(trajectory)

    def facts(self, trajectory: Trajectory) -> list[Fact]:
        """Return each room's things and doors, then the commands that were answered."""
        moves = self.moves(trajectory, self.goal(trajectory))
        return [*room_facts(trajectory), *command_facts(moves)]

    def blanked(self, action: str) -> str:
        """Rooms and devices are the same in all episodes; a number answers a question."""
        return action

    def shortcut(self, trajectory: Trajectory) -> Shortcut | None:
        """Return what led to the points, found backwards by what the steps share."""
        as_logged = tuple(self.procedure(self.moves(trajectory, Goal(""))))
        plan = self.procedure(self.moves(trajectory, self.goal(trajectory)))
        return Shortcut(as_logged, tuple(plan))

    def places_of_things(self, trajectory: Trajectory) -> Iterator[tuple[str, str]]:
        """Things by room, those in another one with it, as each description lists them in turn."""
        return _in_rooms(trajectory)

    def kind_of(self, thing: str) -> str:
        """Return a thing without its number."""
        return _NUMBERED.sub(r"\1", thing)

    def functions(self, trajectory: Trajectory) -> Sequence[Fact]:
        """Commands that worked, by room."""
        return [fact for fact in self.facts(trajectory) if fact.subject.startswith("works in ")]

    def diagnosis(self, trajectory: Trajectory) -> Diagnosis | None:
        """By its points, its refusals and its rooms."""
        return _of_science(trajectory)

    def task_facts(self, task: str) -> dict[str, str]:
        """Return what is done to what, with what and where."""
        return _task_facts(task, dict(self.goal(Trajectory(clean(task), "", ())).slots))

    def exact_env(self, scene: str) -> str:
        """Return the room."""
        return room_of(scene)

    def parts(self, text: str) -> list[str]:
        """Return the parts of an answer without what is in every room."""
        return [part for part in super().parts(text) if key(part) not in _SCENERY]


# Goals


ROOMS = (
    "kitchen|bathroom|bedroom|living room|workshop|hallway|greenhouse|art studio|foundry|outside"
)
_COLOUR = "red|green|blue|orange|yellow|purple|violet|black|white|brown|pink|grey"
_GOAL_WORDS = 90

# Where a task names an instance, and what kind of thing it is.
_NAMED = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"\b(?:boil|melt|freeze|change the state of matter of) ([^.]+)\.", "substance"),
        (r"create the substance '([^']+)'", "substance"),
        (r"grow an? ([\w ]+?) plant from seed", "plant"),
        (r"grow an? ([\w ]+?)\. This will", "fruit"),
        (r"life stages of the ([\w ]+?) plant,", "plant"),
        (r"life stages of the (?!\w+ plant,)([\w ]+?),", "animal"),
        (r"(?:melting point|temperature) of ([^,]+?), which", "substance"),
        (r"whether ([\w ]+?) is a dominant", "trait"),
        (r"trait in the (?!plant)([\w ]+?) plant", "plant"),
        (r"determine if (.+?) is electrically", "substance"),
        (r"\bturn on the ([\w ]+?)(?: by\b|\.)", "device"),
    )
)
_KINDS = frozenset(kind for _, kind in _NAMED)
_PLANES = re.compile(r" \((?:inclined plane )?([^()]+), (?:inclined plane )?([^()]+)\)(?= has the)")
_TINT = re.compile(rf"\b(?:{_COLOUR})(?:-(?:{_COLOUR}))? (?=light bulb\b|paint\b)")
_BOX = re.compile(rf"\b({_COLOUR}) box\b")
_BOX_MARKS = "′″‴"
_STAGE = "egg|hatchling|baby|juvenile|adult|seedling|reproducing"
_STAGES = re.compile(rf"^(?:(?:{_STAGE}) )+(?=.)|(?:(?<=.) (?:{_STAGE}))+$")
_TINTED = re.compile(rf"\b((?:{_COLOUR})(?:-(?:{_COLOUR}))?) (?:light bulb|paint)\b")
_PAINT = re.compile(rf"\b({_COLOUR}) paint\b")
_DEGREES = re.compile(r"-?\d+(?:\.\d+)? degrees celsius")
_SPOT = re.compile(rf"\b((?:around|near|in) the) (?:{ROOMS})\b")
_ROOM = re.compile(rf"\b({ROOMS})\b")
_COUNT = re.compile(r"\bthe \d+ (?=life stages)")
_AMOUNT = re.compile(r"\b(boil|melt|freeze) (?:some|the|an?) ")
PREAMBLE = re.compile(r"^(?:Task description:)?\s*Your task is to ")
_PRODUCT = re.compile(r"(?:second )?paint|substance")
_OPTION = re.compile(r"(?:second )?(?:box|surface)")
_CHOICE = re.compile(r"focus on the (?:thing|animal)\b", re.IGNORECASE)
_SHORT = (
    (re.compile(r"unknown substance \w"), re.compile(r"\bunknown substance\b(?! [A-Z]\b)")),
    (re.compile(r".*light bulb"), re.compile(r"\blight\b(?! bulb\b)")),
)
_FOCUSED = re.compile(r"focus on (.+)")
_FOCUS = re.compile(r"You focus on the (.+)\.$")
_OPPOSITES = (
    ("most", "least"),
    ("steepest", "shallowest"),
    ("longest", "shortest"),
    ("highest", "lowest"),
)
_SUPERLATIVE = re.compile(rf"\b({'|'.join(word for pair in _OPPOSITES for word in pair)})\b")


def contradict(one: str, other: str) -> bool:
    """Return whether one text has a superlative, and the other only its opposite."""
    asked, known = set(_SUPERLATIVE.findall(one)), set(_SUPERLATIVE.findall(other))
    return any(
        len(both & asked) == len(both & known) == 1 and both & asked != both & known
        for both in map(frozenset, _OPPOSITES)
    )


def _goal(trajectory: Trajectory) -> Goal:
    """Return the task's own sentences with substances, colours, rooms and degrees left open."""
    text = _AMOUNT.sub(r"\1 ", PREAMBLE.sub("", one_line(trajectory.task)))
    named, text = _without_names(text if text.endswith(".") else f"{text}.")
    surfaces, text = _without_planes(text)
    colours, boxes, rooms = (distinct(each.findall(text)) for each in (_TINTED, _BOX, _ROOM))
    slots = [
        *named,
        *_numbered("paint", [f"{colour} paint" for colour in colours]),
        *_numbered("box", [f"{colour} box" for colour in boxes]),
        *_numbered("surface", surfaces),
        *_numbered("room", rooms),
    ]
    things = _things(trajectory)
    chosen = _numbered("animal" if "the animal" in text else "thing", list(things))
    mentions = zip(things.values(), (f"[{slot}]" for slot, _ in chosen), strict=False)
    creates = text.startswith("use chemistry to create")
    two = boxes[1:] or surfaces
    instances = [*(name for _, name in named), *surfaces, *colours] or list(things)[:1]
    return Goal(
        trigger=condense(_of_any_variation(text, boxes), _GOAL_WORDS),
        variant=listed(distinct([*instances, *rooms]), 4),
        names=(*_patterns(slots), *mentions, *_in_short(slots)),
        slots=(*slots, *chosen),
        understood=True,
        options=tuple(slot for slot, _ in slots if _OPTION.fullmatch(slot)) if two else (),
        made=tuple(slot for slot, _ in slots if _PRODUCT.fullmatch(slot)) if creates else (),
    )


def ingredients(steps: Iterable[str]) -> dict[str, str]:
    """Return the colours of the paints that steps name: open place → colour."""
    colours = distinct(colour for step in steps for colour in _PAINT.findall(step))
    return dict(zip(("colour", "second colour", "third colour"), colours, strict=False))


def _without_names(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return what a task names, as kind and name, and the text with those left open."""
    names: list[tuple[str, str]] = []
    for pattern, kind in _NAMED:
        found = pattern.search(text)
        if found and found[1] not in _KINDS and "…" not in found[1]:
            names.append((kind, found[1]))
            text = _left_open(text, found[1], kind)
    return names, text


def _without_planes(text: str) -> tuple[list[str], str]:
    """Return the names of two planes that a task compares, and the text without them."""
    planes = _PLANES.search(text)
    if not planes:
        return [], text
    return [planes[1], planes[2]], text.replace(planes[0], _surfaces(planes[1]))


def _of_any_variation(text: str, boxes: Sequence[str]) -> str:
    """Return a text without what is drawn anew for each variation: colours, degrees, rooms,
    counts.
    """
    text = _BOX.sub(lambda found: _box(found[1], boxes), text)
    text = _DEGREES.sub("a temperature", _TINT.sub("", text))
    return _COUNT.sub("the ", _SPOT.sub(r"\1 house", text))


def _numbered(kind: str, names: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip((kind, f"second {kind}"), names, strict=False))


def _box(colour: str, boxes: Sequence[str]) -> str:
    """Return a box without its colour, which is drawn anew for each variation of a task."""
    return "box" + (_BOX_MARKS[min(boxes.index(colour), len(_BOX_MARKS) - 1)] if boxes[1:] else "")


def _surfaces(plane: str) -> str:
    """Return what kind of name distinguishes two planes: a letter, a material, an unknown
    material.
    """
    if len(plane) == 1:
        return ""
    return " (unknown materials)" if "unknown" in plane else " (materials)"


def _left_open(text: str, name: str, kind: str) -> str:
    """`text` with a blank for a name; `unknown` stays, because it marks a kind of task."""
    blank = f"unknown {kind} …" if "unknown" in name else "…"
    return re.sub(rf"'?(?<!\w){re.escape(name)}(?!\w)'?", blank, text)


def _things(trajectory: Trajectory) -> dict[str, re.Pattern[str]]:
    """Return what the agent chose where the task leaves the choice, and how its actions name it.

    The answer has a thing's own name; an action may call it `object`.
    """
    if not _CHOICE.search(trajectory.task):
        return {}
    things: dict[str, list[str]] = {}
    for step in trajectory.steps:
        did, answered = _FOCUSED.match(step.action.strip()), _FOCUS.match(step.observation)
        # What cost the episode its score is not what the task asks for.
        punished = step.reward is not None and step.reward < 0
        if did and answered and not punished:
            names = [_plain(answered[1]), _plain(did[1])]
            things.setdefault(names[0], []).extend(names)
    return {name: _mention(distinct(names)) for name, names in things.items()}


def _plain(name: str) -> str:
    """Return a thing's name without its stage, and without being in hand."""
    return _STAGES.sub("", name.removesuffix(" in inventory"))


def _mention(names: Sequence[str]) -> re.Pattern[str]:
    """Return how actions name a chosen thing: by its stage too, which is not the same next time."""
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return _instance(rf"(?:(?:{_STAGE}) )*(?:{words})(?: (?:{_STAGE}))*")


def _patterns(slots: Sequence[tuple[str, str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return what leaves names open in actions, the longest name first."""
    longest = sorted(slots, key=lambda slot: -len(slot[1]))
    return tuple((_instance(re.escape(name)), f"[{kind}]") for kind, name in longest)


def _in_short(slots: Sequence[tuple[str, str]]) -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield how actions name a thing of the task where only one of its kind is about."""
    for slot, name in slots:
        for whole, short in _SHORT:
            if whole.fullmatch(name):
                yield short, f"[{slot}]"


def _instance(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){name}(?!\w)", re.IGNORECASE)


# Rooms and commands


_ROOM_HEAD = re.compile(r"(?:room|outside location) is called the ([\w ]+?)\.")
_DOOR = re.compile(r"[Aa] door to the ([\w ]+?) \(")
_EVERYWHERE_SEEN = ("the agent", "a substance called air")
_BRACKETED = re.compile(r"\(([^()]*)\)")
_HOLDS = re.compile(r"[IO]n the [\w ]+? (?:is|are): ([^.]*)\.?")
_STATE = re.compile(r",? which (?:is|are) [\w ]+|, currently reading .*| door is (?:open|closed)")
_ARTICLE = re.compile(r"^(?:an?|the) ", re.IGNORECASE)
_SUBSTANCE = re.compile(r"\b(?:a )?substance called ")
_GROWING = re.compile(r"\. On the [^,]*")  # flowers, which wither by the minute
_ANY_BOX = re.compile(r"\w+ box")  # where a task wants things brought: drawn anew for each
_MOST_THINGS = 24
TRANSFER = re.compile(
    r"(?:move|pour|pick up|drop|dunk) (?P<what>.+?)(?: (?:in|into|to|on) (?P<to>.+))?"
)
_TERMINAL = re.compile(r"\b(?:terminal|anode|cathode)\b")
_IS_ROOM = re.compile(ROOMS)
FURNITURE = frozenset(
    ("table", "counter", "chair", "couch", "bed", "desk", "drawer", "door", "floor")
)
_UNHEARD = re.compile(
    r"No known action|Unknown action|Ambiguous request|You can't move something into itself"
)
_EVERYWHERE = ("open ", "go ", "pick ", "focus ")
_WORKING = 6
_MOST_REFUSED = 3
_ANSWER_WORDS = 8


def room_of(text: str) -> str:
    """Return the room that a description is of; empty if it is not a room's."""
    found = _ROOM_HEAD.search(text)
    return found[1] if found else ""


def doors_of(text: str) -> list[str]:
    """Return the rooms that a description names doors to."""
    return distinct(_DOOR.findall(text))


def scene_of(text: str) -> str:
    """Return a room in the description's own words: its things and its doors, not their states."""
    things = distinct(name for name, _ in _listed_things(text))
    head = (
        f"This room is called the {room_of(text)}. In it, you see: {listed(things, _MOST_THINGS)}."
    )
    doors = doors_of(text)
    return f"{head} A door to the {', to the '.join(doors)}." if doors else head


def room_facts(trajectory: Trajectory) -> list[Fact]:
    """Return each room that was described: its doors, its things and the most that was seen in
    them.
    """
    rooms: dict[str, list[str]] = {}
    for text in [trajectory.environment, *(step.observation for step in trajectory.steps)]:
        if room := room_of(text):
            things = [_with_contents(name, inside) for name, inside in _listed_things(text)]
            doors = [f"door to {other}" for other in doors_of(text)]
            rooms.setdefault(room, []).extend([*doors, *things])
    return [Fact(room, tuple(_richest(items))) for room, items in rooms.items()]


def _listed_things(room: str) -> list[tuple[str, str]]:
    """Return the things a room description lists, each with what is in or on it."""
    body = room.partition("see:")[2].partition("You also see:")[0]
    lines = body.split("\n") if "\n" in body.strip() else re.split(r"\s{2,}|\t", body)
    things = []
    for line in (line.strip() for line in lines):
        if not line or line.casefold() in _EVERYWHERE_SEEN:
            continue
        held = _HOLDS.search(line) or _BRACKETED.search(line)
        inside = _GROWING.sub("", one_line(held[1])) if held else ""
        name = _STATE.sub("", re.split(r"\. |\(", line)[0]).strip(" .")
        name = _ARTICLE.sub("", _SUBSTANCE.sub("", name))
        inside = _SUBSTANCE.sub("", re.sub(r"\bcontaining ", "", inside))
        if name and not _ANY_BOX.fullmatch(name):
            things.append((name, "" if inside == "nothing" else _BRACKETED.sub("", inside)))
    return things


def _with_contents(name: str, inside: str) -> str:
    if not inside:
        return name
    parts = distinct(_ARTICLE.sub("", _STATE.sub("", part).strip()) for part in inside.split(","))
    return f"{name} [{listed(parts, 6)}]"


def _richest(items: Sequence[str]) -> list[str]:
    """Items, each thing once and with the most that was seen in it."""
    best: dict[str, str] = {}
    for item in items:
        name = item.partition(" [")[0]
        if len(item) > len(best.get(name, "")):
            best[name] = item
    return list(best.values())


@dataclass(frozen=True, slots=True)
class _Command:
    """A move and the room it was made in."""

    room: str
    move: Move
    when: str = ""

    @property
    def verb(self) -> str:
        return self.move.action.split(" ")[0]

    @property
    def refusal(self) -> str:
        """The command with the answer that refused it."""
        return f"{self.move.action}{self.when} → {condense(self.move.answer, _ANSWER_WORDS)}"


def is_sensible(action: str) -> bool:
    """Return whether an action is more than what the simulator lets one do with anything at all.

    It connects the agent to a door, and pours an orange into a room.
    """
    if action.startswith("connect "):
        ends = action.removeprefix("connect ").split(" to ", 1)
        return len(ends) == 2 and all(_TERMINAL.search(end) for end in ends)
    if action.startswith("disconnect "):
        return "wire" in action or bool(_TERMINAL.search(action))
    moved = TRANSFER.fullmatch(action)
    return not (moved and moved["to"] and _IS_ROOM.fullmatch(moved["to"]))


def is_lesson(move: Move) -> bool:
    """Return whether a refusal says something of the world: of a sensible command that there is."""
    return is_sensible(move.action) and not _UNHEARD.match(move.answer)


def command_facts(moves: Sequence[Move]) -> list[Fact]:
    """Return one example for each kind of command that worked, and for each that was refused.

    What works in one room may be refused in another, or a moment later in the same one: each
    is noted with its room, and a command that was answered both ways with its moment.
    """
    commands = [each for each in _commands(moves) if each.verb.isalpha()]
    works: dict[str, _Command] = {}
    refused: dict[tuple[str, str], _Command] = {}
    for each in commands:
        if each.move.effect == "refused" and is_lesson(each.move):
            refused.setdefault((each.room, each.move.answer), each)
        elif _is_example(each.move):
            works.setdefault(each.verb, each)
    return [
        *_by_room("works", [(each.room, each.move.action) for each in works.values()][:_WORKING]),
        *_by_room(
            "refused", [(each.room, each.refusal) for each in refused.values()][:_MOST_REFUSED]
        ),
    ]


def _is_example(move: Move) -> bool:
    """Return whether a move shows a command that works; some work in every room and go without
    saying.
    """
    moved = TRANSFER.fullmatch(move.action)
    put_down = moved is not None and moved["to"] in FURNITURE
    plain = move.effect == "done" and not move.place and is_sensible(move.action)
    return plain and not put_down and not move.action.startswith(_EVERYWHERE)


def _commands(moves: Sequence[Move]) -> Iterator[_Command]:
    """Yield the moves with their rooms, and what was answered both ways there with its moment."""
    placed = [(move.room, move) for move in moves]
    working = {(room, move.action) for room, move in placed if _is_example(move)}
    done: list[tuple[str, str]] = []
    for room, move in placed:
        both = move.effect == "refused" and (room, move.action) in working
        yield _Command(room, move, _moment(room, move.action, done) if both else "")
        if move.effect == "done":
            done.append((room, move.action))


def _moment(room: str, action: str, done: Sequence[tuple[str, str]]) -> str:
    """After what a command was refused that works at another time in the same room."""
    if (room, action) not in done:
        return ", at first"
    thing = action.partition(" ")[2]
    last = next(did for where, did in reversed(done) if where == room and thing in did)
    return f", after `{last}`"


def _by_room(what: str, texts: Iterable[tuple[str, str]]) -> list[Fact]:
    rooms: dict[str, list[str]] = {}
    for room, text in texts:
        rooms.setdefault(room, []).append(text)
    return [
        Fact(f"{what} in {room}" if room else what, tuple(items)) for room, items in rooms.items()
    ]


# The way to the points


_MEASURING = re.compile(r"(?:look at|examine|read|wait)")
_LOOK = re.compile(r"(?:look at|examine|use thermometer\b.* on) .+|wait1?")
_WAIT = re.compile(r"wait1?")
_LONG_WAIT = 10  # iterations that a single `wait` takes; any other action takes one
_OPENING = re.compile(r"open (?!door)")
_WORD = re.compile(r"\[[^\]]+\]|[a-z]{3,}")
_SMALL = "and the with into from for inventory containing"
_COMMON = frozenset([*_SMALL.split(" "), *re.split(r"\W", ROOMS)])


def shortest(moves: Sequence[Move]) -> list[Move]:
    """Return the moves that led to the points, and the way between."""
    return [move for run in _looks_apart(_relevant(_answered(moves))) for move in run]


def _looks_apart(moves: Iterable[Move]) -> Iterator[list[Move]]:
    """Yield the moves; what only looked while time passed as waiting for as long, and a last look.

    Where nothing was looked at, time counts to the tick if what was paid for came next.
    """
    runs = [(looked, list(run)) for looked, run in groupby(moves, _only_looked)]
    for (looked, run), (_, after) in pairwise([*runs, (False, [])]):
        only_waited = all(_WAIT.fullmatch(move.action) for move in run)
        timed = only_waited and (not after or after[0].reward > 0)
        yield _waited(run) if looked and not timed else run


def _only_looked(move: Move) -> bool:
    # Points for a reading are not points for the time that it took.
    paid = move.reward > 0 and move.action.startswith("use ")
    return bool(_LOOK.fullmatch(move.action)) and not paid


def _waited(looks: Sequence[Move]) -> list[Move]:
    """As long a wait as so many looks are, if that is shorter, and the last if it shows a thing."""
    end = len(looks) - (not _WAIT.fullmatch(looks[-1].action))
    time = sum(_LONG_WAIT if move.action == "wait" else 1 for move in looks[:end])
    waits = [replace(looks[-1], action="wait", reward=0.0)] * -(-time // _LONG_WAIT)
    shorter = [*waits, *looks[end:]]
    return shorter if len(shorter) < len(looks) else list(looks)


def _answered(moves: Sequence[Move]) -> Iterator[Move]:
    """Yield the moves with a question and its numeric answer as one."""
    question: Move | None = None
    for move in moves:
        if move.answer.startswith("Ambiguous request"):
            question = move
            continue
        if question is not None and move.action.isdigit():
            yield replace(move, action=f"{question.action}\n{move.action}")
        else:
            yield move
        question = None


def _relevant(moves: Iterable[Move]) -> list[Move]:
    """Return the moves that lead to the points, found backwards by the things they share."""
    # Points for something that ripens meanwhile fall on whatever is done at that moment.
    made = [move for move in moves if move.effect != "refused" and is_sensible(move.action)]
    paid = [move for move in made if move.reward > 0] or made[-1:]
    needed = {word for move in paid for word in _words(move.action)}
    kept: list[Move] = []
    for move in reversed(made):
        words = _words(move.action)
        shared = _shares(move.action, needed)
        measured = move.effect == "looked" and bool(_MEASURING.match(move.action))
        if move.reward > 0 or (shared and move.effect == "done"):
            needed |= words
        elif not (move.place or _opens_or_waits(move) or (shared and measured)):
            continue
        kept.append(move)
    return [move for move in reversed(kept) if not move.action.startswith("open door")]


def _opens_or_waits(move: Move) -> bool:
    opened = move.effect == "done" and _OPENING.match(move.action)
    return bool(opened or move.action.startswith("wait"))


def _shares(action: str, needed: set[str]) -> bool:
    """Return whether an action is about the things that later moves need."""
    moved = TRANSFER.fullmatch(action)
    if moved and FURNITURE & _words(f"move {moved['to'] or ''}") - needed:
        return False
    words = _words(f"move {moved['what']}" if moved else action)
    return 2 * len(words & needed) >= len(words) > 0


def _words(action: str) -> set[str]:
    """Return what an action names: its words without the verb, rooms and small words."""
    named = set(_WORD.findall(action.partition(" ")[2])) - _COMMON
    return named or set(_WORD.findall(action))


def _apart(acts: Iterable[_Act]) -> Iterator[_Act]:
    """Yield the acts with a room gone to twice where both the task's thing and the tools were in
    it.

    The next task's thing is elsewhere, and the tools are where they were.
    """
    for stay in _stays(acts):
        route, _ = stay[0]
        fetched = list(takewhile(lambda each: _FETCHED.fullmatch(each[1].action), stay))
        rest = stay[len(fetched) :]
        room, name = route[-1] if route else ("", "")
        if fetched and room != name and any(_uses_the_room(move) for _, move in rest):
            rest[0] = ([(room, room)], rest[0][1])
        yield from [*fetched, *rest]


def _stays(acts: Iterable[_Act]) -> Iterator[list[_Act]]:
    """Yield the acts, as many at once as are done in one room."""
    stay: list[_Act] = []
    for act in acts:
        if stay and act[0]:
            yield stay
            stay = []
        stay.append(act)
    if stay:
        yield stay


def _uses_the_room(move: Move) -> bool:
    """Return whether an act is on what is in a room, and not on the task's thing or what is in
    hand.
    """
    return not re.search(r"\[|in inventory|^wait", move.action)


def _acts(moves: Sequence[Move]) -> Iterator[_Act]:
    """Yield what is done, each after the rooms that lead there: their names, and how the way has
    them.

    Coming back to a room makes the way since then a detour.
    """
    route: list[tuple[str, str]] = []
    for move in moves:
        if not move.place:
            yield route, move
            route = []
            continue
        entered = [room for room, _ in route]
        if move.place in entered:
            route = route[: entered.index(move.place) + 1]
        else:
            gone = move.action.removeprefix("go to ")
            route = [*route, (move.place, gone if gone != move.action else move.place)]


def _in_rooms(trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    """Things by room, those in another one with it, as each description lists them in turn."""
    for text in [trajectory.environment, *(step.observation for step in trajectory.steps)]:
        for room in room_facts(Trajectory("", text)):
            for item in room.items:
                thing, _, inside = item.rstrip("]").partition(" [")
                if not thing.startswith("door to "):
                    yield thing, room.subject
                for part in _MORE.sub("", inside).split(", ") if inside else ():
                    yield part, f"{thing} in {room.subject}"


def _task_facts(task: str, slots: Mapping[str, str]) -> dict[str, str]:
    text = PREAMBLE.sub("", task)
    verb, instrument, target = _VERB.match(text), _INSTRUMENT.search(text), _TARGET.search(text)
    named = next((slots[kind] for kind in _TARGETS if kind in slots), "")
    return {
        "verb": verb[0] if verb else "",
        "target": named or (target[target.lastindex or 0] if target else ""),
        "instrument": instrument[0] if instrument else "",
        "place": slots.get("room", ""),
    }


def _of_science(trajectory: Trajectory) -> Diagnosis | None:
    _, moves = moves_of(trajectory)
    wrong = next((move for move in moves if move.reward <= -100), None)
    if wrong:
        return Diagnosis(
            "planning",
            f"`{wrong.action}` ended the episode: it is not what the task asks for.",
            "Focus only on what the task names, and only once it is in the state that it asks for.",
            wrong.action,
            wrong.answer,
        )
    if found := stuck(trajectory, moves):
        return found
    untried = unexplored(trajectory)
    rooms = [each.removeprefix("go to ") for each in untried if each.startswith("go to ")]
    if rooms:
        entered = distinct(move.place for move in moves)
        return Diagnosis(
            "search",
            f"It never entered: {listed(rooms, _SHOWN)}; it was in: "
            f"{listed(entered, _SHOWN) or 'its first room'}.",
            f"Go to: {listed(rooms, _SHOWN)}.",
            missing=f"go to {rooms[0]}",
        )
    missing = next((each for each in untried if not each.startswith("go to ")), "")
    paid = [move.action for move in moves if move.reward > 0]
    points = sum(move.reward for move in moves if move.reward > 0)
    won = f"It won {points:g} points, the last for `{paid[-1]}`" if paid else "It won no points"
    return Diagnosis(
        "planning",
        f"{won}; a later step of the task is missing.",
        f"Next: {missing}."
        if missing
        else f"Go on from there with what the task asks{_after(paid)}.",
        missing=missing,
    )


def _after(paid: Sequence[str]) -> str:
    return f" after `{paid[-1]}`" if paid else " first"
