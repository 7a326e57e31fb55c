"""Goals of ScienceWorld: the task's own sentences with what is drawn anew left open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from deltamem_tui.memory.domain import Goal
from deltamem_tui.text import condense, distinct, listed, one_line
from deltamem_tui.trajectory.model import Trajectory

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
_BOX = re.compile(rf"\b({_COLOUR}) box\b")
_STAGE = "egg|hatchling|baby|juvenile|adult|seedling|reproducing"
_STAGES = re.compile(rf"^(?:(?:{_STAGE}) )+(?=.)|(?:(?<=.) (?:{_STAGE}))+$")
_TINTED = re.compile(rf"\b((?:{_COLOUR})(?:-(?:{_COLOUR}))?) (?:light bulb|paint)\b")
_VARIED = (
    (_BOX, "box"),
    (re.compile(rf"\b(?:{_COLOUR})(?:-(?:{_COLOUR}))? (?=light bulb\b|paint\b)"), ""),
    (re.compile(r"-?\d+(?:\.\d+)? degrees celsius"), "a temperature"),
    (re.compile(rf"\b((?:around|near|in) the) (?:{ROOMS})\b"), r"\1 house"),
    (re.compile(r"\bthe \d+ (?=life stages)"), "the "),
)
_ROOM = re.compile(rf"\b({ROOMS})\b")
_AMOUNT = re.compile(r"\b(boil|melt|freeze) (?:some|the|an?) ")
PREAMBLE = re.compile(r"^(?:Task description:)?\s*Your task is to ")
_CHOICE = re.compile(r"focus on the (?:thing|animal)\b", re.IGNORECASE)
_SHORT = (
    (re.compile(r"unknown substance \w"), re.compile(r"\bunknown substance\b(?! [A-Z]\b)")),
    (re.compile(r".*light bulb"), re.compile(r"\blight\b(?! bulb\b)")),
)
_FOCUSED = re.compile(r"focus on (.+)")
_FOCUS = re.compile(r"You focus on the (.+)\.$")


def task_goal(trajectory: Trajectory) -> Goal:
    """Return the task's own sentences with substances, colours, rooms and degrees left open."""
    text = _AMOUNT.sub(r"\1 ", PREAMBLE.sub("", one_line(trajectory.task)))
    named, text = _without_names(text if text.endswith(".") else f"{text}.")
    planes = _PLANES.search(text)
    surfaces, text = list(planes.groups()) if planes else [], _PLANES.sub("", text)
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
    instances = [*(name for _, name in named), *surfaces, *colours] or list(things)[:1]
    return Goal(
        trigger=condense(_of_any_variation(text), _GOAL_WORDS),
        variant=listed(distinct([*instances, *rooms]), 4),
        names=(*_patterns(slots), *mentions, *_in_short(slots)),
        slots=(*slots, *chosen),
        understood=True,
    )


def _without_names(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return what a task names, as kind and name, and the text with those left open."""
    names: list[tuple[str, str]] = []
    for pattern, kind in _NAMED:
        found = pattern.search(text)
        if found and found[1] not in _KINDS and "…" not in found[1]:
            names.append((kind, found[1]))
            text = _left_open(text, found[1], kind)
    return names, text


def _of_any_variation(text: str) -> str:
    """Return a text without the colours, degrees, rooms and counts of one variation."""
    for pattern, general in _VARIED:
        text = pattern.sub(general, text)
    return text


def _numbered(kind: str, names: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip((kind, f"second {kind}"), names, strict=False))


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


def task_facts(task: str, slots: Mapping[str, str]) -> dict[str, str]:
    """Return what a task asks to be done, to what, with what and where."""
    text = PREAMBLE.sub("", task)
    verb, instrument, target = _VERB.match(text), _INSTRUMENT.search(text), _TARGET.search(text)
    named = next((slots[kind] for kind in _TARGETS if kind in slots), "")
    return {
        "verb": verb[0] if verb else "",
        "target": named or (target[target.lastindex or 0] if target else ""),
        "instrument": instrument[0] if instrument else "",
        "place": slots.get("room", ""),
    }
