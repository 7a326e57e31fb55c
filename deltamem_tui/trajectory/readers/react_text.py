"""One episode of ReAct text on ALFWorld, taken apart line by line.

You are in the middle of a room. …
Your task is to: put some mug on desk.
> think: First I need a mug.
OK.
> go to shelf 1
On the shelf 1, you see a mug 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.scene import GOAL_LINE, scene_of
from deltamem_tui.trajectory.readers.turn import Turn

DOMAIN = "alfworld"
_PROMPT = "> "
_THOUGHT = re.compile(r"(?:think|thought)\s*:\s*(?P<text>.*)", re.IGNORECASE | re.DOTALL)
# A planning trace that some agents write beside their thoughts; no game ever sees it.
_PLAN = re.compile(r"ActionPath\s*:", re.IGNORECASE)
# What games answer to a thought: they were told to say OK, or do not know the word.
_ANSWERS_TO_THOUGHT = frozenset({"", "OK.", "OK", "Nothing happens."})
_SCENE_START = re.compile(r"^\s*(?:-= Welcome|You are in )")
# How the prompts of the known agents begin, before their examples.
_PROMPT_START = re.compile(r"^Interact with a household\b|^Here (?:is|are) [\w ]{0,20}examples?\b")
_TASK_MARK = re.compile(r"^Here is the task:?\s*$", re.IGNORECASE)


def is_goal(line: str) -> bool:
    """Whether a line tells the agent its task."""
    return GOAL_LINE.match(line) is not None


def is_action(line: str) -> bool:
    """Whether a line is what the agent wrote, a thought included."""
    return line.startswith(_PROMPT)


def announces(line: str) -> bool:
    """Whether a line begins a prompt, in which examples may follow."""
    return _PROMPT_START.match(line) is not None


def episodes_in(lines: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Part text into episodes, each with the index of its first line.

    Examples that a prompt shows before its `Here is the task` line are no episodes. One prompt
    may follow another; then only what comes right after such a line is sure to be none of the
    next one's examples.
    """
    marks = [index for index, line in enumerate(lines) if _TASK_MARK.match(line)]
    if not marks:
        yield from _parted(lines, 0, len(lines))
    for begin, end in pairwise([*marks, len(lines)]):
        prompt = next((i for i in range(begin + 1, end) if announces(lines[i])), end)
        found = list(_parted(lines, begin + 1, prompt))
        yield from found if prompt < end or end == len(lines) else found[:1]


def _parted(lines: Sequence[str], begin: int, end: int) -> Iterator[tuple[int, Sequence[str]]]:
    """The episodes between two lines, a goal in each."""
    goals = [index for index in range(begin, end) if is_goal(lines[index])]
    if not goals:
        return
    starts = [begin]
    starts += [_start_before(lines, before, goal) for before, goal in pairwise(goals)]
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        yield start, lines[start:stop]


def _start_before(lines: Sequence[str], previous: int, goal: int) -> int:
    """Where the scene of the episode begins whose goal stands on line `goal`."""
    last_action = max((i for i in range(previous, goal) if is_action(lines[i])), default=previous)
    gap = range(last_action + 1, goal)
    scenes = [index for index in gap if _SCENE_START.match(lines[index])]
    if scenes:
        banner = scenes[-1] - 1
        while banner > last_action and not lines[banner].strip():
            banner -= 1
        return banner if banner in scenes else scenes[-1]
    blanks = [index + 1 for index in gap if not lines[index].strip()]
    return blanks[-1] if blanks else goal


def parse_episode(lines: Sequence[str], *, cut: bool = False) -> Trajectory:
    """Read one episode.

    Args:
        lines: Scene, goal and what followed.
        cut: Whether the log is known to break off in the middle of a sentence; then a last
            line that nobody answered is dropped.

    Raises:
        RecordError: No line tells the task.
    """
    goal = next((index for index, line in enumerate(lines) if is_goal(line)), None)
    if goal is None:
        raise RecordError("no line that begins with `Your task is to`")
    found = GOAL_LINE.match(lines[goal])
    first = next((i for i in range(goal + 1, len(lines)) if is_action(lines[i])), len(lines))
    scene = "\n".join([*lines[:goal], *lines[goal + 1 : first]])
    return Trajectory(
        task=found["goal"].strip() if found else "",
        environment=scene_of(scene),
        steps=tuple(_steps(_turns(lines[first:]), cut=cut)),
        domain=DOMAIN,
    )


def _turns(lines: Sequence[str]) -> list[Turn]:
    turns: list[Turn] = []
    for line in lines:
        if is_action(line):
            turns.append(Turn([line.removeprefix(_PROMPT)]))
        else:
            turns[-1].answer.append(line)
    return turns


def _steps(turns: list[Turn], *, cut: bool) -> Iterator[Step]:
    if cut and turns and not turns[-1].observation:
        turns = turns[:-1]
    thoughts: list[str] = []
    for turn in turns:
        thought = _thought(turn)
        if thought is not None:
            thoughts.append(thought)
        elif turn.written:
            yield Step(turn.written, turn.observation, "\n".join(thoughts))
            thoughts = []


def _thought(turn: Turn) -> str | None:
    if turn.observation not in _ANSWERS_TO_THOUGHT:
        return None
    if _PLAN.match(turn.written):
        return turn.written
    found = _THOUGHT.fullmatch(turn.written)
    return found["text"].strip() if found else None
