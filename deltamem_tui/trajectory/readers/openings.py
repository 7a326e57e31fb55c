"""What every conversation of a data set begins with: a briefing, or a template around the task.

Only what the first records of a log have in common, word for word, is taken for either. Where a
log holds one conversation, or its conversations begin in ways of their own, nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from deltamem_tui.trajectory.readers.tasks import TEMPLATE_LENGTH

LOOKED_AT = 24
"""How many records of a log are compared."""


class FirstWords(NamedTuple):
    """How a conversation begins: the user, the agent if it only answers in words, the user."""

    asked: str
    reply: str
    then: str


@dataclass(frozen=True, slots=True)
class Opening:
    """What the conversations of a log have in common.

    Attributes:
        briefing: What the user says first and the agent acknowledges; empty if there is none.
        before: What stands in front of the task in the message that gives it.
        after: What stands behind it there.
    """

    briefing: str = ""
    before: str = ""
    after: str = ""

    @property
    def template(self) -> str:
        """All that stands around the task."""
        return f"{self.before}{self.after}".strip()

    def unwrapped(self, text: str) -> str:
        """The task out of the template; empty if the message is not made from it."""
        end = len(text) - len(self.after)
        if not (self.before or self.after) or len(self.before) >= end:
            return ""
        is_made_from_it = text.startswith(self.before) and text.endswith(self.after)
        return text[len(self.before) : end].strip() if is_made_from_it else ""


NO_OPENING = Opening()
"""That of conversations that have nothing in common."""


def common_opening(conversations: Iterable[FirstWords]) -> Opening:
    """What these conversations, the first of a log, have in common."""
    known = [each for each in conversations if each.asked]
    asked, replies = {each.asked for each in known}, {each.reply for each in known}
    tasks = {each.then for each in known}
    # An agent that asks back, or that is told the same again, was given a task and no briefing.
    briefed = (
        len(known) > 1
        and len(asked) == len(replies) == 1
        and len(tasks) == len(known)
        and all(tasks)
        and all(replies)
        and not any("?" in reply for reply in replies)
    )
    before, after = _template(list(tasks if briefed else asked))
    return Opening(asked.pop() if briefed else "", before, after)


def _template(texts: Sequence[str]) -> tuple[str, str]:
    """Whole lines around what differs in these texts, if they are long and texts many enough."""
    if len(texts) < 3:
        return "", ""
    shared = _shared_start(texts)
    if shared in texts:  # a conversation about the template itself, or the beginning of all tasks
        return "", ""
    before = shared[: shared.rfind("\n") + 1]
    rests = [text[len(before) :] for text in texts]
    after = _shared_start([rest[::-1] for rest in rests])[::-1]
    after = after[after.find("\n") :] if "\n" in after else ""
    is_whole = all(rest[: len(rest) - len(after)].strip() for rest in rests)
    return (before, after) if is_whole and len(before + after) >= TEMPLATE_LENGTH else ("", "")


def _shared_start(texts: Sequence[str]) -> str:
    """What all of some texts begin with, which is what the first and last in order share."""
    first, last = min(texts), max(texts)
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return first[: sum(1 for _ in shared)]
