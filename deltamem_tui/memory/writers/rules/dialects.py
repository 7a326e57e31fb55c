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


def goal_of(domain: str, task: str) -> Goal:
    """A task as its domain's rules understand it, before anything was done."""
    return dialect_of(domain).goal(Trajectory(clean(task), "", ()))
