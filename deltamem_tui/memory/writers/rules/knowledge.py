"""Knowledge for the env tree: what was seen where and how things answered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.domain import Domain, Fact
from deltamem_tui.memory.places import are_counted, summed
from deltamem_tui.memory.wording import (
    bulleted,
    condense,
    distinct,
    key,
    listed,
    payload_of,
    procedure_lines,
    unlike,
)
from deltamem_tui.memory.writers.extraction import Extraction
from deltamem_tui.text import count_tokens
from deltamem_tui.trajectory.model import Trajectory

_FACTS = 16
_NEW_FACTS = 3
_FACT_WORDS = 60
_NEW_FACT_WORDS = 14
_COUNT_WORDS = 20
_ITEM_WORDS = 25
_SUBJECT_WORDS = 16
_FACT = re.compile(r"(?P<subject>[^:;]+): (?P<items>.+)")


def knowledge(trajectory: Trajectory, domain: Domain, chain: Sequence[Node]) -> Extraction:
    """Return what an episode shows of its environment, whatever its outcome."""
    shown = domain.further_facts(trajectory) if chain else domain.facts(trajectory)
    facts = [_bounded(fact, _FACT_WORDS) for fact in shown]
    facts = [fact for fact in facts if fact.items][:_FACTS]
    if not facts:
        return Extraction(None, "the episode shows nothing of its environment")
    scene = domain.scene(trajectory)
    if not chain:
        lines = bulleted([fact.line for fact in facts])
        return Extraction(payload_of(scene, lines), "no match: all that was seen")
    fresh = _unknown(facts, procedure_lines(chain))
    if not fresh:
        return Extraction(None, "the chain states everything seen here")
    new = [_bounded(fact, _COUNT_WORDS if fact.is_count else _NEW_FACT_WORDS) for fact in fresh]
    new = new[:_NEW_FACTS]
    trigger = f"{scene} ({listed(distinct(fact.subject for fact in new))})"
    payload = payload_of(trigger, bulleted([fact.line for fact in new]))
    return Extraction(payload, f"new to the chain: {listed([fact.subject for fact in fresh], 6)}")


def _bounded(fact: Fact, words: int) -> Fact:
    """Return a fact with as many whole items as fit, one at least; a long item is cut."""
    items: list[str] = []
    for item in fact.items:
        short = condense(item.replace(";", ","), _ITEM_WORDS)
        words -= count_tokens(short)
        if items and words < 0:
            break
        items.append(short)
    return Fact(condense(fact.subject, _SUBJECT_WORDS), tuple(items), fact.is_count)


def _unknown(facts: Iterable[Fact], lines: Sequence[str]) -> list[Fact]:
    """Return the facts reduced to items that no line has for the same subject."""
    known = [f" {' | '.join(map(key, line.split('; ')))} " for line in lines]
    fresh: list[Fact] = []
    for fact in facts:
        if fact.is_count:
            fresh += [] if are_counted(fact, lines) else [fact]
            continue
        about = [line for line in known if f" {key(fact.subject)} " in line]
        items = tuple(item for item in fact.items if key(item) and not _holds(about, key(item)))
        if items:
            fresh.append(Fact(fact.subject, items))
    return fresh


def _holds(lines: Sequence[str], phrase: str) -> bool:
    return any(f" {phrase} " in line for line in lines)


def fused_facts(chain: Sequence[Node]) -> Extraction:
    """Return a chain as one text: a line a subject, its items in the order they were learnt."""
    subjects: dict[str, list[str]] = {}
    for line in procedure_lines(chain):
        fact = _FACT.fullmatch(line)
        subject, items = (fact["subject"], fact["items"].split("; ")) if fact else (line, [])
        subjects.setdefault(subject, []).extend(items)
    lines = [
        f"{subject}: {'; '.join(unlike(summed(items)))}" if items else subject
        for subject, items in subjects.items()
    ]
    payload = payload_of(chain[-1].payload["activation_condition"], bulleted(lines))
    return Extraction(payload, f"{len(chain)} nodes fused")
