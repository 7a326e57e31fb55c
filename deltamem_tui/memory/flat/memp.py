"""MemP: procedures of whole episodes, found by what they are about, repaired where they fail.

A record is found by chance, by its task, or by the facts of its task (AveFact). Of equal scores a
success comes first, then what more successful episodes were shown, then the newer. Cosines count
to six decimals, so that equal texts score equally on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.lexical import terms
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.embedding.scan import DECIMALS
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.domain import domain_for, goal_of
from deltamem_tui.memory.findings import moves_of, way_of
from deltamem_tui.memory.flat.definitions import (
    ADJUST,
    FACT_DEPTH,
    FACTS,
    KEY,
    MEMP,
    PROCEDURES,
    RECORD_DEPTH,
    SCRIPT,
    MempNumbers,
)
from deltamem_tui.memory.flat.nearest import asked, learnt, nearest, recalled
from deltamem_tui.memory.plan import Change, Count, LearnResult, Plan, Revise, addition
from deltamem_tui.memory.procedure import TRAP, filled, numbered
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult, fenced
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.vectors.search import Candidate, by_use, cosines
from deltamem_tui.memory.writers.extraction import (
    NO_INPUTS,
    Call,
    Extraction,
    Inputs,
    extraction_of,
)
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean, distinct, key, one_line
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_NOTES = 3
_MOST_STEPS = 150
_LONGEST = 100_000  # characters of a trajectory
_READ = 2000  # characters of a task
_WORDS = 4  # of a fact
_NOUNS = 30  # words of a task in no domain's words
_STEP = re.compile(r"\d+\. (.+)")
_LABELS = {"script": "How", "trajectory": "What was done"}


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall the k records that fit best, by the bank's key."""
    return recalled(bank, query, embedder, PROCEDURES, _by_key, _entries)


def _entries(domain: str, task: str, records: Sequence[Node]) -> list[str]:
    """Return one entry a record, its script with the task's names if that is of its kind."""
    goal, entries = goal_of(domain, task), []
    for number, node in enumerate(records, 1):
        own = goal_of(domain, node.payload[KEY])
        names = goal if goal.understood and own.trigger == goal.trigger else own
        texts = {**node.payload, "script": filled(node.payload["script"], dict(names.slots))}
        lines = [f"### Procedure {number}", f"Task: {fenced(node.payload[KEY])}"]
        lines += [
            f"{text}:\n{fenced(texts[name])}" for name, text in _LABELS.items() if texts[name]
        ]
        entries.append("\n".join(lines))
    return entries


def _by_key(bank: Bank, query: Query, embedder: Embedder) -> CollectionRecall:
    """Return records by the bank's key."""
    numbers, tree = of_bank(bank, MempNumbers, query.settings), bank.tree(PROCEDURES)
    rule, most = numbers.key, max(numbers.k, query.count)
    least = -1.0 if numbers.tau is None or rule == "random" else numbers.tau
    if rule == "random":

        def draw(node: Node) -> bytes:  # the same of the same bank and question
            return sha256(f"{node.id} {len(tree)} {query.task}".encode()).digest()

        drawn = sorted(tree.roots(), key=draw)[:most]
        found = [Candidate(node, 0.0, 0.0, 0.0, rule) for node in drawn]
    elif rule == "avefact":
        facts = task_facts(bank.manifest.domain, query.task)
        found = _by_facts(tree, facts, query.task, embedder, most)
    else:
        found = nearest(bank, PROCEDURES, query, embedder, most, _facts, rule)
    chains = tuple((each.node,) for each in found[: numbers.k] if each.score >= least)
    return CollectionRecall(PROCEDURES, query.task, least, tuple(found), chains, rule)


def _facts(tree: Tree) -> NDArray[np.bool_]:
    return tree.depth > RECORD_DEPTH


def _by_facts(
    tree: Tree, facts: Mapping[str, str], task: str, embedder: Embedder, most: int
) -> list[Candidate]:
    """AveFact: the mean cosine of the facts that a record has of the question's.

    A record has at least half of them; ties go by their number, then by the tasks' cosine.
    """
    import numpy as np

    rows = tree.rows[tree.depth[tree.rows] == RECORD_DEPTH]
    if not facts or not len(rows):
        return []
    sums, counts = np.zeros((2, len(tree.dead)))  # at the births of records
    names = _fact_names(tree)
    for name, vector in zip(facts, embedder.embed_queries(list(facts.values())), strict=True):
        own = tree.rows[names[tree.rows] == name]
        parents = tree.snapshot.index["parent"][own]
        np.add.at(sums, parents, cosines(tree, own, vector))
        np.add.at(counts, parents, 1)
    rows = rows[2 * counts[tree.birth[rows]] >= len(facts)]
    matched = counts[tree.birth[rows]]
    scores = (sums[tree.birth[rows]] / matched).round(DECIMALS)
    similar = cosines(tree, rows, embedder.embed_queries([task])[0])
    order = np.lexsort((by_use(tree)[rows], -similar, -matched, -scores))[:most]
    return [
        Candidate(
            tree.node_at(int(rows[at])), float(similar[at]), 0.0, float(scores[at]), "avefact"
        )
        for at in order
    ]


def _fact_names(tree: Tree) -> NDArray[np.object_]:
    """Return the name of the fact that each row holds, empty for a record. object [rows]."""
    import numpy as np

    snapshot = tree.snapshot
    known = snapshot.derived.get("fact names", np.zeros(0, dtype=object))
    if len(known) < len(snapshot.index):  # read once for each row, also by later commits
        new = np.full(len(snapshot.index) - len(known), "", dtype=object)
        at = np.flatnonzero(snapshot.index["depth"][len(known) :] == FACT_DEPTH)
        new[at] = [each["fact"] for each in snapshot.payloads(len(known) + at)]
        known = snapshot.derived["fact names"] = np.concatenate([known, new])
    names: NDArray[np.object_] = known[: len(snapshot.index)]
    return names


def task_facts(domain: str, task: str) -> dict[str, str]:
    """Return the facts of a task, name to value.

    The names are the domain's; where it has none, or a task is not in its words, they are `verb`
    and `nouns`.
    """
    task = one_line(task[:_READ])
    given = domain_for(domain).task_facts(task)
    facts = {name: value.strip(" .,:;'\"").split()[:_WORDS] for name, value in given.items()}
    if not facts and (words := distinct(terms(task))):
        facts = {"verb": words[:1], "nouns": words[1:_NOUNS]}
    return {name: " ".join(words) for name, words in facts.items() if words}


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Credit what was recalled; then plan a record, a repair, or nothing."""
    numbers, solved = of_bank(bank, MempNumbers), bool(episode.outcome.success)
    found = _shown_to(bank, episode, embedder)
    shown = [chain[0] for chain in found.chains]
    changes: list[Change] = [
        Count(PROCEDURES, each.id, solved and each is shown[0], 1, solved) for each in shown
    ]
    if solved or numbers.update == "vanilla":
        node, reason, calls, more = _record(bank, episode, writer, embedder, numbers)
    elif numbers.update == "adjustment" and shown:
        node, reason, calls, more = _repaired(episode, writer, shown[0])
    else:
        reason = "the episode failed, and was shown no record to repair"
        node, calls, more = None, (), ()
    decision = "skip" if node is None else "repair" if node.revision else "record"
    return learnt(episode, decision, reason, node, [*changes, *more], found, calls)


def _shown_to(bank: Bank, episode: Trajectory, embedder: Embedder) -> CollectionRecall:
    """Return the records that an episode was shown, best first; without a receipt, would be."""
    tree = bank.tree(PROCEDURES)
    entries = [
        [each.node for each in receipt.entries if each.collection == PROCEDURES]
        for receipt in episode.receipts
        if receipt.bank == bank.manifest.counts_as
        or any(each.collection == PROCEDURES for each in receipt.entries)
    ]
    if not entries:
        return _by_key(bank, asked(episode.task), embedder)
    names = dict.fromkeys(name for each in entries for name in each)
    chains = tuple((tree.node(name),) for name in names if tree.find(name))
    return CollectionRecall(PROCEDURES, asked(episode.task).task, -1.0, (), chains)


_Done = tuple[Node | None, str, tuple[Call, ...], tuple[Change, ...]]
"""A record if one was written, why, and what that took and changes."""


def _record(
    bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder, numbers: MempNumbers
) -> _Done:
    """Make the episode a record with its facts; none if it has nothing to say."""
    written = Extraction(None, "a record of the steps alone")
    if numbers.build != "trajectory":
        written = writer.write(SCRIPT, episode, ())
    domain = bank.manifest.domain
    names, asked = domain_for(domain).fact_names, episode.with_facts(domain=domain)
    said = writer.write(FACTS, asked, (), {"names": ", ".join(names)})
    calls = (*written.calls("extract", PROCEDURES), *said.calls("extract", PROCEDURES))
    script = written.payload["script"] if written.payload else ""
    steps = "" if numbers.build == "script" else _steps_of(episode)
    if not script and not steps:
        return None, written.reason, calls, ()
    facts: dict[str, str] = {}
    for pair in said.payloads:
        name, value = pair["name"].strip().casefold(), pair["value"].strip()
        if value and (name in names or writer.name == "rules"):
            facts.setdefault(name, value)
    origin = written.origin(writer.name, episode)
    label: Label = "success" if episode.outcome.success else "failure"
    texts = {KEY: clean(episode.task).strip(), "script": script, "trajectory": steps}
    record = born(PROCEDURES, None, label, MEMP.cleaned(PROCEDURES, texts), origin)
    payloads = [MEMP.cleaned(PROCEDURES, {KEY: facts[name], "fact": name}) for name in facts]
    nodes = [record, *(born(PROCEDURES, record, label, each, origin) for each in payloads)]
    tree = bank.tree(PROCEDURES)
    return record, written.reason, calls, tuple(addition(tree, each, embedder) for each in nodes)


def _repaired(episode: Trajectory, writer: Writer, record: Node) -> _Done:
    """Rewrite a record in place, as the episode failed with it; none if it stays."""
    found = writer.write(ADJUST, episode, (record,))
    calls = found.calls("extract", PROCEDURES)
    if found.payload is None or found.payload["script"] == record.payload["script"]:
        return None, found.reason, calls, ()
    payload = MEMP.cleaned(PROCEDURES, {**record.payload, "script": found.payload["script"]})
    sources = (*record.origin.sources, episode.id)
    origin = found.origin(writer.name, before=replace(record.origin, sources=sources))
    node = replace(record, payload=payload, origin=origin)
    done = replace(node, revision=node.revision + 1)
    return done, found.payload["diagnosis"], calls, (Revise(PROCEDURES, node),)


def _steps_of(episode: Trajectory) -> str:
    """Return the steps of an episode to the letter; a very long one is cut at its end."""
    lines = [
        label + clean(text).strip()
        for step in episode.steps
        for label, text in (
            ("Thought: ", step.thought),
            ("Action: ", step.action),
            ("Observation: ", step.observation),
        )
        if text.strip()
    ]
    return "\n".join(lines)[:_LONGEST]


# Without a model


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
    steps = way_of(episode)[:_MOST_STEPS]
    script = {"script": "\n".join(numbered(steps))} if steps else None
    return Extraction(script, "the steps that had an effect")


def _adjusted(episode: Trajectory, record: Node) -> Extraction:
    """Add the first prescribed step that was refused."""
    lines = record.payload["script"].splitlines()
    known = [line for line in lines if line.startswith(TRAP)]
    told = [key(found[1]) for line in lines if (found := _STEP.fullmatch(line))]
    domain, moves = moves_of(episode)
    tried = reversed(domain.fruitless(moves))
    refused = {key(each.action): each for each, _ in tried if each.failed}
    trap = next((refused[each] for each in told if each in refused), None)
    note = f"{TRAP} {trap.action} → {trap.answer}" if trap else ""
    if note in ("", *known):
        return Extraction(None, "the failure shows no step that the record got wrong")
    why, steps = "a prescribed step was refused", [line for line in lines if line not in known]
    script = "\n".join([*steps, *[*known, note][-_MOST_NOTES:]])
    return Extraction({"diagnosis": why, "script": script}, why)
