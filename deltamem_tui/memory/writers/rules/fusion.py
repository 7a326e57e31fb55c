"""Fusing a chain: one payload for what base and deltas say together (equation 8)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.deltamem.collections import Payload
from deltamem_tui.memory.writers.extraction import Extraction
from deltamem_tui.memory.writers.failure_markers import PARTIAL, TRIED, UNEXPLORED
from deltamem_tui.memory.writers.rules.known import Known, procedure_lines, record_lines
from deltamem_tui.memory.writers.rules.wording import bulleted, key, numbered, unlike

_PLACED = re.compile(r"(?:After `(?P<anchor>[^`]*)`|First): (?P<actions>.+)")
_FACT = re.compile(r"(?P<subject>[^:;]+): (?P<items>.+)")


def fused(tree: str, chain: Sequence[Node]) -> Extraction:
    """The chain as one self-contained payload, found by the match's activation condition."""
    match = chain[-1]
    lines = procedure_lines(chain)
    if tree == "env":
        text = bulleted(_facts(lines))
        ending = ""
    else:
        steps = _steps(lines)
        warnings = _warnings(record_lines(chain), steps)
        text = "\n".join([part for part in (numbered(steps), *warnings) if part])
        endings = [node.payload["termination_condition"] for node in chain]
        ending = next((text for text in reversed(endings) if text), "")
    payload = Payload(match.payload["activation_condition"], text, ending)
    return Extraction(payload, f"{len(chain)} nodes fused")


def _warnings(records: Sequence[str], steps: Sequence[str]) -> list[str]:
    """What failed, each once, and what is still untried when the steps are known.

    How a failure went on the whole matters only while there is no way that works.
    """
    known = Known(steps)
    warnings: list[str] = []
    for record in records:
        line = record
        if line.startswith(UNEXPLORED):
            untried = known.lacks(line.removeprefix(UNEXPLORED).strip().split("; "))
            line = f"{UNEXPLORED} {'; '.join(untried)}" if untried else ""
        if line and not (line.startswith((TRIED, PARTIAL)) and steps):
            warnings.append(line)
    return unlike(warnings)


def _steps(lines: Sequence[str]) -> list[str]:
    """Base lines with each delta at its place; nothing stands twice."""
    steps: list[str] = []
    for line in lines:
        known = Known(steps)
        delta = _PLACED.fullmatch(line)
        if delta is None:
            if line not in steps and not (key(line) and known.covers(line)):
                steps.append(line)
            continue
        fresh = known.lacks(delta["actions"].split("; "))
        if fresh:
            at = _place(steps, delta["anchor"] or "")
            steps[at:at] = ["; ".join(fresh)]
    return steps


def _place(steps: Sequence[str], anchor: str) -> int:
    """Where a delta goes: behind the step it names, else last; first of all, but for the way."""
    if not anchor:
        return next((at for at, step in enumerate(steps) if not step.startswith("go to ")), 0)
    return next(
        (at for at, step in enumerate(steps, 1) if Known([step]).covers(anchor)), len(steps)
    )


def _facts(lines: Sequence[str]) -> list[str]:
    """Facts with one line a subject, its items in the order they were learnt."""
    subjects: dict[str, list[str]] = {}
    for line in lines:
        fact = _FACT.fullmatch(line)
        subject, items = (fact["subject"], fact["items"].split("; ")) if fact else (line, [])
        subjects.setdefault(subject, []).extend(items)
    return [
        f"{subject}: {'; '.join(unlike(items))}" if items else subject
        for subject, items in subjects.items()
    ]
