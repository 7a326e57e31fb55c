"""Readers that a small TOML file declares: those that ship, and those of a person's own.

Every value is a JMESPath expression. `docs/readers.md` has an example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Outcome, Step, StepStatus, Trajectory
from deltamem_tui.trajectory.outcome_keys import explained
from deltamem_tui.trajectory.outcomes import number, stated, together, verdict_of
from deltamem_tui.trajectory.readers.chat import episode, opening_of
from deltamem_tui.trajectory.readers.coding import call_arguments
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Part, Reader, Reading, each_part, share
from deltamem_tui.trajectory.readers.sessions import Session, sessions, stray
from deltamem_tui.trajectory.readers.shapes import as_list, as_mapping, as_text
from deltamem_tui.trajectory.readers.tasks import NO_OPENING, Opening
from deltamem_tui.trajectory.secrets.redaction import quoted

if TYPE_CHECKING:
    from deltamem_tui.trajectory.readers.declaration import Declaration

_STATUSES: dict[str, StepStatus] = {
    **dict.fromkeys(("ok", "success", "completed", "0", "true"), "ok"),
    **dict.fromkeys(("error", "failed", "failure", "false"), "error"),
}
_SHIPPED = Path(__file__).with_name("formats")
# As sure as other readers that know a log by its keys, and as one that only tried to read it.
_SURE, _UNSURE = 0.95, 0.4


def declared_reader(path: Path) -> Reader:
    """Return the reader that a TOML file declares.

    It claims a log of whose first records `own` is true, else one whose first records give a
    task and a step, less surely than the built-in readers.

    Raises:
        ConfigurationError: The file cannot be read, is not TOML, has an unknown key, lacks a
            task or an action, or holds an expression that is not a JMESPath.
    """
    from deltamem_tui.trajectory.readers.declaration import declaration_of, loaded, plain_text

    table, source = loaded(path), one_line(path.name, 200)
    declaration = declaration_of(table, source)
    name = plain_text(table, "name", source) or source.partition(".")[0]
    description = plain_text(table, "description", source) or f"declared in {source}"

    def read(log: Log) -> Iterator[Reading]:
        idle: dict[str, bool] = {}
        watched = declaration.watched(idle)
        is_read = False
        for reading in _read(watched, log):
            is_read = is_read or isinstance(reading, Trajectory)
            yield reading
        several = ", ".join(f"`{key}`" for key, is_idle in idle.items() if is_idle)
        if is_read and several:  # where all is refused, that says enough
            yield RecordError(
                f"{several} found nothing in all of the log, with {source}",
                hint="look for a slip of the pen; `key || ''` says that a key may be missing",
            )

    return Reader(name, description, lambda preview: _sureness(declaration, preview), read)


def shipped_readers() -> tuple[Reader, ...]:
    """Return the readers whose declarations come with the program, by name."""
    return tuple(map(_shipped, sorted(_SHIPPED.glob("*.toml"))))


def _shipped(path: Path) -> Reader:
    """Return a reader whose expressions are compiled once a log is there: that takes a while."""
    from tomllib import loads

    table = loads(path.read_text("utf-8"))

    @cache
    def declaration() -> Declaration:
        from deltamem_tui.trajectory.readers.declaration import declaration_of

        return declaration_of(table, path.name)

    return Reader(
        name=table["name"],
        description=table["description"],
        claims=lambda preview: bool(preview.records) and _sureness(declaration(), preview),
        read=lambda log: _read(declaration(), log),
    )


def _sureness(declaration: Declaration, preview: Preview) -> float:
    own = declaration.expressions.get("own")
    if own is None:
        return _UNSURE * share(preview, lambda value: _is_read(declaration, value))
    return _SURE * share(preview, lambda value: _is_true(own, value))


def _is_true(own: Callable[[object], object], value: object) -> bool:
    with suppress(RecordError):
        return own(value) not in (None, False, "", [], {})
    return False


def _is_read(declaration: Declaration, value: object) -> bool:
    with suppress(RecordError):
        parts = _parts(declaration, [value] if declaration.gathers else value)
        found = [parse(Conversation()) for _, parse in parts]
        return bool(found) and all(each.steps for each in found)
    return False


def _read(declaration: Declaration, log: Log) -> Iterator[Reading]:
    if declaration.gathers:
        yield from sessions(lambda _: _Gathered(declaration=declaration))(log)
        return
    common = NO_OPENING
    # Trials of one task may well begin alike, and with the user's own request.
    if "messages" in declaration.expressions and "metadata.trial" not in declaration.expressions:
        common = opening_of(log, lambda value: _chats(declaration, value))
    yield from each_part(lambda value: _parts(declaration, value, common))(log)


@dataclass(slots=True, kw_only=True)
class _Gathered(Session):
    """The records of a log that belong together, which are one value: a list."""

    declaration: Declaration
    values: list[object] = field(default_factory=list)

    def begins_another(self, value: object) -> bool:  # noqa: ARG002 — a log is one session
        return False

    def take(self, value: object) -> None:
        own = self.declaration.expressions.get("own")
        if own and not _is_true(own, value):
            raise stray("not a record of this format")
        self.values += as_list(self.declaration.found("records", value)) or [value]

    def episode(self, conversation: Conversation) -> Trajectory:
        return _episode(
            conversation, declaration=self.declaration, record=self.values, common=NO_OPENING
        )


def _chats(declaration: Declaration, value: object) -> Iterator[list[object]]:
    """Yield the conversations of one JSON value, as far as it has any."""
    with suppress(RecordError):
        is_one = "records" not in declaration.expressions
        for record in [value] if is_one else as_list(declaration.found("records", value)):
            yield as_list(declaration.found("messages", record))


def _parts(declaration: Declaration, value: object, common: Opening = NO_OPENING) -> Iterator[Part]:
    """Yield the episodes of one JSON value of the log, each with its place in it."""
    parse = partial(_episode, declaration=declaration, common=common)
    if "records" not in declaration.expressions:
        yield "", partial(parse, record=value)
        return
    found = declaration.found("records", value)
    if not isinstance(found, list):
        raise RecordError(f"`records` gave {_shown(found)} where a list was expected")
    for index, record in enumerate(found, 1):
        row = as_mapping(record)
        place = f"episode {index}" if len(found) > 1 else ""
        if row.keys() == {"key", "value"}:  # as `entries` gives them
            place = f"key {quoted(as_text(row['key']), 80)}"
        yield place, partial(parse, record=record)


def _episode(
    conversation: Conversation, *, declaration: Declaration, record: object, common: Opening
) -> Trajectory:
    environment = _text(declaration, "environment", record).strip()
    if "messages" in declaration.expressions:
        trajectory = episode(
            _messages(declaration, record),
            task=_text(declaration, "task", record),
            environment=environment,
            conversation=conversation,
            common=common,
        )
    else:
        trajectory = Trajectory(
            task=_required(declaration, "task", record).strip(),
            environment=environment,
            steps=tuple(_steps(declaration, record)),
        )
    conversation.pass_over("node", "on another branch of the search", _count(declaration, record))
    return replace(
        trajectory,
        outcome=_outcome(declaration, record),
        domain=_text(declaration, "domain", record) or trajectory.domain,
        agent=_text(declaration, "agent", record),
        metadata={
            key: _text(declaration, f"metadata.{key}", record)
            for key in declaration.keys_of("metadata")
        },
    )


def _count(declaration: Declaration, record: object) -> int:
    return int(number(declaration.found("branches", record)) or 0)


def _messages(declaration: Declaration, record: object) -> list[object]:
    messages = declaration.found("messages", record)
    if isinstance(messages, list) and messages:
        return messages
    fault = _text(declaration, "fault", record)
    told = f"; the log says: {quoted(fault, 120)}" if fault else ""
    raise RecordError(f"`messages` gave {_shown(messages)} where messages were expected{told}")


def _steps(declaration: Declaration, record: object) -> Iterator[Step]:
    steps = declaration.found("steps", record)
    if not isinstance(steps, list):
        raise RecordError(f"`steps` gave {_shown(steps)} where a list was expected")
    given = {key: declaration.expressions[f"step.{key}"] for key in declaration.keys_of("step")}
    for index, step in enumerate(steps, 1):
        item = {key: part(step) for key, part in given.items()}
        action = item.get("action")
        if not isinstance(action, str) or not action.strip():
            raise RecordError(f"`step.action` gave {_shown(action)} for step {index}, not text")
        reward = None if item.get("reward") == "" else item.get("reward")
        if reward is not None and number(reward) is None:
            raise RecordError(f"`step.reward` gave {_shown(reward)} for step {index}, no number")
        seen, thought = as_text(item.get("observation")), as_text(item.get("thought"))
        tool, status = as_text(item.get("tool")), as_text(item.get("status"))
        yield Step(
            action,
            seen,
            thought,
            number(reward),
            tool=tool or None,
            arguments=call_arguments(item.get("arguments")) if item.get("arguments") else None,
            kind="call" if tool else None,
            status=_STATUSES.get(status.lower()),
        )


def _outcome(declaration: Declaration, record: object) -> Outcome:
    """Return what the expressions say; what they find and what says nothing is the reason."""
    keys = ("success", "reward")
    flag, points = (declaration.found(f"outcome.{key}", record) for key in keys)
    told = [declaration.name_of(f"outcome.{key}") for key in keys]
    names = told if told[0] != told[1] else keys
    best = number(declaration.found("outcome.best", record)) or 1.0
    verdict = verdict_of(flag, best=1.0 if isinstance(flag, str) else best)
    outcome = together({names[0]: verdict, names[1]: stated(points, best=best)})
    if outcome.source != "unknown":
        return replace(outcome, reason=_text(declaration, "outcome.reason", record))
    given = {names[0]: flag, names[1]: points}
    return explained(outcome, given, given)


def _text(declaration: Declaration, key: str, record: object) -> str:
    return as_text(declaration.found(key, record))


def _required(declaration: Declaration, key: str, record: object) -> str:
    value = declaration.found(key, record)
    if not isinstance(value, str) or not value.strip():
        raise RecordError(f"`{key}` gave {_shown(value)} where text was expected")
    return value


def _shown(value: object) -> str:
    """Return a value as an error shows it: what it is, and how it begins."""
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"{quoted(as_text(value), 60)!r}"
