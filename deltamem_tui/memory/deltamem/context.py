"""What DeltaMem hands to an agent: one procedure that can be carried out, and facts it needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.memory import context
from deltamem_tui.memory.deltamem.collections import DISPLAY
from deltamem_tui.memory.method import CollectionRecall
from deltamem_tui.memory.writers.failure_markers import FAILED
from deltamem_tui.memory.writers.rules.procedure import Procedure, filled

if TYPE_CHECKING:
    from deltamem_tui.memory.writers.rules.dialect import Goal

_FACT = re.compile(r"(?:- )?(?P<subject>(?!works in |refused in )[^:;]+): (?P<items>.+)")
_TAKEN = re.compile(r"take (?P<thing>\[object\]) from (?P<place>.+)")
_SCENES = 200
_PLACES = 5
_WARNINGS = 3


def chain_entries(tree: str, chain: Sequence[Node]) -> list[str]:
    """One chain, an entry a node: the base payload, then each delta in order."""
    return context.chain_entries(DISPLAY[tree], chain)


def context_entries(
    bank: Bank, task: str, found: Mapping[str, CollectionRecall], goal: Goal | None
) -> list[str]:
    """What both trees recalled, for an agent.

    A chain in the rules' words becomes one procedure, its deltas at their places and the names
    of the present task filled in; any other stands entry by entry. Then come what failed, and
    where the things that the task names were seen.
    """
    chains = found["task"].chains if "task" in found else ()
    known = [Procedure.of(chain) for chain in chains]
    names = dict(goal.slots) if goal else {}
    entries: list[str] = []
    for chain, procedure in zip(chains, known, strict=True):
        if procedure is None:
            told = chain_entries("task", chain)  # two chains may begin alike
            entries += [entry for entry in told if entry not in entries]
        elif procedure.steps and chain[-1].label == "success":
            entries.append(_skill(task, located(procedure, bank, names), chain[-1], names))
    entries += _failed([line for each in known if each for line in each.warnings], names)
    if seen := _seen(bank, names):
        entries.append(seen)
    elif "env" in found and not entries:
        entries += chain_entries("env", found["env"].chain)
    return entries


def _skill(task: str, procedure: Procedure, node: Node, names: Mapping[str, str]) -> str:
    steps = [f"{at}. {step}" for at, step in enumerate(procedure.steps, 1)]
    how = context.fenced(filled("\n".join(steps), names))
    lines = [f"### Skill\nWhen: {context.fenced(task)}\nHow:\n{how}"]
    if ending := node.payload["termination_condition"]:
        lines.append(f"Done when: {context.fenced(filled(ending, names))}")
    return "\n".join(lines)


def _failed(warnings: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """What was refused or cost the score: the first lines, as one entry."""
    lines = [line for line in dict.fromkeys(warnings) if line.startswith(FAILED)][:_WARNINGS]
    if not lines:
        return []
    text = "\n".join(f"- {filled(line, names)}" for line in lines)
    return [f"### What failed ({DISPLAY['task'].warning})\n{context.fenced(text)}"]


def _seen(bank: Bank, names: Mapping[str, str]) -> str:
    """Where the things that the task names were seen, the most frequent places first."""
    lines = []
    for thing in names.values():
        if places := _places(bank, thing):
            often = ", ".join(f"{place} {times}" for place, times in places)
            lines.append(f"{thing}: {often}")
    return context.fenced("\n".join(["### Seen before, and how often", *lines])) if lines else ""


def _places(bank: Bank, thing: str) -> list[tuple[str, int]]:
    """The subjects of facts that name a thing, in the youngest nodes of the env tree."""
    word = re.compile(rf"\b{re.escape(thing)}\b", re.IGNORECASE)
    tree = bank.tree("env")
    seen: Counter[str] = Counter()
    for row in tree.rows[-_SCENES:]:
        for line in tree.node_at(int(row)).payload["execution_procedure"].splitlines():
            fact = _FACT.fullmatch(line)
            if fact and word.search(fact["items"]):
                seen[fact["subject"]] += 1
    return seen.most_common(_PLACES)


def located(procedure: Procedure, bank: Bank, names: Mapping[str, str]) -> Procedure:
    """The procedure with its object taken from where such a thing was seen most often."""
    steps = procedure.steps
    taken = next(
        ((at, found) for at, step in enumerate(steps) if (found := _TAKEN.match(step))), None
    )
    places = _places(bank, names["object"]) if taken and "object" in names else []
    if not taken or not places:
        return procedure
    at, found = taken
    there, place = found["place"], places[0][0]
    before = [step for step in steps[:at] if step not in (f"go to {there}", f"open {there}")]
    way = [f"go to {place}", f"take {found['thing']} from {place}"]
    return (
        procedure if place == there else replace(procedure, steps=(*before, *way, *steps[at + 1 :]))
    )
