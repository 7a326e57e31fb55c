"""What people and small scripts write: transcripts with labels, tables, and lists of events.

Each has a plain convention and many spellings of it; what none of them names stays unknown.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, Record, TextLine, located
from deltamem_tui.trajectory.model import Outcome, Step, StepStatus, Trajectory
from deltamem_tui.trajectory.outcome_keys import recorded_anywhere
from deltamem_tui.trajectory.outcomes import number, verdict_of
from deltamem_tui.trajectory.readers.chat import thought_and_action
from deltamem_tui.trajectory.readers.coding import call_arguments, call_text
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reader, Reading, conversation_readings
from deltamem_tui.trajectory.readers.sessions import SizeGuard
from deltamem_tui.trajectory.readers.shapes import Json, as_mapping, as_text

_T = TypeVar("_T")
# What an event or a turn is, by its name in small letters with `_` between words.
_KINDS = {
    name: kind
    for kind, names in {
        "user": "task goal user user_message user_input prompt request question human instruction "
        "me customer",
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
# Of those, the ones that begin a turn in a text, where more would be found in what is said.
_SPEAKERS = (
    *("user", "human", "me", "customer", "assistant", "agent", "ai", "bot", "model", "claude"),
    *("chatgpt", "tool", "tool result", "tool output", "observation", "environment", "result"),
    *("output", "thought", "thinking", "reasoning", "action", "tool call", "command", "system"),
    *("scene", "context", "task", "goal", "outcome"),
)
_TEXT_KINDS = {"result": "tool", "environment": "tool"}
_NAMES = "|".join(sorted(_SPEAKERS, key=len, reverse=True))
_HEADING = re.compile(
    rf"^#{{1,4}} (?:\S{{1,4}} )?(?P<who>{_NAMES})(?: \([^)]*\))?:?\s*$", re.IGNORECASE
)
_LABEL = re.compile(
    rf"^(?:\*\*)?(?P<who>{_NAMES})(?:\*\*)?:(?:\*\*)?(?:[ \t]+(?P<text>.*)|\s*)$", re.IGNORECASE
)
_RULE = re.compile(r"^(?:-{3,}|={3,}|\*{3,})\s*$")

_TASKS = ("task", "goal", "question", "instruction", "prompt", "query")
_SESSIONS = ("session", "session_id", "episode", "episode_id", "run", "run_id", "trace_id")
_EPISODES = (*_SESSIONS[2:6], "trajectory", *_SESSIONS[:2], "id")
_ACTIONS = ("action", "command", "act")
_ANSWERS = ("observation", "result", "output", "response", "answer")
_THOUGHTS = ("thought", "reasoning", "thinking")
_SCENES = ("environment", "scene", "context")
_VERDICTS = ("success", "outcome", "reward", "score", "resolved", "solved", "passed")
_STATUSES: dict[str, StepStatus] = {"ok": "ok", "error": "error"}
_KIND_KEYS = ("event", "type", "kind", "event_type")
_TEXTS = ("text", "content", "message", "value", "body", "data")
_TOOLS = ("tool", "tool_name", "name", "function")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "tool_input")
_CALL_IDS = ("call_id", "tool_call_id", "tool_use_id", "toolCallId", "id")


def _first(row: Json, keys: Iterable[str]) -> str:
    return next((as_text(row[key]).strip() for key in keys if row.get(key) not in (None, "")), "")


def _stated(row: Json) -> Json:
    return {key: row[key] for key in _VERDICTS if row.get(key) not in (None, "")}


def _parted(
    items: Iterable[tuple[_T, str] | RecordError], is_new: Callable[[list[_T], _T], bool]
) -> Iterator[tuple[str, list[_T]] | RecordError]:
    """Yield the items that belong together, with the position of the first."""
    position, held = "", list[_T]()
    for item in items:
        if isinstance(item, RecordError):
            yield item
            continue
        if held and is_new(held, item[0]):
            yield position, held
            held = []
        position = position if held else item[1]
        held.append(item[0])
    if held:
        yield position, held


def _readings(
    groups: Iterable[tuple[str, list[_T]] | RecordError],
    parse: Callable[[Conversation, list[_T]], Trajectory],
) -> Iterator[Reading]:
    for group in groups:
        if isinstance(group, RecordError):
            yield group
        else:
            yield from conversation_readings(group[0], parse, group[1])


_Event = tuple[str, Json]


def _mark_of(head: str) -> re.Pattern[str] | None:
    """Return how the turns of a text are marked, if a user and an agent speak in it."""
    for mark in (_HEADING, _LABEL):
        found = {_turn_kind(each["who"]) for each in map(mark.match, head.splitlines()) if each}
        if {"user", "agent"} <= found:
            return mark
    return None


def _turn_kind(name: str) -> str:
    plain = name.lower().replace(" ", "_")
    return _TEXT_KINDS.get(plain) or _KINDS[plain]


def _read_transcript(log: Log) -> Iterator[Reading]:
    mark = _mark_of(log.preview().head)
    if mark is None:
        yield RecordError("no turns of a user and an assistant in it", source=log.name)
        return
    # Another task begins a session of its own only where the text says that it is one.
    turns = _parted(_turns(log, mark), lambda *_: False)
    yield from _readings(turns, _events_episode)


def _turns(log: Log, mark: re.Pattern[str]) -> Iterator[tuple[_Event, str] | RecordError]:
    held = SizeGuard("a transcript", log.limits)
    who, position, said = "", "", list[str]()
    for line in log.lines():
        if isinstance(line, RecordError):
            yield line
            continue
        held.add(len(line.text), line.position)
        found = mark.match(line.text)
        if found is None:
            said.append(line.text)
            continue
        if who:
            yield (who, _turn(who, said)), position
        who, position = _turn_kind(found["who"]), line.position
        said = [found.groupdict().get("text") or ""]
    if who:
        yield (who, _turn(who, said)), position


def _turn(who: str, lines: list[str]) -> Json:
    """Return a turn as an event with a text; what tools printed may be in a fence."""
    while lines and (not lines[-1].strip() or _RULE.match(lines[-1])):
        lines.pop()
    text = "\n".join(lines).strip()
    lines = text.split("\n")
    if who == "tool" and len(lines) > 2 and text.startswith("```") and lines[-1].strip() == "```":
        text = "\n".join(lines[1:-1])
    return {"text": text, "outcome": text.rstrip(".")} if who == "end" else {"text": text}


def _read_events(log: Log) -> Iterator[Reading]:
    yield from _readings(_parted(_events(log), _is_another), _events_episode)


def _events(log: Log) -> Iterator[tuple[_Event, str] | RecordError]:
    held = SizeGuard("a session", log.limits)
    for item in log.records():
        if isinstance(item, RecordError):
            yield item
            continue
        kind, row = _event(item.value)
        if kind == "start":
            held.clear()
        held.add(len(str(row)), item.position)
        if kind:
            yield (kind, row), item.position
        else:
            yield located(RecordError("an event of unknown kind"), "", item.position)


def _event(value: object) -> _Event:
    """Return the kind of an event, empty if it is none, and what it holds."""
    line = as_mapping(value)
    if isinstance(line.get("message"), dict):  # as agents' own programs write it
        return "", line
    name = next((line[key] for key in _KIND_KEYS if isinstance(line.get(key), str)), "")
    kind = _KINDS.get(re.sub(r"[-. ]", "_", as_text(name).lower()), "")
    inner = next((line[k] for k in ("data", "payload") if isinstance(line.get(k), dict)), {})
    return kind, {**line, **as_mapping(inner)}


def _is_another(held: list[_Event], event: _Event) -> bool:
    kind, row = event
    own = _first(row, _SESSIONS)
    before = next(filter(None, (_first(each, _SESSIONS) for _, each in reversed(held))), "")
    is_over = kind == "user" and held[-1][0] == "end"
    return is_over or kind == "start" or bool(own and before and own != before)


def _events_episode(conversation: Conversation, events: list[_Event]) -> Trajectory:
    outcome = Outcome()
    for index, (kind, row) in enumerate(events):
        if kind == "start":
            conversation.user(_first(row, _TASKS))
        elif kind == "end":
            outcome = _end_of(row)
            conversation.say(_first(row, ("answer", "final_answer", "text")))
        elif kind == "user":
            conversation.user(_first(row, (*_TASKS, *_TEXTS)))
        elif kind == "system":
            conversation.instruct(_first(row, (*_SCENES, *_TEXTS)))
        elif kind == "thought":
            conversation.think(_first(row, (*_THOUGHTS, *_TEXTS)))
        elif kind == "agent":
            is_answered = [each for each, _ in events[index + 1 : index + 2]] == ["tool"]
            _add_words(conversation, _first(row, ("answer", "response", *_TEXTS)), is_answered)
        elif kind == "action":
            _add_action(conversation, row)
        else:
            _add_answer(conversation, row)
    rows = [row for _, row in events]
    found = conversation.episode(
        environment=conversation.system,
        agent=next(filter(None, (_first(row, ("model",)) for row in rows)), ""),
        metadata={"id": next(filter(None, (_first(row, _SESSIONS) for row in rows)), "")},
    )
    return replace(found, outcome=outcome)


def _end_of(row: Json) -> Outcome:
    if row.keys() == {"text", "outcome"}:  # of a transcript
        return verdict_of(as_text(row["outcome"]).lower())
    told = {**_stated(row), "status": row["status"]} if "status" in row else _stated(row)
    return recorded_anywhere(told)


def _add_words(conversation: Conversation, text: str, is_answered: bool) -> None:
    thought, action = thought_and_action(text, in_fences=is_answered)
    if action and action != text:
        conversation.think(thought)
        conversation.act(action, kind="code" if text.rstrip().endswith("```") else None)
    else:
        conversation.say(text)


def _add_action(conversation: Conversation, row: Json) -> None:
    tool, call_id = _first(row, _TOOLS), _first(row, _CALL_IDS)
    arguments = next((row[key] for key in _ARGUMENTS if key in row), None)
    text = _first(row, _ACTIONS) or ("" if tool else _first(row, _TEXTS))
    if tool and arguments is not None:
        conversation.call(tool, arguments, call_id)
    elif text or tool:
        conversation.act(text or call_text(tool, {}), call_id)


def _add_answer(conversation: Conversation, row: Json) -> None:
    status = _STATUSES.get(_first(row, ("status",)).lower())
    if row.get("success") is True or row.get("is_error") is False:
        status = "ok"
    failed = bool(row.get("error")) or row.get("is_error") is True or row.get("success") is False
    text = _first(row, (*_ANSWERS, "error", *_TEXTS))
    conversation.answer(text, _first(row, _CALL_IDS), failed=failed, status=status)


def _is_row(value: object) -> bool:
    """Return True if a record is one step of an episode, and no whole one."""
    row = as_mapping(value)
    is_step = any(isinstance(row.get(key), str) for key in _ACTIONS)
    return is_step and any(key in row for key in (*_TASKS, *_EPISODES)) and "steps" not in row


def _read_table(log: Log) -> Iterator[Reading]:
    rows = _table(log) if log.is_text else _records(log)
    yield from _readings(_parted(rows, _is_other_episode), _rows_episode)


def _is_other_episode(held: list[Json], row: Json) -> bool:
    own = _first(row, _EPISODES) or _first(row, _TASKS)
    return own not in ("", _first(held[0], _EPISODES) or _first(held[0], _TASKS))


def _rows_episode(_: Conversation, rows: list[Json]) -> Trajectory:
    def told(*keys: str) -> str:
        return next(filter(None, (_first(row, keys) for row in rows)), "")

    outcomes = (_row_outcome(row) for row in reversed(rows))
    return Trajectory(
        task=told(*_TASKS),
        environment=told(*_SCENES),
        steps=tuple(_step(row) for row in rows if _first(row, _ACTIONS)),
        outcome=next((each for each in outcomes if each != Outcome()), Outcome()),
        domain=told("domain"),
        agent=told("agent", "model"),
        metadata={"id": told(*_EPISODES)},
    )


def _row_outcome(row: Json) -> Outcome:
    stated = _stated(row)
    outcome = recorded_anywhere(stated)
    if "success" not in stated or outcome.success is not None:
        return outcome
    flag = stated["success"]
    return verdict_of(flag.strip().lower() if isinstance(flag, str) else flag)


def _step(row: Json) -> Step:
    tool = _first(row, ("tool", "tool_name"))
    return Step(
        _first(row, _ACTIONS),
        _first(row, _ANSWERS),
        _first(row, _THOUGHTS),
        number(row.get("step_reward")),
        tool=tool or None,
        arguments=call_arguments(row["arguments"]) if row.get("arguments") else None,
        kind="call" if tool else None,
        status=_STATUSES.get(_first(row, ("status",)).lower()),
    )


def _records(log: Log) -> Iterator[tuple[Json, str] | RecordError]:
    for item in log.records():
        if isinstance(item, Record) and (_is_row(item.value) or _stated(as_mapping(item.value))):
            yield as_mapping(item.value), item.position
        elif isinstance(item, Record):
            yield located(RecordError("not a row of a step"), "", item.position)
        else:
            yield item


def _table(log: Log) -> Iterator[tuple[Json, str] | RecordError]:
    lines = (line.text for line in log.lines() if isinstance(line, TextLine))
    head = next(lines, "")
    # A cell in quotation marks may have line breaks in it.
    reader = csv.reader((f"{_plain(line)}\n" for line in lines), delimiter=_delimiter(head))
    columns = _columns(head)
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                row = dict(zip(columns, cells, strict=False))
                yield row, f"line {reader.line_num + 1}"
    except csv.Error as error:
        yield RecordError(f"not a table any more: {error}", position=f"line {reader.line_num + 1}")


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _plain(text: str) -> str:
    return text.replace("\r", " ").replace("\0", " ")


def _columns(line: str) -> list[str]:
    try:
        cells = next(iter(csv.reader([_plain(line)], delimiter=_delimiter(line))), [])
    except csv.Error:  # a cell longer than any name
        return []
    return [cell.strip().lstrip("\ufeff").lower().replace(" ", "_") for cell in cells]


def _transcript_claims(preview: Preview) -> float:
    return 0.55 if preview.layout == "text" and _mark_of(preview.head) else 0.0


def _table_claims(preview: Preview) -> float:
    if preview.layout == "text":
        columns = {*_columns(preview.head.partition("\n")[0])}
        acts = not columns.isdisjoint(_ACTIONS)
        return 0.7 if acts and not columns.isdisjoint((*_TASKS, *_EPISODES)) else 0.0
    if preview.layout != "lines" or not preview.records or not _is_row(preview.records[0]):
        return 0.0
    fits = sum(_is_row(each) or bool(_stated(as_mapping(each))) for each in preview.records)
    return 0.45 * fits / len(preview.records)


def _events_claims(preview: Preview) -> float:
    if preview.layout not in ("lines", "array") or not preview.records:
        return 0.0
    kinds = [_event(each)[0] for each in preview.records]
    asks, acts = not {"user", "start"}.isdisjoint(kinds), not {"action", "agent"}.isdisjoint(kinds)
    known = sum(map(bool, kinds)) / len(kinds)
    return 0.42 * known if asks and acts and known > 0.6 else 0.0


READERS = (
    Reader(
        name="transcript",
        description="Transcripts: ## User and ## Assistant, or User: and Assistant:, with Tool",
        claims=_transcript_claims,
        read=_read_transcript,
    ),
    Reader(
        name="steps-table",
        description="Tables: CSV or JSONL with a step a row, with task, action and observation",
        claims=_table_claims,
        read=_read_table,
    ),
    Reader(
        name="events",
        description="Events: JSONL with an event a line, of type task, action, observation, "
        "outcome",
        claims=_events_claims,
        read=_read_events,
    ),
)
