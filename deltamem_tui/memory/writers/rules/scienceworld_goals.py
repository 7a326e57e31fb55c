"""ScienceWorld's words: which are a task's instances, and what stands in their place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deltamem_tui.memory.writers.rules.dialect import Goal
from deltamem_tui.memory.writers.rules.wording import condense, distinct, listed
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

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
_PLANES = re.compile(r" \(([^()]+), ([^()]+)\)(?= has the)")
_TINT = re.compile(rf"\b(?:{_COLOUR})(?:-(?:{_COLOUR}))? (?=light bulb\b|paint\b)")
_BOX = re.compile(rf"\b({_COLOUR}) box\b")
_BOX_MARKS = "′″‴"
_STAGE = "egg|hatchling|baby|juvenile|adult|seedling|reproducing"
_STAGES = re.compile(rf"^(?:(?:{_STAGE}) )+(?=.)|(?:(?<=.) (?:{_STAGE}))+$")
_TINTED = re.compile(rf"\b((?:{_COLOUR})(?:-(?:{_COLOUR}))?) (?:light bulb|paint)\b")
_DEGREES = re.compile(r"-?\d+(?:\.\d+)? degrees celsius")
_SPOT = re.compile(rf"\b((?:around|near|in) the) (?:{ROOMS})\b")
_ROOM = re.compile(rf"\b({ROOMS})\b")
_COUNT = re.compile(r"\bthe \d+ (?=life stages)")
_CHOICE = re.compile(r"focus on the (?:thing|animal)\b", re.IGNORECASE)
_FOCUSED = re.compile(r"focus on (.+)")


def goal_of(trajectory: Trajectory) -> Goal:
    """The task's own sentences with substances, colours, rooms and degrees left open."""
    text = re.sub(r"^(?:Task description:)?\s*Your task is to ", "", one_line(trajectory.task))
    names: list[tuple[str, str]] = []
    for pattern, kind in _NAMED:
        found = pattern.search(text)
        if found and found[1] not in _KINDS and "…" not in found[1]:
            names.append((found[1], kind))
            text = _left_open(text, found[1], kind)
    variant = [name for name, _ in names]
    planes = _PLANES.search(text)
    surfaces: list[str] = []
    if planes:
        surfaces = [planes[1], planes[2]]
        variant += surfaces
        text = text.replace(planes[0], _surfaces(planes[1]))
    colours = distinct(_TINTED.findall(text))
    variant += colours
    things = _things(trajectory)
    if things and not variant:
        variant += [name for name, _ in things[:1]]
    rooms = distinct(_ROOM.findall(text))
    variant += rooms
    boxes = distinct(_BOX.findall(text))
    text = _BOX.sub(lambda found: _box(found[1], boxes), text)
    text = _DEGREES.sub("a temperature", _TINT.sub("", text))
    text = _COUNT.sub("the ", _SPOT.sub(r"\1 house", text))
    slots = [(kind, name) for name, kind in names]
    slots += _numbered("paint", [f"{colour} paint" for colour in colours])
    slots += _numbered("box", [f"{colour} box" for colour in boxes])
    slots += _numbered("surface", surfaces) + _numbered("room", rooms)
    trigger, patterns = condense(text, _GOAL_WORDS), _patterns(slots)
    kind = "animal" if "the animal" in text else "thing"
    chosen = _numbered(kind, [name for name, _ in things])
    slots += chosen
    patterns += tuple(
        (mention, f"[{kind}]") for (_, mention), (kind, _) in zip(things, chosen, strict=False)
    )
    return Goal(trigger, listed(distinct(variant), 4), patterns, tuple(slots), understood=True)


def _numbered(kind: str, names: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip((kind, f"second {kind}"), names, strict=False))


def _box(colour: str, boxes: Sequence[str]) -> str:
    """A box without its colour, which is drawn anew for each variation of a task."""
    return "box" + (_BOX_MARKS[min(boxes.index(colour), len(_BOX_MARKS) - 1)] if boxes[1:] else "")


def _surfaces(plane: str) -> str:
    """What kind of name distinguishes two planes: a letter, a material, an unknown material."""
    if len(plane) == 1:
        return ""
    return " (unknown materials)" if "unknown" in plane else " (materials)"


def _left_open(text: str, name: str, kind: str) -> str:
    """`text` with a blank for a name; `unknown` stays, because it marks a kind of task."""
    blank = f"unknown {kind} …" if "unknown" in name else "…"
    return re.sub(rf"'?(?<!\w){re.escape(name)}(?!\w)'?", blank, text)


def _things(trajectory: Trajectory) -> list[tuple[str, re.Pattern[str]]]:
    """What the agent chose where the task leaves the choice, and how its actions name it."""
    if not _CHOICE.search(trajectory.task):
        return []
    things: dict[str, re.Pattern[str]] = {}
    for step in trajectory.steps:
        found = _FOCUSED.match(step.action.strip())
        # What cost the episode its score was not a thing that the task asks for.
        punished = step.reward is not None and step.reward < 0
        if found and step.observation.startswith("You focus") and not punished:
            name = _STAGES.sub("", re.sub(r" in inventory$", "", found[1]))
            things.setdefault(name, _mention(name))
    return list(things.items())


def _mention(name: str) -> re.Pattern[str]:
    """How actions name a chosen thing: by its stage too, which is not the same next time."""
    return _instance(rf"(?:(?:{_STAGE}) )*{re.escape(name)}(?: (?:{_STAGE}))*")


def _patterns(slots: Sequence[tuple[str, str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    """What leaves names open in actions, the longest name first."""
    longest = sorted(slots, key=lambda slot: -len(slot[1]))
    return tuple((_instance(re.escape(name)), f"[{kind}]") for kind, name in longest)


def _instance(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){name}(?!\w)", re.IGNORECASE)
