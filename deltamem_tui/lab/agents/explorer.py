"""The agent that explores: it carries out the memory's text, then tries what seems to the point.

Without a memory the agent of the rules does nothing, so memories that begin empty would never
learn. This one goes on by itself where the game says what it would accept. It knows no game: it
compares the words of a command with those of the task, and moves on where nothing is to the point.
So it solves what can be solved by doing what the task names, and nothing that has to be known.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256

from deltamem_tui.errors import UsageError
from deltamem_tui.lab.agent import Agent, AgentCost, Playthrough
from deltamem_tui.lab.agents.rules import RulesAgent

_MOVES = frozenset(("go", "goto", "walk", "open", "enter"))
_IDLE = frozenset(("look", "examine", "inventory", "help", "wait", "check", "task", "close"))
_SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an the some of and it them two to in on into onto at from with under put find your is "
        "that this then for by up down",
    )
)


class ExploringAgent:
    """Carries out what a memory's text says, and explores with the actions that are left.

    Args:
        follower: Who carries out the text; None if it is not read.
    """

    name = "explorer"

    def __init__(self, follower: Agent | None = None) -> None:
        self._follower = follower

    def play(self, game: Playthrough, memory: str) -> AgentCost:
        """Carry out the memory's commands, then explore until the game is over.

        Nothing is explored in a game that does not say what it would accept.
        """
        cost = self._follower.play(game, memory) if self._follower else AgentCost()
        _explore(game)
        return cost


def exploring_agent(domain: str) -> ExploringAgent:
    """The agent for a kind of environment; where the rules know no commands, no text is read."""
    try:
        return ExploringAgent(RulesAgent(domain))
    except UsageError:
        return ExploringAgent()


def _explore(game: Playthrough) -> None:
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
    """How much a command is to the point: its words that the task has, less how often it was done.

    Chance decides among equals, the same in each run.
    """
    words = _words(command.partition(" ")[2])
    share = sum(each in wanted for each in words) / len(words) if words else 0.0
    if _verb(command) in _IDLE or (_verb(command) not in _MOVES and not {*words[:1]} & wanted):
        share -= 2
    return share - done[_deed(command)], sha256(f"{step} {command}".encode()).hexdigest()


def _deed(command: str) -> str:
    """What is done only once: a move, or whatever a command does to the same things."""
    if _verb(command) in _MOVES:
        return command
    return "to " + " ".join(sorted(set(command.split()[1:]) - _SMALL))


def _verb(command: str) -> str:
    return command.split(" ", 1)[0]


def _words(text: str) -> list[str]:
    return [each for each in re.findall(r"[a-z]+", text.lower()) if each not in _SMALL]
