"""What an episode changes: its memories are filed under both halves of the index.

An expert's notes of the episode come first; from them the shortcut of a success, or the reflection
on a failure, and what is known of its environment. Where a list is full with it, its insights are
made anew in the same commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
from deltamem_tui.memory.cdmem.index import (
    IndexReader,
    Surroundings,
    filed,
    members,
    of_episode,
    tries,
    unread,
)
from deltamem_tui.memory.cdmem.insights import FullList, induce
from deltamem_tui.memory.cdmem.recall import Recaller, known_kinds
from deltamem_tui.memory.cdmem.rules import merged
from deltamem_tui.memory.kinds import KindResolution, resolve_kinds
from deltamem_tui.memory.learn_result import CollectionResult, LearnResult
from deltamem_tui.memory.plan import Change, Count, Plan, Revise
from deltamem_tui.memory.record_sets import addition
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.writers.extraction import Call, Extraction
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.trajectory.model import Trajectory

_KINDS = ("planning", "search", "operation")
_NOTHING = frozenset(("none", "nothing", "n/a", "-"))
_MEMORY_LINES = 200
_LABELS: tuple[Label, Label] = ("success", "failure")


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Plan an episode's short-term memory, its environment, and the insights it makes due."""
    index = IndexReader(bank, embedder)
    kinds = resolve_kinds(bank, episode, writer, known_kinds(index))
    place = of_episode(bank, episode, kinds.kinds)
    return Planner(index, kinds, place, of_bank(bank, ContextNumbers), writer).plan()


@dataclass(frozen=True, slots=True)
class _Part:
    """What an episode comes to in one half of the index, and in the insights into it."""

    results: tuple[CollectionResult, CollectionResult]
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans what one episode changes in a bank as it stands."""

    index: IndexReader
    kinds: KindResolution
    place: Surroundings
    numbers: ContextNumbers
    writer: Writer

    def plan(self) -> Plan[LearnResult]:
        """Return the decisions, and what they change.

        Raises:
            ExtractionError: The writer could make nothing of the episode.
        """
        episode, credit = self.kinds.episode, self._credit()
        notes = self.writer.write(EXPERT, episode, ())
        if notes.payload is None:
            skipped = {name: CollectionResult(name, "skip", notes.reason) for name in COLLECTIONS}
            return Plan(LearnResult(episode.id, True, skipped), credit, episode)
        expert = {name: _said(text) for name, text in notes.payload.items()}
        written = self._short_term(expert)
        of_task = self._task_part(written)
        of_env = self._env_part(expert, written, notes)
        results = {each.tree: each for each in (*of_task.results, *of_env.results)}
        results = {name: results[name] for name in COLLECTIONS}
        changes = (*credit, *of_task.changes, *of_env.changes)
        return Plan(LearnResult(episode.id, True, results), changes, episode)

    @property
    def episode(self) -> Trajectory:
        """The episode with its kinds."""
        return self.kinds.episode

    @property
    def _label(self) -> Label:
        return "success" if self.episode.outcome.success else "failure"

    def _credit(self) -> tuple[Count, ...]:
        """Return every record that the episode would be shown is credited with how it ended."""
        success = bool(self.episode.outcome.success)
        found = Recaller(self.index, self.place, self.numbers).answers()
        return tuple(
            Count(name, chain[-1].id, int(success), 1, int(success))
            for name, answer in found.items()
            for chain in (answer.chains if answer else ())
        )

    def _short_term(self, expert: Mapping[str, str]) -> Extraction:
        """Return the shortcut of a success, or the reflection on a failure."""
        inputs = {"expert_actions": expert["actions"]}
        earlier = self._earlier()
        if self._label == "success":
            return self.writer.write(SHORTCUT, self.episode, earlier, inputs)
        inputs |= {"locations": expert["locations"], "env_memory": self._env_memory()}
        return self.writer.write(FAILURE, self.episode, earlier, inputs)

    def _earlier(self) -> list[Node]:
        """Return what was remembered of this very task in this environment, in order of birth."""
        tree, place = self.index.bank.tree(TASKS), self.place
        roots = (self.index.root(TASKS, place.kind, label) for label in _LABELS)
        found = (self.index.place(TASKS, each, place.task, place.env) for each in roots if each)
        rows = [int(row) for each in found if each for row in tries(tree, each)]
        return [tree.node_at(row) for row in sorted(rows, key=lambda row: int(tree.birth[row]))]

    def _env_memory(self) -> str:
        here = self._environment()
        return here.payload["memory"] if here else ""

    def _environment(self) -> Node | None:
        root = self.index.root(ENVIRONMENTS, self.place.env_kind)
        return self.index.place(ENVIRONMENTS, root, self.place.env) if root else None

    def _task_part(self, written: Extraction) -> _Part:
        """Return the short-term memory below its task, and the insights if its list is full."""
        calls = (*self.kinds.calls, *written.calls("extract", TASKS))
        if written.payload is None:
            return _nothing(TASKS, "skip", written.reason, calls)
        label, place = self._label, self.place
        root = self._root(TASKS, place.kind, label)
        task = self.index.place(TASKS, root, place.task, place.env)
        task = task or filed(TASKS, root, label, {"text": place.task, "env": place.env})
        texts = _memory(written.payload, label) | {"steps": str(len(self.episode.steps))}
        node = filed(TASKS, task, label, texts, written.origin(self.writer.name, self.episode))
        insights, induced = self._insights(TASKS, root, node)
        decision = "shortcut" if label == "success" else "reflection"
        result = CollectionResult(TASKS, decision, written.reason, node, calls=calls)
        return _Part((result, insights), (*self._adding(TASKS, root, task, node), *induced))

    def _env_part(self, expert: Mapping[str, str], written: Extraction, notes: Extraction) -> _Part:
        """Return what is known of the environment now, and what things in it were seen to do."""
        calls = notes.calls("extract", ENVIRONMENTS)
        if not self.place.env:
            reason = "the episode says nothing of its environment"
            return _nothing(ENVIRONMENTS, "unasked", reason, calls)
        root = self._root(ENVIRONMENTS, self.place.env_kind, "success")
        memory = self._new_memory(expert["locations"], written)
        known = self._environment()
        here = known or filed(ENVIRONMENTS, root, "success", {"text": self.place.env})
        changes = list(self._adding(ENVIRONMENTS, root, here))
        if here.payload["memory"] != memory:
            payload = {**here.payload, "memory": memory}
            changes.append(Revise(ENVIRONMENTS, replace(here, payload=payload)))
        if not expert["functions"]:
            reason = "no function of a thing was seen"
            result = CollectionResult(ENVIRONMENTS, "places", reason, here, calls=calls)
            return _Part((result, _no_insights(ENVIRONMENTS)), tuple(changes))
        texts = {"text": expert["functions"]}
        node = filed(
            ENVIRONMENTS, here, self._label, texts, notes.origin(self.writer.name, self.episode)
        )
        insights, induced = self._insights(ENVIRONMENTS, root, node)
        result = CollectionResult(ENVIRONMENTS, "functions", notes.reason, node, calls=calls)
        changes += [*self._adding(ENVIRONMENTS, node), *induced]
        return _Part((result, insights), tuple(changes))

    def _new_memory(self, locations: str, written: Extraction) -> str:
        """Return where things are in this environment: after a failure, as the writer has it
        now.
        """
        told = _said((written.payload or {}).get("env_memory", ""))
        memory = told or merged(self._env_memory(), locations)
        return "\n".join(memory.splitlines()[-_MEMORY_LINES:])

    def _insights(
        self, collection: str, root: Node, node: Node
    ) -> tuple[CollectionResult, tuple[Change, ...]]:
        """Return the insights of a list after a new member: made anew if a batch is full."""
        tree, size, name = (
            self.index.bank.tree(collection),
            self.numbers.batch,
            INSIGHTS[collection],
        )
        known = tree.snapshot.first_row(root.id) is not None
        new = (len(unread(tree, root)) if known else 0) + 1
        if new < size:
            return CollectionResult(name, "waiting", f"{new} of {size} new memories"), ()
        rows = members(tree, root) if known else ()
        nodes = (*(tree.node_at(int(row)) for row in rows), node)
        made = induce(self.index, FullList(collection, root, nodes, new), size, self.writer)
        decision = "insights" if made.root else "postponed"
        result = CollectionResult(name, decision, made.reason, made.first, calls=made.calls)
        return result, made.changes

    def _root(self, collection: str, kind: str, label: Label) -> Node:
        root = self.index.root(collection, kind, label)
        return root or filed(collection, None, label, {"text": kind})

    def _adding(self, collection: str, *nodes: Node) -> list[Change]:
        """Return the additions of those nodes that the bank does not have."""
        tree = self.index.bank.tree(collection)
        return [
            addition(tree, node, self.index.vector(node.payload["text"]))
            for node in nodes
            if self.index.living(collection, node) is None
        ]


def _nothing(half: str, decision: str, reason: str, calls: tuple[Call, ...]) -> _Part:
    result = CollectionResult(half, decision, reason, calls=calls)
    return _Part((result, _no_insights(half)))


def _no_insights(half: str) -> CollectionResult:
    return CollectionResult(INSIGHTS[half], "waiting", "nothing was filed that insights come from")


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
