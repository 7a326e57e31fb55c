"""The task in the message that gives it, parted from the instructions and the scene around it.

A message is parted where it marks its task in a way that only benchmarks and harnesses write.
Of any other message all is the task: what a user said is never dropped on suspicion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import NamedTuple

LOOKED_AT = 24
"""How many records of a log are compared."""


class FirstWords(NamedTuple):
    """How a conversation begins: the user, the agent if it only answers in words, the user."""

    asked: str
    reply: str
    then: str


@dataclass(frozen=True, slots=True)
class Opening:
    """Common text of the conversations of a log."""

    briefing: str = ""
    before: str = ""
    after: str = ""

    @property
    def template(self) -> str:
        """All that stands around the task."""
        return f"{self.before}{self.after}".strip()

    def unwrapped(self, text: str) -> str:
        """Return the task out of the template; empty if the message is not made from it."""
        end = len(text) - len(self.after)
        if not (self.before or self.after) or len(self.before) >= end:
            return ""
        is_made_from_it = text.startswith(self.before) and text.endswith(self.after)
        return text[len(self.before) : end].strip() if is_made_from_it else ""


NO_OPENING = Opening()
"""That of conversations that have nothing in common."""


def common_opening(conversations: Iterable[FirstWords]) -> Opening:
    """Return what these conversations, the first of a log, have in common."""
    known = [each for each in conversations if each.asked]
    asked, replies = {each.asked for each in known}, {each.reply for each in known}
    tasks = {each.then for each in known}
    # An agent that asks back, or that is told the same again, was given a task and no briefing.
    briefed = (
        len(known) > 1
        and len(asked) == len(replies) == 1
        and len(tasks) == len(known)
        and all(tasks)
        and all(replies)
        and not any("?" in reply for reply in replies)
    )
    before, after = _template(list(tasks if briefed else asked))
    return Opening(asked.pop() if briefed else "", before, after)


def _template(texts: Sequence[str]) -> tuple[str, str]:
    """Whole lines around what differs in these texts, if they are long and texts many enough."""
    if len(texts) < 3:
        return "", ""
    shared = _shared_start(texts)
    if shared in texts:  # a conversation about the template itself, or the beginning of all tasks
        return "", ""
    before = shared[: shared.rfind("\n") + 1]
    rests = [text[len(before) :] for text in texts]
    after = _shared_start([rest[::-1] for rest in rests])[::-1]
    after = after[after.find("\n") :] if "\n" in after else ""
    is_whole = all(rest[: len(rest) - len(after)].strip() for rest in rests)
    return (before, after) if is_whole and len(before + after) >= TEMPLATE_LENGTH else ("", "")


def _shared_start(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return first[: sum(1 for _ in shared)]


# A goal may come with its own paragraph mark; the welcome line greets every game alike.
GOAL_LINE = re.compile(r"^[ \t]*Your task is to:?[ \t]+(?P<goal>.*)$", re.MULTILINE)
_BANNER = re.compile(r"^[ \t]*-= Welcome to [^\n]*=-[ \t]*$", re.MULTILINE)
_ALFWORLD = (
    r"-= Welcome to TextWorld, ALFRED!|You are in the middle of a room\.|Looking quickly around"
)
_SCIENCEWORLD = r"^[ \t]*This (?:room|outside location) is called "
_WEBSHOP = re.compile(r"Instruction:\s{0,3}\[SEP\]\s{0,3}(?P<goal>.+?)\s{0,3}(?:\[SEP\]|\Z)")
_SIGNS = {
    "alfworld": re.compile(_ALFWORLD),
    "scienceworld": re.compile(_SCIENCEWORLD, re.MULTILINE),
    "webshop": _WEBSHOP,
}
_SCENE = re.compile(f"{_ALFWORLD}|{_SCIENCEWORLD}", re.MULTILINE)
# In a chat's message the goal may stand on the line of the scene.
_GOAL = re.compile(
    r"(?:^[ \t]*Your task is to:?|(?<=\s)Your task is to:)[ \t]+(?P<goal>[^\n]*)", re.MULTILINE
)
# Games that list their actions do so after the goal.
_AFTER_GOAL = re.compile(r"\s*(?:AVAILABLE ACTIONS:|\Z)", re.IGNORECASE)

# What AgentBench's prompt writes right before the task; all before it is instruction.
_PROBLEM = re.compile(r"\b(?:Now, my|Now, I will start a new problem in a new OS\. My) problem is:")
# What many prompts write there, and people too.
_LABEL = re.compile(
    r"^[ \t]*(?:Here is (?:your task\.|the task:)|Task:|Question:|Claim:)[ \t]*\n?", re.MULTILINE
)
_SOLVED = re.compile(
    r"^[ \t]*(?:Thought|Action|Act|Observation|(?:Final )?Answer)[ \t]{0,3}\d{0,4}:",
    re.MULTILINE | re.IGNORECASE,
)
# Prompts of harnesses wrap the task, one in another, and say much about procedure around it.
_WRAPPED = (
    (
        "--- NEW TASK DESCRIPTION ---------------------\n",
        "\n--------------------- END OF NEW TASK DESCRIPTION ---",
    ),
    ("\nTask Description:\n", "\n\nCurrent terminal state:"),
    ("<pr_description>", "</pr_description>"),
    ("<issue_description>", "</issue_description>"),
    ("ISSUE:\n", "\nINSTRUCTIONS:"),
    ("We're currently solving the following CTF challenge. ", "\nINSTRUCTIONS:"),
    ("Please solve this issue: ", "\nYou can execute bash commands and edit files"),
    ("# Problem Statement\n", "\nIMPORTANT: You should ONLY interact with the environment"),
)
# How command files of Claude Code begin: what commands printed, and then what is to be done.
_COMMAND_FILE = re.compile(
    r"\A\s*## Context\n.*?^## Your task[ \t]*\n(?=\s*\S)", re.MULTILINE | re.DOTALL
)
TEMPLATE_LENGTH = 400
"""From how many characters on text around a task is taken for a harness's, and not a person's."""


def scene_of(observation: str) -> str:
    """Return the observation without its goal line and the game's welcome banner."""
    return _BANNER.sub("", GOAL_LINE.sub("", observation)).strip()


def domain_of(text: str) -> str:
    """Return the simulator whose words a text is in; empty if it is none that is known."""
    return next((name for name, sign in _SIGNS.items() if sign.search(text)), "")


def task_and_scene(text: str) -> tuple[str, str]:
    """Return the task in a message, and what else it says of the scene or the rules."""
    return marked_task(text) or _labelled_task(text) or (text.strip(), "")


def marked_task(text: str) -> tuple[str, str] | None:
    """Return the same, if the message marks its task as only a benchmark or a harness does."""
    if (issue := issue_of(text)) != text:
        return marked_task(issue) or (issue, "")
    if shop := _WEBSHOP.search(text):
        return shop["goal"].strip(), ""
    return _game_task(text) or _problem(text)


def issue_of(text: str) -> str:
    """Return the issue in a prompt of a software benchmark, whoever wrote it."""
    for opening, closing in _WRAPPED:
        _, found, rest = text.partition(opening)
        inner, closed, _ = rest.partition(closing)
        if found and closed and inner.strip():
            text = inner.strip()
    return text[begins.end() :].strip() if (begins := _COMMAND_FILE.match(text)) else text


def begins_anew(text: str) -> bool:
    """Return True if a message ends AgentBench's solved example and gives the real task."""
    return (mark := _PROBLEM.match(text.lstrip())) is not None and "new problem" in mark[0]


def _game_task(text: str) -> tuple[str, str] | None:
    goals = [*_GOAL.finditer(text)]
    if not goals or not (task := goals[-1]["goal"].strip()):
        return None
    at, end = goals[-1].span()
    begin = max((mark.end() for mark in _LABEL.finditer(text, 0, at)), default=0)
    if len(goals) > 1:  # the others are examples, which end at the latest where the scene begins
        scenes = _SCENE.finditer(text, max(begin, goals[-2].end()), at)
        begin = next((scene.start() for scene in scenes), begin)
    is_game = _SCENE.search(text, begin) or ("to:" in goals[-1][0] and _AFTER_GOAL.match(text, end))
    return (task, scene_of(text[begin:at] + text[end:])) if is_game else None


def _problem(text: str) -> tuple[str, str] | None:
    marks = [*_PROBLEM.finditer(text)]
    task = text[marks[-1].end() :].strip() if marks else ""
    return (task, text[: marks[0].start()].strip()) if task else None


def _labelled_task(text: str) -> tuple[str, str] | None:
    labels = [*_LABEL.finditer(text)]
    if not labels or not (task := text[labels[-1].end() :].strip()):
        return None
    before = text[: labels[0].start()].strip()
    between = (text[one.end() : other.start()] for one, other in pairwise(labels))
    if all(map(_SOLVED.search, between)) and (
        len(labels) > 1 or not before or len(before) >= TEMPLATE_LENGTH
    ):
        return task, before
    return None
