"""Agents without a model: always the same, hence a score shows how good a text is.

The rules carry out the commands of a memory's text, in order; without a text they take no step.
The explorer does so too, then tries the actions that the task names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from hashlib import sha256

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.environment import Observation
from deltamem_tui.lab.grounds import Playthrough
from deltamem_tui.lab.plan import ModelCost
from deltamem_tui.text import one_line

_MARK = re.compile(r"^\s*(?:\d+[.)]|[-*•>]|(?:action|act)\s*\d*:)?\s*`?", re.IGNORECASE)
_WARNING = re.compile(r"\[(?:FAILED|TRIED|UNEXPLORED|PARTIAL|TRAP)\]|\bnever\b|\bavoid\b|warning")
_TAIL = re.compile(r"\s+(?:→|->|=>|\(|—|#)|[;`]|\.$")
_TASK = re.compile(
    r"(?:^|\n)\W*(?:task|when|goal|example|your task is to|(?:solved|tried, not solved:) “)"
    r"\s*:?\s*(.+)",
    re.IGNORECASE,
)
_FOUND = re.compile(r"^\W*(?:found: )?([a-z ]+?)(?: (?:was|were) found (?:on|in))?\s*:\s*(.+)$")
_HOUSE_VERBS = ("go to", "take", "put", "move", "heat", "cool", "clean", "use", "slice", "toggle")
_TAKE = re.compile(r"take (?P<thing>.+?) from (?P<place>.+)")
_PUT = re.compile(r"(?:put|move) (?P<thing>.+?) (?:in/on|into|onto|in|on|to) (?P<place>.+)")
_TREAT = re.compile(r"(?P<verb>heat|cool|clean) (?P<thing>.+?) with (?P<place>.+)")
_SLOT = re.compile(r"[\[{<].+?[\]}>]")
_SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an the some of and it them two put place in on to with look at under find examine clean "
        "heat cool cooled heated cleaned hot cold washed wash rinse chilled",
    )
)
_LAB_VERBS = (
    *("open", "close", "activate", "deactivate", "connect", "disconnect", "use", "look", "examine"),
    *("read", "move", "pick up", "put down", "drop", "pour", "dunk", "mix", "go to", "eat"),
    *("flush", "focus on", "wait", "wait1", "inventory", "0", "1", "2", "3"),
)
_DOORS = {
    "hallway": ("art studio", "bedroom", "greenhouse", "kitchen", "living room", "workshop"),
    "kitchen": ("bathroom", "hallway", "outside"),
    "outside": ("foundry", "greenhouse", "kitchen"),
    "greenhouse": ("hallway", "outside"),
}
_ROOM = re.compile(r"(?:This room is called the|called the|You move to the) ([\w ]+?)[.,]")
_INSTEAD = re.compile(r"^Where (.+) is not there: (.+)\.$", re.MULTILINE)
_WAY = re.compile(r"go to (?:the )?([\w ]+)")


class TextPlayer:
    """Plays one game by a text; a simulator's player says how a command is carried out.

    A line that begins with a verb of the game is a command, what a warning covers is left alone,
    and the names of a past task stand for those of the present one.
    """

    def __init__(self, game: Playthrough, verbs: Sequence[str]) -> None:
        self.game = game
        self.start = game.start
        self.verbs = tuple(f"{verb} " for verb in verbs)
        self.last = Observation("", 0.0, done=False)

    def play(self, text: str) -> None:
        """Carry out a text until the game is over or the text ends."""
        self.begin(text)
        for task, command in self.commands(text):
            if self.game.over:
                break
            names = self.renamed(task) if task else {}
            for old, new in sorted(names.items(), key=lambda pair: -len(pair[0])):
                whole = rf"(?<!\w){re.escape(old)}(?!\w)"
                command = re.sub(whole, new, command, flags=re.IGNORECASE)  # noqa: PLW2901
            self.carry_out(command)

    def act(self, action: str) -> str:
        """Take an action, and return what is seen; nothing when the game is over."""
        if self.game.over:
            return ""
        self.last = self.game.act(action)
        return self.last.text

    def begin(self, text: str) -> None:
        """Read the text beside its commands."""

    def renamed(self, past: str) -> dict[str, str]:
        """Map the names of a past task to those of the present one."""
        return renamed(past, self.start.task)

    def carry_out(self, command: str) -> None:
        """Do what a command says, as well as it goes."""
        self.act(command)

    def commands(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the commands of a text, each with the task that the text names for it."""
        task, warned = "", False
        for line in text.splitlines():
            if line.startswith("#"):
                warned = bool(_WARNING.search(line.lower()))
            if named := _TASK.match(line):
                task = named[1]
            if warned or _WARNING.search(line):
                continue
            words = _MARK.sub("", line, count=1).strip()
            if f"{words} ".lower().startswith(self.verbs):
                yield task, _TAIL.split(words)[0].strip()


def renamed(past: str, present: str) -> dict[str, str]:
    """Map words of one task to those in their place in another."""
    old, new = (re.findall(r"[\w'-]+", text) for text in (past, present))
    names: dict[str, str] = {}
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "replace" and b - a <= 4 and d - c <= 4:
            names.setdefault(" ".join(old[a:b]), " ".join(new[c:d]))
    return {before: after for before, after in names.items() if len(before) > 2}


def found_in(text: str) -> dict[str, list[str]]:
    """Map things to the kinds of places that a text says they were found in, in its order."""
    places: dict[str, list[str]] = {}
    for line in text.lower().splitlines():
        if found := _FOUND.match(line):
            places.setdefault(found[1].strip(), []).extend(re.findall(r"[a-z]+", found[2]))
    return places


class AlfworldPlayer(TextPlayer):
    """Takes `take egg 1 from fridge 2` as: get an egg; a fridge is where one was.

    Going, opening and looking are done where an act needs them, not where the text has them;
    where it goes before it uses a lamp, a lamp may stand.
    """

    def __init__(self, game: Playthrough) -> None:
        super().__init__(game, _HOUSE_VERBS)
        self.places = re.findall(r"\b([a-z]+ \d+)\b", self.start.scene)
        self.visited: set[str] = set()
        self.here = ""
        self.named = ""  # the kind of place that the text last sent to
        self.left: dict[str, str] = {}  # what was offered to be taken, and where
        self.placed: set[str] = set()

    def act(self, action: str) -> str:
        """Take an action, and remember what else lies there."""
        text = super().act(action)
        if taken := _TAKE.fullmatch(action):  # full hands are offered nothing else to take
            self.left.pop(taken["thing"], None)
        for each in self.last.commands:
            if took := _TAKE.fullmatch(each):
                self.left[took["thing"]] = took["place"]
        return text

    def begin(self, text: str) -> None:
        """Note where things were found before, and what the task is about."""
        self.found = found_in(text)
        self.nouns = _nouns(self.start.task)

    def renamed(self, past: str) -> dict[str, str]:
        """Map noun by noun, however the goal is put."""
        nouns = _nouns(past)
        same = len(nouns) == len(self.nouns)
        return dict(zip(nouns, self.nouns, strict=True)) if same else super().renamed(past)

    def carry_out(self, command: str) -> None:
        """Do what a command says with the things that are here."""
        if command.startswith("go to "):
            self.named = self._thing(command.removeprefix("go to "), -1)
        elif took := _TAKE.fullmatch(command):
            self._take(self._thing(took["thing"], 0), self._thing(took["place"], -1))
        elif put := _PUT.fullmatch(command):
            if done := self._at(self._thing(put["place"], -1), r"(?:put|move) .+"):
                self.placed.add(" ".join(done.split(" ")[1:3]))
        elif treated := _TREAT.fullmatch(command):
            self._at(_kind(treated["place"]), rf"{treated['verb']} .+")
        elif command.startswith(("use ", "toggle ", "slice ")):
            self._use(*command.split(" ", 1))

    def _thing(self, words: str, which: int) -> str:
        """Return the kind of thing that is meant; an open slot is filled from the task."""
        if _SLOT.search(words):
            return self.nouns[which] if self.nouns else ""
        return _kind(words)

    def _take(self, thing: str, place: str) -> None:
        """Take a thing where one was seen, else look in new places: one of each kind, then on."""
        wanted = rf"take {thing} \d+ from .+"
        seen = [at for each, at in self.left.items() if _kind(each) == thing]
        likely = self._of_kinds(place, *self.found.get(thing, []))
        others = sorted(self.places, key=lambda each: int(each.rsplit(" ", 1)[-1]))
        new = [each for each in (*likely, *others) if each not in self.visited]
        self._do(wanted, [*seen, *new])

    def _at(self, kind: str, wanted: str) -> str:
        """Go to a place of a kind, and do there what is wanted."""
        if _kind(self.here) != kind:
            for place in self._of_kinds(kind)[:1]:
                self._visit(place)
        self._open(wanted)
        return self._do(wanted)

    def _use(self, verb: str, what: str = "") -> None:
        """Use a thing where it stands; a lamp is looked for where the text has it, then on."""
        likely = self._of_kinds(self.named, *self.found.get(_kind(what), []))
        looks = [*likely, *self.places] if verb in ("use", "toggle") else []
        self._do(rf"{verb} {_kind(what)} \d+", looks)

    def _do(self, wanted: str, places: Sequence[str] = ()) -> str:
        """Do what is wanted, where it is offered first; return it, or nothing."""
        for place in dict.fromkeys(places):
            if self.game.over or self._offered(wanted):
                break
            self._visit(place)
            self._open(wanted)
        if action := self._offered(wanted):
            self.act(action)
        return action

    def _of_kinds(self, *kinds: str) -> list[str]:
        return [place for kind in kinds for place in self.places if _kind(place) == kind]

    def _visit(self, place: str) -> None:
        self.here = place
        self.act(f"go to {place}")
        self.visited.add(place)

    def _open(self, wanted: str) -> None:
        if not self._offered(wanted) and f"open {self.here}" in self.last.commands:
            self.act(f"open {self.here}")

    def _offered(self, wanted: str) -> str:
        """Return a command that is wanted, if it does not take away what was put in its place."""
        for each in self.last.commands:
            took = _TAKE.fullmatch(each)
            if re.fullmatch(wanted, each) and not (took and took["thing"] in self.placed):
                return each
        return ""


def _nouns(task: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]+", task.lower()) if word not in _SMALL]


def _kind(words: str) -> str:
    return re.sub(r"\s*\d+$", "", words.strip())


class ScienceWorldPlayer(TextPlayer):
    """Walks by itself and opens doors on the way."""

    def __init__(self, game: Playthrough) -> None:
        super().__init__(game, _LAB_VERBS)
        outside = self.start.scene.startswith("This outside location")
        found = _ROOM.search(self.start.scene)
        self.room = "outside" if outside else found[1] if found else ""

    def begin(self, text: str) -> None:
        """Read which things are to be tried where one is not there."""
        self.instead = {name: names.split(", ") for name, names in _INSTEAD.findall(text)}
        self.chosen: dict[str, str] = {}

    def carry_out(self, command: str) -> None:
        """Type a command, or walk to where it says."""
        if command.startswith("open door"):
            return  # doors are opened on the way
        if way := _WAY.fullmatch(command):
            self._walk(way[1])
        elif "[" not in command:
            self._try(command)

    def _try(self, command: str) -> None:
        """Do it, or with what the text has in the place of a thing that is not there."""
        for name, other in self.chosen.items():
            command = _with(command, name, other)
        if "No known action" not in self.act(command):
            return
        for name, others in self.instead.items():
            if name in self.chosen or _with(command, name, "") == command:
                continue
            for other in others:
                if "No known action" not in self.act(_with(command, name, other)):
                    self.chosen[name] = other
                    return
            self.chosen[name] = name

    def _walk(self, room: str) -> None:
        for step in _route(self.room, room):
            if "not open" in self.act(f"go to {step}"):
                self.act(f"open door to {step}")
                self.act(f"go to {step}")
            self.room = step


def _with(command: str, name: str, other: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", other, command)


def _route(start: str, end: str) -> list[str]:
    """Return the rooms to walk through, the last one included; none if there is no way."""
    ways: dict[str, list[str]] = {start: []}
    for room in (waiting := [start]):
        back = [other for other, doors in _DOORS.items() if room in doors]
        for other in (*_DOORS.get(room, ()), *back):
            if other not in ways:
                ways[other] = [*ways[room], other]
                waiting.append(other)
    return ways.get(end, [])


PLAYERS: Mapping[str, Callable[[Playthrough], TextPlayer]] = {
    "alfworld": AlfworldPlayer,
    "scienceworld": ScienceWorldPlayer,
}


_MOVES = frozenset(("go", "goto", "walk", "open", "enter"))
_IDLE = frozenset(("look", "examine", "inventory", "help", "wait", "check", "task", "close"))
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an the some of and it them two to in on into onto at from with under put find your is "
        "that this then for by up down",
    )
)


class RulesAgent:
    """Carries out a memory's text."""

    def __init__(self, domain: str, *, explores: bool = False) -> None:
        self._player = PLAYERS.get(domain)
        self._explores = explores
        self.name = "explorer" if explores else "rules"
        if self._player is None and not explores:
            raise UsageError(
                f"the agent without a model knows no commands of {one_line(domain, 40)!r}",
                hint=f"it plays {' and '.join(PLAYERS)}; give a model, or FILE.py:NAME of your own",
            )

    def play(self, game: Playthrough, memory: str) -> ModelCost:
        """Carry out the memory's commands, then explore if this agent does."""
        if self._player:
            self._player(game).play(memory)
        if self._explores:
            _explore(game)
        return ModelCost()


def _explore(game: Playthrough) -> None:
    """Do what the task names, move on where nothing is to the point, and do nothing twice."""
    wanted = set(_words(game.start.task))
    done: Counter[str] = Counter()
    while not game.over and game.last.commands:
        offered = sorted(set(game.last.commands))
        step = len(game.steps)
        command = max(offered, key=lambda each: _rank(each, wanted, done, step))
        game.act(command)
        done[_deed(command)] += 1
        if _verb(command) not in _MOVES | _IDLE:  # what is at hand is another: go and see again
            done = Counter({deed: n for deed, n in done.items() if _verb(deed) not in _MOVES})


def _rank(command: str, wanted: set[str], done: Counter[str], step: int) -> tuple[float, str]:
    """Rank a command by its share of the task's words, less how often it was done.

    A digest decides among equals, the same in each run.
    """
    words = _words(command.partition(" ")[2])
    share = sum(each in wanted for each in words) / len(words) if words else 0.0
    if _verb(command) in _IDLE or (_verb(command) not in _MOVES and not {*words[:1]} & wanted):
        share -= 2
    return share - done[_deed(command)], sha256(f"{step} {command}".encode()).hexdigest()


def _deed(command: str) -> str:
    """Return what is done only once: a move, or any command to the same things."""
    if _verb(command) in _MOVES:
        return command
    return "to " + " ".join(sorted(set(command.split()[1:]) - _COMMON))


def _verb(command: str) -> str:
    return command.split(" ", 1)[0]


def _words(text: str) -> list[str]:
    return [each for each in re.findall(r"[a-z]+", text.lower()) if each not in _COMMON]
