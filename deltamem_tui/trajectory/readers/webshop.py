"""WebShop as ReAct text: `Action:` and `Observation:` blocks that end with a score."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Line, Preview
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcome_keys import stated_under
from deltamem_tui.trajectory.readers.reader import Reader, Reading
from deltamem_tui.trajectory.readers.size_guard import Held
from deltamem_tui.trajectory.readers.turn import Turn

_ACTION = re.compile(r"^Action:[ \t]*(?P<text>.*)")
_OBSERVATION = re.compile(r"^Observation:[ \t]*(?P<text>.*)")
_RESET = re.compile(r"^Action:[ \t]*reset\b", re.MULTILINE)
_PAGE_ACTION = re.compile(r"^Action:[ \t]*(?:search|click|think)\[", re.MULTILINE)
_THOUGHT = re.compile(r"think\[(?P<text>.*)\]?", re.DOTALL)
_SCORE = re.compile(r"Your score \(min 0\.0, max 1\.0\):[ \t]*(?P<score>-?[\d.]+)")
_INSTRUCTION = re.compile(r"Instruction:\s*(?P<goal>.+?)(?:\n|\[SEP\]|\[Search\]|\Z)", re.DOTALL)
_NUMBER = re.compile(r"^\d+$")
# Between episodes the program that ran them prints its running means and a rule.
_BETWEEN = re.compile(r"^(?:-{10,}|\d+(?: [\d.]+){3})[ \t]*$")


def _read(log: Log) -> Iterator[Reading]:
    block: list[Line] = []
    number = ""
    held = Held("an episode", log.limits)
    for line in log.lines():
        if isinstance(line, RecordError):
            yield line
            continue
        if _RESET.match(line.text):
            yield from _finished(block, number)
            block, number = [], _number_before(block)
            held.clear()
        held.add(len(line.text), line.position)
        block.append(line)
    yield from _finished(block, number)


def _number_before(block: list[Line]) -> str:
    """The number that is printed before an episode, the last line of the block before."""
    last = next((line.text.strip() for line in reversed(block) if line.text.strip()), "")
    return last if _NUMBER.match(last) else ""


def _finished(block: list[Line], number: str) -> Iterator[Reading]:
    texts = [line.text for line in block]
    if not any(map(_ACTION.match, texts)):
        return
    position = block[0].position
    if not _RESET.match(texts[0]):
        yield RecordError(
            "actions whose beginning, with the task, is not in the log", position=position
        )
        return
    turns = _turns(texts)
    page = turns[0].observation
    goal = _INSTRUCTION.search(page)
    if goal is None:
        yield RecordError("no `Instruction:` on the first page", position=position)
        return
    yield Trajectory(
        task=goal["goal"].strip(),
        steps=tuple(_steps(turns[1:])),
        outcome=_outcome(turns),
        source=LogSource(position=position),
        domain="webshop",
        metadata={"id": number} if number else {},
    )


def _turns(lines: Sequence[str]) -> list[Turn]:
    turns: list[Turn] = []
    for line in lines:
        action, observation = _ACTION.match(line), _OBSERVATION.match(line)
        if action:
            turns.append(Turn([action["text"]]))
        elif observation:
            turns[-1].answer = [observation["text"]]
        elif _BETWEEN.match(line):
            break
        elif turns[-1].answer:
            turns[-1].answer.append(line)
        else:
            turns[-1].said.append(line)  # a thought of several lines
    return turns


def _steps(turns: Sequence[Turn]) -> Iterator[Step]:
    thoughts: list[str] = []
    for turn in turns:
        thought = _THOUGHT.fullmatch(turn.written)
        if thought:
            thoughts.append(thought["text"].removesuffix("]").strip())
        else:
            yield Step(turn.written, turn.observation, "\n".join(thoughts))
            thoughts = []


def _outcome(turns: Sequence[Turn]) -> Outcome:
    """The last score that the shop gave; none if the steps ran out before anything was bought."""
    scores = [found["score"] for turn in turns if (found := _SCORE.search(turn.observation))]
    return stated_under({"Your score": scores[-1]}, "Your score") if scores else Outcome()


def _claims(preview: Preview) -> float:
    if preview.layout != "text":
        return 0.0
    return 0.9 * bool(_RESET.search(preview.head) or _PAGE_ACTION.search(preview.head))


READER = Reader(
    name="webshop",
    description="WebShop as ReAct text, also inside a notebook: Action, Observation, Your score",
    claims=_claims,
    read=_read,
)
