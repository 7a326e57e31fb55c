"""OpenClaw: JSONL sessions, a line for each message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from deltamem_tui.trajectory.logs.log import Preview, Record
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import tell
from deltamem_tui.trajectory.readers.reader import Reader, Reading, placed_or_refused, share
from deltamem_tui.trajectory.readers.shapes import Json, as_mapping, as_text
from deltamem_tui.trajectory.readers.whole_log import stray, whole_log
from deltamem_tui.trajectory.readers.workspace import workspace

_NOTES = frozenset(
    {"session", "model_change", "thinking_level_change", "compaction", "branch_summary"}
    | {"custom", "custom_message", "label", "session_info"}
)


# Who is neither the user nor the agent nor its tools: what the user tried in the shell beside the
# chat, what extensions put in, and the program's own summaries.
_ASIDE = frozenset({"bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary"})


@dataclass(slots=True)
class _Session:
    """What the lines say of one session."""

    position: str = ""
    id: str = ""
    directory: str = ""
    agent: str = ""
    messages: list[Json] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)


def _gather(records: Iterable[Record], log_name: str) -> Iterator[Reading]:  # noqa: ARG001
    session = _Session()
    for record in records:
        line = as_mapping(record.value)
        if not isinstance(line.get("type"), str):
            yield stray("it has no `type`", record.position)
            continue
        if session.messages and _begins_another(session, line):
            yield placed_or_refused(session.position, _episode, session)
            session = _Session()
        session.position = session.position or record.position
        _take(session, line)
    if session.position:
        yield placed_or_refused(session.position, _episode, session)


def _begins_another(session: _Session, line: Json) -> bool:
    """Whether a line opens another session, as in files that were put together."""
    return line["type"] == "session" and session.id not in ("", as_text(line.get("id")))


def _take(session: _Session, line: Json) -> None:
    if line["type"] == "session":
        session.id = session.id or as_text(line.get("id"))
        session.directory = session.directory or as_text(line.get("cwd"))
    elif line["type"] == "model_change":
        session.agent = session.agent or as_text(line.get("modelId"))
    elif line["type"] == "message":
        name = as_text(line.get("id"))
        if name and name in session.seen:
            return
        session.seen.add(name)
        message = as_mapping(line.get("message"))
        session.agent = session.agent or as_text(message.get("model"))
        if as_text(message.get("role")) not in _ASIDE:
            session.messages.append(message)


def _episode(session: _Session) -> Trajectory:
    return tell(Conversation(), session.messages).episode(
        environment=workspace(directory=session.directory),
        agent=session.agent,
        metadata={"id": session.id},
    )


def _is_line(value: object) -> bool:
    line = as_mapping(value)
    if line.get("type") == "message":
        return isinstance(as_mapping(line.get("message")).get("role"), str)
    return as_text(line.get("type")) in _NOTES and "id" in line


def _claims(preview: Preview) -> float:
    messages = any(as_mapping(value).get("type") == "message" for value in preview.records)
    begins = any(as_mapping(value).get("type") == "session" for value in preview.records)
    return 0.95 * share(preview, _is_line) if messages or begins else 0.0


READER = Reader(
    name="openclaw",
    description="OpenClaw: JSONL sessions of user, assistant and toolResult messages",
    claims=_claims,
    read=whole_log(_gather),
)
