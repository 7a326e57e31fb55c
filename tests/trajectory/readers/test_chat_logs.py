"""Logs of messages, each a record by itself: what of them is held, and what stands among them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import Limits
from deltamem_tui.trajectory.readers import read_logs
from tests.trajectory.readers.log_files import Json, episodes, lines, refusals

LONG = "x" * 500
ASKED: dict[str, Json] = {
    "openai-chat": {"role": "user", "content": "task"},
    "sharegpt": {"from": "human", "value": "task"},
    "anthropic": {"role": "user", "content": "task"},
}
CALL = {"id": "1", "function": {"name": "bash", "arguments": json.dumps({"command": LONG})}}
USED = {"type": "tool_use", "id": "1", "name": "bash", "input": {"command": LONG}}
ANSWERS: list[tuple[str, Json]] = [
    ("openai-chat", {"role": "assistant", "content": LONG}),
    ("openai-chat", {"role": "assistant", "content": None, "tool_calls": [CALL]}),
    ("openai-chat", {"role": "assistant", "content": "", "reasoning_content": LONG}),
    ("sharegpt", {"from": "gpt", "value": LONG}),
    ("anthropic", {"role": "assistant", "content": [USED]}),
]


@pytest.mark.parametrize(("name", "answer"), ANSWERS)
def test_all_of_a_message_counts_as_held(tmp_path: Path, name: str, answer: Json) -> None:
    path = tmp_path / "log"
    path.write_bytes(lines(ASKED[name], *[answer] * 40))
    (told,) = read_logs([path], format=name, limits=Limits(record_bytes=20_000))
    assert isinstance(told, RecordError)
    assert "a conversation of more than 19.5 KB" in told.message
    assert told.position
    assert int(told.position.removeprefix("line ")) < 25


def test_what_waits_for_a_longer_version_outlives_a_conversation_too_long(tmp_path: Path) -> None:
    path = tmp_path / "log"
    answer = {"role": "assistant", "content": "ls"}
    before, after = (
        {"messages": [{"role": "user", "content": task}, answer]} for task in ("before", "after")
    )
    path.write_bytes(lines(before, *[{"role": "user", "content": LONG}] * 40, after))
    found = list(read_logs([path], format="openai-chat", limits=Limits(record_bytes=20_000)))
    assert [each.task for each in episodes(found)] == ["before", "after"]
    assert len(refusals(found)) == 1


def test_a_gap_among_messages_takes_nothing_from_conversations_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "log"
    asked = ASKED["openai-chat"]
    answer = {"role": "assistant", "content": "ls"}
    whole = {"messages": [{"role": "user", "content": "other"}, answer]}
    path.write_bytes(lines(asked, answer) + b'{"role" 1}\n' + lines(whole, asked, answer))
    found = list(read_logs([path], format="openai-chat"))
    assert sorted((each.task, len(each.steps)) for each in episodes(found)) == [
        ("other", 1),
        ("task", 1),
    ]
    assert [told.position for told in refusals(found)] == ["line 3", "line 5"]
