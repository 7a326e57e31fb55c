"""DeltaMem's context for an agent: one procedure to carry out, and the facts it needs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import inf
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory import context
from deltamem_tui.memory.deltamem.definition import DISPLAY
from deltamem_tui.memory.places import Chance, PlaceFact, TaskAtHand, read
from deltamem_tui.memory.procedure import (
    MEASURED,
    Procedure,
    filled,
    names_in,
    names_open,
    numbered,
    opened,
    option_in,
)
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import ranked
from deltamem_tui.memory.wording import ARROW, key
from deltamem_tui.memory.writers.failure_markers import FAILED
from deltamem_tui.text import count_tokens, one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.memory.domain import Domain

_SCENES = 500
_PLACES = 12
_CHOICES = 10
_OF_KIND = 200
_WARNINGS = 3
_TASK_WIDTH = 1000
_SMALL = frozenset(("to", "in", "on", "into", "from", "with", "inventory", "#"))


def chain_entries(tree: str, chain: Sequence[Node]) -> list[str]:
    """Return one chain, an entry a node: the base payload, then each delta in order."""
    return context.chain_entries(DISPLAY[tree], chain)


def context_entries(
    bank: Bank,
    found: Mapping[str, CollectionRecall],
    dialect: Domain,
    task: TaskAtHand | None,
    budget: int | None = None,
) -> list[str]:
    """Return what both trees recalled, for an agent.

    A chain in the rules' words becomes one procedure, its deltas at their places, the names of
    the present task filled in, and its things taken from where they are likeliest to be; where
    the task names nothing, it has the names that it worked with. If it was not recalled by the
    task's kind, it says what it was learnt for. Any other chain stands entry by entry. Then come
    what failed, and where the things that the task names were seen; what the env tree recalled if
    the goal is not understood, or there is nothing else.

    Args:
        bank: The bank.
        found: What the trees recalled.
        dialect: In which words the rules read the task.
        task: What is known of the task; None if the rules do not understand it.
        budget: How many tokens all may have: what is seen goes first, then what failed, the
            last lines before the first. None is any number.
    """
    chains = found["task"].chains if "task" in found else ()
    known = [Procedure.of(chain) for chain in chains]
    names = task.names if task else {}
    entries: list[str] = []
    for chain, procedure in zip(chains, known, strict=True):
        if procedure is None:
            # Two chains may begin alike.
            entries += [each for each in chain_entries("task", chain) if each not in entries]
        elif procedure.steps and chain[-1].label == "success":
            of_kind = found["task"].rule == "kind"
            when = one_line(found["task"].query, _TASK_WIDTH) if of_kind else chain[-1].title
            entries.append(_skill(bank.tree("task"), chain, procedure, dialect, task, when))
    failed = _failed(known, names)
    if chains and not (entries or failed):
        failed = ["\n\n".join(chain_entries("task", chains[0]))]
    places = dialect.likely_places(task, [each for each in known if each]) if task else {}
    where = [text] if (text := seen(places, names)) else []
    if not where and "env" in found and (task is None or not (entries or failed)):
        where = chain_entries("env", found["env"].chain)
    return _within(budget, entries, [*failed, *where])


def _within(budget: int | None, entries: Sequence[str], aside: Sequence[str]) -> list[str]:
    """Return the entries, and as many lines of what stands aside as a budget in tokens leaves room
    for.
    """
    left = inf if budget is None else budget - sum(map(count_tokens, entries))
    kept = list(entries)
    for entry in aside:
        lines = entry.splitlines()
        tokens = list(accumulate(map(count_tokens, lines)))
        fitting = bisect_right(tokens, left)
        if fitting > 1:  # a heading alone says nothing
            kept.append("\n".join(lines[:fitting]))
            left -= tokens[fitting - 1]
    return kept


def _skill(
    tree: Tree,
    chain: Sequence[Node],
    procedure: Procedure,
    dialect: Domain,
    task: TaskAtHand | None,
    when: str,
) -> str:
    """Return a chain's procedure as it goes for a task."""
    names = task.names if task else {}
    lines = ["### Skill", f"When: {context.fenced(when)}"]
    made = [slot for slot in task.made if _differs(procedure, names, slot)] if task else []
    if task and made:
        return "\n".join([*lines, *_to_another_product(procedure, dialect, _without(task, made))])
    choices = choices_of(tree, chain, names) if names else {}
    # A name left open may stand for two places; those of the episode say which is which.
    own = {} if choices else {**procedure.names, **names}
    past = [name for slot, name in own.items() if slot not in names]
    sole = {slot: some[0] for slot, some in choices.items() if not some[1:]}
    written = replace(procedure, steps=tuple(filled(step, sole) for step in procedure.steps))
    steps = dialect.at_hand(written, task) if task else written.steps
    lines += [f"Worked with: {context.fenced(', '.join(past))}"] if past else []
    lines += [
        f"Only the first [{slot}] of these that is there: {context.fenced(', '.join(some))}"
        for slot, some in choices.items()
        if some[1:]
    ]
    steps = [filled(step, own) for step in steps]
    lines.append(_how(steps))
    if lacking := dialect.lacking(steps, task) if task else []:
        lines.append(f"Not seen here: {context.fenced(', '.join(lacking))}.")
    if ending := "" if choices else _ending(chain[-1], procedure, own, task):
        lines.append(context.fenced(ending))
    return "\n".join(lines)


def _to_another_product(procedure: Procedure, dialect: Domain, task: TaskAtHand) -> list[str]:
    """Return a way that made something else: it says so before all, and its ingredients stand open.

    Args:
        procedure: The way.
        dialect: In which words the rules read it.
        task: The task, without what is to be made.
    """
    used = dialect.ingredients(procedure.steps)
    steps = tuple(opened(step, used) for step in procedure.steps)
    past = {slot: name for slot, name in procedure.names.items() if slot not in task.names}
    told = ", ".join(f"[{slot}] was {name}" for slot, name in (past | used).items())
    how = _how(dialect.at_hand(replace(procedure, steps=steps), task))
    return [f"This way made something else: {context.fenced(told)}.", how]


def _how(steps: Sequence[str]) -> str:
    text = "\n".join(numbered(steps))
    return f"How:\n{context.fenced(text)}"


def _differs(procedure: Procedure, names: Mapping[str, str], slot: str) -> bool:
    return procedure.names.get(slot, names[slot]) != names[slot]


def _without(task: TaskAtHand, made: Sequence[str]) -> TaskAtHand:
    """Return a task that does not name what is to be made."""
    names = {slot: name for slot, name in task.names.items() if slot not in made}
    return replace(task, names=names)


def _ending(
    node: Node, procedure: Procedure, names: Mapping[str, str], task: TaskAtHand | None
) -> str:
    """Return how one sees that a procedure is done, or what of it was right only in its episode."""
    past = node.payload["termination_condition"]
    if task and option_in(procedure.steps[-1], task.options):
        told = ["The last step is what was right then.", past * past.startswith(MEASURED)]
        options = " or ".join(names[slot] for slot in task.options)
        return " ".join(filter(None, [*told, f"Now what you find decides: {options}."]))
    if not past or is_of_the_past(node, procedure, names):
        return ""
    return f"Done when: {filled(past, names)}"


def is_of_the_past(node: Node, procedure: Procedure, names: Mapping[str, str]) -> bool:
    """Return whether a node's ending quotes a value of its episode: a number, or a name not asked
    for.
    """
    words = set(re.findall(r"\w+", node.payload["termination_condition"].lower()))
    old = {name.lower() for name in procedure.names.values()} - set(names.values())
    return any(word[0].isdigit() for word in words) or bool(old & words)


def choices_of(tree: Tree, chain: Sequence[Node], names: Mapping[str, str]) -> dict[str, list[str]]:
    """Return what successes of a chain's kind worked with where the task leaves the choice.

    Returns:
        Slot that no name of the task fills → names, the most frequent first.
    """
    rows = [tree.row(chain[0].id)]
    for row in rows:
        rows += map(int, tree.child_rows(row)) if len(rows) < _OF_KIND else ()
    nodes = (tree.node_at(row) for row in rows[:_OF_KIND])
    worked = [names_in(node) for node in nodes if node.label == "success"]
    found: dict[str, Counter[str]] = {}
    for slot, name in (pair for each in worked for pair in each.items()):
        if slot not in names:
            found.setdefault(slot, Counter())[name] += 1
    return {slot: [name for name, _ in some.most_common(_CHOICES)] for slot, some in found.items()}


def _failed(known: Sequence[Procedure | None], names: Mapping[str, str]) -> list[str]:
    """Return what was refused or cost the score: the first lines, as one entry.

    Of what a procedure does itself an agent is not warned, nor of what has nothing to do with it.
    """
    texts = [each for each in known if each]
    commands = {key(filled(step, names)) for each in texts for step in each.steps}
    things = {word for command in commands for word in command.split()[1:]} - _SMALL
    shown = []
    for line in dict.fromkeys(filled(each, names) for text in texts for each in text.warnings):
        action = key(line.removeprefix(FAILED).partition(ARROW)[0])
        near = not commands or things.intersection(action.split()[1:])
        told = line.startswith(FAILED) and not names_open(line)
        if told and near and action not in commands:
            shown.append(f"- {line}")
    if not shown:
        return []
    text = "\n".join(shown[:_WARNINGS])
    return [f"### What failed ({DISPLAY['task'].warning})\n{context.fenced(text)}"]


def facts_of(bank: Bank, scene: NDArray[np.float32] | None) -> list[PlaceFact]:
    """Return what the rules wrote of places in the env tree: all nodes, or as many as are read at
    once.

    Args:
        bank: The bank.
        scene: The question to the env tree, embedded: the most similar nodes are read. None if
            there is no question: then it is the youngest.
    """
    tree = bank.tree("env")
    if scene is None or len(tree.rows) <= _SCENES:
        nodes = [tree.node_at(int(row)) for row in tree.rows[-_SCENES:]]
    else:
        nodes = [each.node for _, each in ranked(tree, scene, weighting_of(bank), 0.0, _SCENES)]
    own = {node.id for node in nodes}
    # A fused chain says again what its nodes say, and a model's `Tip: egg` is of no place.
    single = (
        node
        for node in nodes
        if node.origin.extractor == "rules" and not own.intersection(node.origin.nodes)
    )
    return read(
        line for node in single for line in node.payload["execution_procedure"].splitlines()
    )


def seen(places: Mapping[str, Sequence[Chance]], names: Mapping[str, str]) -> str:
    """Return where to look for the things that the task names, as far as they were seen
    anywhere.
    """
    lines = [
        f"{names[slot]}: {', '.join(map(_place, some[:_PLACES]))}"
        for slot, some in places.items()
        if any(each.found for each in some)
    ]
    title = "### Where to look, the likeliest place first (and how often it was seen there)"
    return context.fenced("\n".join([title, *lines])) if lines else ""


def _place(chance: Chance) -> str:
    often = f"{chance.found} of {chance.looked}" if chance.looked else f"{chance.found}"
    return f"{chance.place} ({often})" if chance.found else chance.place
