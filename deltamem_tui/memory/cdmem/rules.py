"""CDMem's texts without a model: expert notes, shortcuts, failures and insights by support.

Insights are made from all members of their list, so that neither their order nor the size of a
batch matters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.cdmem.definition import (
    EXPERT,
    FUNCTIONS,
    MISTAKES,
    MOST_INSIGHTS,
    PLANS,
    SHORTCUT,
)
from deltamem_tui.memory.domain import domain_for
from deltamem_tui.memory.findings import effective_actions, failure_of, shortcut
from deltamem_tui.memory.plan import normal_text
from deltamem_tui.memory.wording import ARROW
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs, extraction_of
from deltamem_tui.text import counted
from deltamem_tui.trajectory.model import Trajectory

_MOST_ITEMS = 12
_NOTHING = "did nothing"


def write_by_rules(
    purpose: str,
    episode: Trajectory | None,
    notes: Sequence[Node],
    inputs: Inputs = NO_INPUTS,
) -> Extraction:
    """Return what one of the method's prompts asks for.

    Insights are made from the notes, all members of their list; the environment of a failure as it
    is known so far is the input `env_memory`.
    """
    if episode is None:
        if not notes:
            raise ExtractionError("there is no short-term memory to conclude from")
        insights = [{"insight": text} for text in _INSIGHTS[purpose](notes)[:MOST_INSIGHTS]]
        return extraction_of(insights, f"from {counted(len(notes), 'memory', 'memories')}")
    if not episode.steps:
        return Extraction(None, "the episode has no steps")
    if purpose == EXPERT:
        return Extraction(expert_notes(episode), "what the log shows")
    if purpose == SHORTCUT:
        way = shortcut(episode)
        texts = {"actions": "\n".join(way.actions), "plan": "\n".join(way.plan)}
        return Extraction(texts if way.actions else None, "the actions that had an effect")
    found, known = failure_of(episode), inputs.get("env_memory", "")
    payload = {
        "env_memory": merged(str(known), expert_notes(episode)["locations"]),
        "failure": found.kind,
        "reflection": found.reflection,
        "next_plan": found.plan,
        "cause": f"{found.action}{ARROW}{found.answer}" if found.action else found.missing,
    }
    return Extraction(payload, f"a failure of {found.kind}")


def expert_notes(episode: Trajectory) -> dict[str, str]:
    """Write down where things are, what devices do, what was done: one a line."""
    domain = domain_for(episode.domain)
    places = dict(domain.places_of_things(episode)).items()
    located = [f"{thing}: {place}" for thing, place in places if place != domain.in_hand]
    return {
        "locations": "\n".join(located),
        "functions": "\n".join(fact.line for fact in domain.functions(episode)),
        "actions": "\n".join(effective_actions(episode)) or "none had an effect",
    }


def merged(known: str, new: str) -> str:
    """Return what is known of an environment with new lines `thing: place`: a thing is at one
    place.
    """
    lines = {line.partition(":")[0].strip().casefold(): line.strip() for line in known.splitlines()}
    for line in filter(str.strip, new.splitlines()):
        thing = line.partition(":")[0].strip().casefold()
        lines.pop(thing, None)
        lines[thing] = line.strip()
    return "\n".join(filter(None, lines.values()))


def plans(notes: Sequence[Node]) -> list[str]:
    """Return the shortcuts: those of more episodes first, then the shorter ones."""
    support = Counter(node.payload["text"].strip() for node in notes)
    return sorted(support, key=lambda text: (-support[text], text.count("\n"), text))


def mistakes(notes: Sequence[Node]) -> list[str]:
    """Return one of each type, action and answer, with its remedy: the most frequent first."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for node in notes:
        said = node.payload
        cause = said["cause"] or normal_text({"text": said["text"]})
        groups[said["failure"], cause].append(
            f"{said['failure'] or 'failure'}: {said['text']} {said['remedy']}".strip()
        )
    ranked = sorted(groups, key=lambda group: (-len(groups[group]), group))
    return [_most_frequent(groups[group]) for group in ranked]


def _most_frequent(texts: Iterable[str]) -> str:
    counts = Counter(texts)
    return min(counts, key=lambda text: (-counts[text], text))


def functions(notes: Sequence[Node]) -> list[str]:
    """Return what each thing does: what two episodes saw, or one did and none saw otherwise."""
    support: dict[str, Counter[str]] = defaultdict(Counter)
    for node in notes:
        for subject, item in _facts(node.payload["text"].splitlines()):
            support[subject][item] += 1
    ranked = sorted(support, key=lambda each: (-max(support[each].values()), each))
    return [
        f"{subject}: {'; '.join(kept[:_MOST_ITEMS])}".removesuffix(": ")
        for subject in ranked
        if (kept := _kept(support[subject]))
    ]


def _facts(lines: Iterable[str]) -> set[tuple[str, str]]:
    """Subject and item of each fact; a line that has none is a subject."""
    facts = set()
    for line in lines:
        subject, _, items = line.partition(": ")
        facts |= {(subject.strip(), item.strip()) for item in items.split("; ")}
    return facts


def _kept(items: Counter[str]) -> list[str]:
    """Return the items with support, or uncontradicted, those with most support first."""
    answers: dict[str, set[bool]] = defaultdict(set)
    for item in items:
        answers[item.split(" ")[0]].add(item.endswith(_NOTHING))
    kept = [item for item in items if items[item] >= 2 or len(answers[item.split(" ")[0]]) < 2]
    return sorted(kept, key=lambda item: (-items[item], item))


_INSIGHTS: Mapping[str, Callable[[Sequence[Node]], list[str]]] = {
    PLANS: plans,
    MISTAKES: mistakes,
    FUNCTIONS: functions,
}
