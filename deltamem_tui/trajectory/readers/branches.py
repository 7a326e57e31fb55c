"""Sessions in which each message names the one before it, and somebody may have gone back.

What was done on a branch that was left is undone, or at least nothing that follows knows of
it: told one behind the other, two branches make an episode that never was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.readers.messages import answered_calls, calls_made
from deltamem_tui.trajectory.readers.shapes import Json, as_text


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a session.

    Attributes:
        name: What others call it that follow it; empty if they cannot.
        position: Where it stands.
        message: What was said.
    """

    name: str
    position: str
    message: Json


class Branches:
    """What follows what in a session, its messages and the program's notes between them."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._before: dict[str, str] = {}
        self._roots: dict[str, str] = {}

    def add(self, name: str, before: str) -> None:
        """A message or a note, and the one that it follows.

        One that follows none, or none that stands before it in the log, is a root. There may
        be several: after a summary in place of what was said, a session begins a second one.
        """
        if not name or name in self._roots:
            return
        self._roots[name] = self._roots.get(before, name)
        if before in self._roots and before != name:
            self._before[name] = before

    def parted(self, said: Sequence[Said]) -> tuple[list[Said], list[Said]]:
        """A conversation's messages: those that lead to the last one of their root, and others.

        Calls made at once, and what came back for them, may each follow the same message and
        yet all belong to the way.
        """
        last = {self._roots[each.name]: each.name for each in said if each.name in self._roots}
        way = {name for tip in last.values() for name in self._way_to(tip)}
        aside = [each for each in said if each.name in self._roots and each.name not in way]
        if not aside:
            return list(said), []
        left = {each.name for each in aside}
        taken = [each.message for each in said if each.name not in left]
        turns = set(filter(None, map(_turn, taken)))
        same = [each.message for each in aside if _turn(each.message) in turns]
        unanswered = {*_all(calls_made, taken), *_all(calls_made, same)}
        unanswered -= {*_all(answered_calls, taken)}
        left -= {
            each.name
            for each in aside
            if _turn(each.message) in turns
            or not unanswered.isdisjoint(answered_calls(each.message))
        }
        return (
            [each for each in said if each.name not in left],
            [each for each in said if each.name in left],
        )

    def _way_to(self, name: str) -> Iterator[str]:
        while name:
            yield name
            name = self._before.get(name, "")


def told_left(left: Sequence[Said]) -> Iterator[RecordError]:
    """The word about a branch's messages that are left out, if there are any."""
    if left:
        what = "1 message is" if len(left) == 1 else f"{len(left):,} messages are"
        yield RecordError(
            f"{what} left out: the conversation went back and on from before",
            position=left[0].position,
            hint="the branch that leads to the last message is the episode",
        )


def _turn(message: Json) -> str:
    """What the model's service calls the answer that a message is a part of."""
    return as_text(message.get("id")) if message.get("role") == "assistant" else ""


def _all(ids: Callable[[Json], Iterable[str]], messages: Iterable[Json]) -> Iterator[str]:
    return (call_id for message in messages for call_id in ids(message) if call_id)
