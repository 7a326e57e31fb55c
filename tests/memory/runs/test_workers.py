"""Workers do what is urgent first, few things at once, and can be left behind."""

from __future__ import annotations

import threading
from concurrent.futures import wait
from functools import partial

import pytest

from deltamem_tui.memory.runs.workers import Workers

SECONDS = 20.0


def test_what_is_done_comes_back_and_so_does_what_went_wrong() -> None:
    workers = Workers(2)
    assert workers.submit(0, lambda: 42).result(SECONDS) == 42
    with pytest.raises(ZeroDivisionError):
        workers.submit(0, lambda: 1 / 0).result(SECONDS)
    with pytest.raises(KeyboardInterrupt):
        workers.submit(0, _interrupted).result(SECONDS)
    assert workers.submit(0, lambda: "still there").result(SECONDS) == "still there"
    workers.close()


def _interrupted() -> None:
    raise KeyboardInterrupt


def test_the_most_urgent_is_done_first_and_what_is_taken_back_never() -> None:
    workers, gate = Workers(1), threading.Event()
    begun = threading.Event()
    done: list[int] = []

    def busy() -> None:
        begun.set()
        gate.wait(SECONDS)

    first = workers.submit(0, busy)
    assert begun.wait(SECONDS)
    assert not first.cancel()
    futures = {turn: workers.submit(turn, partial(done.append, turn)) for turn in (5, 2, 4)}
    assert futures[4].cancel()
    gate.set()
    wait([futures[5], futures[2]], SECONDS)
    assert done == [2, 5]
    workers.close()


def test_closing_waits_for_nobody_and_begins_nothing_more() -> None:
    workers, gate, begun = Workers(1), threading.Event(), threading.Event()

    def hang() -> str:
        begun.set()
        gate.wait(SECONDS)
        return "late"

    hanging = workers.submit(0, hang)
    assert begun.wait(SECONDS)
    waiting = workers.submit(0, lambda: None)
    workers.close()
    assert not hanging.done()
    gate.set()
    assert hanging.result(SECONDS) == "late"
    for thread in list(workers._threads):
        thread.join(SECONDS)
        assert not thread.is_alive()
    assert not waiting.done()
