"""WebShop as ReAct text: `Action:` and `Observation:` blocks that end with a score."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import human_size
from deltamem_tui.trajectory.logs.log import Line, Log, Preview
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import stated
from deltamem_tui.trajectory.readers.reader import Reader, Reading

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


@dataclass(slots=True)
class _Turn:
    action: str
    answer: list[str] = field(default_factory=list)

    @property
    def observation(self) -> str:
        return "\n".join(self.answer).strip()


def _read(log: Log) -> Iterator[Reading]:
    block: list[Line] = []
    number, size = "", 0
    for line in log.lines():
        if isinstance(line, RecordError):
            yield line
            continue
        if _RESET.match(line.text):
            yield from _finished(block, number)
            block, number, size = [], _number_before(block), 0
        size += len(line.text)
        if size > log.limits.record_bytes:
            most = human_size(log.limits.record_bytes)
            raise RecordError(f"an episode of more than {most}", position=line.position)
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


def _turns(lines: Sequence[str]) -> list[_Turn]:
    turns: list[_Turn] = []
    for line in lines:
        action, observation = _ACTION.match(line), _OBSERVATION.match(line)
        if action:
            turns.append(_Turn(action["text"].strip()))
        elif observation:
            turns[-1].answer = [observation["text"]]
        elif _BETWEEN.match(line):
            break
        elif turns[-1].answer:
            turns[-1].answer.append(line)
        else:
            turns[-1].action += f"\n{line}"  # a thought of several lines
    return turns


def _steps(turns: Sequence[_Turn]) -> Iterator[Step]:
    thoughts: list[str] = []
    for turn in turns:
        thought = _THOUGHT.fullmatch(turn.action.strip())
        if thought:
            thoughts.append(thought["text"].removesuffix("]").strip())
        else:
            yield Step(turn.action.strip(), turn.observation, "\n".join(thoughts))
            thoughts = []


def _outcome(turns: Sequence[_Turn]) -> Outcome:
    """The last score that the shop gave; none if the steps ran out before anything was bought."""
    scores = [found["score"] for turn in turns if (found := _SCORE.search(turn.observation))]
    return stated(scores[-1]) if scores else Outcome()


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
