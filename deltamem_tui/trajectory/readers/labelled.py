"""Text with a label on every part: `Question:`, `Thought 1:`, `Action 1:`, `Observation 1:`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Step, Trajectory

QUESTION = re.compile(r"^\s*(?:Question|Claim):[ \t]*(?P<text>.*)")
_PART = re.compile(
    r"^(?P<label>Thought|Action|Observation)[ \t]{0,3}\d{0,4}:[ \t]?(?P<text>.*)", re.IGNORECASE
)
# What reflecting agents put between the question and the first thought is of former trials.
_REFLECTIONS = re.compile(
    r"You have attempted to answer|Reflections?:|The following is the last trial"
)


def labelled_episode(lines: Sequence[str]) -> Trajectory:
    """One episode of labelled text. Labels may be numbered.

    Args:
        lines: From the question on; reflections on former trials are left out.

    Raises:
        RecordError: No line asks a question.
    """
    begin = next((index for index, line in enumerate(lines) if QUESTION.match(line)), None)
    if begin is None:
        raise RecordError("no line that begins with `Question:`")
    first = next((i for i in range(begin, len(lines)) if _PART.match(lines[i])), len(lines))
    asked = QUESTION.sub(r"\g<text>", "\n".join(lines[begin:first]), count=1)
    return Trajectory(
        task=_REFLECTIONS.split(asked, maxsplit=1)[0].strip(),
        steps=tuple(_steps(_parts(lines[first:]))),
    )


def _parts(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The labelled parts in order, each with all its lines."""
    label, gathered = "", list[str]()
    for line in lines:
        found = _PART.match(line)
        if found is None:
            gathered.append(line)
            continue
        if label:
            yield label, "\n".join(gathered).strip()
        label, gathered = found["label"].lower(), [found["text"]]
    if label:
        yield label, "\n".join(gathered).strip()


def _steps(parts: Iterable[tuple[str, str]]) -> Iterator[Step]:
    thought, action = "", ""
    for label, text in parts:
        if label == "observation":
            if action:
                yield Step(action, text, thought)
            thought, action = "", ""
            continue
        if action:  # nobody answered
            yield Step(action, "", thought)
            thought, action = "", ""
        if label == "thought":
            thought = "\n".join(filter(None, [thought, text]))
        else:
            action = text
    if action:
        yield Step(action, "", thought)
