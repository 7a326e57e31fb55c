"""Events of a run, and logs of small scripts that list them: a line each, or tables of steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log, rows_of
from deltamem_tui.trajectory.logs.record import Preview, TextLine
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcomes import recorded_anywhere, verdict_of
from deltamem_tui.trajectory.readers.chat import thought_and_action
from deltamem_tui.trajectory.readers.coding import STATUSES, call_text, own_words, typed_command
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reader, Reading, SizeGuard, conversation_readings
from deltamem_tui.trajectory.readers.shapes import Json, as_mapping, as_text

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


def first_in(rows: Iterable[Json], keys: Sequence[str]) -> str:
    """Return the same of the first row that has one of them."""
    return next(filter(None, (first_text(row, keys) for row in rows)), "")


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
            asked = first_text(row, (*TASKS, *_TEXTS))
            conversation.offer_task(typed_command(asked))
            conversation.user(own_words(asked))
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
    if events and events[-1][0] == "thought":
        conversation.pass_over("thought", "no action follows it")
    rows = [row for _, row in events]
    found = conversation.episode(
        environment=conversation.system,
        agent=first_in(rows, ("model",)),
        metadata={"id": first_in(rows, SESSIONS)},
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
        conversation.call(tool, arguments, call_id, action=first_text(row, ("typed",)))
    elif text or tool:
        conversation.act(text or call_text(tool, {}), call_id)
    else:
        conversation.pass_over("action", "nothing is written there")


def _add_answer(conversation: Conversation, row: Json) -> None:
    status = STATUSES.get(first_text(row, ("status",)).lower())
    if row.get("success") is True or row.get("is_error") is False:
        status = "ok"
    failed = bool(row.get("error")) or row.get("is_error") is True or row.get("success") is False
    told = (row[key] for key in (*ANSWERS, "error", *_TEXTS) if row.get(key) not in (None, ""))
    conversation.answer(
        as_text(next(told, "")), first_text(row, _CALL_IDS), failed=failed, status=status
    )


_T = TypeVar("_T")
_EPISODES = (*SESSIONS[2:6], "trajectory", *SESSIONS[:2], "id")
_KIND_KEYS = ("event", "type", "kind", "event_type")


def _readings(
    items: Iterable[tuple[_T, str] | RecordError],
    is_new: Callable[[list[_T], _T], bool],
    parse: Callable[[Conversation, list[_T]], Trajectory],
) -> Iterator[Reading]:
    """Yield an episode of all items, each with its position, up to one that begins another."""
    position, held = "", list[_T]()
    for item in items:
        if isinstance(item, RecordError):
            yield item
            continue
        if held and is_new(held, item[0]):
            yield from conversation_readings(position, parse, held)
            held = []
        position = position if held else item[1]
        held.append(item[0])
    if held:
        yield from conversation_readings(position, parse, held)


def _events(log: Log) -> Iterator[tuple[Event, str] | RecordError]:
    held = SizeGuard("a session", log.limits.record_bytes)
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
            yield RecordError("an event of unknown kind", position=item.position)


def _event(value: object) -> Event:
    line = as_mapping(value)
    if isinstance(line.get("message"), dict):  # as agents' own programs write it
        return "", line
    name = next((line[key] for key in _KIND_KEYS if isinstance(line.get(key), str)), "")
    kind = KINDS.get(re.sub(r"[-. ]", "_", as_text(name).lower()), "")
    inner = next((line[k] for k in ("data", "payload") if isinstance(line.get(k), dict)), {})
    return kind, {**line, **as_mapping(inner)}


def _is_another(held: list[Event], event: Event) -> bool:
    kind, row = event
    own = first_text(row, SESSIONS)
    before = first_in((each for _, each in reversed(held)), SESSIONS) if own else ""
    is_over = kind == "user" and held[-1][0] == "end"
    return is_over or kind == "start" or bool(own and before and own != before)


def _events_claims(preview: Preview) -> float:
    if preview.layout not in ("lines", "array") or not preview.records:
        return 0.0
    kinds = [_event(each)[0] for each in preview.records]
    asks, acts = not {"user", "start"}.isdisjoint(kinds), not {"action", "agent"}.isdisjoint(kinds)
    known = sum(map(bool, kinds)) / len(kinds)
    return 0.42 * known if asks and acts and known > 0.6 else 0.0


def _is_row(value: object) -> bool:
    row = as_mapping(value)
    is_step = any(isinstance(row.get(key), str) for key in ACTIONS)
    return is_step and any(key in row for key in (*TASKS, *_EPISODES)) and "steps" not in row


def _is_other(held: list[Json], row: Json) -> bool:
    names = [first_text(each, _EPISODES) or first_text(each, TASKS) for each in (row, held[0])]
    return names[0] not in ("", names[1])


def _rows_episode(conversation: Conversation, rows: list[Json]) -> Trajectory:
    asked, scene = first_in(rows, TASKS), first_in(rows, SCENES)
    events: list[Event] = [("user", {"text": asked}), ("system", {"text": scene})]
    for row in rows:
        if first_text(row, ACTIONS):
            about = {key: row[key] for key in row if key not in ("id", "success", "error")}
            seen = {"text": first_text(row, ANSWERS), "status": first_text(row, ("status",))}
            thought: Event = ("thought", {"text": first_text(row, THOUGHTS)})
            events += [thought, ("action", about), ("tool", seen)]
    found = events_episode(conversation, events)
    outcomes = (recorded_anywhere(verdicts_in(row)) for row in reversed(rows))
    return replace(
        found,
        outcome=next((each for each in outcomes if each != Outcome()), Outcome()),
        domain=first_in(rows, ("domain",)) or found.domain,
        agent=first_in(rows, ("agent", "model")),
        metadata={"id": first_in(rows, _EPISODES)},
    )


def _rows(log: Log) -> Iterator[tuple[Json, str] | RecordError]:
    for item in log.records():
        if isinstance(item, RecordError):
            yield item
        elif _is_row(item.value) or verdicts_in(as_mapping(item.value)):
            yield as_mapping(item.value), item.position
        else:
            yield RecordError("not a row of a step", position=item.position)


def _cells(log: Log) -> Iterator[tuple[Json, str] | RecordError]:
    rows = rows_of(line.text for line in log.lines() if isinstance(line, TextLine))
    columns = _columns(next(rows, ([], ""))[0])
    try:
        for cells, position in rows:
            yield dict(zip(columns, cells, strict=False)), position
    except RecordError as error:
        yield error


def _columns(cells: list[str]) -> list[str]:
    return [cell.lower().replace(" ", "_") for cell in cells]


def _table_claims(preview: Preview) -> float:
    if preview.layout == "text":
        columns = set[str]()
        with suppress(RecordError):
            columns |= {*_columns(next(rows_of([preview.head.partition("\n")[0]]), ([], ""))[0])}
        acts = not columns.isdisjoint(ACTIONS)
        return 0.7 if acts and not columns.isdisjoint((*TASKS, *_EPISODES)) else 0.0
    if preview.layout != "lines" or not preview.records or not _is_row(preview.records[0]):
        return 0.0
    fits = sum(_is_row(each) or bool(verdicts_in(as_mapping(each))) for each in preview.records)
    return 0.45 * fits / len(preview.records)


READERS = (
    Reader(
        name="steps-table",
        description="Tables: CSV or JSONL with a step a row, with task, action and observation",
        claims=_table_claims,
        read=lambda log: _readings(
            _cells(log) if log.layout == "text" else _rows(log), _is_other, _rows_episode
        ),
    ),
    Reader(
        name="events",
        description="Events: JSONL with an event a line: task, action, observation, outcome",
        claims=_events_claims,
        read=lambda log: _readings(_events(log), _is_another, events_episode),
    ),
)
