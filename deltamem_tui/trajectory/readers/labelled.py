"""Text in parts labelled `Question:`, `Thought 1:`, `Action 1:`: FireAct and Reflexion."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Notice, Preview, TextLine, located
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcome_keys import explained
from deltamem_tui.trajectory.outcomes import decided, stated, together, unit_reward, verdict_of
from deltamem_tui.trajectory.readers.chat import episode
from deltamem_tui.trajectory.readers.coding import call_arguments, call_text
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import (
    Reader,
    Reading,
    all_entries,
    conversation_readings,
    each_entry,
    json_reader,
)
from deltamem_tui.trajectory.readers.sessions import line_blocks
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping


@dataclass(slots=True)
class TextTurn:
    """What the agent wrote, and what answered it, each as the lines gathered so far."""

    lines: list[str]
    answer: list[str] = field(default_factory=list)

    @property
    def written(self) -> str:
        """What the agent wrote."""
        return "\n".join(self.lines).strip()

    @property
    def observation(self) -> str:
        """What the environment answered; empty if it said nothing."""
        return "\n".join(self.answer).strip()


# The log of a search: the prompt with its examples is told anew at each node, with samples of what
# the model imagines next, so nothing says which of it was done.
SEARCH_LOG = re.compile(
    r"^\d{4}-\d\d-\d\d[ T][\d:,.]{5,20} - [A-Z]{4,8} - "
    r"(?:PROMPT:|SAMPLED ACTION|NEW NODE|Iteration \d|\w+ at node depth)",
    re.MULTILINE | re.ASCII,
)
QUESTION = re.compile(r"^\s*(?:Question|Claim):[ \t]*(?P<text>.*)")
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


def _labelled_episode(lines: Sequence[str], conversation: Conversation | None = None) -> Trajectory:
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
    """Yield the labelled parts in order, each with all its lines."""
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
        elif label == "observation" and done:
            done[-1][2].append(text)
        elif label == "observation":
            before.answer(text)
    before.pass_over("thought", "no action follows it", bool(thought))
    if done:  # what a program prints behind the last answer has blank lines, as no answer has
        others = [text for _, _, seen in done[:-1] for text in seen]
        last = done[-1][2]
        if others and last and not any("\n\n" in text for text in others):
            cut = last[-1].partition("\n\n")
            last[-1] = cut[0]
            before.pass_over("part", "it stands behind the last observation", bool(cut[2]))
    for why, action, seen in done:
        yield Step(action, "\n".join(filter(None, seen)), why)


def _episode(conversation: Conversation, name: str, value: object) -> Trajectory:
    record = as_mapping(value)
    told = record.get("traj")
    if isinstance(told, str):  # models that do not chat continue one long text
        trajectory = _labelled_episode(told.splitlines(), conversation)
    elif told:
        trajectory = episode(as_list(told), conversation=conversation)
    else:
        raise RecordError("nothing under `traj`")
    return replace(trajectory, outcome=_fireact_outcome(record), metadata={"id": name})


def _fireact_outcome(record: Json) -> Outcome:
    match = decided(verdict_of(record.get("em")))
    if match.success is None:
        return explained(stated(record.get("reward")), record, ("em", "reward"))
    outcome = together({"em": match, "reward": stated(record.get("reward"))})
    overlap = unit_reward(record.get("f1"))
    if outcome.source == "unknown":
        return outcome
    if match.success and overlap == 0.0:
        return together({"em": match, "f1": Outcome(reward=overlap, source="stated")})
    return replace(outcome, reward=overlap)


def _is_entry(value: object) -> bool:
    record = as_mapping(value)
    return isinstance(record.get("traj"), list | str) and "em" in record


FIREACT = json_reader(
    name="fireact",
    description="FireAct: episodes by id, with traj, em, f1 and reward",
    is_own=all_entries(_is_entry),
    read=each_entry(_episode),
)


_TRIAL = re.compile(r"^BEGIN TRIAL (?P<number>\d+)")
_SECTION = re.compile(r"^-{3,}[ \t]*BEGIN (?P<name>CORRECT|INCORRECT|HALTED) AGENTS?\b")
_ANSWER = re.compile(r"^Correct answer:[ \t]*(?P<text>.*)")
_RULE = re.compile(r"^#{5,}[ \t]*$")
_FIRST_THOUGHT = re.compile(r"^Thought 1:", re.MULTILINE)
_REASONS = {"INCORRECT": "", "HALTED": "halted without an answer"}


def _read(log: Log) -> Iterator[Reading]:
    trial = section = ""
    # Where the log tells the right answer behind each episode, what lacks it is an example of the
    # prompt, or what the model imagined.
    tells = any(map(_ANSWER.match, log.preview().head.splitlines()))
    for block in line_blocks(log, "an episode", begins=_begins):
        if isinstance(block, RecordError):
            yield block
        elif found := _TRIAL.match(block[0].text):
            trial, section = found["number"], ""
        elif found := _SECTION.match(block[0].text):
            section = found["name"]
        elif QUESTION.match(block[0].text):
            if tells and not section and not any(_ANSWER.match(line.text) for line in block):
                reason = "1 episode is left out: no answer is told behind it, as behind others"
                yield Notice(reason, position=block[0].position)
            else:
                yield from _reflexion_readings(block, trial, section)


def _begins(line: str) -> bool:
    """Return True if a line begins an episode, or is of the log itself."""
    return any(mark.match(line) for mark in (_TRIAL, _SECTION, QUESTION, _RULE))


def _reflexion_readings(block: list[TextLine], trial: str, section: str) -> Iterator[Reading]:
    texts = [line.text for line in block]
    end = next((i for i, text in enumerate(texts) if _ANSWER.match(text)), len(texts))
    position, before = block[0].position, Conversation()
    trajectory = _labelled_episode(texts[:end], before)
    # The trials of a question are told apart by number and belong together by name.
    name = hashlib.sha256(trajectory.task.encode("utf-8", "replace")).hexdigest()[:8]
    metadata = {"task_id": f"question-{name}"} | ({"trial": trial} if trial else {})
    yield replace(
        trajectory,
        outcome=_reflexion_outcome(section),
        source=LogSource(position=position),
        metadata=metadata,
    )
    yield from (located(remark, "", position) for remark in before.left_out())


def _reflexion_outcome(section: str) -> Outcome:
    if not section:
        return Outcome()
    return Outcome(section == "CORRECT", source="stated", reason=_REASONS.get(section, ""))


def _reflexion_claims(preview: Preview) -> float:
    if preview.layout != "text" or SEARCH_LOG.search(preview.head):
        return 0.0
    asks = any(map(QUESTION.match, preview.head.splitlines()))
    return 0.9 * (asks and _FIRST_THOUGHT.search(preview.head) is not None)


REFLEXION = Reader(
    name="reflexion",
    description="Reflexion's trials: Question, Thought 1, Action 1, by CORRECT, INCORRECT, HALTED",
    claims=_reflexion_claims,
    read=_read,
)


def _read_plain(log: Log) -> Iterator[Reading]:
    for block in line_blocks(log, "an episode", begins=_TASK.match):
        if isinstance(block, RecordError):
            yield block
        elif _TASK.match(block[0].text):
            texts = [line.text for line in block]
            yield from conversation_readings(block[0].position, _plain_episode, texts)


def _plain_episode(conversation: Conversation, lines: list[str]) -> Trajectory:
    last = {
        found["label"].lower(): (index, found["text"])
        for index, line in enumerate(lines)
        if (found := _LAST.match(line))
    }
    end = min((index for index, _ in last.values()), default=len(lines))
    first = next((i for i in range(1, end) if _PART.match(lines[i])), end)
    task = _TASK.sub(r"\g<text>", "\n".join(lines[:first]), count=1).strip()
    done = lines[first:end]
    index, answer = last.get("final answer", (0, ""))
    if answer:
        stop = max((each for each, _ in last.values() if each > index), default=len(lines))
        done += [f"Action: {answer}", *lines[index + 1 : stop]]
    steps = [_with_input(each) for each in _steps(_parts(done), conversation)]
    if answer and steps:
        steps[-1] = replace(steps[-1], kind="message")
    told = last.get("outcome", (0, ""))[1].strip().rstrip(".").lower()
    return Trajectory(
        task=task, steps=tuple(steps), outcome=verdict_of(told) if told else Outcome()
    )


def _with_input(step: Step) -> Step:
    """Return a step whose action names a tool on one line and its input on the next, as a call."""
    name, _, rest = step.action.partition("\n")
    found = _INPUT.match(rest)
    if found is None:
        return step
    given = found["text"] + rest[found.end() :]
    return replace(
        step,
        action=call_text(name.strip(), given),
        tool=name.strip(),
        arguments=call_arguments(given),
        kind="call",
    )


def _plain_claims(preview: Preview) -> float:
    if preview.layout != "text" or SEARCH_LOG.search(preview.head):
        return 0.0
    lines = preview.head.splitlines()
    asks = any(map(_TASK.match, lines))
    acts = any(found["label"].lower() == "action" for found in map(_PART.match, lines) if found)
    return 0.6 * (asks and acts)


PLAIN = Reader(
    name="labelled-text",
    description="Labelled text: Question, Thought, Action, Action Input, Observation, Outcome",
    claims=_plain_claims,
    read=_read_plain,
)
