"""OpenClaw: JSONL sessions, a line for each message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deltamem_tui.trajectory.logs.log import Preview, Record
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import tell_message
from deltamem_tui.trajectory.readers.reader import Reader, Reading, share
from deltamem_tui.trajectory.readers.shapes import as_mapping, as_text
from deltamem_tui.trajectory.readers.whole_log import placed, whole_log
from deltamem_tui.trajectory.readers.workspace import workspace

_NOTES = frozenset(
    {"session", "model_change", "thinking_level_change", "compaction", "branch_summary"}
    | {"custom", "custom_message", "label", "session_info"}
)


def _gather(records: Iterable[Record], log_name: str) -> Iterator[Reading]:  # noqa: ARG001
    conversation = Conversation()
    seen: set[str] = set()
    facts = {"position": "", "id": "", "directory": "", "agent": ""}
    for record in records:
        line = as_mapping(record.value)
        facts["position"] = facts["position"] or record.position
        if line.get("type") == "session":
            facts["id"] = facts["id"] or as_text(line.get("id"))
            facts["directory"] = facts["directory"] or as_text(line.get("cwd"))
        elif line.get("type") == "model_change":
            facts["agent"] = facts["agent"] or as_text(line.get("modelId"))
        elif line.get("type") == "message":
            name = as_text(line.get("id"))
            if name and name in seen:
                continue
            seen.add(name)
            message = as_mapping(line.get("message"))
            facts["agent"] = facts["agent"] or as_text(message.get("model"))
            tell_message(conversation, message)
    yield placed(
        conversation.episode(
            environment=workspace(directory=facts["directory"]),
            agent=facts["agent"],
            metadata={"id": facts["id"]},
        ),
        facts["position"],
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
