"""ALFWorld: objects move between episodes, so places and instances are named by their kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from deltamem_tui.memory.writers.rules.dialect import Dialect, Effect, Fact, Goal, Move
from deltamem_tui.memory.writers.rules.wording import condense, distinct, listed
from deltamem_tui.trajectory.model import Step, Trajectory

_OBJECT = r"(?P<object>\w+)"
_RECEPTACLE = r"(?P<receptacle>\w+)"
_GOALS = tuple(
    re.compile(do + rest)
    for do, rest in (
        (
            r"(?P<do>put|find) (?P<which>two) ",
            rf"{_OBJECT} (?P<link>in|and put them in) {_RECEPTACLE}",
        ),
        (
            r"(?P<do>put (?:an?|some))(?: (?P<which>clean|hot|cool))? ",
            rf"{_OBJECT} (?P<link>in|on) {_RECEPTACLE}",
        ),
        (
            r"(?P<do>clean|heat|cool) (?P<which>some|an?) ",
            rf"{_OBJECT} (?P<link>and put it in) {_RECEPTACLE}",
        ),
        (
            r"(?P<do>look at|examine)(?: the)? ",
            rf"{_OBJECT} (?P<link>(?:under|with) the (?P<tool>\w+))",
        ),
    )
)
_THING = re.compile(r"\b([a-z]+) (\d+)\b")
_ACT = re.compile(r"(?:take|put|move|heat|cool|clean|slice|use|toggle)\b")
_DEVICE = re.compile(r"(?:use|toggle)\b")
_VISIT = re.compile(r"go to (?P<place>(?P<kind>[a-z]+) \d+)")
_SEEN = re.compile(r"(?:On|In) (?:the (?P<place>[a-z]+) \d+|it), you see (?P<things>[^.]*)\.?")
_OPENED = re.compile(r"You open the (?P<place>[a-z]+) \d+")
_CLOSED = re.compile(r"The (?P<place>[a-z]+) \d+ is closed")
_USED = re.compile(r"(?P<what>(?:heat|cool|clean|use|slice)\b.*)")
_FEWEST_FOR_EMPTY = 2
_STATES = {"clean": "clean", "heat": "hot", "cool": "cool"}


def kinds(text: str) -> str:
    """`text` without instance numbers: `drawer 3` becomes `drawer`."""
    return _THING.sub(r"\1", text)


def _trigger(goal: Mapping[str, str | None]) -> str:
    """The two wordings that goals of one kind come in (`cool some … `, `put a cool … `)."""
    done = {"hot": "heat"}.get(goal.get("which") or "", goal.get("which"))
    verb = goal["do"] if goal["do"] in _STATES else done
    if verb in _STATES:
        return f"{verb} some … and put it in …, or put a {_STATES[verb]} … in …"
    if done == "two":
        return "put two … in …, or find two … and put them in …"
    if goal.get("receptacle"):
        return "put a … in …, or put some … on …"
    return f"look at … under the {goal['tool']}, or examine the … with the {goal['tool']}"


class AlfworldDialect(Dialect):
    """A house of receptacles: go, open, take, put, heat, cool, clean, use."""

    def goal(self, trajectory: Trajectory) -> Goal:
        """The kind of goal in both of its wordings, with blanks for object and receptacle."""
        task = trajectory.task.strip().rstrip(".").lower()
        found = next((match for goal in _GOALS if (match := goal.fullmatch(task))), None)
        if found is None:
            return super().goal(trajectory)
        part = found.groupdict()
        place = part.get("receptacle")
        names = [(rf"\b{part['object']}(?: \d+)?\b", "{object}")]
        if place:
            names.append((rf"\b{place}(?: \d+)?\b", "{receptacle}"))
        return Goal(
            trigger=_trigger(part),
            variant=listed(distinct([part["object"], place or ""])),
            names=tuple((re.compile(name), kind) for name, kind in names),
        )

    def move(self, step: Step, goal: Goal) -> Move:
        """One step, its things named by their kinds."""
        visit = _VISIT.fullmatch(step.action.strip())
        answer = re.sub(r"You arrive at loc \d+\. ", "", step.observation)
        return Move(
            action=condense(kinds(goal.generalise(step.action)), 12) or "no action",
            answer=condense(_counted(goal.generalise(answer)), 16) or "no answer",
            effect=self.effect(step),
            reward=step.reward or 0.0,
            wording=step.action,
            place=kinds(goal.generalise(visit["place"])) if visit else "",
        )

    def effect(self, step: Step) -> Effect:
        """Acting on a thing has an effect; going, opening and looking are search."""
        if "Nothing happens" in step.observation:
            return "refused"
        return "done" if _ACT.match(step.action.strip()) else "looked"

    def procedure(self, moves: Sequence[Move]) -> list[str]:
        """Search, then act, as often as the episode did, each search as one line."""
        lines: list[str] = []
        searched: list[str] = []
        opened = False
        named = any("{object}" in move.action for move in moves)
        for move in moves:
            if move.place:
                searched.append(move.place)
                opened = False
            if move.action.startswith("open "):
                opened = True
            # What was done with things the goal does not name was a detour.
            detour = named and "{object}" not in move.action and not _DEVICE.match(move.action)
            if move.effect == "done" and not detour:
                lines += _approach(move, searched, opened=opened)
                lines.append(_act(move))
                searched, opened = [], False
        return lines

    def unexplored(self, trajectory: Trajectory, goal: Goal) -> list[str]:
        """Kinds of places in sight never visited, and things in hand never put down."""
        visited = {found["kind"] for step in trajectory.steps if (found := _visit(step))}
        shown = distinct(kind for kind, _ in _THING.findall(trajectory.environment))
        never = [f"go to {goal.generalise(kind)}" for kind in shown if kind not in visited]
        acts = [goal.generalise(step.action).split(" ")[:2] for step in trajectory.steps]
        held = ["take", "{object}"] in acts
        put = ["put", "{object}"] in acts or ["move", "{object}"] in acts
        if held and not put and any(kind == "{receptacle}" for _, kind in goal.names):
            never.insert(0, "put {object} in/on {receptacle} once it is in hand")
        return never

    def scene(self, trajectory: Trajectory) -> str:
        """The room by the kinds of receptacles in it."""
        shown = distinct(kind for kind, _ in _THING.findall(trajectory.environment))
        if not shown:
            return super().scene(trajectory)
        return f"in the middle of a room, looking around you see a {', a '.join(shown)}"

    def facts(self, trajectory: Trajectory) -> list[Fact]:
        """Which kinds of things are in which kinds of places, and how appliances answered."""
        holds: dict[str, list[str]] = {}
        looked: dict[str, set[str]] = {}
        empty: dict[str, set[str]] = {}
        closes: list[str] = []
        here = ""
        for step in trajectory.steps:
            here = step.action.removeprefix("go to ") if _visit(step) else here
            closes += [found["place"] for found in _OPENED.finditer(step.observation)]
            for seen in _SEEN.finditer(step.observation):
                place = seen["place"] or _THING.sub(r"\1", here)
                if not place or step.action in ("look", "inventory"):
                    continue
                things = [kind for kind, _ in _THING.findall(seen["things"])]
                holds.setdefault(place, []).extend(things)
                looked.setdefault(place, set()).add(here)
                if not things:
                    empty.setdefault(place, set()).add(here)
        facts = []
        for place, things in holds.items():
            items = [*(["opens and closes"] if place in closes else []), *distinct(things)]
            vain = len(empty.get(place, ()))
            if vain >= _FEWEST_FOR_EMPTY and vain * 2 > len(looked[place]):
                items.append("often empty")
            facts.append(Fact(place, tuple(items)))
        return [*_appliances(trajectory), *facts]


def _visit(step: Step) -> re.Match[str] | None:
    return _VISIT.fullmatch(step.action.strip())


def _counted(answer: str) -> str:
    """An answer with things named by kind, each kind once."""
    head, see, things = answer.partition("you see ")
    seen = distinct(kind if number else "" for kind, number in _THING.findall(things))
    if not see or not seen:
        return kinds(answer)
    return f"{kinds(head)}you see {listed(seen, 6)}"


def _act(move: Move) -> str:
    """The action, the place where a thing was found kept as an aside."""
    words = move.action.split(" from ")
    if len(words) == 2 and words[0].startswith("take "):
        return f"{words[0]} from its place (here {words[1]})"
    return move.action


def _approach(move: Move, searched: Sequence[str], *, opened: bool) -> Iterator[str]:
    """How the agent got to where it acted."""
    if not searched:
        return
    target = move.action.split(" ")[-1]
    if move.action.startswith("take "):
        places = distinct(searched)
        yield (
            "search place by place, opening what is closed, until "
            f"{move.action.split(' ')[1]} is seen (here {listed(places, 8)})"
        )
        return
    yield f"go to {target}"
    if opened:
        yield f"open {target}"


def _appliances(trajectory: Trajectory) -> list[Fact]:
    """What was heated, cooled, cleaned or used, and with what answer."""
    closed: dict[str, bool] = {}
    facts: dict[str, dict[str, None]] = {}
    for step in trajectory.steps:
        for found in _CLOSED.finditer(step.observation):
            closed[found["place"]] = True
        for found in _OPENED.finditer(step.observation):
            closed[found["place"]] = False
        used = _USED.fullmatch(step.action.strip())
        if used is None:
            continue
        words = used["what"].split(" ")
        device = words[-2] if len(words) > 1 else ""
        verb = words[0]
        if "Nothing happens" in step.observation:
            answer = f"{verb} did nothing"
        else:
            door = " with its door closed" if closed.get(device) else ""
            answer = f"{verb} works{door}"
        facts.setdefault(device, {})[answer] = None
    return [Fact(device, tuple(answers)) for device, answers in facts.items() if device]
