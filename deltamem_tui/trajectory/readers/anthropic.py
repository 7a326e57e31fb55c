"""Anthropic messages: content in blocks of text, tool_use and tool_result."""

from __future__ import annotations

from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.readers.chat_logs import (
    are_messages,
    are_records_messages,
    read_conversations,
)
from deltamem_tui.trajectory.readers.reader import Reader, share
from deltamem_tui.trajectory.readers.shapes import as_list, as_mapping

_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}
    | {"web_search_tool_result", "web_fetch_tool_result", "mcp_tool_use", "mcp_tool_result"}
)


def has_blocks(messages: object) -> bool:
    """Whether messages hold blocks that only this format has."""
    return any(
        as_mapping(part).get("type") in _BLOCKS
        for message in as_list(messages)
        for part in as_list(as_mapping(message).get("content"))
        if isinstance(as_mapping(part).get("type"), str)
    )


def _messages(record: object) -> object:
    return as_mapping(record).get("messages", record)


def _claims(preview: Preview) -> float:
    if are_records_messages(preview):
        return 0.6 * has_blocks(list(preview.records))
    if not any(has_blocks(_messages(record)) for record in preview.records):
        return 0.0
    # Conversations without a tool call stand beside those that have some.
    return 0.6 * share(preview, lambda record: are_messages(_messages(record)))


READER = Reader(
    name="anthropic",
    description="Anthropic messages: content blocks of text, tool_use and tool_result",
    claims=_claims,
    read=read_conversations("messages", of_calls=True),
)
