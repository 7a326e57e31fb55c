"""Reflexion's trial logs: questions asked again and again, in sections by how they ended."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Line, Preview
from deltamem_tui.trajectory.model import LogSource, Outcome
from deltamem_tui.trajectory.notice import located
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.labelled import QUESTION, labelled_episode
from deltamem_tui.trajectory.readers.reader import Reader, Reading
from deltamem_tui.trajectory.readers.size_guard import Held

_TRIAL = re.compile(r"^BEGIN TRIAL (?P<number>\d+)")
_SECTION = re.compile(r"^-{3,}[ \t]*BEGIN (?P<name>CORRECT|INCORRECT|HALTED) AGENTS?\b")
_ANSWER = re.compile(r"^Correct answer:[ \t]*(?P<text>.*)")
_RULE = re.compile(r"^#{5,}[ \t]*$")
_FIRST_THOUGHT = re.compile(r"^Thought 1:", re.MULTILINE)
_REASONS = {"INCORRECT": "", "HALTED": "halted without an answer"}


@dataclass(slots=True)
class _Place:
    """Where in the log the reader is, and the lines of the episode at hand."""

    trial: str = ""
    section: str = ""
    block: list[Line] = field(default_factory=list)


def _read(log: Log) -> Iterator[Reading]:
    place = _Place()
    held = Held("an episode", log.limits)
    for line in log.lines():
        if isinstance(line, RecordError):
            yield line
            continue
        trial, section = _TRIAL.match(line.text), _SECTION.match(line.text)
        if trial or section or QUESTION.match(line.text) or _RULE.match(line.text):
            yield from _finished(place)
            held.clear()
        if trial:
            place.trial, place.section = trial["number"], ""
        elif section:
            place.section = section["name"]
        elif place.block or QUESTION.match(line.text):
            held.add(len(line.text), line.position)
            place.block.append(line)
    yield from _finished(place)


def _finished(place: _Place) -> Iterator[Reading]:
    block = place.block
    place.block = []
    if not block:
        return
    texts = [line.text for line in block]
    end = next((i for i, text in enumerate(texts) if _ANSWER.match(text)), len(texts))
    position, before = block[0].position, Conversation()
    trajectory = labelled_episode(texts[:end], before)
    # The trials of a question are told apart by number and belong together by name.
    name = hashlib.sha256(trajectory.task.encode("utf-8", "replace")).hexdigest()[:8]
    metadata = {"task_id": f"question-{name}", "trial": place.trial}
    yield replace(
        trajectory,
        outcome=_outcome(place.section),
        source=LogSource(position=position),
        metadata={key: value for key, value in metadata.items() if value},
    )
    yield from (located(told, "", position) for told in before.unheard())


def _outcome(section: str) -> Outcome:
    if not section:
        return Outcome()
    return Outcome(section == "CORRECT", source="stated", reason=_REASONS.get(section, ""))


def _claims(preview: Preview) -> float:
    if preview.layout != "text":
        return 0.0
    asks = any(map(QUESTION.match, preview.head.splitlines()))
    return 0.9 * (asks and _FIRST_THOUGHT.search(preview.head) is not None)


READER = Reader(
    name="reflexion",
    description="Reflexion's trials: Question, Thought 1, Action 1, by CORRECT, INCORRECT, HALTED",
    claims=_claims,
    read=_read,
)
