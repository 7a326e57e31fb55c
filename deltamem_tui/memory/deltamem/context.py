"""What DeltaMem hands to an agent: one procedure that can be carried out, and facts it needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory import context
from deltamem_tui.memory.deltamem.collections import DISPLAY
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.writers.failure_markers import FAILED
from deltamem_tui.memory.writers.rules.procedure import (
    Procedure,
    filled,
    names_in,
    numbered,
    with_choices,
)

if TYPE_CHECKING:
    from deltamem_tui.memory.writers.rules.dialect import Dialect, Goal

_FACT = re.compile(r"(?:- )?(?P<place>(?!- |works in |refused in )[^:;]+): (?P<items>.+)")
_TAKEN = re.compile(r"take (?P<thing>\[object\]) from (?P<place>.+)")
_SCENES = 200
_PLACES = 5
_CHOICES = 10
_WARNINGS = 3


class PlaceFact(NamedTuple):
    """What a line of the env tree says: a place, and what was seen there."""

    place: str
    items: str


def chain_entries(tree: str, chain: Sequence[Node]) -> list[str]:
    """One chain, an entry a node: the base payload, then each delta in order."""
    return context.chain_entries(DISPLAY[tree], chain)


def context_entries(
    bank: Bank, task: str, found: Mapping[str, CollectionRecall], goal: Goal | None
) -> list[str]:
    """What both trees recalled, for an agent.

    A chain in the rules' words becomes one procedure, its deltas at their places and the names
    of the present task filled in; any other stands entry by entry. Then come what failed, and
    where the things that the task names were seen; what the env tree recalled if the goal is
    not understood, or there is nothing else.
    """
    chains = found["task"].chains if "task" in found else ()
    known = [Procedure.of(chain) for chain in chains]
    names = dict(goal.slots) if goal else {}
    facts = facts_of(bank) if goal else []
    entries: list[str] = []
    scene = found["env"].query if "env" in found else ""
    dialect = _dialect(bank) if goal else None
    for chain, procedure in zip(chains, known, strict=True):
        if procedure is None:
            # Two chains may begin alike.
            entries += [each for each in chain_entries("task", chain) if each not in entries]
        elif procedure.steps and chain[-1].label == "success":
            choices = choices_of(bank.tree("task"), chain, names) if names else {}
            steps = with_choices(located(procedure, facts, names).steps, choices)
            steps = [filled(step, names) for step in steps]
            steps = dialect.from_here(steps, scene, facts) if dialect else steps
            entries.append(_skill(task, steps, chain[-1], names, choices))
    entries += _failed([line for each in known if each for line in each.warnings], names)
    if where := seen(facts, names):
        entries.append(where)
    elif "env" in found and (goal is None or not entries):
        entries += chain_entries("env", found["env"].chain)
    return entries


def _dialect(bank: Bank) -> Dialect:
    from deltamem_tui.memory.writers.rules.dialects import dialect_of

    return dialect_of(bank.manifest.domain)


def _skill(
    task: str,
    steps: Sequence[str],
    node: Node,
    names: Mapping[str, str],
    choices: Mapping[str, Sequence[str]],
) -> str:
    lines = ["### Skill", f"When: {context.fenced(task)}"]
    lines += [
        f"Only the first [{slot}] of these that is there: {context.fenced(', '.join(some))}"
        for slot, some in choices.items()
        if some[1:]
    ]
    numbers = "\n".join(numbered(steps))
    lines.append(f"How:\n{context.fenced(numbers)}")
    ending = node.payload["termination_condition"]
    if ending and not choices:
        lines.append(f"Done when: {context.fenced(filled(ending, names))}")
    return "\n".join(lines)


def choices_of(tree: Tree, chain: Sequence[Node], names: Mapping[str, str]) -> dict[str, list[str]]:
    """What successes of a chain's kind worked with where the task leaves the choice.

    Returns:
        Slot that no name of the task fills → names, the most frequent first.
    """
    rows = [tree.row(chain[0].id)]
    for row in rows:
        rows += map(int, tree.child_rows(row)) if len(rows) < _SCENES else ()
    nodes = (tree.node_at(row) for row in rows[:_SCENES])
    worked = [names_in(node) for node in nodes if node.label == "success"]
    found: dict[str, Counter[str]] = {}
    for slot, name in (pair for each in worked for pair in each.items()):
        if slot not in names:
            found.setdefault(slot, Counter())[name] += 1
    return {slot: [name for name, _ in some.most_common(_CHOICES)] for slot, some in found.items()}


def _failed(warnings: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """What was refused or cost the score: the first lines, as one entry."""
    lines = [line for line in dict.fromkeys(warnings) if line.startswith(FAILED)][:_WARNINGS]
    if not lines:
        return []
    text = "\n".join(f"- {filled(line, names)}" for line in lines)
    return [f"### What failed ({DISPLAY['task'].warning})\n{context.fenced(text)}"]


def facts_of(bank: Bank) -> list[PlaceFact]:
    """What the youngest nodes of the env tree say of places, in their order."""
    tree = bank.tree("env")
    nodes = (tree.node_at(int(row)) for row in tree.rows[-_SCENES:])
    lines = (line for node in nodes for line in node.payload["execution_procedure"].splitlines())
    found = (_FACT.fullmatch(line) for line in lines)
    return [PlaceFact(fact["place"], fact["items"]) for fact in found if fact]


def seen(facts: Sequence[PlaceFact], names: Mapping[str, str]) -> str:
    """Where the things that the task names were seen, the most frequent places first."""
    lines = [
        f"{thing}: {', '.join(f'{place} {times}' for place, times in places[:_PLACES])}"
        for thing in names.values()
        if (places := _places(facts, thing))
    ]
    return context.fenced("\n".join(["### Seen before, and how often", *lines])) if lines else ""


def _places(facts: Sequence[PlaceFact], thing: str) -> list[tuple[str, int]]:
    """The places that facts name a thing of, and how many facts do, the most frequent first."""
    word = re.compile(rf"(?:^|; |, |\[){re.escape(thing)}(?= \[|[;\],]|$)", re.IGNORECASE)
    return Counter(fact.place for fact in facts if word.search(fact.items)).most_common()


def located(
    procedure: Procedure, facts: Sequence[PlaceFact], names: Mapping[str, str]
) -> Procedure:
    """The procedure with its object taken from where such a thing was seen most often.

    The place that it is to be brought to does not count: what lies there need not be taken.
    """
    steps = procedure.steps
    taken = ((at, found) for at, step in enumerate(steps) if (found := _TAKEN.fullmatch(step)))
    at, found = next(taken, (0, None))
    if found is None or "object" not in names:
        return procedure
    places = (place for place, _ in _places(facts, names["object"]))
    place = next((place for place in places if place != names.get("receptacle")), found["place"])
    if place == found["place"]:
        return procedure
    way_there = (f"go to {found['place']}", f"open {found['place']}")
    before = [step for step in steps[:at] if step not in way_there]
    way = [f"go to {place}", f"take {found['thing']} from {place}"]
    return replace(procedure, steps=(*before, *way, *steps[at + 1 :]))
