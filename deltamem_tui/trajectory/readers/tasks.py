"""The task in the message that gives it, parted from the instructions and the scene around it.

A message is parted where it marks its task in a way that only benchmarks and harnesses write.
Of any other message all is the task: what a user said is never dropped on suspicion.
"""

from __future__ import annotations

import re
from itertools import pairwise

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
# From how many characters on text around a task is taken for a harness's, and not a person's.
_TEMPLATE_LENGTH = 400


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
    return _game_task(text)


def issue_of(text: str) -> str:
    """Return the issue in a prompt of a software benchmark, whoever wrote it."""
    for opening, closing in _WRAPPED:
        _, found, rest = text.partition(opening)
        inner, closed, _ = rest.partition(closing)
        if found and closed and inner.strip():
            text = inner.strip()
    return text[begins.end() :].strip() if (begins := _COMMAND_FILE.match(text)) else text


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


def _labelled_task(text: str) -> tuple[str, str] | None:
    labels = [*_LABEL.finditer(text)]
    if not labels or not (task := text[labels[-1].end() :].strip()):
        return None
    before = text[: labels[0].start()].strip()
    between = (text[one.end() : other.start()] for one, other in pairwise(labels))
    if all(map(_SOLVED.search, between)) and (
        len(labels) > 1 or not before or len(before) >= _TEMPLATE_LENGTH
    ):
        return task, before
    return None
