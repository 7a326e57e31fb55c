"""Sessions in which each message names the one before it, and the user may have gone back.

What was done on a branch that was left is undone, or at least nothing that follows knows of
it: one behind the other, two branches make an episode that never was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from deltamem_tui.trajectory.logs.notice import Notice
from deltamem_tui.trajectory.readers.coding import own_words
from deltamem_tui.trajectory.readers.conversation import are_left_out
from deltamem_tui.trajectory.readers.messages import answered_calls, calls_made, content_text
from deltamem_tui.trajectory.readers.shapes import Json, as_text


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """A message of a session, where it stands, and the name by which others follow it, if any."""

    name: str
    position: str
    message: Json


class Branches:
    """What follows what in a session, its messages and the program's notes between them."""

    def __init__(self) -> None:
        self._before: dict[str, str] = {}
        self._roots: dict[str, str] = {}
        self._begins: set[str] = set()

    def add(self, name: str, before: str | None) -> None:
        """A message or a note, and the one that it follows (see `before_in`).

        One that follows none, or none that stands before it in the log, is a root. There may
        be several: after a summary of earlier messages, a session begins a second one.
        """
        if not name or name in self._roots:
            return
        if before is None:
            self._begins.add(name)
        self._roots[name] = self._roots.get(before or "", name)
        if before in self._roots and before != name:
            self._before[name] = before

    def parted(
        self, messages: Sequence[SessionMessage], *, one_task: bool = True
    ) -> tuple[list[SessionMessage], list[SessionMessage]]:
        """A conversation's messages: those that lead to the last one of their root, and others.

        Calls made at once, and what came back for them, may each follow the same message and
        yet all belong to the way.
        """
        anew = self._tried_anew(messages) if one_task else frozenset[str]()
        rooted = (
            (self._roots[each.name], each.name) for each in messages if each.name in self._roots
        )
        last = {root: name for root, name in rooted if root not in anew}
        way = {name for tip in last.values() for name in self._way_to(tip)}
        aside = [each for each in messages if each.name in self._roots and each.name not in way]
        if not aside:
            return list(messages), []
        left = {each.name for each in aside}
        taken = [each.message for each in messages if each.name not in left]
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
            [each for each in messages if each.name not in left],
            [each for each in messages if each.name in left],
        )

    def _tried_anew(self, messages: Sequence[SessionMessage]) -> frozenset[str]:
        """The first prompts that the conversation did not go on from."""
        # A log in which anything else is a root does not tell what follows what, or goes on after
        # a summary: nothing is known of it. Nor is it where prompts in different words each led
        # to work, which is one task after another.
        roots = {each.name: each for each in messages if self._roots.get(each.name) == each.name}
        if not all(name in self._begins and _is_prompt(each) for name, each in roots.items()):
            return frozenset()
        work = [i for i, each in enumerate(messages) if each.message.get("role") == "assistant"]
        worked = [root for i in work if (root := self._roots.get(messages[i].name, "")) in roots]
        if not worked or len({_prompt(roots[root]) for root in worked}) > 1:
            return frozenset()
        # What leads to the agent's last words is what went on; before, a prompt was left.
        kept, early = worked[-1], {each.name for each in messages[: work[-1]]}
        again = {name for name in roots if _prompt(roots[name]) == _prompt(roots[kept])}
        return frozenset((again | (roots.keys() & early)) - {kept})

    def _way_to(self, name: str) -> Iterator[str]:
        while name:
            yield name
            name = self._before.get(name, "")


def before_in(line: Json, key: str) -> str | None:
    """What a line says it follows: None if nothing, and empty if it does not say."""
    return None if line.get(key, "") is None else as_text(line.get(key))


def branch_notices(left: Sequence[SessionMessage]) -> Iterator[Notice]:
    """A notice of a branch's messages that are left out, if there are any."""
    if left:
        yield Notice(
            f"{are_left_out('message', len(left))}: the conversation went back and on from before",
            position=left[0].position,
            hint="the branch that leads to the last message is the episode",
        )


def _prompt(messages: SessionMessage) -> str:
    """The user's own words, however they are spaced."""
    return " ".join(own_words(content_text(messages.message.get("content"))).split())


def _is_prompt(messages: SessionMessage) -> bool:
    """Whether it is the user who speaks, in their own words."""
    message = messages.message
    if message.get("role") != "user" or any(True for _ in answered_calls(message)):
        return False
    return bool(_prompt(messages))


def _turn(message: Json) -> str:
    """What the model's service calls the answer that a message is a part of."""
    return as_text(message.get("id")) if message.get("role") == "assistant" else ""


def _all(ids: Callable[[Json], Iterable[str]], messages: Iterable[Json]) -> Iterator[str]:
    return (call_id for message in messages for call_id in ids(message) if call_id)
