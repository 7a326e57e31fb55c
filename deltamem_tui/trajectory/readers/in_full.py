"""Conversations read in full: the episode of each, and the word about what it leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Concatenate, ParamSpec

from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.notice import located
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import Reading, each_record, placed_or_refused

_P = ParamSpec("_P")


def in_full(
    position: str,
    parse: Callable[Concatenate[Conversation, _P], Trajectory],
    *args: _P.args,
    **named: _P.kwargs,
) -> Iterator[Reading]:
    """What `parse` makes of a new conversation and its arguments, and what it leaves out."""
    conversation = Conversation()
    reading = placed_or_refused(position, parse, conversation, *args, **named)
    yield reading
    if isinstance(reading, Trajectory):
        yield from (located(told, "", position) for told in conversation.unheard())


def each_conversation(
    parse: Callable[[Conversation, object], Trajectory],
) -> Callable[[Log], Iterator[Reading]]:
    """A reader's `read`, for formats in which every JSON record is one conversation.

    Args:
        parse: Tells a new conversation what a parsed record holds, and gives its episode.
    """

    def readings(value: object) -> Iterator[Reading]:
        return in_full("", parse, value)

    return each_record(readings)
