"""Short episodes of a few domains, as many as a test wants, always the same ones."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

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


_PRODUCTS = ("jumpsuit", "desk lamp", "face cream", "running shoe", "coffee table", "wall clock")
_COLOURS = ("green", "navy blue", "white", "coral red", "black")
_SIZES = ("small", "medium", "large", "pack of 2")
_MODULES = ("parser", "cache", "client", "report", "scheduler", "tokens")
_PROJECTS = (
    ("delta", "Python", "pytest"),
    ("harbour", "TypeScript", "vitest"),
    ("ledger", "Rust", "cargo test"),
)


def generated(count: int, seed: int = 0) -> list[Trajectory]:
    """So many different episodes in households; a quarter of them failed."""
    random = Random(seed)
    return [_episode(random, number) for number in range(count)]


def wandering(count: int, seed: int = 0) -> list[Trajectory]:
    """The same episodes, each in a scene of its own: of its room, one sees a part."""
    random = Random(seed)
    return [_elsewhere(random, each) for each in generated(count, seed)]


def purchases(count: int, seed: int = 0) -> list[Trajectory]:
    """So many visits to a web shop; a quarter of them missed a demand."""
    random = Random(seed)
    return [_purchase(random, number) for number in range(count)]


def repairs(count: int, seed: int = 0) -> list[Trajectory]:
    """So many tasks of a coding agent, of no domain that has prompts of its own."""
    random = Random(seed)
    return [_repair(random, number) for number in range(count)]


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


def _elsewhere(random: Random, episode: Trajectory) -> Trajectory:
    things = [thing for room in random.sample(_ROOMS, 2) for thing in random.sample(room, 3)]
    seen = ", ".join(f"a {each} 1" for each in things)
    return replace(episode, environment=f"You are in a room. You see {seen}.")


def _purchase(random: Random, number: int) -> Trajectory:
    product, colour, size = (random.choice(each) for each in (_PRODUCTS, _COLOURS, _SIZES))
    success = random.random() < 0.75
    steps = [
        Step(
            f"search[{colour} {product}]",
            f"Page 1. [B{number:04}] {colour} {product} for the home, $12.{number % 100:02}",
            f"The {product} must be {colour}.",
        ),
        Step(f"click[B{number:04}]", f"{product}. color: {', '.join(_COLOURS)}. Price: $12."),
    ]
    if random.random() < 0.5:
        steps.append(Step("click[Description]", f"A {product} that is easy to clean."))
        steps.append(Step("click[< Prev]", f"{product}. Price: $12."))
    if success:
        steps.append(Step(f"click[{colour}]", f"You have clicked {colour}."))
    if random.random() < 0.7:
        steps.append(Step(f"click[{size}]", f"You have clicked {size}."))
    steps.append(Step("click[Buy Now]", f"Your score is {1.0 if success else 0.5}."))
    return Trajectory(
        task=f"find me a {colour} {product}, size {size}, price lower than {20 + number} dollars.",
        environment=f"The shelf of {product}s.",
        steps=tuple(steps),
        outcome=Outcome(success=success, reward=1.0 if success else 0.5, source="stated"),
        domain="webshop",
    )


def _repair(random: Random, number: int) -> Trajectory:
    module = random.choice(_MODULES)
    project, language, runner = random.choice(_PROJECTS)
    success = random.random() < 0.75
    steps = [
        Step(f"{runner} {module}", f"1 failed: {module} gave {number}, not {number + 1}."),
        Step(f"open src/{module}", f"line {number}: return {number}", "The constant is wrong."),
    ]
    steps += [
        Step(f"grep -n {other} src/", f"src/{other}: {random.randint(1, 9)} matches")
        for other in random.sample(_MODULES, random.randint(0, 3))
    ]
    steps.append(Step(f"edit src/{module} line {number}", "The file was changed."))
    steps.append(Step(f"{runner} {module}", "All passed." if success else "1 failed."))
    return Trajectory(
        task=f"Make the test of {module} pass; it expects {number + 1}.",
        environment=f"You work in the repository {project}, written in {language}.",
        steps=tuple(steps),
        outcome=Outcome(success=success, reward=None, source="stated"),
        domain="coding",
    )
