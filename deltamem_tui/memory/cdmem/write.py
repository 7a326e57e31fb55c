"""What an episode changes: its memories are filed under both halves of the index.

An expert's notes of the episode come first; from them the shortcut of a success, or the reflection
on a failure, and what is known of its environment. Where a list is full with it, its insights are
made anew in the same commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.cdmem.definition import (
    COLLECTIONS,
    ENVIRONMENTS,
    EXPERT,
    FAILURE,
    INSIGHTS,
    SHORTCUT,
    TASKS,
    ContextNumbers,
)
from deltamem_tui.memory.cdmem.index import LABELS, Index, Surroundings, env_of, filed, members
from deltamem_tui.memory.cdmem.insights import induce, list_of
from deltamem_tui.memory.cdmem.recall import answers
from deltamem_tui.memory.cdmem.rules import merged
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.kinds import OTHER, resolve_kinds
from deltamem_tui.memory.plan import (
    Change,
    CollectionResult,
    Count,
    LearnResult,
    Plan,
    Revise,
    addition,
)
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.writers.extraction import Call, Extraction
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

_KINDS = ("planning", "search", "operation")
_NOTHING = frozenset(("none", "nothing", "n/a", "-"))
_MEMORY_LINES = 200


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Plan an episode's short-term memory, its environment, and the insights it makes due.

    Raises:
        ExtractionError: The writer could make nothing of the episode.
    """
    kinds = resolve_kinds(bank, episode, writer, _known_kinds(bank))
    episode, domain = kinds.episode, episode.domain or bank.manifest.domain
    stated = "" if kinds.env.name == OTHER else kinds.env.name
    env = env_of(domain, clean(scene_of(episode))) or stated
    place = Surroundings(
        clean(episode.task).strip(), kinds.task.name, env, kinds.env.name if env else ""
    )
    index, numbers = Index(bank, embedder), of_bank(bank, ContextNumbers)
    success = bool(episode.outcome.success)
    credit: list[Change] = [
        Count(name, chain[-1].id, success, 1, success)
        for name, answer in answers(index, place, numbers).items()
        for chain in (answer.chains if answer else ())
    ]
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
    """What one episode changes in a bank, gathered; nothing is written."""

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
        bank, size, name = self.index.bank, self.numbers.batch, INSIGHTS[collection]
        known = self.index.living(collection, root) is not None
        nodes = [*(list_of(bank, collection, root) if known else ()), node]
        new = sum(not each.consolidated for each in nodes)
        self.results[name] = CollectionResult(name, "waiting", f"{new} of {size} new memories")
        if new < size:
            return self._add(collection, root, place, node)
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
