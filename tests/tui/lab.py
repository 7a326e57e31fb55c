"""What the recall lab shows."""

from __future__ import annotations

from textual.widgets import Static

from deltamem_tui.tui.screens.recall import MatchList
from tests.tui.support import Person

TASK = "heat some object and put it in a place"


def matches(person: Person, tree: str = "task") -> MatchList:
    return person.app.screen.query_one(f"#{tree}-matches", MatchList)


def why(person: Person, tree: str = "task") -> str:
    return str(person.app.screen.query_one(f"#{tree}-why", Static).render())


def context(person: Person) -> str:
    """What an agent would be told, whole; else why there is nothing."""
    return "\n".join(each.body for each in person.app.screen.readable())  # type: ignore[attr-defined]
