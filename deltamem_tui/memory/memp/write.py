"""MemP's plans: an episode is credited, and becomes a record, repairs one, or teaches nothing.

A repair by rules adds to a script what went wrong: `[TRAP]` with the first prescribed step that
was refused, else `[MISSING]` with the step of the goal that was never reached and is not
prescribed, else `[TRAP]` with a prescribed step that was repeated to no effect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.credit import UNIT, shown_to
from deltamem_tui.bank.node import Label, Node, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.domain import domain_for, goal_of
from deltamem_tui.memory.episodes import stored_episodes
from deltamem_tui.memory.findings import blanked, failure_of, fruitless, moves_of
from deltamem_tui.memory.memp.definition import (
    ADJUST,
    COLLECTIONS,
    FACTS,
    KEY,
    OPTIONAL,
    PROCEDURES,
    SCRIPT,
    MempNumbers,
    fact_payload,
    record_payload,
)
from deltamem_tui.memory.memp.recall import recalled, task_facts
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import (
    Change,
    CollectionResult,
    Count,
    LearnResult,
    Plan,
    Revise,
    addition,
    deletion,
)
from deltamem_tui.memory.procedure import numbered
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.wording import key
from deltamem_tui.memory.writers.extraction import (
    NO_INPUTS,
    Call,
    Extraction,
    Inputs,
    extraction_of,
)
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean, counted
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.receipt import ShownNode

TRAP, MISSING = "[TRAP]", "[MISSING]"
ACTION = "Action: "
_MOST_NOTES = 3
_MOST_STEPS = 150
_STEP = re.compile(r"\d+\. (.+)")
_LONGEST = 100_000  # characters of a trajectory, up to which it is kept to the letter


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Credit what was recalled; then plan a record, a repair, or nothing."""
    numbers, tree = of_bank(bank, MempNumbers), bank.tree(PROCEDURES)
    shown = _shown_to(bank, episode, numbers, embedder)
    living = [each for each in shown if tree.find(each.node)]
    solved = bool(episode.outcome.success)
    update = _Update(tree, episode, bank.manifest.domain, numbers, writer, embedder)
    update.changes.extend(
        Count(PROCEDURES, each.node, solved and each is shown[0], 1, solved) for each in living
    )
    if solved or numbers.update == "vanilla":
        node, reason = update.add()
    elif numbers.update == "adjustment" and living and living[0] is shown[0]:
        node, reason = update.repair(tree.node(shown[0].node))
    else:
        node, reason = None, "the episode failed, and was shown no record that could be repaired"
    useless = [
        each.node
        for each in living
        if (node is None or each.node != node.id) and _is_useless(bank, episode, each, numbers)
    ]
    for each in useless:
        gone = (*tree.children(each), tree.node(each))
        update.changes.extend(deletion(PROCEDURES, every) for every in gone)
    if useless:
        reason += f"; {counted(len(useless), 'record')} deleted that mostly failed"
    decision = "skip" if node is None else "repair" if node.revision else "record"
    result = CollectionResult(
        PROCEDURES,
        decision,
        reason,
        node,
        match=shown[0].node if shown else None,
        score=shown[0].score if shown else None,
        calls=tuple(update.calls),
    )
    learnt = LearnResult(episode.id, new=True, trees={PROCEDURES: result})
    return Plan(learnt, tuple(update.changes))


def _shown_to(
    bank: Bank, episode: Trajectory, numbers: MempNumbers, embedder: Embedder
) -> list[ShownNode]:
    """Return the records that an episode was shown, best first."""
    of_procedures = [
        [each for each in receipt.entries if each.collection == PROCEDURES]
        for receipt in episode.receipts
        if receipt.bank == bank.manifest.counts_as
        or any(each.collection == PROCEDURES for each in receipt.entries)
    ]
    if of_procedures:
        known = bank.tree(PROCEDURES).snapshot.first_row
        entries = [each for entries in of_procedures for each in entries]
        return list({each.node: each for each in entries if known(each.node) is not None}.values())
    found = recalled(bank, episode.task, numbers, embedder)
    return list(found.shown) if found else []


def _is_useless(bank: Bank, episode: Trajectory, shown: ShownNode, numbers: MempNumbers) -> bool:
    """Return whether a record was shown often enough and succeeded too seldom, as it says now."""
    if numbers.least_recalls is None:
        return False
    tree = bank.tree(PROCEDURES)
    row = tree.row(shown.node)
    birth, revision = int(tree.birth[row]), tree.node_at(row).revision
    uses = shown_to(bank.snapshots, PROCEDURES)
    credit = uses.kept((uses.birth == birth) & (uses.revision >= revision)).credit()
    sums = credit.strict if credit.strict.judged[birth] else credit.coarse
    judged, worth = int(sums.judged[birth]), float(sums.utility[birth]) / UNIT
    known = stored_episodes.episode(bank, episode.id)
    if episode.receipts and not (known and known.receipts) and shown.revision >= revision:
        judged, worth = judged + 1, worth + bool(episode.outcome.success)  # this one's are new
    return judged >= numbers.least_recalls and worth < numbers.least_success * judged


@dataclass(frozen=True, slots=True)
class _Update:
    """The changes of one episode to a bank's procedures, gathered; nothing is written."""

    tree: Tree
    episode: Trajectory
    domain: str
    numbers: MempNumbers
    writer: Writer
    embedder: Embedder
    changes: list[Change] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def add(self) -> tuple[Node | None, str]:
        """Make the episode a record; return None if it has nothing to say, and why."""
        build, script = self.numbers.build, Extraction(None, "a record of the steps alone")
        if build != "trajectory":
            script = self._ask(SCRIPT)
        facts = self._facts()  # before the script is looked at, so that it is asked ahead
        text = script.payload["script"] if script.payload else ""
        steps = "" if build == "script" else steps_of(self.episode)
        if not text and not steps:
            return None, script.reason
        origin = script.origin(self.writer.name, self.episode)
        label: Label = "success" if self.episode.outcome.success else "failure"
        payload = _cleaned(record_payload(clean(self.episode.task).strip(), text, steps))
        record = born(PROCEDURES, None, label, payload, origin)
        of_facts = [_cleaned(fact_payload(*each)) for each in facts.items()]
        nodes = [record, *(born(PROCEDURES, record, label, each, origin) for each in of_facts)]
        self.changes.extend(addition(self.tree, each, self.embedder) for each in nodes)
        return record, script.reason

    def repair(self, record: Node) -> tuple[Node | None, str]:
        """Rewrite a record in place, as the episode failed with it; return None if it stays."""
        found = self._ask(ADJUST, (record,))
        if found.payload is None or found.payload["script"] == record.payload["script"]:
            return None, found.reason
        payload = _cleaned({**record.payload, "script": found.payload["script"]})
        origin = replace(
            record.origin,
            extractor=self.writer.name,
            model=found.model,
            prompt=found.prompt,
            sources=(*record.origin.sources, self.episode.id),
        )
        node = replace(record, payload=payload, origin=origin)
        self.changes.append(Revise(PROCEDURES, node))
        return replace(node, revision=node.revision + 1), found.payload["diagnosis"]

    def _ask(self, purpose: str, notes: Sequence[Node] = ()) -> Extraction:
        found = self.writer.write(purpose, self.episode, notes)
        self.calls.extend(found.calls("extract", PROCEDURES))
        return found

    def _facts(self) -> dict[str, str]:
        """Return the facts of the task by the bank's names, as questions will be read."""
        names = domain_for(self.domain).fact_names
        asked = self.episode.with_facts(domain=self.domain)
        written = self.writer.write(FACTS, asked, (), {"names": ", ".join(names)})
        self.calls.extend(written.calls("extract", PROCEDURES))
        found: dict[str, str] = {}
        for pair in written.payloads:
            if value := pair["value"].strip():
                found.setdefault(pair["name"].strip().casefold(), value)
        if self.writer.name == "rules":
            return found
        return {name: found[name] for name in names if name in found}


def _cleaned(payload: dict[str, str]) -> dict[str, str]:
    return cleaned(payload, COLLECTIONS[PROCEDURES].fields, OPTIONAL)


def steps_of(episode: Trajectory) -> str:
    """Return the steps of an episode to the letter; of a very long one each text is cut."""
    steps = [
        (label, clean(text).strip())
        for step in episode.steps
        for label, text in (
            ("Thought: ", step.thought),
            (ACTION, step.action),
            ("Observation: ", step.observation),
        )
        if text.strip()
    ]
    room = max(_LONGEST // max(len(steps), 1), 40)
    if sum(len(text) for _, text in steps) > _LONGEST:
        steps = [(label, text if len(text) <= room else f"{text[:room]}…") for label, text in steps]
    return "\n".join(label + text for label, text in steps)


def write_by_rules(
    purpose: str,
    episode: Trajectory | None,
    notes: Sequence[Node],
    inputs: Inputs = NO_INPUTS,  # noqa: ARG001 - the rules have the names of facts themselves
) -> Extraction:
    """Write a script, facts or a repair."""
    if episode is None or (purpose == ADJUST and not notes):
        raise ExtractionError(f"there is nothing to write {purpose} from")
    if purpose == ADJUST:
        return _adjusted(episode, notes[-1])
    if purpose == FACTS:
        facts = task_facts(episode.domain, episode.task).items()
        pairs = [{"name": name, "value": value} for name, value in facts]
        return extraction_of(pairs, "the facts of the task")
    domain, moves = moves_of(episode)
    steps = domain.source_left_open(domain.procedure(moves))[:_MOST_STEPS]
    script = {"script": "\n".join(numbered(steps))} if steps else None
    return Extraction(script, "the steps that had an effect")


def _adjusted(episode: Trajectory, record: Node) -> Extraction:
    note, why = _note(episode, record)
    lines = record.payload["script"].splitlines()
    known = [line for line in lines if line.startswith((TRAP, MISSING))]
    if not note or note in known:
        return Extraction(None, "the failure shows no step that the record got wrong")
    steps = [line for line in lines if line not in known]
    script = "\n".join([*steps, *[*known, note][-_MOST_NOTES:]])
    return Extraction({"diagnosis": why, "script": script}, why)


def _note(episode: Trajectory, record: Node) -> tuple[str, str]:
    """Return the line that a failure adds to a record, and why; both empty if it shows nothing."""
    steps, own = prescribed(record, episode.domain), goal_of(episode.domain, record.payload[KEY])
    attempts = {key(each.action): each for each in reversed(fruitless(episode))}
    met = [each for step in steps if (each := attempts.get(key(step)))]
    is_own = own.trigger == goal_of(episode.domain, episode.task).trigger
    missing = failure_of(episode).missing
    if refused := next((each for each in met if each.refused), None):
        return f"{TRAP} {refused.action} → {refused.answer}", "a prescribed step was refused"
    if missing and is_own and not _tells(steps, missing):
        return f"{MISSING} {missing}", "a step of the goal was not reached"
    if met and not missing:
        return f"{TRAP} {met[0].action} → {met[0].answer}", "a prescribed step led nowhere"
    return "", ""


def _tells(steps: Sequence[str], wanted: str) -> bool:
    """Return whether steps tell to do one of the goal, and twice if it is about a second thing."""
    words = key(wanted).split()
    first = [word for word in words if word != "second"]
    return sum(key(step).split()[: len(first)] == first for step in steps) > words.count("second")


def prescribed(record: Node, domain: str) -> list[str]:
    """Return the actions that a record tells to do, in order, the names of its task left open."""
    lines = record.payload["script"].splitlines()
    if steps := [found[1] for line in lines if (found := _STEP.fullmatch(line))]:
        return steps
    done = record.payload["trajectory"].splitlines()
    actions = [line.removeprefix(ACTION) for line in done if line.startswith(ACTION)]
    return list(blanked(Trajectory(record.payload[KEY], domain=domain), actions))
