"""How a bank grew: its trees after one of its commits, and what the commit brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltamem_tui.bank.past import Past, TreeChange
from deltamem_tui.bank.table import Rows
from deltamem_tui.bank.tree import Tree
from deltamem_tui.bank.tree_index import NO_PARENT
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_of, is_shown
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.models.family import Family
from deltamem_tui.tui.models.nodes import entry_of
from deltamem_tui.tui.models.outline import Novelty, Outline
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.models.words import local_time

MOST_REVEALED = 500
"""Of a commit that brought more nodes than this, so many are made visible."""

_MOST_LISTED = 20
_MOST_FACTS = 20
_FACT_WIDTH = 300


@dataclass(frozen=True, slots=True)
class GrownTree:
    """A tree as it was after a commit.

    Attributes:
        outline: Its lines, all expanded that holds what the commit brought.
        display: How it is shown.
        marks: Per row that the commit brought, whether the node was added or changed.
        first: The line of the first of them; None if there is none.
    """

    outline: Outline
    display: Display
    marks: Mapping[int, Novelty]
    first: int | None


@dataclass(frozen=True, slots=True)
class Growth:
    """A bank after one of its commits.

    Attributes:
        number: Which of the commits that can be looked at.
        trees: Per tree that is shown, what it was.
        sections: What the commit says, and what it did.
    """

    number: int
    trees: Mapping[str, GrownTree]
    sections: list[Section]


def growth_at(past: Past, number: int) -> Growth:
    """Looks at a bank as it was after a commit.

    Args:
        past: The commits.
        number: Which of them.

    Raises:
        BankError: The bank was rewritten since, or cannot be read.
    """
    names = _shown(past)
    changes = {name: past.change(number, name) for name in names}
    grown = {name: _grown(past, number, name, changes[name]) for name in names}
    return Growth(number, grown, list(_sections(past, number, grown, changes)))


def sizes(past: Past) -> list[int]:
    """Returns how many nodes the trees that are shown had after each commit."""
    per_tree = [past.sizes(name).tolist() for name in _shown(past)]
    return [sum(each) for each in zip(*per_tree, strict=True)]


def _shown(past: Past) -> list[str]:
    return [name for name in past.bank.trees if is_shown(past.bank, name)]


def _grown(past: Past, number: int, name: str, change: TreeChange) -> GrownTree:
    family = Family(past.tree(number, name))
    marks: dict[int, Novelty] = dict.fromkeys(change.changed.tolist(), "changed")
    marks |= dict.fromkeys(change.added.tolist(), "added")
    brought = np.concatenate((change.added, change.changed))[:MOST_REVEALED]
    outline = Outline(family, _above(family, brought))
    lines = np.flatnonzero(np.isin(outline.rows, brought))
    first = int(lines[0]) if len(lines) else None
    return GrownTree(outline, display_of(past.bank, name), marks, first)


def _above(family: Family, rows: Rows) -> list[int]:
    """All nodes above some, level by level."""
    found = np.zeros(len(family.parent), dtype=np.bool_)
    while len(rows):
        rows = np.unique(family.parent[rows])
        rows = rows[rows != NO_PARENT]
        rows = rows[~found[rows]]
        found[rows] = True
    above: list[int] = np.flatnonzero(found).tolist()
    return above


def _sections(
    past: Past,
    number: int,
    grown: Mapping[str, GrownTree],
    changes: Mapping[str, TreeChange],
) -> Iterator[Section]:
    moment, commit = past.moments[number], past.commit(number)
    detail = dict(commit.detail)
    reasons = detail.pop("trees", None)
    reasons = reasons if isinstance(reasons, dict) else {}
    task = _task(past, detail.get("trajectory"))
    lines = [task] if task is not None else []
    lines += [
        f"{tree.display.title}: {_what(changes[name])}{_why(reasons.get(name))}"
        f" · {counted(len(tree.outline.family.tree), 'node')} in all"
        for name, tree in grown.items()
    ]
    yield Section(f"{one_line(moment.event, 40)} · {local_time(moment.time)}", "\n".join(lines))
    if not number and (why := beginning(past)):
        yield Section("Nothing earlier can be shown", why, warning=True)
    for name, change in changes.items():
        if len(change.deleted):
            deleted = "\n".join(_titles(past.bank.tree(name), change.deleted, grown[name].display))
            yield Section(f"Deleted from the {grown[name].display.title}", deleted)
    if facts := "\n".join(_facts(detail)):
        yield Section("The journal says", facts, quiet=True)


def beginning(past: Past) -> str:
    """Why nothing is known from before the first commit; empty if there was nothing."""
    if past.begins_empty:
        return ""
    if not past.moments:
        return "This bank came without its journal: how it grew is not known."
    first = past.moments[0]
    if past.commit(0).replaces:
        return (
            f"`{one_line(first.event, 40)}` wrote the bank's files anew on "
            f"{local_time(first.time)}: earlier states were compacted away."
        )
    return "The journal of this bank begins here: how it came to this is not known."


def _what(change: TreeChange) -> str:
    counts = {"added": change.added, "changed": change.changed, "deleted": change.deleted}
    told = [f"{counted(len(rows), 'node')} {done}" for done, rows in counts.items() if len(rows)]
    return ", ".join(told) or "nothing new"


def _why(reason: object) -> str:
    """What was decided on a tree, and why, if the commit states that."""
    if not isinstance(reason, dict):
        return ""
    words = [reason.get("decision"), reason.get("reason")]
    told = ": ".join(one_line(each, 200) for each in words if isinstance(each, str) and each)
    return f" ({told})" if told else ""


def _task(past: Past, episode: object) -> str | None:
    """The task of the episode that a commit is about, if the bank has it."""
    record = past.bank.episodes.record(episode) if isinstance(episode, str) else None
    task = (record or {}).get("task")
    return one_line(task, 600) if isinstance(task, str) else None


def _titles(tree: Tree, rows: Rows, display: Display) -> Iterator[str]:
    for row in rows[:_MOST_LISTED].tolist():
        yield f"- {one_line(entry_of(tree, tree.node_at(row), display)[0], 200)}"
    if len(rows) > _MOST_LISTED:
        yield f"… and {len(rows) - _MOST_LISTED:,} more"


def _facts(detail: Mapping[str, Any]) -> Iterator[str]:
    """What else a commit states, a line each."""
    for name, value in list(detail.items())[:_MOST_FACTS]:
        if isinstance(value, list) and len(value) > 1:
            told = f"{len(value):,}: {', '.join(map(str, value[:5]))}"
        else:
            told = str(value)
        yield one_line(f"{name} {told}", _FACT_WIDTH)
