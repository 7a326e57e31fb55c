"""DeltaMem's context in a domain that a plug-in knows: one procedure, and the facts it needs.

A chain in the rules' words becomes one procedure, its deltas at their places, the names of the
present task filled in, and its things taken from where they are likeliest to be; where the task
names nothing, it has the names that it worked with. If it was not recalled by the task's kind, it
says what it was learnt for. Any other chain stands entry by entry. Then come what failed, and
where the things that the task names were seen; what the env tree recalled if the goal is not
understood, or there is nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.memory.context import chain_entries, fenced
from deltamem_tui.memory.deltamem.definition import DISPLAY, Parameters
from deltamem_tui.memory.domain import Domain, domain_for, goal_in
from deltamem_tui.memory.places import Chance, PlaceFact, TaskAtHand, read
from deltamem_tui.memory.procedure import (
    Procedure,
    filled,
    names_in,
    names_open,
    numbered,
    opened,
    option_in,
)
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.wording import ARROW, key
from deltamem_tui.memory.writers.failure_markers import FAILED
from deltamem_tui.text import count_tokens, one_line

_SCENES = 500
_PLACES = 12
_CHOICES = 10
_OF_KIND = 200
_WARNINGS = 3
_TASK_WIDTH = 1000
_SMALL = frozenset(("to", "in", "on", "into", "from", "with", "inventory", "#"))
_WHERE = "### Where to look, the likeliest place first (and how often it was seen there)"


def context_entries(
    bank: Bank,
    found: Mapping[str, CollectionRecall | None],
    texts: Mapping[str, str],
    settings: Parameters,
) -> list[str]:
    """Return what both trees recalled, for an agent.

    Args:
        bank: The bank.
        found: What the trees recalled.
        texts: What they were asked; empty where they were not.
        settings: Of them `budget`: what is seen goes first, then what failed, the last lines
            before the first; procedures stay whole.
    """
    domain, (answer, env) = domain_for(bank.manifest.domain), (found["task"], found["env"])
    goal, task = goal_in(domain, texts["task"]), None
    if goal.understood:
        facts = _place_facts(bank) if settings.env.enabled else []
        task = TaskAtHand(dict(goal.slots), texts["env"], facts, goal.options, goal.made)
    names = task.names if task else {}
    chains = answer.chains if answer else ()
    known = [Procedure.of(chain) for chain in chains]
    entries: list[str] = []
    for chain, procedure in zip(chains, known, strict=True):
        if procedure is None:
            # Two chains may begin alike.
            own = chain_entries(DISPLAY["task"], chain)
            entries += [each for each in own if each not in entries]
        elif answer and procedure.steps and chain[-1].label == "success":
            of_kind = answer.rule == "kind"
            when = one_line(answer.query, _TASK_WIDTH) if of_kind else chain[-1].title
            skill = _skill(bank.tree("task"), chain, procedure, domain, task)
            entries.append("\n".join(["### Skill", f"When: {fenced(when)}", *skill]))
    procedures = [each for each in known if each]
    aside = _failed(procedures, names)
    if chains and not (entries or aside):
        aside = ["\n\n".join(chain_entries(DISPLAY["task"], chains[0]))]
    where = _seen(domain.likely_places(task, procedures), names) if task else []
    if not where and env and (task is None or not (entries or aside)):
        where = chain_entries(DISPLAY["env"], env.chain)
    return _within(settings.budget, entries, [*aside, *where])


def _within(budget: int, entries: Sequence[str], aside: Sequence[str]) -> list[str]:
    """Return the entries, and of what stands aside the lines for which there are tokens left."""
    left, kept = budget - sum(map(count_tokens, entries)), list(entries)
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
    domain: Domain,
    task: TaskAtHand | None,
) -> list[str]:
    """Return a chain's procedure as it goes for a task, in lines.

    A way that made something else says so before all, and its ingredients stand open.
    """
    is_understood, task = task is not None, task or TaskAtHand()
    made = {
        slot for slot in task.made if procedure.names.get(slot, "") not in ("", task.names[slot])
    }
    names = {slot: name for slot, name in task.names.items() if slot not in made}
    used = domain.ingredients(procedure.steps) if made else {}
    choices = _choices(tree, chain, names) if names and not made else {}
    # A name left open may stand for two places; those of the episode say which is which.
    own = {} if choices or made else dict(procedure.names) | names
    sole = {slot: some[0] for slot, some in choices.items() if not some[1:]}
    steps = tuple(filled(opened(step, used), sole) for step in procedure.steps)
    if is_understood:
        steps = tuple(domain.at_hand(replace(procedure, steps=steps), replace(task, names=names)))
    steps = tuple(filled(step, own) for step in steps)
    worked = procedure.names if made else own
    past = {slot: name for slot, name in {**worked, **used}.items() if slot not in names}
    lines = []
    if made:
        told = ", ".join(f"[{slot}] was {name}" for slot, name in past.items())
        lines = [f"This way made something else: {fenced(told)}."]
    elif past:
        lines = [f"Worked with: {fenced(', '.join(past.values()))}"]
    lines += [
        f"Only the first [{slot}] of these that is there: {fenced(', '.join(some))}"
        for slot, some in choices.items()
        if some[1:]
    ]
    text = "\n".join(numbered(steps))
    lines.append(f"How:\n{fenced(text)}")
    if not made and (lacking := domain.lacking(steps, task)):
        lines.append(f"Not seen here: {fenced(', '.join(lacking))}.")
    if not made and not choices and (ending := _ending(chain[-1], procedure, own, task)):
        lines.append(fenced(ending))
    return lines


def _ending(node: Node, procedure: Procedure, names: Mapping[str, str], task: TaskAtHand) -> str:
    """Return how one sees that a procedure is done, unless that quotes a value of its episode."""
    if option_in(procedure.steps[-1], task.options):
        options = " or ".join(names[slot] for slot in task.options)
        return f"The last step is what was right then. Now what you find decides: {options}."
    past = node.payload["termination_condition"]
    words = set(re.findall(r"\w+", past.lower()))
    old = {name.lower() for name in procedure.names.values()} - set(names.values())
    if not past or old & words or any(word[0].isdigit() for word in words):
        return ""
    return f"Done when: {filled(past, names)}"


def _choices(tree: Tree, chain: Sequence[Node], names: Mapping[str, str]) -> dict[str, list[str]]:
    """Return what successes of a chain's kind worked with where the task leaves the choice.

    Returns:
        Slot that no name of the task fills → names, the most frequent first.
    """
    rows = [tree.row(chain[0].id)]
    for row in rows:
        rows += map(int, tree.child_rows(row)) if len(rows) < _OF_KIND else ()
    found: dict[str, Counter[str]] = {}
    for node in map(tree.node_at, rows[:_OF_KIND]):
        for slot, name in names_in(node).items() if node.label == "success" else ():
            if slot not in names:
                found.setdefault(slot, Counter())[name] += 1
    return {slot: [name for name, _ in some.most_common(_CHOICES)] for slot, some in found.items()}


def _failed(known: Sequence[Procedure], names: Mapping[str, str]) -> list[str]:
    """Return what was refused or cost the score: the first lines, as one entry.

    Of what a procedure does itself an agent is not warned, nor of what has nothing to do with it.
    """
    commands = {key(filled(step, names)) for each in known for step in each.steps}
    things = {word for command in commands for word in command.split()[1:]} - _SMALL
    shown = []
    for line in dict.fromkeys(filled(each, names) for text in known for each in text.warnings):
        action = key(line.removeprefix(FAILED).partition(ARROW)[0])
        near = not commands or things.intersection(action.split()[1:])
        if line.startswith(FAILED) and near and not names_open(line) and action not in commands:
            shown.append(f"- {line}")
    text = "\n".join(shown[:_WARNINGS])
    return [f"### What failed ({DISPLAY['task'].warning})\n{fenced(text)}"] if shown else []


def _place_facts(bank: Bank) -> list[PlaceFact]:
    """Return what the rules wrote of places in the env tree, as much as is read at once."""
    tree = bank.tree("env")
    nodes = [tree.node_at(int(row)) for row in tree.rows[-_SCENES:]]
    own = {node.id for node in nodes}
    # A fused chain says again what its nodes say, and a model's `Tip: egg` is of no place.
    single = (n for n in nodes if n.origin.extractor == "rules" and not own & {*n.origin.nodes})
    return read(
        line for node in single for line in node.payload["execution_procedure"].splitlines()
    )


def _seen(places: Mapping[str, Sequence[Chance]], names: Mapping[str, str]) -> list[str]:
    """Return where to look for the things that the task names, if they were seen anywhere."""
    lines = [
        f"{names[slot]}: {', '.join(map(_place, some[:_PLACES]))}"
        for slot, some in places.items()
        if any(each.found for each in some)
    ]
    return [fenced("\n".join([_WHERE, *lines]))] if lines else []


def _place(chance: Chance) -> str:
    often = f"{chance.found} of {chance.looked}" if chance.looked else f"{chance.found}"
    return f"{chance.place} ({often})" if chance.found else chance.place
