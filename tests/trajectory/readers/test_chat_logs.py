"""Logs of messages, each a record by itself: what of them is held, and what stands among them."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.limits import LogLimits
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.readers.prefixes import ChatRecord, counted_once
from deltamem_tui.trajectory.readers.sessions import BESIDE
from tests.trajectory.readers.samples import Json, dumped, episodes, lines, refusals

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
    (told,) = read_logs([path], format=name, limits=LogLimits(record_bytes=20_000))
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
    found = list(read_logs([path], format="openai-chat", limits=LogLimits(record_bytes=20_000)))
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
    assert [remark.position for remark in refusals(found)] == ["line 3", "line 5"]


def call(
    name: object, length: int, outcome: Outcome | None = None, names: Json | None = None
) -> ChatRecord:
    """A model's call, `length` turns into a conversation."""
    begin = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"task {name}"},
    ]
    turns = [
        {"role": "assistant", "content": f"step {number} of {name}"} for number in range(length)
    ]
    return ChatRecord(
        [*begin, *turns], f"{name}/{length}", names or {}, outcome=outcome or Outcome()
    )


FAILED = Outcome(False, 0.0, "stated")


def positions(items: Sequence[ChatRecord | RecordError], most_held: int = 10**9) -> list[str]:
    found = counted_once(iter(items), most_held)
    return [item.position for item in found if isinstance(item, ChatRecord)]


@pytest.mark.parametrize("conversations", [1, 12, 500])
def test_calls_of_any_number_of_conversations_mixed(conversations: int) -> None:
    names = range(conversations)
    rounds = [call(name, length) for length in (1, 3, 2, 4) for name in names]
    assert positions(rounds) == [f"{name}/4" for name in names]


def test_in_any_order() -> None:
    calls = [call(name, length) for name in "abc" for length in range(1, 6)]
    for seed in range(50):
        mixed = random.Random(seed).sample(calls, len(calls))
        assert sorted(positions(mixed)) == ["a/5", "b/5", "c/5"]


def test_two_ways_on_from_one_beginning_are_two_episodes() -> None:
    begin = call("a", 2)
    other = ChatRecord([*begin.messages, {"role": "user", "content": "No."}], "other")
    assert sorted(positions([begin, call("a", 3), other])) == ["a/3", "other"]


@pytest.mark.parametrize("key", ["id", "trial", "task_id"])
def test_names_of_their_own_keep_them_apart(key: str) -> None:
    assert len(positions([call("a", 1, names={key: 1}), call("a", 2, names={key: 2})])) == 2
    assert positions([call("a", 1, names={key: 1}), call("a", 2, names={key: 1})]) == ["a/2"]


def test_an_outcome_of_its_own_keeps_a_shorter_one() -> None:
    assert positions([call("a", 1, FAILED), call("a", 2)]) == ["a/1", "a/2"]
    assert positions([call("a", 2), call("a", 1, FAILED)]) == ["a/2", "a/1"]


@pytest.mark.parametrize(
    "lengths", [(2, 4, 4, 6), (4, 4, 2, 6), (6, 6, 4), (2, 2, 2), (4, 6, 4, 6)]
)
def test_a_call_that_was_tried_again_counts_once(lengths: tuple[int, ...]) -> None:
    assert positions([call("a", length) for length in lengths]) == [f"a/{max(lengths)}"]


def test_an_outcome_of_its_own_keeps_one_of_two_that_say_the_same() -> None:
    for plain, judged in ((0, 1), (1, 0)):
        calls = [call("a", 2), call("a", 2, FAILED)]
        (kept,) = counted_once(iter([calls[plain], calls[judged]]))
        assert isinstance(kept, ChatRecord)
        assert kept.outcome == FAILED
    assert positions([call("a", 2, FAILED), call("a", 2), call("a", 4)]) == ["a/2", "a/4"]


def blocks(length: int, marked: frozenset[int], *, lists: bool = True) -> ChatRecord:
    """A call whose `marked` messages end with a mark for the provider's cache."""
    messages: list[object] = []
    for number in range(length):
        part: dict[str, object] = {"type": "text", "text": f"turn {number}"}
        if number in marked:
            part["cache_control"] = {"type": "ephemeral"}
        result = {"type": "tool_result", "tool_use_id": "t", "content": [part]}
        content: object = [part] if number % 2 else [result]
        if not lists and number % 2 and number not in marked:
            content = f"turn {number}"
        messages.append({"role": "user", "content": content})
    return ChatRecord(messages, str(length))


@pytest.mark.parametrize("lists", [True, False])
def test_what_is_said_to_the_cache_alone_tells_no_call_from_another(lists: bool) -> None:
    calls = [
        blocks(length, frozenset({length - 1, length - 2}), lists=lists) for length in (2, 4, 6)
    ]
    (kept,) = counted_once(iter(calls))
    assert isinstance(kept, ChatRecord)
    assert len(kept.messages) == 6
    assert "turn 5" in str(kept.messages)
    assert "cache_control" not in str(kept.messages)


def test_a_message_marked_as_a_whole_is_the_same_message() -> None:
    plain: dict[str, object] = {"role": "user", "content": "Fix it."}
    answer = {"role": "assistant", "content": "Done."}
    marked = ChatRecord([plain | {"cache_control": {"type": "ephemeral"}}], "1")
    assert positions([marked, ChatRecord([plain, answer], "2")]) == ["2"]


@pytest.mark.parametrize("content", [[{"type": "text", "text": 7}], [7], [], [{"type": "image"}]])
def test_contents_that_are_no_text_are_as_they_were(content: list[object]) -> None:
    (kept,) = counted_once(iter([ChatRecord([{"role": "user", "content": content}], "1")]))
    assert isinstance(kept, ChatRecord)
    assert kept.messages == [{"role": "user", "content": content}]


def test_of_a_record_no_more_is_held_than_what_is_used(tmp_path: Path) -> None:
    tools = [{"name": "run", "description": "x" * 50_000}]
    path = tmp_path / "log"
    path.write_bytes(
        b"\n".join(
            dumped({"tools": [*tools, number], "messages": [*call(number, 1).messages]})
            for number in range(100)
        )
    )
    tracemalloc.start()
    count = sum(1 for _ in read_logs([path], format="openai-chat"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 100
    assert peak < path.stat().st_size / 2


@pytest.mark.parametrize("where", ["system", "id"])
def test_what_stands_beside_the_messages_counts_as_held(where: str) -> None:
    beside = "x" * 10_000
    items = [
        ChatRecord([*call(number, 1).messages], str(number), {"id": f"{number} {beside}"})
        if where == "id"
        else replace(call(number, 1), system=beside)
        for number in range(20)
    ]
    unread = iter(items)
    next(counted_once(unread, most_held=50_000))
    assert len(list(unread)) > 10


def test_what_is_held_is_bounded() -> None:
    given = 0

    def endless() -> Iterator[ChatRecord]:
        nonlocal given
        for name in range(1000):
            given += 1
            yield call(name, 1)

    most = 20_000
    ahead = [given - out for out, _ in enumerate(counted_once(endless(), most), 1)]
    each = len(str(call(0, 1).messages)) + 3 * BESIDE
    # Each is given out once as many came after it as may be held, and one more.
    assert 5 < max(ahead) <= most // (each // 2)
    assert len(ahead) == given == 1000


def test_what_goes_on_is_held_longest() -> None:
    calls = [call("long", 1)]
    for number in range(200):
        calls += [call(number, 1), call("long", 2 + number)]
    found = positions(calls, most_held=250_000)
    assert "long/201" in found
    assert sum(position.startswith("long/") for position in found) == 1


def test_refusals_keep_their_place() -> None:
    refusal = RecordError("broken")
    items: list[ChatRecord | RecordError] = [call("a", 1), refusal, call("b", 1), call("a", 2)]
    first, second, third = counted_once(iter(items))
    assert second is refusal
    assert isinstance(first, ChatRecord)
    assert isinstance(third, ChatRecord)
    assert (first.position, third.position) == ("a/2", "b/1")


def test_refusals_are_bounded_too() -> None:
    endless: Iterator[ChatRecord | RecordError] = iter([RecordError("broken")] * 1000)
    found = counted_once(endless, most_held=10_000)
    next(found)
    assert len(list(endless)) > 900


def test_a_conversation_without_messages_repeats_none() -> None:
    empty = ChatRecord([], "empty")
    assert positions([empty, call("a", 1), empty]) == ["empty", "a/1", "empty"]
