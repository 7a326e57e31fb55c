"""Which dialect a domain speaks."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.memory.writers.rules.alfworld import AlfworldDialect
from deltamem_tui.memory.writers.rules.dialect import Dialect, Goal
from deltamem_tui.memory.writers.rules.scienceworld import ScienceWorldDialect
from deltamem_tui.memory.writers.rules.webshop import WebShopDialect
from deltamem_tui.text import clean
from deltamem_tui.trajectory.domains import key
from deltamem_tui.trajectory.model import Trajectory

_GENERAL = Dialect()
_DIALECTS: Mapping[str, Dialect] = {
    "alfworld": AlfworldDialect(),
    "scienceworld": ScienceWorldDialect(),
    "webshop": WebShopDialect(),
}


def dialect_of(domain: str) -> Dialect:
    """The dialect of a domain; the general one if it has none of its own."""
    return _DIALECTS.get(key(domain), _GENERAL)


def dialect_of_task(domain: str, task: str) -> Dialect:
    """The dialect to read a task in: its domain's, unless only another one has such words.

    A bank for no domain in particular may have learnt the episodes of several.
    """
    own = dialect_of(domain)
    if own.speaks(task):
        return own
    return next((each for each in _DIALECTS.values() if each.speaks(task)), own)


def goal_of(domain: str, task: str) -> Goal:
    """A task as the rules understand it, before anything was done: its domain's, or its own."""
    return goal_in(dialect_of_task(domain, task), task)


def goal_in(dialect: Dialect, task: str) -> Goal:
    """A task as a dialect understands it, before anything was done."""
    return dialect.goal(Trajectory(clean(task), "", ()))
