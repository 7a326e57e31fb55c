"""Short episodes in households, as many as a test wants, always the same ones."""

from __future__ import annotations

from random import Random

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

_KINDS = ("put", "clean", "heat", "cool", "examine")
_TOOLS = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge", "examine": "desklamp"}
_THINGS = ("apple", "mug", "plate", "knife", "book", "pillow", "candle", "towel", "egg", "pan")
_PLACES = ("shelf", "table", "drawer", "cabinet", "sofa", "desk", "counter", "bed")
_ROOMS = (
    ("cabinet", "fridge", "microwave", "sinkbasin", "counter", "stove"),
    ("bed", "desk", "drawer", "desklamp", "shelf", "laundryhamper"),
    ("sofa", "armchair", "coffeetable", "television", "sidetable", "safe"),
    ("toilet", "bathtub", "towelholder", "sinkbasin", "handtowelholder", "mirror"),
)


def generated(count: int, seed: int = 0) -> list[Trajectory]:
    """So many different episodes in households; a quarter of them failed."""
    random = Random(seed)
    return [_episode(random, number) for number in range(count)]


def _episode(random: Random, number: int) -> Trajectory:
    kind, thing, place = random.choice(_KINDS), random.choice(_THINGS), random.choice(_PLACES)
    room = random.choice(_ROOMS)
    success = random.random() < 0.75
    steps = [Step(f"go to {random.choice(room)} {number}", f"On it you see a {thing} {number}.")]
    steps += [
        Step(f"open {other} 1", f"In the {other} 1, you see a {random.choice(_THINGS)} 1.")
        for other in random.sample(room, random.randint(0, 3))
    ]
    steps.append(Step(f"take {thing} {number} from {random.choice(room)} 1", "You pick it up."))
    if kind in _TOOLS:
        steps.append(Step(f"{kind} {thing} {number} with {_TOOLS[kind]} 1", f"You {kind} it."))
    steps.append(
        Step(f"put {thing} {number} in {place} 1", "Done." if success else "Nothing happens.")
    )
    verb = {"put": "put a", "examine": "look at a"}.get(kind, f"put a {kind}ed")
    return Trajectory(
        task=f"{verb} {thing} in {place}.",
        environment="You are in a room. You see " + ", ".join(f"a {each} 1" for each in room) + ".",
        steps=tuple(steps),
        outcome=Outcome(success=success, reward=float(success), source="stated"),
        domain="alfworld",
    )
