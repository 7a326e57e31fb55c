"""Text with labels before its parts: transcripts, ReAct as people write it, and trial logs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, TextLine
from deltamem_tui.trajectory.model import Outcome, StepStatus, Trajectory
from deltamem_tui.trajectory.outcomes import recorded_anywhere, verdict_of
from deltamem_tui.trajectory.readers.chat import thought_and_action
from deltamem_tui.trajectory.readers.coding import call_text
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reader, Reading, conversation_readings
from deltamem_tui.trajectory.readers.sessions import SizeGuard, line_blocks
from deltamem_tui.trajectory.readers.shapes import Json, as_text

Event = tuple[str, Json]
"""An event's kind (`user`, `thought`, `action`, `tool`, …), and its text."""
KINDS = {
    name: kind
    for kind, names in {
        "user": "task goal user user_message user_input prompt request question human instruction "
        "me customer claim",
        "thought": "thought thinking reasoning think plan",
        "action": "action tool_call tool_use call act command tool_start tool_call_start "
        "function_call",
        "tool": "observation tool_result tool_output tool_response tool_end tool_call_end "
        "function_call_output error tool output",
        "agent": "assistant assistant_message agent agent_message message answer final "
        "final_answer response ai bot model claude chatgpt",
        "end": "outcome done finish finished end result run_end session_end task_end episode_end",
        "start": "start session_start run_start episode_start begin task_start meta session",
        "system": "system environment scene context",
    }.items()
    for name in names.split()
}
"""The kinds of events, by their names in small letters with `_` between words."""
TASKS = ("task", "goal", "question", "instruction", "prompt", "query")
SESSIONS = ("session", "session_id", "episode", "episode_id", "run", "run_id", "trace_id")
ACTIONS = ("action", "command", "act")
ANSWERS = ("observation", "result", "output", "response", "answer")
THOUGHTS = ("thought", "reasoning", "thinking")
SCENES = ("environment", "scene", "context")
STATUSES: dict[str, StepStatus] = {"ok": "ok", "error": "error"}
_VERDICTS = ("success", "outcome", "reward", "score", "resolved", "solved", "passed")
_TEXTS = ("text", "content", "message", "value", "body", "data")
_TOOLS = ("tool", "tool_name", "name", "function")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "tool_input")
_CALL_IDS = ("call_id", "tool_call_id", "tool_use_id", "toolCallId", "id")
_INPUT = re.compile(
    r"(?P<tool>[^\n]*)\nAction Input:[ \t]?(?P<given>.*)", re.IGNORECASE | re.DOTALL
)


def first_text(row: Json, keys: Iterable[str]) -> str:
    """Return the first value under some keys that is there, as text."""
    return next((as_text(row[key]).strip() for key in keys if row.get(key) not in (None, "")), "")


def verdicts_in(row: Json) -> Json:
    """Return what a row or an event says of how the episode ended."""
    return {key: row[key] for key in _VERDICTS if row.get(key) not in (None, "")}


def events_episode(conversation: Conversation, events: Sequence[Event]) -> Trajectory:
    """Return the episode that some events make."""
    outcome = Outcome()
    for index, (kind, row) in enumerate(events):
        if kind == "start":
            conversation.user(first_text(row, TASKS))
        elif kind == "end":
            outcome = _end_of(row)
            conversation.say(first_text(row, ("answer", "final_answer", "text")))
        elif kind == "user":
            conversation.user(first_text(row, (*TASKS, *_TEXTS)))
        elif kind == "system":
            conversation.instruct(first_text(row, (*SCENES, *_TEXTS)))
        elif kind == "thought":
            conversation.think(first_text(row, (*THOUGHTS, *_TEXTS)))
        elif kind == "agent":
            is_answered = [each for each, _ in events[index + 1 : index + 2]] == ["tool"]
            _add_words(conversation, first_text(row, ("answer", "response", *_TEXTS)), is_answered)
        elif kind == "action":
            _add_action(conversation, row)
        else:
            _add_answer(conversation, row)
    if events[-1][0] == "thought":
        conversation.pass_over("thought", "no action follows it")
    rows = [row for _, row in events]
    found = conversation.episode(
        environment=conversation.system,
        agent=next(filter(None, (first_text(row, ("model",)) for row in rows)), ""),
        metadata={"id": next(filter(None, (first_text(row, SESSIONS) for row in rows)), "")},
    )
    return replace(found, outcome=outcome)


def _end_of(row: Json) -> Outcome:
    if row.keys() == {"verdict"}:  # of a text
        return verdict_of(row["verdict"])
    told = {**verdicts_in(row), "status": row["status"]} if "status" in row else verdicts_in(row)
    return recorded_anywhere(told)


def _add_words(conversation: Conversation, text: str, is_answered: bool) -> None:
    thought, action = thought_and_action(text, in_fences=is_answered)
    if action and action != text:
        conversation.think(thought)
        conversation.act(action, kind="code" if text.rstrip().endswith("```") else None)
    else:
        conversation.say(text)


def _add_action(conversation: Conversation, row: Json) -> None:
    tool, call_id = first_text(row, _TOOLS), first_text(row, _CALL_IDS)
    arguments = next((row[key] for key in _ARGUMENTS if key in row), None)
    text = first_text(row, ACTIONS) or ("" if tool else first_text(row, _TEXTS))
    if found := _INPUT.fullmatch(text):
        tool, arguments = found["tool"].strip(), found["given"]
    if tool and arguments is not None:
        conversation.call(tool, arguments, call_id)
    elif text or tool:
        conversation.act(text or call_text(tool, {}), call_id)
    else:
        conversation.pass_over("action", "nothing is written there")


def _add_answer(conversation: Conversation, row: Json) -> None:
    status = STATUSES.get(first_text(row, ("status",)).lower())
    if row.get("success") is True or row.get("is_error") is False:
        status = "ok"
    failed = bool(row.get("error")) or row.get("is_error") is True or row.get("success") is False
    text = first_text(row, (*ANSWERS, "error", *_TEXTS))
    conversation.answer(text, first_text(row, _CALL_IDS), failed=failed, status=status)


# What begins a turn in a transcript; more would be found in what is said.
_SPEAKERS = (
    *("user", "human", "me", "customer", "assistant", "agent", "ai", "bot", "model", "claude"),
    *("chatgpt", "tool", "tool result", "tool output", "observation", "environment", "result"),
    *("output", "thought", "thinking", "reasoning", "action", "tool call", "command", "system"),
    *("scene", "context", "task", "goal", "outcome"),
)
_TEXT_KINDS = KINDS | {"result": "tool", "environment": "tool"}
_NAMES = "|".join(sorted(_SPEAKERS, key=len, reverse=True))
_HEADING = re.compile(
    rf"^#{{1,4}} (?:\S{{1,4}} )?(?P<who>{_NAMES})(?: \([^)]*\))?:?\s*$", re.IGNORECASE
)
_LABEL = re.compile(
    rf"^(?:\*\*)?(?P<who>{_NAMES})(?:\*\*)?:(?:\*\*)?(?:[ \t]+(?P<text>.*)|\s*)$", re.IGNORECASE
)
_RULE = re.compile(r"^(?:-{3,}|={3,}|\*{3,})\s*$")
_TASK = re.compile(r"^(?P<who>Question|Claim|Task|Goal):[ \t]*(?P<text>.*)")
_PART = re.compile(
    r"^(?P<who>Thought|Action|Observation|Final Answer|Outcome)[ \t]{0,3}\d{0,4}:"
    r"[ \t]?(?P<text>.*)",
    re.IGNORECASE | re.ASCII,  # without the long s, whose lower case is not an s
)


def _turns(lines: Iterable[TextLine], mark: re.Pattern[str]) -> Iterator[tuple[Event, str]]:
    who, position, said = "", "", list[str]()
    for line in lines:
        found = mark.match(line.text)
        if found is None:
            said.append(line.text)
            continue
        if who:
            yield _turn(who, said), position
        who, position = _kind_of(found["who"]), line.position
        said = [found.groupdict().get("text") or ""]
    if who:
        yield _turn(who, said), position


def _kind_of(name: str) -> str:
    return _TEXT_KINDS[name.lower().replace(" ", "_")]


def _turn(who: str, lines: list[str]) -> Event:
    while lines and (not lines[-1].strip() or _RULE.match(lines[-1])):
        lines.pop()
    text = "\n".join(lines).strip()
    lines = text.split("\n")
    if who == "tool" and len(lines) > 2 and text.startswith("```") and lines[-1].strip() == "```":
        text = "\n".join(lines[1:-1])  # what tools printed may be in a fence
    return (who, {"verdict": text.rstrip(".").lower()} if who == "end" else {"text": text})


def _mark_of(head: str) -> re.Pattern[str] | None:
    """Return how the turns of a transcript are marked, if a user and an agent speak in it."""
    for mark in (_HEADING, _LABEL):
        found = {_kind_of(each["who"]) for each in map(mark.match, head.splitlines()) if each}
        if {"user", "agent"} <= found:
            return mark
    return None


def _read_transcript(log: Log) -> Iterator[Reading]:
    mark = _mark_of(log.preview().head)
    lines, held = list[TextLine](), SizeGuard("a transcript", log.limits)
    for line in log.lines():
        if isinstance(line, RecordError):
            yield line
        else:
            held.add(len(line.text), line.position)
            lines.append(line)
    turns = [*_turns(lines, mark)] if mark else []
    if not turns:
        yield RecordError("no turns of a user and an assistant in it", source=log.name)
        return
    # Another task begins a session of its own only where the text says that it is one.
    yield from conversation_readings(turns[0][1], events_episode, [event for event, _ in turns])


# The log of a search tells its prompt anew at each node: nothing says which of it was done.
SEARCH_LOG = re.compile(
    r"^\d{4}-\d\d-\d\d[ T][\d:,.]{5,20} - [A-Z]{4,8} - "
    r"(?:PROMPT:|SAMPLED ACTION|NEW NODE|Iteration \d|\w+ at node depth)",
    re.MULTILINE | re.ASCII,
)


def labelled_parts(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each labelled part of a text in order."""
    numbered = (TextLine(number, line) for number, line in enumerate(lines, 1))
    return ((kind, as_text(row.get("text"))) for (kind, row), _ in _turns(numbered, _PART))


def _labelled(conversation: Conversation, lines: Sequence[str]) -> Trajectory:
    first = next((index for index, line in enumerate(lines) if _PART.match(line)), len(lines))
    asked = "\n".join(lines[:first])
    asked = _TASK.sub(r"\g<text>", asked, count=1)
    numbered = [TextLine(number, line) for number, line in enumerate(lines[first:], 1)]
    events = [event for event, _ in _turns(numbered, _PART)]
    return events_episode(conversation, [("user", {"text": asked.strip()}), *events])


def _read_plain(log: Log) -> Iterator[Reading]:
    for block in line_blocks(log, "an episode", begins=_TASK.match):
        if isinstance(block, RecordError):
            yield block
        elif _TASK.match(block[0].text):
            texts = [line.text for line in block]
            yield from conversation_readings(block[0].position, _labelled, texts)


def _claims(is_own: Callable[[str], object], sureness: float) -> Callable[[Preview], float]:
    def claims(preview: Preview) -> float:
        is_text = preview.layout == "text" and not SEARCH_LOG.search(preview.head)
        return sureness if is_text and is_own(preview.head) else 0.0

    return claims


def _is_labelled(head: str) -> bool:
    lines = head.splitlines()
    acts = any(each["who"].lower() == "action" for each in map(_PART.match, lines) if each)
    return acts and any(map(_TASK.match, lines))


READERS = (
    Reader(
        name="labelled-text",
        description="Labelled text: Question, Thought, Action, Action Input, Observation, Outcome",
        claims=_claims(_is_labelled, 0.6),
        read=_read_plain,
    ),
    Reader(
        name="transcript",
        description="Transcripts: ## User and ## Assistant, or User: and Assistant:, with Tool",
        claims=_claims(_mark_of, 0.55),
        read=_read_transcript,
    ),
)
