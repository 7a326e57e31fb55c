"""Changes from an episode: its memories are filed under both halves of the index.

An expert's notes of the episode come first; from them the shortcut of a success, or the reflection
on a failure, and what is known of its environment. Where a list is full with it, its insights are
made anew in the same commit: exactly B new members make a batch, however many wait. What comes of
it replaces the insights that the list had, except those that persist word for word; where nothing
usable comes, nothing is replaced and the batch stays due.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.cdmem.definition import (
    COLLECTIONS,
    ENVIRONMENTS,
    EXPERT,
    FAILURE,
    FUNCTIONS,
    INSIGHTS,
    MISTAKES,
    PLANS,
    SHORTCUT,
    TASKS,
    ContextNumbers,
)
from deltamem_tui.memory.cdmem.recall import (
    LABELS,
    Index,
    Surroundings,
    answers,
    env_of,
    filed,
    members,
)
from deltamem_tui.memory.cdmem.rules import merged
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.kinds import OTHER, resolve_kinds
from deltamem_tui.memory.method import cleaned
from deltamem_tui.memory.plan import (
    Change,
    CollectionResult,
    Due,
    LearnResult,
    MaintenanceResult,
    Plan,
    Revise,
    addition,
    credited,
    deletion,
    set_change,
)
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.writers.extraction import Call, Extraction, FailedCallError, Inputs
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

_KINDS = ("planning", "search", "operation")
_NOTHING = frozenset(("none", "nothing", "n/a", "-"))
_MEMORY_LINES = 200


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Plan an episode's short-term memory, its environment, and the insights it makes due."""
    kinds = resolve_kinds(bank, episode, writer, partial(_known_kinds, bank))
    episode, domain = kinds.episode, episode.domain or bank.manifest.domain
    stated = "" if kinds.env.name == OTHER else kinds.env.name
    env = env_of(domain, clean(scene_of(episode))) or stated
    place = Surroundings(
        clean(episode.task).strip(), kinds.task.name, env, kinds.env.name if env else ""
    )
    index, numbers = Index(bank, embedder), of_bank(bank, ContextNumbers)
    success = bool(episode.outcome.success)
    found = answers(index, place, numbers).values()
    credit = [change for each in found for change in credited(each, success=success)]
    update = _Update(index, episode, place, numbers, writer, credit)
    notes = writer.write(EXPERT, episode, ())
    if notes.payload is None:
        skipped = {name: CollectionResult(name, "skip", notes.reason) for name in COLLECTIONS}
        return Plan(LearnResult(episode.id, True, skipped), tuple(credit), episode)
    expert = {name: _said(text) for name, text in notes.payload.items()}
    written = update.remember(expert, kinds.calls)
    update.file_environment(expert, notes, _said((written.payload or {}).get("env_memory", "")))
    results = {name: update.results[name] for name in COLLECTIONS}
    return Plan(LearnResult(episode.id, True, results), tuple(update.changes), episode)


def _known_kinds(bank: Bank) -> list[str]:
    """Return the kinds of task that a bank has, those with most memories first."""
    tree = bank.tree(TASKS)
    sizes: dict[str, int] = {}
    for root in tree.roots():
        kind = root.payload["text"]
        sizes[kind] = sizes.get(kind, 0) + len(members(tree, root))
    return sorted(sizes, key=lambda kind: (-sizes[kind], kind))


@dataclass(frozen=True, slots=True)
class _Update:
    """The changes of one episode to a bank, gathered; nothing is written."""

    index: Index
    episode: Trajectory
    place: Surroundings
    numbers: ContextNumbers
    writer: Writer
    changes: list[Change]
    results: dict[str, CollectionResult] = field(default_factory=dict)

    def remember(self, expert: Mapping[str, str], calls: tuple[Call, ...]) -> Extraction:
        """File the shortcut of a success, or the reflection on a failure, below its task."""
        place, label, inputs = self.place, self._label, {"expert_actions": expert["actions"]}
        if label == "failure":
            here = self._environment
            inputs["env_memory"] = here.payload["memory"] if here else ""
            inputs["locations"] = expert["locations"]
        roots = [self.index.root(TASKS, place.kind, each) for each in LABELS]
        tasks = [self.index.place(TASKS, each, place.task, place.env) for each in roots]
        earlier = [node for each in tasks for node in self.index.below(TASKS, each)]
        purpose = SHORTCUT if label == "success" else FAILURE
        written = self.writer.write(purpose, self.episode, earlier, inputs)
        calls = (*calls, *written.calls("extract", TASKS))
        if written.payload is None:
            self._nothing(TASKS, "skip", written.reason, calls)
            return written
        root = roots[LABELS.index(label)] or filed(TASKS, None, label, {"text": place.kind})
        texts = {"text": place.task, "env": place.env}
        task = tasks[LABELS.index(label)] or filed(TASKS, root, label, texts)
        steps = str(len(self.episode.steps))
        said = _memory(written.payload, label) | {"steps": steps}
        node = filed(TASKS, task, label, said, written.origin(self.writer.name, self.episode))
        self._file(TASKS, root, task, node)
        decision = "shortcut" if label == "success" else "reflection"
        result = CollectionResult(TASKS, decision, written.reason, node, calls=calls)
        self.results[TASKS] = result
        return written

    def file_environment(self, expert: Mapping[str, str], notes: Extraction, told: str) -> None:
        """File what is known of the environment now, and what things in it were seen to do.

        After a failure, the writer may have `told` what is known.
        """
        calls, place = notes.calls("extract", ENVIRONMENTS), self.place
        if not place.env:
            reason = "the episode says nothing of its environment"
            return self._nothing(ENVIRONMENTS, "unasked", reason, calls)
        root = self.index.root(ENVIRONMENTS, place.env_kind) or filed(
            ENVIRONMENTS, None, "success", {"text": place.env_kind}
        )
        known = self._environment
        here = known or filed(ENVIRONMENTS, root, "success", {"text": place.env})
        memory = told or merged(here.payload["memory"], expert["locations"])
        payload = {**here.payload, "memory": "\n".join(memory.splitlines()[-_MEMORY_LINES:])}
        node, decision, reason = here, "places", "no function of a thing was seen"
        if expert["functions"]:
            origin = notes.origin(self.writer.name, self.episode)
            node = filed(ENVIRONMENTS, here, self._label, {"text": expert["functions"]}, origin)
            decision, reason = "functions", notes.reason
            self._file(ENVIRONMENTS, root, here, node)
        else:
            self._nothing(ENVIRONMENTS, decision, reason, calls)
            self._add(ENVIRONMENTS, root, here)
        if here.payload != payload:
            self.changes.append(Revise(ENVIRONMENTS, replace(here, payload=payload)))
        result = CollectionResult(ENVIRONMENTS, decision, reason, node, calls=calls)
        self.results[ENVIRONMENTS] = result
        return None

    @property
    def _label(self) -> Label:
        return "success" if self.episode.outcome.success else "failure"

    @property
    def _environment(self) -> Node | None:
        root = self.index.root(ENVIRONMENTS, self.place.env_kind)
        return self.index.place(ENVIRONMENTS, root, self.place.env)

    def _file(self, collection: str, root: Node, place: Node, node: Node) -> None:
        """Add a memory below its place, with new insights if a batch of its list is full."""
        size, name, tree = (
            self.numbers.batch,
            INSIGHTS[collection],
            self.index.bank.tree(collection),
        )
        known = self.index.living(collection, root) is not None
        rows = members(tree, root) if known else tree.rows[:0]
        new = 1 + int((~tree.snapshot.index["consolidated"][rows]).sum())
        self.results[name] = CollectionResult(name, "waiting", f"{new} of {size} new memories")
        if new < size:
            return self._add(collection, root, place, node)
        nodes = [*(tree.node_at(int(row)) for row in rows), node]
        made = induce(self.index, collection, root, nodes, size, self.writer)
        self._add(collection, root, place, replace(node, consolidated=node in made.read))
        decision = "insights" if made.read else "postponed"
        self.results[name] = CollectionResult(
            name, decision, made.reason, made.first, calls=made.calls
        )
        others = (each for each in made.read if each.id != node.id)
        self.changes.extend(Revise(collection, replace(each, consolidated=True)) for each in others)
        self.changes.extend(made.changes)
        return None

    def _add(self, collection: str, *nodes: Node) -> None:
        """Add those nodes that the bank does not have."""
        tree = self.index.bank.tree(collection)
        new = (each for each in nodes if self.index.living(collection, each) is None)
        self.changes.extend(addition(tree, each, self.index.embedder) for each in new)

    def _nothing(self, half: str, decision: str, reason: str, calls: tuple[Call, ...]) -> None:
        name = INSIGHTS[half]
        self.results[half] = CollectionResult(half, decision, reason, calls=calls)
        self.results[name] = CollectionResult(
            name, "waiting", "nothing was filed that insights come from"
        )


def _memory(payload: Mapping[str, str], label: Label) -> dict[str, str]:
    """Return the texts of a short-term memory from what a writer answered."""
    if label == "success":
        return {"text": payload["plan"], "actions": payload["actions"]}
    said = payload["failure"].casefold()
    return {
        "text": payload["reflection"],
        "failure": next((kind for kind in _KINDS if kind in said), ""),
        "cause": payload.get("cause", ""),
        "remedy": payload["next_plan"],
    }


def _said(text: str) -> str:
    """Return a text, empty if it says that there is nothing."""
    return "" if text.strip().rstrip(".").casefold() in _NOTHING else text.strip()


@dataclass(frozen=True, slots=True)
class Induction:
    """The result of a batch: the members it was made from, and the first insight that is new."""

    reason: str
    calls: tuple[Call, ...] = ()
    changes: tuple[Change, ...] = ()
    read: tuple[Node, ...] = ()
    first: Node | None = None


def induce(
    index: Index, collection: str, root: Node, nodes: Sequence[Node], size: int, writer: Writer
) -> Induction:
    """Return the insights of a list after its oldest batch of new members."""
    name, kind = INSIGHTS[collection], root.payload["text"]
    tree, known = index.bank.tree(name), index.root(INSIGHTS[collection], kind, root.label)
    present = index.below(name, known)
    stale = _is_stale(present, nodes)
    batch = nodes if stale else [each for each in nodes if not each.consolidated][:size]
    inputs: Inputs = {
        "kind": kind,
        "batch": tuple(map(_text, batch)),
        "insights": tuple(node.payload["text"] for node in present if not stale),
    }
    calls: tuple[Call, ...] = ()
    try:
        written = writer.write(_purpose(collection, root), None, nodes, inputs)
        calls = written.calls("induce", name)
        fields = COLLECTIONS[name].fields
        wanted = [cleaned({"text": each["insight"]}, fields) for each in written.payloads]
    except FailedCallError as error:
        return Induction(str(error), (error.call,))
    except ExtractionError as error:
        return Induction(str(error), calls)
    if not wanted:
        return Induction(written.reason, calls)
    above = known or filed(name, None, root.label, {"text": kind})
    # What all are read anew for comes of none of the earlier ones.
    change = set_change([] if stale else present, wanted)
    origin = Origin(
        outcome_source=batch[-1].origin.outcome_source,
        extractor=writer.name,
        model=written.model,
        prompt=written.prompt,
        sources=tuple(dict.fromkeys(each for node in batch for each in node.origin.episodes)),
    )
    added = [filed(name, above, root.label, payload, origin) for payload in change.added]
    changes = (
        *(deletion(name, each) for each in (present if stale else change.removed)),
        *(addition(tree, each, index.embedder) for each in (*([] if known else [above]), *added)),
    )
    return Induction(written.reason, calls, changes, tuple(batch), added[0] if added else None)


def _purpose(collection: str, root: Node) -> str:
    if collection == ENVIRONMENTS:
        return FUNCTIONS
    return PLANS if root.label == "success" else MISTAKES


def _text(member: Node) -> str:
    """Return a member of a batch as a model reads it."""
    said = member.payload
    if not said.get("remedy"):
        return said["text"]
    return f"{said['failure'] or 'failure'}: {said['text']}\nNext time: {said['remedy']}"


def _is_stale(insights: Sequence[Node], nodes: Sequence[Node]) -> bool:
    """Return whether insights come of an episode that is remembered no more, as after a verdict."""
    known = {episode for each in nodes for episode in each.origin.episodes}
    return any(not known.issuperset(each.origin.episodes) for each in insights)


def list_of(bank: Bank, collection: str, root: Node) -> list[Node]:
    """Return the members of a list, in order of birth."""
    tree = bank.tree(collection)
    return [tree.node_at(int(row)) for row in members(tree, root)]


def due(bank: Bank) -> list[Due]:
    """Return the lists with a full batch, once for each, and those whose insights are stale."""
    size, found = of_bank(bank, ContextNumbers).batch, []
    for collection, name in INSIGHTS.items():
        insights = {(each.payload["text"], each.label): each for each in bank.tree(name).roots()}
        for root in bank.tree(collection).roots():
            nodes = list_of(bank, collection, root)
            known = insights.get((root.payload["text"], root.label))
            present = list(bank.tree(name).children(known.id)) if known else []
            times = sum(not each.consolidated for each in nodes) // size
            times = times or int(_is_stale(present, nodes))
            found += [Due(collection, (root,))] * times
    return found


def maintain(
    bank: Bank, task: Due, writer: Writer, embedder: Embedder
) -> Plan[MaintenanceResult] | None:
    """Make the insights of one list anew; None if that is no longer due."""
    root = task.nodes[-1]
    if task not in [Due(each.collection, each.nodes) for each in due(bank)]:
        return None
    index, name = Index(bank, embedder), INSIGHTS[task.collection]
    nodes = list_of(bank, task.collection, root)
    if not nodes:
        known = index.root(name, root.payload["text"], root.label)
        gone = tuple(deletion(name, each) for each in index.below(name, known))
        return Plan(MaintenanceResult(name, (root,), None, "no memory of the kind is left"), gone)
    size = of_bank(bank, ContextNumbers).batch
    made = induce(index, task.collection, root, nodes, size, writer)
    read = (Revise(task.collection, replace(each, consolidated=True)) for each in made.read)
    result = MaintenanceResult(
        name, (root,), root if made.read else None, made.reason, made.calls, made.first is not None
    )
    return Plan(result, (*made.changes, *read))
