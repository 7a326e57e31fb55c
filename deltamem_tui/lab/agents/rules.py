"""Agents without a model: always the same, hence a score shows how good a text is.

The rules carry out the commands of a memory's text, in order; without a text they take no step.
The explorer does so too, then tries the actions that the task names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from hashlib import sha256

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.environment import Observation
from deltamem_tui.lab.play import AgentCost, Playthrough
from deltamem_tui.text import one_line

_MARK = re.compile(r"^\s*(?:\d+[.)]|[-*•>]|(?:action|act)\s*\d*:)?\s*`?", re.IGNORECASE)
_WARNING = re.compile(r"\[(?:FAILED|TRIED|UNEXPLORED|PARTIAL|TRAP)\]|\bnever\b|\bavoid\b|warning")
_TAIL = re.compile(r"\s+(?:→|->|=>|\(|—|#)|[;`]|\.$")
_TASK = re.compile(
    r"(?:^|\n)\W*(?:task|when|goal|example|your task is to)\s*:?\s*(.+)", re.IGNORECASE
)
_FOUND = re.compile(r"^\W*(?:found: )?([a-z ]+?)(?: (?:was|were) found (?:on|in))?\s*:\s*(.+)$")
_MOVES = frozenset(("go", "goto", "walk", "open", "enter"))
_IDLE = frozenset(("look", "examine", "inventory", "help", "wait", "check", "task", "close"))
_SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an the some of and it them two to in on into onto at from with under put find your is "
        "that this then for by up down",
    )
)


class RulesAgent:
    """Carries out a memory's text.

    Args:
        domain: The kind of environment whose commands it knows.
        explores: Go on where the text ends, as far as the game says what it accepts.

    Raises:
        UsageError: It knows no commands of this domain, and does not explore.
    """

    def __init__(self, domain: str, *, explores: bool = False) -> None:
        from deltamem_tui.lab.agents.players import PLAYERS

        self._player: Callable[[Playthrough], TextPlayer] | None = PLAYERS.get(domain)
        self._explores = explores
        self.name = "explorer" if explores else "rules"
        if self._player is None and not explores:
            raise UsageError(
                f"the agent without a model knows no commands of {one_line(domain, 40)!r}",
                hint=f"it plays {' and '.join(PLAYERS)}; give a model, or a program of your own",
            )

    def play(self, game: Playthrough, memory: str) -> AgentCost:
        """Carry out the memory's commands, then explore if this agent does."""
        if self._player:
            self._player(game).play(memory)
        if self._explores:
            _explore(game)
        return AgentCost()


class TextPlayer:
    """Plays one game by a text; a simulator's player says how a command is carried out.

    A line that begins with a verb of the game is a command, what a warning covers is left alone,
    and the names of a past task stand for those of the present one.

    Args:
        game: The game, at its start.
        verbs: The first words of this game's commands.
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
            if self.over:
                break
            names = self.renamed(task) if task else {}
            for old, new in sorted(names.items(), key=lambda pair: -len(pair[0])):
                whole = rf"(?<!\w){re.escape(old)}(?!\w)"
                command = re.sub(whole, new, command, flags=re.IGNORECASE)  # noqa: PLW2901
            self.carry_out(command)

    @property
    def over(self) -> bool:
        """True if nothing more can be done."""
        return self.game.over

    def act(self, action: str) -> str:
        """Take an action, and return what is seen; nothing when the game is over."""
        if self.over:
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
    return "to " + " ".join(sorted(set(command.split()[1:]) - _SMALL))


def _verb(command: str) -> str:
    return command.split(" ", 1)[0]


def _words(text: str) -> list[str]:
    return [each for each in re.findall(r"[a-z]+", text.lower()) if each not in _SMALL]
