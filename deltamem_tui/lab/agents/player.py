"""How an agent without a model plays: it carries out the commands that a text holds, in order.

It reads like a person who takes the text at its word: a line that begins with a verb of the
game is a command, what a warning covers is left alone, and the names of a past task stand for
those of the present one. It looks for things where the text says they were found, then
everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from deltamem_tui.lab.agent import Playthrough
from deltamem_tui.lab.environment import Observation

_MARK = re.compile(r"^\s*(?:\d+[.)]|[-*•>]|(?:action|act)\s*\d*:)?\s*`?", re.IGNORECASE)
_WARNING = re.compile(r"\[(?:FAILED|TRIED|UNEXPLORED|PARTIAL|TRAP)\]|\bnever\b|\bavoid\b|warning")
_TAIL = re.compile(r"\s+(?:→|->|=>|\(|—|#)|[;`]|\.$")
_TASK = re.compile(
    r"(?:^|\n)\W*(?:task|when|goal|example|your task is to)\s*:?\s*(.+)", re.IGNORECASE
)
_FOUND = re.compile(r"^\W*(?:found: )?([a-z ]+?)(?: (?:was|were) found (?:on|in))?\s*:\s*(.+)$")


class TextPlayer:
    """Plays one game by a text. A simulator's player says how a command is carried out.

    Args:
        game: The game, at its start.
        verbs: What a command of this game begins with.
    """

    def __init__(self, game: Playthrough, verbs: Sequence[str]) -> None:
        self.game = game
        self.start = game.start
        self.verbs = tuple(f"{verb} " for verb in verbs)
        self.last = Observation("", 0.0, done=False)
        self.names: dict[str, str] = {}

    def play(self, text: str) -> None:
        """Carry out what a text says until the game is over or there is nothing more to do."""
        self.begin(text)
        for task, command in self.commands(text):
            if self.over:
                break
            self.names = self.renamed(task) if task else {}
            self.carry_out(self.in_present_names(command))

    @property
    def over(self) -> bool:
        """Whether nothing more can be done."""
        return self.game.over

    def act(self, action: str) -> str:
        """Take an action; what was seen. Nothing happens when the game is over."""
        if self.over:
            return ""
        self.last = self.game.act(action)
        return self.last.text

    def begin(self, text: str) -> None:
        """Read what the text says beside its commands."""

    def renamed(self, past: str) -> dict[str, str]:
        """The names of a past task with what stands for them in the present one."""
        return renamed(past, self.start.task)

    def carry_out(self, command: str) -> None:
        """Do what a command says, as well as it goes."""
        self.act(command)

    def commands(self, text: str) -> Iterator[tuple[str, str]]:
        """The commands of a text, each with the task that the text names for it."""
        task = ""
        warned = False
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

    def in_present_names(self, command: str) -> str:
        """A command with the past task's names replaced by the present one's."""
        for old, new in sorted(self.names.items(), key=lambda pair: -len(pair[0])):
            command = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, command, flags=re.IGNORECASE)
        return command


def renamed(past: str, present: str) -> dict[str, str]:
    """What stands in one task where something else stands in the other: old name → new name."""
    old, new = _words(past), _words(present)
    names: dict[str, str] = {}
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "replace" and b - a <= 4 and d - c <= 4:
            names.setdefault(" ".join(old[a:b]), " ".join(new[c:d]))
    return {before: after for before, after in names.items() if len(before) > 2}


def found_in(text: str) -> dict[str, list[str]]:
    """Where the text says that things were found: thing → kinds of places, in its order."""
    places: dict[str, list[str]] = {}
    for line in text.lower().splitlines():
        if found := _FOUND.match(line):
            words = re.findall(r"[a-z]+", found[2])
            places.setdefault(found[1].strip(), []).extend(words)
    return places


def _words(text: str) -> list[str]:
    return re.findall(r"[\w'-]+", text)
