"""What the user visited, back and forward."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

_MOST = 500


@dataclass(frozen=True, slots=True)
class Visit:
    """Where the user was.

    Attributes:
        bank: The bank; None for the list of banks.
        screen: The screen of the bank.
        place: What was looked at there, as the screen names it: a node, an episode, a question.
        by_link: Whether a link led on from here: from a node to its episode, or the like.
    """

    bank: Path | None
    screen: str = ""
    place: tuple[str, ...] = ()
    by_link: bool = False

    def same_place(self, other: Visit) -> bool:
        """Whether the other visit is to the same place."""
        return replace(self, by_link=False) == replace(other, by_link=False)


class Visits:
    """The places before the one in front, and those that the user came back from."""

    def __init__(self) -> None:
        self._before: list[Visit] = []
        self._after: list[Visit] = []

    @property
    def came_by_link(self) -> bool:
        """Whether a link led to what is in front."""
        return bool(self._before) and self._before[-1].by_link

    def leave(self, here: Visit, *, by_link: bool = False) -> None:
        """Notes where the user goes on from; what was ahead is forgotten."""
        self._after.clear()
        self._before = [*self._before[1 - _MOST :], replace(here, by_link=by_link)]

    def back(self, here: Visit) -> Visit | None:
        """Returns where the user was before; None if there was nothing."""
        return _turn(self._before, self._after, here)

    def forward(self, here: Visit) -> Visit | None:
        """Returns where the user came back from; None if there is nothing."""
        return _turn(self._after, self._before, here)


def _turn(taken: list[Visit], kept: list[Visit], here: Visit) -> Visit | None:
    """Takes the last place that is another than this one, and keeps this one for the way back.

    Whether a link led from one to the other is known of the way, so it is kept with either end.
    """
    while taken:
        visit = taken.pop()
        if not visit.same_place(here):
            kept.append(replace(here, by_link=visit.by_link))
            return visit
    return None
