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
from dataclasses import dataclass, field
from itertools import pairwise

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.scene import GOAL_LINE, scene_of

DOMAIN = "alfworld"
_PROMPT = "> "
_THOUGHT = re.compile(r"(?:think|thought)\s*:\s*(?P<text>.*)", re.IGNORECASE | re.DOTALL)
# A planning trace that some agents write beside their thoughts; no game ever sees it.
_PLAN = re.compile(r"ActionPath\s*:", re.IGNORECASE)
# What games answer to a thought: they were told to say OK, or do not know the word.
_ANSWERS_TO_THOUGHT = frozenset({"", "OK.", "OK", "Nothing happens."})
_SCENE_START = re.compile(r"^\s*(?:-= Welcome|You are in )")
_TASK_MARK = re.compile(r"^Here is the task:?\s*$", re.IGNORECASE)


def is_goal(line: str) -> bool:
    """Whether a line tells the agent its task."""
    return GOAL_LINE.match(line) is not None


def is_action(line: str) -> bool:
    """Whether a line is what the agent wrote, a thought included."""
    return line.startswith(_PROMPT)


def episodes_in(lines: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Part text into episodes, each with the index of its first line.

    Examples that a prompt shows before its `Here is the task` line are no episodes.
    """
    begin = max((index for index, line in enumerate(lines) if _TASK_MARK.match(line)), default=-1)
    goals = [index for index in range(begin + 1, len(lines)) if is_goal(lines[index])]
    if not goals:
        return
    starts = [begin + 1]
    starts += [_start_before(lines, before, goal) for before, goal in pairwise(goals)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield start, lines[start:end]


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


@dataclass(slots=True)
class _Turn:
    written: str
    answer: list[str] = field(default_factory=list)

    @property
    def observation(self) -> str:
        return "\n".join(self.answer).strip()


def _turns(lines: Sequence[str]) -> list[_Turn]:
    turns: list[_Turn] = []
    for line in lines:
        if is_action(line):
            turns.append(_Turn(line.removeprefix(_PROMPT).strip()))
        else:
            turns[-1].answer.append(line)
    return turns


def _steps(turns: list[_Turn], *, cut: bool) -> Iterator[Step]:
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


def _thought(turn: _Turn) -> str | None:
    if turn.observation not in _ANSWERS_TO_THOUGHT:
        return None
    if _PLAN.match(turn.written):
        return turn.written
    found = _THOUGHT.fullmatch(turn.written)
    return found["text"].strip() if found else None
