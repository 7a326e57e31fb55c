"""The task in the message that gives it, parted from the instructions and the scene around it."""

from __future__ import annotations

import re

# A goal may come with its own paragraph mark; the welcome line greets every game alike.
GOAL_LINE = re.compile(r"^[ \t]*Your task is to:?[ \t]+(?P<goal>.*)$", re.MULTILINE)
_BANNER = re.compile(r"^[ \t]*-= Welcome to [^\n]*=-[ \t]*$", re.MULTILINE)


def scene_of(observation: str) -> str:
    """The observation without its goal line and the game's welcome banner."""
    return _BANNER.sub("", GOAL_LINE.sub("", observation)).strip()


# What a benchmark's own prompt writes right before the task; all before it is instruction.
_MARKS = re.compile(
    r"(?:\b(?:Now, )?[Mm]y problem is:"
    r"|^[ \t]*(?:Here is (?:your task\.|the task:)|Task:|Question:))[ \t]*\n?",
    re.MULTILINE,
)
# Prompts of software benchmarks wrap the issue, and say much about procedure around it.
_WRAPPED = (
    ("<pr_description>", "</pr_description>"),
    ("<issue_description>", "</issue_description>"),
    ("ISSUE:\n", "\nINSTRUCTIONS:"),
    ("We're currently solving the following CTF challenge. ", "\nINSTRUCTIONS:"),
    ("Please solve this issue: ", "\nYou can execute bash commands and edit files"),
    ("# Problem Statement\n", "\nIMPORTANT: You should ONLY interact with the environment"),
)
# Games that list their actions do so after the goal.
_AFTER_GOAL = re.compile(r"\s*(?:AVAILABLE ACTIONS:|\Z)", re.IGNORECASE)
_WEBSHOP = re.compile(r"Instruction:\s{0,3}\[SEP\]\s{0,3}(?P<goal>.+?)\s{0,3}(?:\[SEP\]|\Z)")
# Some benchmarks show a solved example first, in the same conversation, and then begin anew.
_ANEW = re.compile(r"\A\s*Now, I will start a new problem\b")
# How agents answer to instructions that they were only to read.
_NOD = re.compile(r"\A\W*(?:ok|okay|understood|sure|yes|i understand)\b", re.IGNORECASE)
_NOD_LENGTH = 120


def task_and_scene(text: str) -> tuple[str, str]:
    """The task in the message that gives it, and what else that says of the scene or the rules."""
    if (issue := issue_of(text)) != text:
        return issue, ""
    goal = GOAL_LINE.search(text)
    if goal and goal["goal"].strip() and _AFTER_GOAL.match(text, goal.end()):
        begin = _last_mark(text[: goal.start()])
        return goal["goal"].strip(), scene_of(text[begin:])
    shop = _WEBSHOP.search(text)
    if shop:
        return shop["goal"].strip(), ""
    begin = _last_mark(text)
    task = text[begin:].strip()
    mark = next(_MARKS.finditer(text), None)
    return (task, text[: mark.start()].strip()) if mark and task else (text.strip(), "")


def issue_of(text: str) -> str:
    """The issue in a prompt of a software benchmark, whoever wrote it; any other text as it is."""
    for opening, closing in _WRAPPED:
        _, found, rest = text.partition(opening)
        inner, closed, _ = rest.partition(closing)
        if found and closed and inner.strip():
            return inner.strip()
    return text


def begins_anew(text: str) -> bool:
    """Whether a message ends a solved example and gives the real task."""
    return _ANEW.match(text) is not None


def is_nod(text: str) -> bool:
    """Whether a turn only says that the instructions before it were read."""
    return len(text) <= _NOD_LENGTH and _NOD.match(text) is not None


def _last_mark(text: str) -> int:
    return max((mark.end() for mark in _MARKS.finditer(text)), default=0)
