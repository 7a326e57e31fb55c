from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.readers.prefixes import Conversed, counted_once


def call(name: object, length: int, **record: object) -> Conversed:
    """A model's call, `length` turns into a conversation."""
    begin = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"task {name}"},
    ]
    turns = [
        {"role": "assistant", "content": f"step {number} of {name}"} for number in range(length)
    ]
    return Conversed([*begin, *turns], f"{name}/{length}", record)


def positions(items: Sequence[Conversed | RecordError], most_held: int = 10**9) -> list[str]:
    found = counted_once(iter(items), most_held)
    return [item.position for item in found if isinstance(item, Conversed)]


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
    other = Conversed([*begin.messages, {"role": "user", "content": "No."}], "other")
    assert sorted(positions([begin, call("a", 3), other])) == ["a/3", "other"]


@pytest.mark.parametrize("key", ["id", "trial", "task_id"])
def test_names_of_their_own_keep_them_apart(key: str) -> None:
    assert len(positions([call("a", 1, **{key: 1}), call("a", 2, **{key: 2})])) == 2
    assert positions([call("a", 1, **{key: 1}), call("a", 2, **{key: 1})]) == ["a/2"]


def test_an_outcome_of_its_own_keeps_a_shorter_one() -> None:
    assert positions([call("a", 1, reward=0), call("a", 2)]) == ["a/1", "a/2"]
    assert positions([call("a", 2), call("a", 1, reward=0)]) == ["a/2", "a/1"]


def test_what_is_held_is_bounded() -> None:
    given = 0

    def endless() -> Iterator[Conversed]:
        nonlocal given
        for name in range(1000):
            given += 1
            yield call(name, 1)

    most = 3000
    ahead = [given - out for out, _ in enumerate(counted_once(endless(), most), 1)]
    each = len(str(call(0, 1).messages))
    # Each is given out once as many came after it as may be held, and one more.
    assert 5 < max(ahead) <= most // (each // 2)
    assert len(ahead) == given == 1000


def test_what_goes_on_is_held_longest() -> None:
    calls = [call("long", 1)]
    for number in range(200):
        calls += [call(number, 1), call("long", 2 + number)]
    found = positions(calls, most_held=100_000)
    assert "long/201" in found
    assert sum(position.startswith("long/") for position in found) == 1


def test_refusals_keep_their_place() -> None:
    refusal = RecordError("broken")
    items: list[Conversed | RecordError] = [call("a", 1), refusal, call("b", 1), call("a", 2)]
    first, second, third = counted_once(iter(items))
    assert second is refusal
    assert isinstance(first, Conversed)
    assert isinstance(third, Conversed)
    assert (first.position, third.position) == ("a/2", "b/1")


def test_refusals_are_bounded_too() -> None:
    endless: Iterator[Conversed | RecordError] = iter([RecordError("broken")] * 1000)
    found = counted_once(endless, most_held=10_000)
    next(found)
    assert len(list(endless)) > 900


def test_a_conversation_without_messages_repeats_none() -> None:
    empty = Conversed([], "empty")
    assert positions([empty, call("a", 1), empty]) == ["empty", "a/1", "empty"]
