"""What people and small scripts write: transcripts with labels, tables, and lists of events.

Each has a plain convention and many spellings of it; what none of them names stays unknown.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

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

_SPEAKERS = {
    **dict.fromkeys(("user", "human", "me", "customer"), "user"),
    **dict.fromkeys(("assistant", "agent", "ai", "bot", "model", "claude", "chatgpt"), "agent"),
    **dict.fromkeys(("tool", "tool result", "tool output", "observation", "environment"), "tool"),
    **dict.fromkeys(("result", "output"), "tool"),
    **dict.fromkeys(("thought", "thinking", "reasoning"), "thought"),
    **dict.fromkeys(("action", "tool call", "command"), "action"),
    **dict.fromkeys(("system", "scene", "context"), "system"),
    **dict.fromkeys(("task", "goal"), "user"),
    "outcome": "outcome",
}
_NAMES = "|".join(sorted(_SPEAKERS, key=len, reverse=True))
_HEADING = re.compile(
    rf"^#{{1,4}} (?:\S{{1,4}} )?(?P<who>{_NAMES})(?: \([^)]*\))?:?\s*$", re.IGNORECASE
)
_LABEL = re.compile(
    rf"^(?:\*\*)?(?P<who>{_NAMES})(?:\*\*)?:(?:\*\*)?(?:[ \t]+(?P<text>.*)|\s*)$", re.IGNORECASE
)
_RULE = re.compile(r"^(?:-{3,}|={3,}|\*{3,})\s*$")


def _turns(lines: Iterable[TextLine], mark: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """Yield who speaks, what is said, and where that begins."""
    who, position, said = "", "", list[str]()
    for line in lines:
        found = mark.match(line.text)
        if found is None:
            said.append(line.text)
            continue
        if who:
            yield who, _body(said), position
        who, position = _SPEAKERS[found["who"].lower()], line.position
        said = [found.groupdict().get("text") or ""]
    if who:
        yield who, _body(said), position


def _body(lines: list[str]) -> str:
    while lines and (not lines[-1].strip() or _RULE.match(lines[-1])):
        lines.pop()
    return "\n".join(lines).strip()


def _mark_of(head: str) -> re.Pattern[str] | None:
    for mark in (_HEADING, _LABEL):
        found = [
            _SPEAKERS[each["who"].lower()] for each in map(mark.match, head.splitlines()) if each
        ]
        if {"user", "agent"} <= {*found}:
            return mark
    return None


def _read_transcript(log: Log) -> Iterator[Reading]:
    mark = _mark_of(log.preview().head)
    if mark is None:
        yield RecordError("no turns of a user and an assistant in it", source=log.name)
        return
    lines, held = list[TextLine](), SizeGuard("a transcript", log.limits)
    for line in log.lines():
        if isinstance(line, RecordError):
            yield line
        else:
            held.add(len(line.text), line.position)
            lines.append(line)
    turns = [*_turns(lines, mark)]
    # Another task begins a session of its own only where the text says that it is one.
    yield from conversation_readings(turns[0][2], lambda each: _transcript(each, turns))


def _transcript(conversation: Conversation, turns: list[tuple[str, str, str]]) -> Trajectory:
    outcome = Outcome()
    for number_, (who, text, _) in enumerate(turns):
        answered = any(each[0] == "tool" for each in turns[number_ + 1 : number_ + 2])
        if who == "user":
            conversation.user(text)
        elif who == "system":
            conversation.instruct(text)
        elif who == "thought":
            conversation.think(text)
        elif who == "action":
            conversation.act(text)
        elif who == "tool":
            conversation.answer(_unfenced(text))
        elif who == "outcome":
            outcome = verdict_of(text.rstrip(".").lower())
        else:
            _agent(conversation, text, answered=answered)
    return replace(conversation.episode(environment=conversation.system), outcome=outcome)


def _agent(conversation: Conversation, text: str, *, answered: bool) -> None:
    thought, action = thought_and_action(text, in_fences=answered)
    if action and action != text:
        conversation.think(thought)
        conversation.act(action, kind="code" if text.rstrip().endswith("```") else None)
    else:
        conversation.say(text)


def _unfenced(text: str) -> str:
    lines = text.split("\n")
    whole = len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```"
    return "\n".join(lines[1:-1]) if whole else text


def _transcript_claims(preview: Preview) -> float:
    return 0.55 if preview.layout == "text" and _mark_of(preview.head) else 0.0


TRANSCRIPT = Reader(
    name="transcript",
    description="Transcripts: ## User and ## Assistant, or User: and Assistant:, with Tool",
    claims=_transcript_claims,
    read=_read_transcript,
)


_TASKS = ("task", "goal", "question", "instruction", "prompt", "query")
_EPISODES = ("episode", "episode_id", "run", "run_id", "trajectory", "session", "session_id", "id")
_ACTIONS = ("action", "command", "act")
_ANSWERS = ("observation", "result", "output", "response", "answer")
_THOUGHTS = ("thought", "reasoning", "thinking")
_SCENES = ("environment", "scene", "context")
_VERDICTS = ("success", "outcome", "reward", "score", "resolved", "solved", "passed")
_STATUSES: dict[str, StepStatus] = {"ok": "ok", "error": "error"}


def _first(row: Json, keys: tuple[str, ...]) -> str:
    return next((as_text(row[key]).strip() for key in keys if row.get(key) not in (None, "")), "")


def _is_row(value: object) -> bool:
    """Return True if a record is one step of an episode, and no whole one."""
    row = as_mapping(value)
    is_step = any(isinstance(row.get(key), str) for key in _ACTIONS)
    return is_step and any(key in row for key in (*_TASKS, *_EPISODES)) and "steps" not in row


@dataclass(slots=True)
class _Rows:
    """The rows of one episode."""

    position: str
    rows: list[Json] = field(default_factory=list)

    def episode(self, _: Conversation) -> Trajectory:
        steps = [_step(row) for row in self.rows if _first(row, _ACTIONS)]
        facts = {"id": self._told(_EPISODES), "agent": self._told(("agent", "model"))}
        return Trajectory(
            task=self._told(_TASKS),
            environment=self._told(_SCENES),
            steps=tuple(steps),
            outcome=self._outcome(),
            domain=self._told(("domain",)),
            agent=facts["agent"],
            metadata={"id": facts["id"]},
        )

    def _told(self, keys: tuple[str, ...]) -> str:
        return next(filter(None, (_first(row, keys) for row in self.rows)), "")

    def _outcome(self) -> Outcome:
        for row in reversed(self.rows):
            told = {key: row[key] for key in _VERDICTS if row.get(key) not in (None, "")}
            outcome = recorded_anywhere(told) if told else Outcome()
            if "success" in told and outcome.success is None:
                outcome = verdict_of(_plain(told["success"]))
            if outcome != Outcome():
                return outcome
        return Outcome()


def _plain(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


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


def _episodes(rows: Iterable[Record | RecordError]) -> Iterator[Reading]:
    at_hand: _Rows | None = None
    name: object = None
    for item in rows:
        if isinstance(item, RecordError):
            yield item
            continue
        row = as_mapping(item.value)
        own = _first(row, _EPISODES) or _first(row, _TASKS)
        if at_hand is None or own not in ("", name):
            if at_hand:
                yield from conversation_readings(at_hand.position, at_hand.episode)
            at_hand, name = _Rows(item.position), own
        at_hand.rows.append(row)
    if at_hand:
        yield from conversation_readings(at_hand.position, at_hand.episode)


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _plain_line(text: str) -> str:
    return text.replace("\r", " ").replace("\0", " ")


def _columns(line: str) -> list[str]:
    line = _plain_line(line)
    try:
        cells = next(iter(csv.reader([line], delimiter=_delimiter(line))), [])
    except csv.Error:  # a cell longer than any name
        return []
    return [cell.strip().lstrip("\ufeff").lower().replace(" ", "_") for cell in cells]


def _read_table(log: Log) -> Iterator[Reading]:
    if not log.is_text:
        yield from _episodes(_checked(log))
    else:
        yield from _episodes(_table(log))


def _checked(log: Log) -> Iterator[Record | RecordError]:
    for item in log.records():
        if isinstance(item, Record) and not (_is_row(item.value) or _ends(item.value)):
            yield located(RecordError("not a row of a step"), "", item.position)
        else:
            yield item


def _ends(value: object) -> bool:
    return not as_mapping(value).keys().isdisjoint(_VERDICTS)


def _table(log: Log) -> Iterator[Record | RecordError]:
    lines = (line for line in log.lines() if isinstance(line, TextLine))
    head = next(lines, None)
    columns = _columns(head.text) if head else []
    # A cell in quotation marks may have line breaks in it.
    reader = csv.reader(
        (f"{_plain_line(line.text)}\n" for line in lines),
        delimiter=_delimiter(head.text if head else ""),
    )
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                row = dict(zip(columns, cells, strict=False))
                yield Record(row, f"line {reader.line_num + 1}")
    except csv.Error as error:
        yield RecordError(f"not a table any more: {error}", position=f"line {reader.line_num + 1}")


def _table_claims(preview: Preview) -> float:
    if preview.layout == "text":
        columns = {*_columns(preview.head.partition("\n")[0])}
        acts = not columns.isdisjoint(_ACTIONS)
        return 0.7 if acts and not columns.isdisjoint((*_TASKS, *_EPISODES)) else 0.0
    if preview.layout != "lines" or not preview.records or not _is_row(preview.records[0]):
        return 0.0
    fits = sum(_is_row(each) or _ends(each) for each in preview.records)
    return 0.45 * fits / len(preview.records)


TABLE = Reader(
    name="steps-table",
    description="Tables: CSV or JSONL with a step a row, with task, action and observation",
    claims=_table_claims,
    read=_read_table,
)


_KINDS = {
    **dict.fromkeys(("task", "goal", "user", "user_message", "user_input", "prompt"), "user"),
    **dict.fromkeys(("request", "question", "human", "instruction"), "user"),
    **dict.fromkeys(("thought", "thinking", "reasoning", "think", "plan"), "thought"),
    **dict.fromkeys(("action", "tool_call", "tool_use", "call", "act", "command"), "action"),
    **dict.fromkeys(("tool_start", "tool_call_start", "function_call"), "action"),
    **dict.fromkeys(("observation", "tool_result", "tool_output", "tool_response"), "tool"),
    **dict.fromkeys(("tool_end", "tool_call_end", "function_call_output"), "tool"),
    **dict.fromkeys(("assistant", "assistant_message", "agent", "agent_message"), "agent"),
    **dict.fromkeys(("message", "answer", "final", "final_answer", "response"), "agent"),
    **dict.fromkeys(("outcome", "done", "finish", "finished", "end", "result"), "end"),
    **dict.fromkeys(("run_end", "session_end", "task_end", "episode_end"), "end"),
    **dict.fromkeys(("start", "session_start", "run_start", "episode_start"), "start"),
    **dict.fromkeys(("begin", "task_start", "meta", "session"), "start"),
    **dict.fromkeys(("system", "environment", "scene"), "system"),
    "error": "tool",
}
_KIND_KEYS = ("event", "type", "kind", "event_type")
_TEXTS = ("text", "content", "message", "value", "body", "data")
_SESSIONS = ("session", "session_id", "episode", "episode_id", "run", "run_id", "trace_id")


def _event(value: object) -> tuple[str, Json]:
    """Return the kind of an event, empty if it is none, and what it holds."""
    line = as_mapping(value)
    if isinstance(line.get("message"), dict):  # as agents' own programs write it
        return "", line
    name = next((line[key] for key in _KIND_KEYS if isinstance(line.get(key), str)), "")
    kind = _KINDS.get(
        as_text(name).lower().replace("-", "_").replace(".", "_").replace(" ", "_"), ""
    )
    inner = next((line[k] for k in ("data", "payload") if isinstance(line.get(k), dict)), {})
    return kind, {**line, **as_mapping(inner)}


def _said(row: Json, *keys: str) -> str:
    return _first(row, (*keys, *_TEXTS))


def _read_events(log: Log) -> Iterator[Reading]:
    at_hand, position, session = list[tuple[str, Json]](), "", ""
    held = SizeGuard("a session", log.limits)
    for item in log.records():
        if isinstance(item, RecordError):
            yield item
            continue
        kind, row = _event(item.value)
        if not kind:
            yield located(RecordError("an event of unknown kind"), "", item.position)
            continue
        own = _first(row, _SESSIONS)
        begins = kind == "start" or (own and session and own != session)
        if at_hand and (begins or (kind == "user" and at_hand[-1][0] == "end")):
            yield from conversation_readings(position, _events_episode, at_hand)
            at_hand, position = [], ""
            held.clear()
        held.add(len(str(row)), item.position)
        session = own or session
        position = position or item.position
        at_hand.append((kind, row))
    if at_hand:
        yield from conversation_readings(position, _events_episode, at_hand)


def _events_episode(conversation: Conversation, events: list[tuple[str, Json]]) -> Trajectory:
    outcome, facts = Outcome(), dict[str, str]()
    for kind, row in events:
        facts = {"id": _first(row, _SESSIONS), "agent": _first(row, ("model",))} | {
            key: fact for key, fact in facts.items() if fact
        }
        if kind == "start":
            conversation.user(_first(row, _TASKS))
        elif kind == "end":
            outcome = _end_of(row)
            conversation.say(_first(row, ("answer", "final_answer", "text")))
        elif kind == "user":
            conversation.user(_said(row, *_TASKS))
        elif kind == "system":
            conversation.instruct(_said(row, *_SCENES))
        elif kind == "thought":
            conversation.think(_said(row, *_THOUGHTS))
        elif kind == "agent":
            conversation.say(_said(row, "answer", "response"))
        elif kind == "action":
            _add_action(conversation, row)
        else:
            _add_answer(conversation, row)
    found = conversation.episode(
        environment=conversation.system,
        agent=facts.get("agent", ""),
        metadata={"id": facts.get("id", "")},
    )
    return replace(found, outcome=outcome)


def _end_of(row: Json) -> Outcome:
    told = {key: row[key] for key in _VERDICTS if row.get(key) not in (None, "")}
    if isinstance(row.get("status"), str):
        told["status"] = row["status"]
    return recorded_anywhere(told) if told else Outcome()


_CALL_IDS = ("call_id", "tool_call_id", "tool_use_id", "toolCallId", "id")


def _add_action(conversation: Conversation, row: Json) -> None:
    tool = _first(row, ("tool", "tool_name", "name", "function"))
    given = (row[k] for k in ("arguments", "args", "input", "parameters", "tool_input") if k in row)
    arguments = next(given, None)
    text = _first(row, _ACTIONS) or ("" if tool else _said(row))
    call_id = _first(row, _CALL_IDS)
    if tool and arguments is not None:
        conversation.call(tool, arguments, call_id)
    elif text:
        conversation.act(text, call_id)
    elif tool:
        conversation.act(call_text(tool, {}), call_id)


def _add_answer(conversation: Conversation, row: Json) -> None:
    error = row.get("error") or (row.get("is_error") is True)
    text = _said(row, *_ANSWERS, "error")
    status = _STATUSES.get(_first(row, ("status",)).lower())
    if row.get("success") is True or row.get("is_error") is False:
        status = "ok"
    failed = bool(error) or row.get("success") is False
    conversation.answer(text, _first(row, _CALL_IDS), failed=failed, status=status)


def _events_claims(preview: Preview) -> float:
    if preview.layout not in ("lines", "array") or not preview.records:
        return 0.0
    kinds = [_event(each)[0] for each in preview.records]
    asks, acts = not {"user", "start"}.isdisjoint(kinds), not {"action", "agent"}.isdisjoint(kinds)
    known = sum(map(bool, kinds)) / len(kinds)
    return 0.42 * known if asks and acts and known > 0.6 else 0.0


EVENTS = Reader(
    name="events",
    description="Events: JSONL with an event a line, of type task, action, observation, outcome",
    claims=_events_claims,
    read=_read_events,
)
READERS = (TRANSCRIPT, TABLE, EVENTS)
