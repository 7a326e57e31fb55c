"""Readers that a small TOML file declares: those that ship, and those of a person's own.

Every value is a JMESPath expression. `docs/formats.md` has an example.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from msgspec import structs

from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.json_text import parse_json
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, Record, located
from deltamem_tui.trajectory.model import OUTCOME_SOURCES, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import (
    Score,
    explained,
    number,
    recorded_anywhere,
    stated,
    together,
    verdict,
    verdict_of,
)
from deltamem_tui.trajectory.readers.chat import episode
from deltamem_tui.trajectory.readers.chat_logs import ChatRecord, readings
from deltamem_tui.trajectory.readers.coding import STATUSES, call_arguments
from deltamem_tui.trajectory.readers.conversation import (
    Conversation,
    NothingAskedError,
    are_left_out,
)
from deltamem_tui.trajectory.readers.declarations import Declaration, OutcomePaths, loaded
from deltamem_tui.trajectory.readers.messages import WENT_BACK, Branches, add_messages, speaker
from deltamem_tui.trajectory.readers.reader import (
    Part,
    Reader,
    Reading,
    Records,
    conversation_readings,
    each_part,
    rest_refused,
    share,
    stray,
    whole_log,
)
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_text,
    opened_text,
    unfolded,
)
from deltamem_tui.trajectory.readers.traces import span_of, task_in, trace_episode
from deltamem_tui.trajectory.secrets.redaction import quoted

if TYPE_CHECKING:
    from deltamem_tui.trajectory.readers.expressions import Search

_SHIPPED = Path(__file__).with_name("formats")
_NOTHING_THERE = "leave it out if nothing was done in it, else declare its format with `--format`"
_MOST_NAME = 300
_REASON_WIDTH = 500  # scorers often explain with the whole answer
FILE = "file_name"
"""The key under which a record has the name of its file, without its endings."""
# As sure as other readers that know a log by its keys, and as one that only tried to read it.
_SURE, _UNSURE = 0.95, 0.4


@dataclass(frozen=True, slots=True)
class _Format:
    """A declaration whose expressions are compiled."""

    declared: Declaration
    searches: Mapping[str, Search]

    def find(self, key: str, record: object) -> object:
        """Return what the expression under a key finds; None if there is no such key."""
        search = self.searches.get(key)
        return search(record) if search else None

    def text(self, key: str, record: object) -> str:
        return as_text(self.find(key, record))

    def is_own(self, value: object) -> bool:
        """Return True if `own` is true of a value."""
        with suppress(RecordError):
            return self.find("own", value) not in (None, False, "", [], {})
        return False

    def foreign(self, value: object) -> list[object]:
        """Return what of a value, a list of records or a record of a list, is not taken."""
        with suppress(RecordError):
            return as_list(self.find("foreign", value))
        return []

    def gathers(self, preview: Preview) -> bool:
        """Return True if the records of a log are one value, a list: as declared, or by `own`."""
        is_list = preview.layout in ("lines", "array") and len(preview.records) > 1
        return self.declared.gather or (is_list and self.is_own([*preview.records]))


def declared_reader(path: Path) -> Reader:
    """Return the reader that a TOML file declares.

    It claims a log of whose first records `own` is true, else one whose first records give a
    task and a step, less surely than the built-in readers.

    Raises:
        ConfigurationError: The file cannot be read, is not TOML, has an unknown key, lacks a
            task or an action, or holds an expression that is not a JMESPath.
    """
    source = one_line(path.name, 200)
    form = _format(loaded(path, source), source)

    name = one_line(form.declared.name, 200) or source.partition(".")[0]
    description = one_line(form.declared.description, 200) or f"declared in {source}"
    return Reader(name, description, partial(_sureness, form), partial(_read, form))


def shipped_readers() -> tuple[Reader, ...]:
    """Return the readers whose declarations come with the program, by name."""
    return tuple(map(_shipped, sorted(_SHIPPED.glob("*.toml"))))


def _shipped(path: Path) -> Reader:
    declared = loaded(path, path.name)
    form = cache(lambda: _format(declared, path.name))  # once a log is there: that takes a while
    return Reader(
        declared.name,
        declared.description,
        claims=lambda at: bool(at.records or at.tables) and _sureness(form(), at),
        read=lambda log: _read(form(), log),
    )


def _format(declared: Declaration, source: str) -> _Format:
    from deltamem_tui.trajectory.readers.expressions import compiled

    written = declared.expressions()
    tables = declared.tables
    inner = [each for each in tables.values() if each.within]
    is_wrong = any(each.within not in tables or not (each.by or each.prefix) for each in inner)
    if tables and (is_wrong or len(tables) - len(inner) != 1):
        hint = "one table is within none; others name one of them by `within`, and a column by `by`"
        raise ConfigurationError("wrong `tables`", source=source, hint=hint)
    for key in () if {"messages", "spans"} & {*written} else ("task", "step.action", "steps"):
        if key not in written:
            hint = "every format needs a task, steps and an action, or `messages` or `spans`"
            raise ConfigurationError(f"no `{key}`", source=source, hint=hint)
    return _Format(declared, {key: compiled(text, key, source) for key, text in written.items()})


def _sureness(form: _Format, preview: Preview) -> float:
    if bool(form.declared.tables) != bool(preview.tables):
        return 0.0
    if tables := preview.tables:
        asked = form.declared.tables.items()
        return _SURE * all(t.columns <= {*tables.get(t.table or name, ())} for name, t in asked)
    if "own" not in form.searches:
        return _UNSURE * share(preview, lambda value: _is_read(form, value))
    if not form.declared.gather and form.gathers(preview):
        return _SURE * (1 - len(form.foreign([*preview.records])) / len(preview.records))
    return _SURE * share(preview, form.is_own)


def _is_read(form: _Format, value: object) -> bool:
    with suppress(RecordError):
        parts = _parts(form, [value] if form.declared.gather else value)
        found = [parse(Conversation()) for _, parse in parts]
        return bool(found) and all(each.steps for each in found)
    return False


def _read(form: _Format, log: Log) -> Iterator[Reading]:
    is_named = any(FILE in text for text in form.declared.expressions().values())
    name = PurePath(log.name).name.partition(".")[0] if is_named else ""
    if tables := form.declared.tables:
        yield from each_part(partial(_parts, form), lambda log: log.rows(tables))(log)
    elif form.gathers(log.preview()):
        yield from whole_log(partial(_gathered, form))(log)
    elif form.declared.calls:
        yield from readings(_call(form, each) for each in log.records())
    else:
        yield from each_part(lambda value: _parts(form, value, name))(log)


def _taken(form: _Format, values: list[object], conversation: Conversation) -> list[object]:
    """Return the records without the messages that were left by going back."""
    branches, messages = Branches(), dict[str, Json]()
    named: list[tuple[str, object]] = []
    for index, value in enumerate(values):
        name, before = map(as_text, [*as_list(form.find("follows", value)), "", ""][:2])
        branches.add(name, before)
        message = as_mapping(as_mapping(value).get("message"))
        key = name or f"#{index}"
        if key not in messages:  # else it is told again
            named.append((key if message else "", value))
        if message:
            messages.setdefault(key, message)
    left = {*messages} - {*branches.taken(messages)}
    taken = [value for key, value in named if key not in left]
    conversation.pass_over("message", WENT_BACK, len(named) - len(taken))
    return taken


def _call(form: _Format, item: Record | RecordError) -> ChatRecord | RecordError:
    """Return a call of a model, in which what was said before it is told anew."""
    if isinstance(item, RecordError):
        return item
    try:
        found = as_list(form.find("messages", item.value))
    except RecordError as error:
        return located(error, "", item.position)
    if not found:
        return RecordError("a call without what the model was sent", position=item.position)
    system, agent = (form.text(key, item.value) for key in ("environment", "agent"))
    return ChatRecord(found, item.position, system=system, agent=agent)


def _gathered(form: _Format, records: Records) -> Iterator[Reading]:
    """Yield the episodes of a log whose records are one value, a list, or one for each session."""
    declared = form.declared
    stands_alone = declared.spans or (declared.messages and "replayed(" not in declared.messages)
    sessions: dict[str, tuple[str, list[bytes]]] = {}
    name = ""
    try:
        for record in records:
            # Where lines are changes, or answers do not name their calls, a gap ends the episode.
            if isinstance(record, Record) and records.gaps and not stands_alone:
                yield rest_refused(record.position)
                break
            for item in _pieces(form, record, name):
                if isinstance(item, RecordError):
                    yield located(item, "", record.position)
                    continue
                name, value = item
                held = sessions.setdefault(name, (record.position or "", []))[1]
                held.append(json.dumps(value, separators=(",", ":")).encode())
    except RecordError as error:  # no room: what was read is not lost
        yield error

    def parse(conversation: Conversation, values: list[object]) -> Trajectory:
        conversation.has_gaps = records.gaps > 0
        if declared.messages and len(sessions) > 1 and not form.find("messages", values):
            raise NothingAskedError(f"{are_left_out('line', len(values))}: of no session")
        taken = _taken(form, values, conversation) if declared.follows else values
        return _episode(conversation, form=form, record=taken)

    for first, held in sessions.values():
        yield from conversation_readings(first, parse, [*map(parse_json, held)])


def _pieces(
    form: _Format, record: Record | RecordError, name: str
) -> Iterator[tuple[str, object] | RecordError]:
    """Yield the values in a record, each with the name of the session or trace that it is of."""
    declared = form.declared
    if isinstance(record, RecordError):
        yield record
    elif declared.gather and "own" in form.searches and not form.is_own(record.value):
        yield stray("not a record of this format")
    else:
        several = as_list(form.find("records", record.value)) if declared.gather else []
        for each in several or [record.value]:
            begun = form.find("begins", each)
            own = as_text(begun) if begun and isinstance(begun, str | int) else ""
            name = record.position if begun is True else own or name
            if declared.spans and not 0 < len(own) <= _MOST_NAME:
                yield stray(f"a span without a trace id of up to {_MOST_NAME} characters")
            else:
                yield name, each


def _parts(form: _Format, value: object, name: str = "") -> Iterator[Part]:
    parse = partial(_episode, form=form)
    if name and isinstance(value, dict):
        value = {**value, FILE: name}
    if "records" not in form.searches:
        yield "", partial(parse, record=value)
        return
    found = form.find("records", value)
    if not isinstance(found, list):
        raise RecordError(f"`records` gave {_shown(found)} where a list was expected")
    for index, record in enumerate(found, 1):
        row = as_mapping(record)
        place = f"episode {index}" if len(found) > 1 else ""
        if row.keys() == {"key", "value"} and row["key"]:  # as `entries` gives them
            place = f"key {quoted(as_text(row['key']), 80)}"
        yield place, partial(parse, record=record)


def _episode(conversation: Conversation, *, form: _Format, record: object) -> Trajectory:
    environment = form.text("environment", record).strip()
    what = "line" if isinstance(record, list) else "event"
    for each in map(as_mapping, form.foreign(record)):
        conversation.pass_over_kind(what, as_text(each.get("type") or each.get("kind")))
    for kind, whys in form.declared.left_out.items():
        for why in whys:
            found = form.find(f"left_out.{kind}.{why}", record)
            count = len(found) if isinstance(found, list) else int(number(found) or 0)
            conversation.pass_over(kind, why, count)
            if count and "messages" in form.searches and not form.find("messages", record):
                raise NothingAskedError(f"{are_left_out(kind, count)}: {why}")
    if "spans" in form.searches:
        trajectory = _of_spans(conversation, form, record)
    elif "messages" in form.searches:
        trajectory = _of_messages(conversation, form, record, environment)
    else:
        task = form.find("task", record)
        if not isinstance(task, str) or not task.strip():
            raise RecordError(f"`task` gave {_shown(task)} where text was expected")
        trajectory = Trajectory(task.strip(), environment, tuple(_steps(form, record)))
    return structs.replace(
        trajectory,
        steps=_rewarded(trajectory.steps, as_list(form.find("rewards", record))),
        outcome=_outcome(form, record),
        domain=form.text("domain", record) or trajectory.domain,
        agent=form.text("agent", record) or trajectory.agent,
        metadata=_metadata(form, record),
    )


def _metadata(form: _Format, record: object) -> dict[str, str]:
    declared = form.declared.metadata
    if isinstance(declared, str):
        found = as_mapping(form.find("metadata", record))
        return {key: as_text(fact) for key, fact in found.items()}
    return {key: form.text(f"metadata.{key}", record) for key in declared}


def _rewarded(steps: tuple[Step, ...], rewards: list[object]) -> tuple[Step, ...]:
    if len(rewards) != len(steps):
        return steps
    pairs = zip(steps, rewards, strict=True)
    return tuple(structs.replace(step, reward=number(paid)) for step, paid in pairs)


def _of_messages(
    conversation: Conversation, form: _Format, record: object, environment: str
) -> Trajectory:
    messages, task = form.find("messages", record), form.text("task", record)
    if messages == [] and form.declared.tables:
        raise NothingAskedError("the user asked for nothing in it")
    if not isinstance(messages, list) or not messages:
        fault = form.text("fault", record)
        told = f"; the log says: {quoted(fault, 120)}" if fault else ""
        reason = f"`messages` gave {_shown(messages)} where messages were expected{told}"
        raise RecordError(reason, hint=_NOTHING_THERE)
    messages = [unfolded(each) for each in messages]
    if all(speaker(as_mapping(each).get("role")) for each in messages):
        return episode(messages, task=task, environment=environment, conversation=conversation)
    add_messages(conversation, messages)
    return conversation.episode(task=task, environment=environment or conversation.system)


def _of_spans(conversation: Conversation, form: _Format, record: object) -> Trajectory:
    spans = [span_of(as_mapping(each)) for each in as_list(form.find("spans", record))]
    if not spans:
        raise RecordError("a trace without spans", hint="export the trace with them")
    task = task_in(opened_text(form.find("task", record)))
    return trace_episode(conversation, sorted(spans, key=lambda each: each.start), task)


def _steps(form: _Format, record: object) -> Iterator[Step]:
    steps = form.find("steps", record)
    if not isinstance(steps, list):
        raise RecordError(f"`steps` gave {_shown(steps)} where a list was expected")
    keys = [key for key in form.searches if key.startswith("step.")]
    for index, step in enumerate(steps, 1):
        item = {key.removeprefix("step."): form.find(key, step) for key in keys}
        action = item.get("action")
        if not isinstance(action, str) or not action.strip():
            raise RecordError(f"`step.action` gave {_shown(action)} for step {index}, not text")
        reward = None if item.get("reward") == "" else item.get("reward")
        if reward is not None and number(reward) is None:
            raise RecordError(f"`step.reward` gave {_shown(reward)} for step {index}, no number")
        tool = as_text(item.get("tool"))
        yield Step(
            action,
            as_text(item.get("observation")),
            as_text(item.get("thought")),
            number(reward),
            tool=tool or None,
            arguments=call_arguments(item.get("arguments")) if item.get("arguments") else None,
            kind="call" if tool else None,
            status=STATUSES.get(as_text(item.get("status")).lower()),
        )


def _outcome(form: _Format, record: object) -> Outcome:
    paths = form.declared.outcome
    if form.declared.scores:  # a trace is scored for many things
        outcome = verdict(_scores(form, record), any_name=not form.declared.spans)
    elif isinstance(paths, OutcomePaths):
        outcome = _stated(form, paths, record)
    else:
        outcome = recorded_anywhere(as_mapping(form.find("outcome", record)))
    if outcome.source != "unknown" or outcome.reason:
        return outcome
    return Outcome(reason=form.text("fault", record))


def _stated(form: _Format, paths: OutcomePaths, record: object) -> Outcome:
    """Return what the expressions say; what they find and what says nothing is the reason."""
    flag, points = (form.find(f"outcome.{key}", record) for key in ("success", "reward"))
    # What the record itself calls the two.
    keys = {"success": paths.success, "reward": paths.reward}
    names = [
        path.split(".")[-1] if path.replace(".", "").isidentifier() else key
        for key, path in keys.items()
    ]
    names = names if names[0] != names[1] else [*keys]
    best = paths.best if isinstance(paths.best, float) else form.find("outcome.best", record)
    scale = number(best) or 1.0
    flagged = verdict_of(flag, best=1.0 if isinstance(flag, str) else scale)
    outcome = together({names[0]: flagged, names[1]: stated(points, best=scale)})
    if outcome.source == "unknown":
        given = {names[0]: flag, names[1]: points}
        return explained(outcome, given, given)
    named = form.text("outcome.source", record)
    source = next((each for each in OUTCOME_SOURCES if each == named), outcome.source)
    return structs.replace(outcome, source=source, reason=form.text("outcome.reason", record))


def _scores(form: _Format, record: object) -> Iterator[Score]:
    for row in map(as_mapping, as_list(form.find("scores", record))):
        yield Score(
            as_text(row.get("name")),
            row.get("value"),
            "judge" if row.get("is_judged") else "stated",
            one_line(as_text(row.get("reason")), _REASON_WIDTH),
            bool(row.get("is_part")),
        )


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"{quoted(as_text(value), 60)!r}"
