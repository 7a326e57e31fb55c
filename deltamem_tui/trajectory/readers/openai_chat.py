"""OpenAI chat: lists of messages with `role`, `content` and `tool_calls`, alone or in records."""

from __future__ import annotations

from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.readers.anthropic import has_blocks
from deltamem_tui.trajectory.readers.chat_logs import (
    are_messages,
    are_records_messages,
    read_conversations,
)
from deltamem_tui.trajectory.readers.reader import Reader, share
from deltamem_tui.trajectory.readers.shapes import as_list, as_mapping

# The plainest of formats: any reader that knows more about a log is surer of it.
_SURENESS = 0.5
_KEYS = ("messages", "trajectory")


def _is_chat(value: object) -> bool:
    record = as_mapping(value)
    under = [record[key] for key in _KEYS if key in record]
    if record and not under:
        return all(map(_are_own, record.values()))
    return _are_own(under[0] if under else value)


def _are_own(messages: object) -> bool:
    return (
        are_messages(messages)
        and not has_blocks(messages)
        and all("role" in as_mapping(message) for message in as_list(messages))
    )


def _claims(preview: Preview) -> float:
    if are_records_messages(preview):
        return _SURENESS * _are_own(list(preview.records))
    return _SURENESS * share(preview, _is_chat)


READER = Reader(
    name="openai-chat",
    description="OpenAI chat: messages with role, content and tool_calls",
    claims=_claims,
    read=read_conversations(*_KEYS, of_calls=True),
)
