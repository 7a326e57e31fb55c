"""WebShop as ReAct text that ends with a score."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, TextLine
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import stated_under
from deltamem_tui.trajectory.readers.labelled import SEARCH_LOG, labelled_parts
from deltamem_tui.trajectory.readers.reader import Reader, Reading
from deltamem_tui.trajectory.readers.sessions import line_blocks

_ACTION = re.compile(r"^Action:[ \t]*", re.MULTILINE)
_RESET = re.compile(r"^Action:[ \t]*reset\b", re.MULTILINE)
_PAGE_ACTION = re.compile(r"^Action:[ \t]*(?:search|click|think)\[", re.MULTILINE)
_THOUGHT = re.compile(r"think\[(?P<text>.*)\]?", re.DOTALL)
_SCORE = re.compile(r"Your score \(min 0\.0, max 1\.0\):[ \t]*(?P<score>-?[\d.]+)")
_INSTRUCTION = re.compile(r"Instruction:\s*(?P<goal>.+?)(?:\n|\[SEP\]|\[Search\]|\Z)", re.DOTALL)
# Between episodes the program that ran them prints its running means and a rule.
_BETWEEN = re.compile(r"^(?:-{10,}|\d+(?: [\d.]+){3})[ \t]*$")


def _read(log: Log) -> Iterator[Reading]:
    number = ""  # is printed before an episode, as the last line of the block before
    for block in line_blocks(log, "an episode", begins=_RESET.match):
        if isinstance(block, RecordError):
            yield block
            continue
        yield from _text_episode(block, number)
        last = next((line.text.strip() for line in reversed(block) if line.text.strip()), "")
        number = last if last.isdecimal() else ""


def _text_episode(block: list[TextLine], number: str) -> Iterator[Reading]:
    position, texts = block[0].position, [line.text for line in block]
    begin = next((index for index, text in enumerate(texts) if _ACTION.match(text)), None)
    if begin is None:
        return
    if not _RESET.match(texts[0]):
        reason = "actions whose beginning, with the task, is not in the log"
        yield RecordError(reason, position=position)
        return
    parts = labelled_parts(takewhile(lambda text: not _BETWEEN.match(text), texts))
    steps = _text_steps(parts)
    page, *done = steps
    goal = _INSTRUCTION.search(page.observation)
    if goal is None:
        yield RecordError("no `Instruction:` on the first page", position=position)
        return
    scores = [found["score"] for step in steps if (found := _SCORE.search(step.observation))]
    yield Trajectory(
        task=goal["goal"].strip(),
        steps=tuple(done),
        outcome=stated_under({"Your score": scores[-1]}, "Your score") if scores else Outcome(),
        source=LogSource(position=position),
        domain="webshop",
        metadata={"id": number} if number else {},
    )


def _text_steps(parts: Iterator[tuple[str, str]]) -> list[Step]:
    steps: list[Step] = []
    thoughts: list[str] = []
    thinks = False
    for kind, text in parts:
        if kind == "action":
            thought = _THOUGHT.fullmatch(text)
            thinks = thought is not None
            if thought:
                thoughts.append(thought["text"].removesuffix("]").strip())
            else:
                steps.append(Step(text, "", "\n".join(thoughts)))
                thoughts = []
        elif not thinks:
            last = steps.pop()
            steps.append(Step(last.action, text, last.thought))
    return steps


def _text_claims(preview: Preview) -> float:
    if preview.layout != "text" or SEARCH_LOG.search(preview.head):
        return 0.0
    return 0.9 * bool(_RESET.search(preview.head) or _PAGE_ACTION.search(preview.head))


READERS = (
    Reader(
        name="webshop",
        description="WebShop as ReAct text, also in a notebook: Action, Observation, Your score",
        claims=_text_claims,
        read=_read,
    ),
)
