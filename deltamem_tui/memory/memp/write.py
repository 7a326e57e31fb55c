"""MemP's plans: an episode is credited and written, or waits until the next update is due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.credit import UNIT
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError, NodeNotFoundError
from deltamem_tui.memory.credit.credit import Judged, node_credit
from deltamem_tui.memory.episodes import stored_episodes
from deltamem_tui.memory.learn_result import CollectionResult, LearnResult
from deltamem_tui.memory.memp.definition import (
    ADJUST,
    FACTS,
    KEY,
    PROCEDURES,
    SCRIPT,
    WAITING,
    MempNumbers,
    fact_payload,
    record_payload,
)
from deltamem_tui.memory.memp.recall import facts_of, names_of, recalled
from deltamem_tui.memory.memp.rules import ACTION
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import Change, Count, Due, MaintenanceResult, Plan, Revise
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.record_sets import addition
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.writers.extraction import Call, Extraction, FailedCallError
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean, counted
from deltamem_tui.trajectory.model import Trajectory


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Credit what was recalled; then plan a record, a repair, or nothing.

    Raises:
        ExtractionError: The writer could make nothing of it.
    """
    numbers = of_bank(bank, MempNumbers)
    shown, score = _shown_to(bank, episode, numbers, embedder)
    solved = int(bool(episode.outcome.success))
    counts = tuple(
        Count(PROCEDURES, each, solved if each == shown[0] else 0, 1, solved)
        for each in shown
        if bank.tree(PROCEDURES).find(each)
    )
    waiting = tuple(bank.tree(WAITING))
    update = Update(bank, numbers, writer, embedder, _credit(bank, episode, shown, solved))
    match = shown[0] if shown else None
    if len(waiting) + 1 < numbers.every:
        node = _waiting(episode, shown)
        vector = embedder.embed_passages([node.payload["task"]])[0]
        left = counted(numbers.every - len(waiting) - 1, "further episode")
        result = CollectionResult(
            WAITING, "wait", f"the update comes after {left}", node, match, score
        )
        changes = (*counts, addition(bank.tree(WAITING), node, vector))
        return Plan(LearnResult(episode.id, new=True, trees={WAITING: result}), changes)
    done = [_of_waiting(update, each) for each in waiting]
    node_or_none, reason = update.take(episode, shown)
    all_shown = [*(each for node in waiting for each in _shown(node)), *shown]
    deleted = update.delete_useless(all_shown)
    decision = _decision(node_or_none)
    if waiting:
        reason += f"; {sum(done)} of {counted(len(waiting), 'waiting episode')} taken up"
    if deleted:
        reason += f"; {counted(deleted, 'record')} deleted that mostly failed"
    result = CollectionResult(
        PROCEDURES, decision, reason, node_or_none, match, score, calls=tuple(update.calls)
    )
    learnt = LearnResult(episode.id, new=True, trees={PROCEDURES: result})
    return Plan(learnt, (*counts, *update.changes))


def placement(collection: str, found: CollectionRecall | None, settings: Settings) -> str:
    """Say what an episode with this question would come to."""
    if collection != PROCEDURES or not isinstance(settings, MempNumbers):
        return ""
    if settings.update == "vanilla":
        return "would become a record"
    if settings.update == "validation" or found is None or not found.chain:
        return "a success would become a record"
    best = found.chain[0].id[:8]
    return f"a success would become a record, a failure would rewrite {best}"


def _shown_to(
    bank: Bank, episode: Trajectory, numbers: MempNumbers, embedder: Embedder
) -> tuple[list[str], float | None]:
    """Return the records that an episode was shown, best first, and the score of the best one.

    Its receipts say that, if it has any of this memory; else it is what would be recalled now.
    """
    receipts = [
        [each for each in receipt.entries if each.collection == PROCEDURES]
        for receipt in episode.receipts
        if receipt.bank == bank.manifest.counts_as
        or any(each.collection == PROCEDURES for each in receipt.entries)
    ]
    if receipts:
        known = bank.tree(PROCEDURES).snapshot.first_row
        scores = {
            each.node: each.score
            for entries in receipts
            for each in entries
            if known(each.node) is not None
        }
        return list(scores), next(iter(scores.values()), None)
    found = recalled(bank, episode.task, numbers, embedder)
    score = found.candidates[0].score if found and found.candidates else None
    return [chain[0].id for chain in found.chains] if found else [], score


def _credit(
    bank: Bank, episode: Trajectory, shown: Sequence[str], solved: int
) -> Mapping[str, tuple[int, int]]:
    """Return what the episode's receipts add to the bank's credit, if that does not have it yet."""
    known = stored_episodes.episode(bank, episode.id)
    if not episode.receipts or (known and known.receipts):
        return {}
    return dict.fromkeys(shown, (1, solved))


def _decision(node: Node | None) -> str:
    if node is None:
        return "skip"
    return "repair" if node.origin.nodes else "record"


def _waiting(episode: Trajectory, shown: Sequence[str]) -> Node:
    payload = {"task": clean(episode.task).strip(), "shown": " ".join(shown)}
    origin = Origin(trajectory=episode.id, outcome_source=episode.outcome.source)
    label: Label = "success" if episode.outcome.success else "failure"
    return born(WAITING, None, label, payload, origin)


def _shown(node: Node) -> list[str]:
    return node.payload["shown"].split()


def _of_waiting(update: Update, node: Node) -> bool:
    """Take up an episode that waited; it waits on if the writer can make nothing of it."""
    episode = stored_episodes.episode(update.bank, node.origin.trajectory)
    try:
        if episode is not None:
            update.take(episode, _shown(node))
    except ExtractionError as error:
        update.calls += [error.call] if isinstance(error, FailedCallError) else []
        return False
    update.changes.append(Revise(WAITING, replace(node, deleted=True)))
    return True


def due(bank: Bank) -> Sequence[Due]:
    """Return the update, if more episodes wait than may: the writer could make nothing of some."""
    waiting, every = tuple(bank.tree(WAITING)), of_bank(bank, MempNumbers).every
    return [Due(WAITING, waiting)] if waiting and len(waiting) >= every else []


def maintain(
    bank: Bank,
    task: Due,  # noqa: ARG001 - there is one update at most
    writer: Writer,
    embedder: Embedder,
) -> Plan[MaintenanceResult] | None:
    """Take up the episodes that wait; None if no update is due."""
    if not due(bank):
        return None
    numbers = of_bank(bank, MempNumbers)
    waiting = tuple(bank.tree(WAITING))
    update = Update(bank, numbers, writer, embedder)
    done = [_of_waiting(update, each) for each in waiting]
    update.delete_useless([each for node in waiting for each in _shown(node)])
    reason = f"{sum(done)} of {counted(len(waiting), 'waiting episode')} taken up"
    changes = tuple(update.changes) if any(done) else ()
    result = MaintenanceResult(WAITING, waiting, None, reason, tuple(update.calls))
    return Plan(result, changes)


_LONGEST = 100_000  # characters of a trajectory, up to which it is kept to the letter
_OPTIONAL = ("fact", "script", "trajectory")


@dataclass(slots=True)
class Update:
    """One update of a bank's procedures, gathered; nothing is written.

    Attributes:
        credit: Shown and successful episodes that the bank's credit does not have yet, by record.
        changes: What is to be written, in this order.
        calls: What the writer was asked.
        repaired: By the id of each record that was repaired, what took its place.
    """

    bank: Bank
    numbers: MempNumbers
    writer: Writer
    embedder: Embedder
    credit: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    repaired: dict[str, Node] = field(default_factory=dict)
    _born: dict[str, list[Node]] = field(default_factory=dict)  # by record, its facts

    @property
    def tree(self) -> Tree:
        """The bank's procedures."""
        return self.bank.tree(PROCEDURES)

    def take(self, episode: Trajectory, shown: Sequence[str]) -> tuple[Node | None, str]:
        """Take up one episode that was shown some records, best first.

        Returns:
            The record that it became or repaired, None if it did neither; and why.

        Raises:
            ExtractionError: The writer could make nothing of it; nothing of it is gathered.
        """
        if episode.outcome.success or self.numbers.update == "vanilla":
            return self._added(episode)
        if self.numbers.update == "validation":
            return None, "the episode failed"
        record = self._latest(shown[0]) if shown else None
        if record is None:
            return None, "the episode failed, and was shown no record"
        return self._adjusted(record, episode)

    def delete_useless(self, shown: Sequence[str]) -> int:
        """Delete those of the records that were shown often enough and succeeded too seldom.

        Only what receipts say was shown tells against a record. What would have been recalled
        mostly shows how hard such tasks are.

        Returns:
            How many.
        """
        least, deleted = self.numbers.least_recalls, 0
        for each in dict.fromkeys(shown):
            node = None if each in self.repaired else self._present(each)
            if node is None or least is None:
                continue
            known, (more, solved) = self._judged(each), self.credit.get(each, (0, 0))
            judged, worth = known.judged + more, known.utility / UNIT + solved
            if judged >= least and worth < self.numbers.least_success * judged:
                self._delete(node)
                deleted += 1
        return deleted

    def _judged(self, record: str) -> Judged:
        """Return what the episodes were worth that receipts say were shown a record."""
        known = node_credit(self.bank, PROCEDURES, record, "success")
        return known.strict if known.strict.judged else known.coarse

    def _present(self, record: str) -> Node | None:
        """Return a record as it is now, or what took its place in this update; None if it is
        gone.
        """
        later = None
        while record in self.repaired:
            later = self.repaired[record]
            record = later.id
        try:
            return later or self.tree.node(record)
        except NodeNotFoundError:
            return None

    def _latest(self, record: str) -> Node | None:
        """Return the same, or what took its place in an earlier update: it comes from the same
        episode.
        """
        tree, present = self.tree, self._present(record)
        birth = tree.snapshot.first_row(record)
        if present or birth is None:
            return present
        source = tree.node_at(int(tree.snapshot.current[birth])).origin.trajectory
        repaired = (each for each in tree.roots() if each.origin.nodes)
        after = (self._present(each.id) for each in repaired if each.origin.trajectory == source)
        return next(after, None)

    def _added(self, episode: Trajectory) -> tuple[Node | None, str]:
        build, script = self.numbers.build, Extraction(None, "a record of the steps alone")
        if build != "trajectory":
            script = self._ask(SCRIPT, episode)
        text = script.payload["script"] if script.payload else ""
        steps = "" if build == "script" else steps_of(episode)
        facts = self._facts(episode)  # before the script is looked at, so that it is asked ahead
        if not text and not steps:
            return None, script.reason
        origin = script.origin(self.writer.name, episode)
        label: Label = "success" if episode.outcome.success else "failure"
        task = clean(episode.task).strip()
        return self._record(label, record_payload(task, text, steps), origin, facts), script.reason

    def _adjusted(self, record: Node, episode: Trajectory) -> tuple[Node | None, str]:
        found = self._ask(ADJUST, episode, (record,))
        if found.payload is None or found.payload["script"] == record.payload["script"]:
            return None, found.reason
        origin = Origin(
            trajectory=record.origin.trajectory,
            outcome_source=record.origin.outcome_source,
            extractor=self.writer.name,
            model=found.model,
            prompt=found.prompt,
            nodes=(record.id,),
            sources=(*record.origin.sources, episode.id),
        )
        facts = {node.payload["fact"]: node.payload[KEY] for node in self._children(record)}
        self._delete(record)
        payload = {**record.payload, "script": found.payload["script"]}
        node = self._record(record.label, payload, origin, facts)
        self.repaired[record.id] = node
        return node, found.payload["diagnosis"]

    def _ask(self, purpose: str, episode: Trajectory, notes: Sequence[Node] = ()) -> Extraction:
        found = self.writer.write(purpose, episode, notes)
        self.calls += found.calls("extract", PROCEDURES)
        return found

    def _facts(self, episode: Trajectory) -> dict[str, str]:
        """Return the facts of the episode's task by the bank's names, as questions will be read."""
        domain = self.bank.manifest.domain
        names = names_of(domain)
        asked = episode.with_facts(domain=domain)
        found = self.writer.write(FACTS, asked, (), {"names": ", ".join(names)})
        self.calls += found.calls("extract", PROCEDURES)
        return facts_of(found.payloads, None if self.writer.name == "rules" else names)

    def _record(
        self, label: Label, payload: Mapping[str, str], origin: Origin, facts: Mapping[str, str]
    ) -> Node:
        """Gather a new record and its facts, each embedded by itself."""
        fields = self.bank.collections[PROCEDURES].fields
        record = born(PROCEDURES, None, label, cleaned(payload, fields, _OPTIONAL), origin)
        texts = [cleaned(fact_payload(*each), fields, _OPTIONAL) for each in facts.items()]
        nodes = [record, *(born(PROCEDURES, record, label, text, origin) for text in texts)]
        for node in nodes:
            vector = self.embedder.embed_passages([node.payload[KEY]])[0]
            self.changes.append(addition(self.tree, node, vector))
        self._born[record.id] = nodes[1:]
        return record

    def _children(self, record: Node) -> list[Node]:
        known = self._born.get(record.id)
        return list(self.tree.children(record.id)) if known is None else known

    def _delete(self, record: Node) -> None:
        for node in (*self._children(record), record):
            self.changes.append(Revise(PROCEDURES, replace(node, deleted=True)))


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
