"""Text with a label on every part: `Question:`, `Thought 1:`, `Action 1:`, `Observation 1:`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation

QUESTION = re.compile(r"^\s*(?:Question|Claim):[ \t]*(?P<text>.*)")
_PART = re.compile(
    r"^(?P<label>Thought|Action|Observation)[ \t]{0,3}\d{0,4}:[ \t]?(?P<text>.*)",
    re.IGNORECASE | re.ASCII,  # without the long s, of which nobody's lower case is an s
)
# What reflecting agents put between the question and the first thought is of former trials.
_REFLECTIONS = re.compile(
    r"You have attempted to answer|Reflections?:|The following is the last trial"
)


def labelled_episode(lines: Sequence[str], conversation: Conversation | None = None) -> Trajectory:
    """One episode of labelled text. Labels may be numbered.

    Args:
        lines: From the question on; reflections on former trials are left out.
        conversation: Is told what is no part of the episode: what is observed before anything
            was done, actions in which nothing is written, and thoughts that led to none.

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
        steps=tuple(_steps(_parts(lines[first:]), conversation or Conversation())),
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


def _steps(parts: Iterable[tuple[str, str]], before: Conversation) -> Iterator[Step]:
    """The steps; an observation that no action led to is one more of the last step."""
    done: list[tuple[str, str, list[str]]] = []
    thought = ""
    for label, text in parts:
        if label == "thought":
            thought = "\n".join(filter(None, [thought, text]))
        elif label == "action" and text:
            done.append((thought, text, []))
            thought = ""
        elif label == "action":
            before.pass_over("action", "nothing is written there")
        elif label == "observation" and done:
            done[-1][2].append(text)
        elif label == "observation":
            before.answer(text)
    before.pass_over("thought", "no action follows it", bool(thought))
    for why, action, seen in done:
        yield Step(action, "\n".join(filter(None, seen)), why)
