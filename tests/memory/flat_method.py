"""A memory method with one flat collection, as small as one can be, outside the package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from msgspec import Meta

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Collection, Node, Origin, born
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory import method as methods
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.engine import search
from deltamem_tui.memory.method import Method
from deltamem_tui.memory.plan import Add, CollectionResult, Count, LearnResult, Plan
from deltamem_tui.memory.prompts.use import OF_AN_EPISODE, PromptUse
from deltamem_tui.memory.recall_result import Query, RecallResult, chain_entries, compose
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.trajectory.model import Trajectory

NOTES = "notes"
ASKED = "flat_notes"


class Numbers(Settings, frozen=True):
    """How many notes are recalled."""

    k: Annotated[int, Meta(ge=1, le=100)] = 2


DISPLAY = {NOTES: Display(title="notes", noun="note", labels={"task": "For", "advice": "Do"})}


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """The nearest notes."""
    given = query.settings
    k = (given if isinstance(given, Numbers) else of_bank(bank, Numbers)).k
    (found,) = search(bank, query.task, [NOTES], max(k, query.count), embedder=embedder)
    found = replace(found, chains=found.chains[:k])
    entries = chain_entries(DISPLAY[NOTES], [n for chain in found.chains for n in chain])
    return RecallResult({NOTES: found}, compose(bank.manifest.domain, entries, query.folders))


def write_by_rules(
    purpose: str,
    episode: Trajectory | None,
    notes: Sequence[Node],
    inputs: Inputs = NO_INPUTS,
) -> Extraction:
    """What was done last."""
    advice = episode.steps[-1].action if episode else ""
    return Extraction({"advice": advice}, "the last action")


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Notes for a success; the nearest note was of use if there was one."""
    success = bool(episode.outcome.success)
    (found,) = search(bank, episode.task, [NOTES], 1, embedder=embedder)
    shown = [chain[-1] for chain in found.chains]
    counts = [Count(NOTES, each.id, success, 1, success) for each in shown]
    if not success:
        result = CollectionResult(NOTES, "skip", "the episode failed")
        return Plan(LearnResult(episode.id, True, {NOTES: result}), tuple(counts))
    known = tuple(each.payload["advice"] for each in shown)
    written = writer.write(ASKED, episode, (), {"known": known})
    origin = Origin(
        trajectory=episode.id,
        extractor=writer.name,
        model=written.model,
        prompt=written.prompt,
    )
    notes = [
        born(NOTES, None, "success", {"task": episode.task, **each}, origin)
        for each in written.payloads
    ]
    passage = embedder.embed_passages([episode.task])[0]
    result = CollectionResult(
        NOTES,
        "note" if notes else "skip",
        written.reason,
        notes[0] if notes else None,
        calls=written.calls("extract", NOTES),
    )
    added = (Add(NOTES, note, passage) for note in notes)
    return Plan(LearnResult(episode.id, True, {NOTES: result}), (*added, *counts))


FLAT = Method(
    name="flat",
    title="a list of what worked",
    collections={NOTES: Collection(fields=("task", "advice"), key="task")},
    display=DISPLAY,
    prompts={ASKED: PromptUse(NOTES, OF_AN_EPISODE | {"known"}, ("advice",), items=3)},
    settings=Numbers,
    recall=recall,
    plan=plan,
    write_by_rules=write_by_rules,
)


def register() -> None:
    """Make the method known to this process."""
    methods.PLACES[FLAT.name] = f"{__name__}:FLAT"
