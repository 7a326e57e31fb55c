"""Agents without a model: always the same, hence a score shows how good a text is.

The rules carry out the commands of a memory's text, in order; without a text they take no step.
The explorer does so too, then tries the actions that the task names.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.agents.players import PLAYERS
from deltamem_tui.lab.play import AgentCost, Playthrough
from deltamem_tui.text import one_line

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
    """

    def __init__(self, domain: str, *, explores: bool = False) -> None:
        self._player = PLAYERS.get(domain)
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
