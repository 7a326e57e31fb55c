"""What the recall lab shows."""

from __future__ import annotations

from textual.widgets import Static

from deltamem_tui.tui.widgets.lab import MatchList
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.tui.support import Person

TASK = "heat some object and put it in a place"


def matches(person: Person, tree: str = "task") -> MatchList:
    return person.app.screen.query_one(f"#{tree}-matches", MatchList)


def placement(person: Person, tree: str = "task") -> str:
    return str(person.app.screen.query_one(f"#{tree}-placement", Static).render())


def context(person: Person) -> str:
    return "\n".join(
        each.body for each in person.app.screen.query_one("#context", TextPane).sections
    )
