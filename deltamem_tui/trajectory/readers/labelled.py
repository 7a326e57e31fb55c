"""Text in parts labelled `Question:`, `Thought 1:`, `Action 1:`, by hand or as agents print it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Notice, Preview, TextLine
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import verdict_of
from deltamem_tui.trajectory.readers.coding import call_arguments, call_text
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reader, Reading, conversation_readings
from deltamem_tui.trajectory.readers.sessions import line_blocks
from deltamem_tui.trajectory.readers.shapes import Json

# The log of a search tells its prompt anew at each node: nothing says which of it was done.
SEARCH_LOG = re.compile(
    r"^\d{4}-\d\d-\d\d[ T][\d:,.]{5,20} - [A-Z]{4,8} - "
    r"(?:PROMPT:|SAMPLED ACTION|NEW NODE|Iteration \d|\w+ at node depth)",
    re.MULTILINE | re.ASCII,
)
_QUESTION = re.compile(r"^\s*(?:Question|Claim):[ \t]*(?P<text>.*)")
_TASK = re.compile(r"^(?:Question|Claim|Task|Goal):[ \t]*(?P<text>.*)")
_INPUT = re.compile(r"^Action Input:[ \t]?(?P<text>.*)", re.IGNORECASE)
_LAST = re.compile(r"^(?P<label>Final Answer|Outcome):[ \t]*(?P<text>.*)", re.IGNORECASE)
_PART = re.compile(
    r"^(?P<label>Thought|Action|Observation)[ \t]{0,3}\d{0,4}:[ \t]?(?P<text>.*)",
    re.IGNORECASE | re.ASCII,  # without the long s, whose lower case is not an s
)
# What reflecting agents put between the question and the first thought is of former trials.
_REFLECTIONS = re.compile(
    r"You have attempted to answer|Reflections?:|The following is the last trial"
)
_TRIAL = re.compile(r"^BEGIN TRIAL (?P<number>\d+)")
_SECTION = re.compile(r"^-{3,}[ \t]*BEGIN (?P<name>CORRECT|INCORRECT|HALTED) AGENTS?\b")
_ANSWER = re.compile(r"^Correct answer:[ \t]*(?P<text>.*)")
_RULE = re.compile(r"^#{5,}[ \t]*$")
_FIRST_THOUGHT = re.compile(r"^Thought 1:", re.MULTILINE)


def labelled_parts(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the labelled parts of a text in order, each with all its lines."""
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


def labelled_messages(text: str) -> list[Json]:
    """Return a text in labelled parts as the messages that it would be in a chat."""
    conversation = Conversation()
    found = _episode(conversation, text.splitlines())
    messages: list[Json] = [{"role": "user", "content": found.task}]
    for step in found.steps:
        thought = f"Thought: {step.thought}\n" if step.thought else ""
        messages.append({"role": "assistant", "content": f"{thought}Action: {step.action}"})
        messages.append({"role": "tool", "content": step.observation})
    return messages


def _episode(conversation: Conversation, lines: Sequence[str]) -> Trajectory:
    """Return the episode in a block of lines; its first question or task is on the first of them.

    What stands behind `Final Answer:` is the last action, and behind `Outcome:` how it ended.
    """
    last = {
        found["label"].lower(): (index, found["text"])
        for index, line in enumerate(lines)
        if (found := _LAST.match(line))
    }
    end = min((index for index, _ in last.values()), default=len(lines))
    first = next((index for index in range(end) if _PART.match(lines[index])), end)
    asked = "\n".join(lines[:first])
    asked = (_QUESTION if _QUESTION.match(asked) else _TASK).sub(r"\g<text>", asked, count=1)
    done = list(lines[first:end])
    index, answer = last.get("final answer", (0, ""))
    if answer:
        stop = max((each for each, _ in last.values() if each > index), default=len(lines))
        done += [f"Action: {answer}", *lines[index + 1 : stop]]
    steps = [_with_input(each) for each in _steps(labelled_parts(done), conversation)]
    if answer and steps:
        steps[-1] = replace(steps[-1], kind="message")
    told = last.get("outcome", (0, ""))[1].strip().rstrip(".").lower()
    return Trajectory(
        task=_REFLECTIONS.split(asked, maxsplit=1)[0].strip(),
        steps=tuple(steps),
        outcome=verdict_of(told) if told else Outcome(),
    )


def _steps(parts: Iterable[tuple[str, str]], before: Conversation) -> Iterator[Step]:
    """Yield the steps; an observation that no action led to is one more of the last step."""
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
        elif done:
            done[-1][2].append(text)
        else:
            before.answer(text)
    before.pass_over("thought", "no action follows it", bool(thought))
    if done and done[-1][2]:  # what a program prints behind the last answer has blank lines
        others, last = [text for _, _, seen in done[:-1] for text in seen], done[-1][2]
        if others and not any("\n\n" in text for text in others):
            last[-1], cut, _ = last[-1].partition("\n\n")
            before.pass_over("part", "it stands behind the last observation", bool(cut))
    for why, action, seen in done:
        yield Step(action, "\n".join(filter(None, seen)), why)


def _with_input(step: Step) -> Step:
    """Return a step whose action names a tool on one line and its input on the next, as a call."""
    name, _, rest = step.action.partition("\n")
    found = _INPUT.match(rest)
    if found is None:
        return step
    tool, given = name.strip(), found["text"] + rest[found.end() :]
    return replace(
        step,
        action=call_text(tool, given),
        tool=tool,
        arguments=call_arguments(given),
        kind="call",
    )


def _read_plain(log: Log) -> Iterator[Reading]:
    for block in line_blocks(log, "an episode", begins=_TASK.match):
        if isinstance(block, RecordError):
            yield block
        elif _TASK.match(block[0].text):
            texts = [line.text for line in block]
            yield from conversation_readings(block[0].position, _episode, texts)


def _read_trials(log: Log) -> Iterator[Reading]:
    trial = section = ""
    # Where the log tells the right answer behind each episode, what lacks it is an example of the
    # prompt, or what the model imagined.
    tells = any(map(_ANSWER.match, log.preview().head.splitlines()))
    marks = (_TRIAL, _SECTION, _QUESTION, _RULE)
    begins = lambda line: any(mark.match(line) for mark in marks)  # noqa: E731
    for block in line_blocks(log, "an episode", begins=begins):
        if isinstance(block, RecordError):
            yield block
        elif found := _TRIAL.match(block[0].text):
            trial, section = found["number"], ""
        elif found := _SECTION.match(block[0].text):
            section = found["name"]
        elif _QUESTION.match(block[0].text):
            if tells and not section and not any(_ANSWER.match(line.text) for line in block):
                reason = "1 episode is left out: no answer is told behind it, as behind others"
                yield Notice(reason, position=block[0].position)
            else:
                position = block[0].position
                yield from conversation_readings(position, _trial, block, trial, section)


def _trial(
    conversation: Conversation, block: list[TextLine], trial: str, section: str
) -> Trajectory:
    texts = [line.text for line in block]
    end = next((i for i, text in enumerate(texts) if _ANSWER.match(text)), len(texts))
    found = _episode(conversation, texts[:end])
    if section:
        reason = "halted without an answer" if section == "HALTED" else ""
        found = found.with_outcome(Outcome(section == "CORRECT", source="stated", reason=reason))
    # The trials of a question are told apart by number and belong together by name.
    name = hashlib.sha256(found.task.encode("utf-8", "replace")).hexdigest()[:8]
    return replace(found, metadata={"task_id": f"question-{name}", "trial": trial})


def _claims(preview: Preview, *, trials: bool) -> float:
    if preview.layout != "text" or SEARCH_LOG.search(preview.head):
        return 0.0
    lines = preview.head.splitlines()
    if trials:
        asks = any(map(_QUESTION.match, lines))
        return 0.9 * (asks and _FIRST_THOUGHT.search(preview.head) is not None)
    acts = any(found["label"].lower() == "action" for found in map(_PART.match, lines) if found)
    return 0.6 * (acts and any(map(_TASK.match, lines)))


READERS = (
    Reader(
        name="reflexion",
        description="Trials: Question, Thought 1, Action 1, by CORRECT, INCORRECT, HALTED",
        claims=lambda preview: _claims(preview, trials=True),
        read=_read_trials,
    ),
    Reader(
        name="labelled-text",
        description="Labelled text: Question, Thought, Action, Action Input, Observation, Outcome",
        claims=lambda preview: _claims(preview, trials=False),
        read=_read_plain,
    ),
)
