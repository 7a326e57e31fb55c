"""In order: one thing done for many items, several at once, with the results in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import wait
from functools import partial
from itertools import islice
from typing import TypeVar

from deltamem_tui.memory.runs.ahead import GRACE
from deltamem_tui.memory.runs.workers import Workers, is_done

K = TypeVar("K")
T = TypeVar("T")
R = TypeVar("R")


def in_order(
    function: Callable[[T], R],
    items: Iterable[tuple[K, T]],
    at_once: int,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = GRACE,
    ending: Callable[[], object] = lambda: None,
) -> Iterator[tuple[K, R]]:
    """What `function` gives for each item, in the items' order, with several under way at once.

    When somebody wants to stop, no item is begun any more. What is under way is waited for a
    little, and what is done by then comes out too.

    Args:
        function: Called in threads.
        items: What it is called with, each under a key that comes back with the result; taken
            as they are needed, in the caller's thread.
        at_once: How many are under way at once.
        stopped: Whether somebody wants to stop.
        grace: The most seconds to wait then. The threads are left behind after that.
        ending: Called before that wait, so that what is under way can be brief.
    """
    workers = Workers(at_once)
    coming = ((key, workers.submit(0, partial(function, item))) for key, item in items)
    under_way = deque(islice(coming, at_once))
    try:
        while under_way and is_done(under_way[0][1], stopped):
            key, future = under_way.popleft()
            yield key, future.result()
            if not stopped():
                under_way.extend(islice(coming, 1))
        ending()
        wait([future for _, future in under_way], timeout=grace)
        yield from ((key, future.result()) for key, future in under_way if future.done())
    finally:
        workers.close()
