"""Logs of small scripts: tables with a step a row, and lists of events."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, TextLine
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcomes import recorded_anywhere, verdict_of
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.labelled import (
    ACTIONS,
    ANSWERS,
    KINDS,
    SCENES,
    SESSIONS,
    TASKS,
    THOUGHTS,
    Event,
    events_episode,
    first_text,
    verdicts_in,
)
from deltamem_tui.trajectory.readers.reader import Reader, Reading, conversation_readings
from deltamem_tui.trajectory.readers.sessions import SizeGuard
from deltamem_tui.trajectory.readers.shapes import Json, as_mapping, as_text

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
    before = next(filter(None, (first_text(each, SESSIONS) for _, each in reversed(held))), "")
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
    def told(*keys: str) -> str:
        return next(filter(None, (first_text(row, keys) for row in rows)), "")

    events: list[Event] = [("user", {"text": told(*TASKS)}), ("system", {"text": told(*SCENES)})]
    for row in rows:
        if first_text(row, ACTIONS):
            about = {key: row[key] for key in row if key not in ("id", "success", "error")}
            seen = {"text": first_text(row, ANSWERS), "status": first_text(row, ("status",))}
            thought: Event = ("thought", {"text": first_text(row, THOUGHTS)})
            events += [thought, ("action", about), ("tool", seen)]
    found = events_episode(conversation, events)
    outcomes = (_row_outcome(row) for row in reversed(rows))
    return replace(
        found,
        outcome=next((each for each in outcomes if each != Outcome()), Outcome()),
        domain=told("domain") or found.domain,
        agent=told("agent", "model"),
        metadata={"id": told(*_EPISODES)},
    )


def _row_outcome(row: Json) -> Outcome:
    stated = verdicts_in(row)
    outcome = recorded_anywhere(stated)
    if "success" not in stated or outcome.success is not None:
        return outcome
    flag = stated["success"]
    return verdict_of(flag.strip().lower() if isinstance(flag, str) else flag)


def _rows(log: Log) -> Iterator[tuple[Json, str] | RecordError]:
    for item in log.records():
        if isinstance(item, RecordError):
            yield item
        elif _is_row(item.value) or verdicts_in(as_mapping(item.value)):
            yield as_mapping(item.value), item.position
        else:
            yield RecordError("not a row of a step", position=item.position)


def _cells(log: Log) -> Iterator[tuple[Json, str] | RecordError]:
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


def _table_claims(preview: Preview) -> float:
    if preview.layout == "text":
        columns = {*_columns(preview.head.partition("\n")[0])}
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
            _cells(log) if log.is_text else _rows(log), _is_other, _rows_episode
        ),
    ),
    Reader(
        name="events",
        description="Events: JSONL with an event a line: task, action, observation, outcome",
        claims=_events_claims,
        read=lambda log: _readings(_events(log), _is_another, events_episode),
    ),
)
