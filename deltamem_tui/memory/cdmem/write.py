"""CDMem's write: an episode's memories are filed under both halves of the context index.

An expert's notes of the episode come first; from them the shortcut of a success, or the reflection
on a failure, and what is known of its environment. Where a list is full with it, its insights are
made anew in the same commit: exactly B new members make a batch, however many wait. What comes of
it replaces the insights that the list had, except those that persist word for word; where nothing
usable comes, nothing is replaced and the batch waits for the next memory of its list.

Without a model the notes are what the log shows, and insights are made from all members of their
list, so that neither their order nor the size of a batch matters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    METHOD,
    MISTAKES,
    MOST_INSIGHTS,
    PLANS,
    SHORTCUT,
    TASKS,
    ContextNumbers,
)
from deltamem_tui.memory.cdmem.recall import (
    LABELS,
    Index,
    answers,
    filed,
    members,
    place_of,
)
from deltamem_tui.memory.domain import domain_for
from deltamem_tui.memory.findings import effective_steps, failure_of, way_of
from deltamem_tui.memory.kinds import resolve_kind
from deltamem_tui.memory.plan import (
    Change,
    CollectionResult,
    LearnResult,
    Plan,
    Revise,
    addition,
    credited,
    deletion,
    set_change,
)
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.writers.extraction import (
    NO_INPUTS,
    Call,
    Extraction,
    Inputs,
    Notes,
    extraction_of,
)
from deltamem_tui.memory.writers.writer import Writer, written_of
from deltamem_tui.text import clean, counted, one_line
from deltamem_tui.trajectory.model import Trajectory, scene_of

_KINDS = ("planning", "search", "operation")
_NOTHING = frozenset(("none", "nothing", "n/a", "-"))
_MEMORY_LINES = 200
_MOST_ITEMS = 12


def plan(bank: Bank, episode: Trajectory, writer: Writer, embedder: Embedder) -> Plan[LearnResult]:
    """Plan an episode's short-term memory, its environment, and the insights it makes due."""
    known = bank.tree(TASKS).roots
    kind = resolve_kind(bank, episode, writer, lambda: (each.payload["text"] for each in known()))
    episode, domain = kind.episode, episode.domain or bank.manifest.domain
    task, place = clean(episode.task).strip(), place_of(domain, clean(scene_of(episode)))
    index = Index(bank, task, kind.task, *place)
    numbers, success = of_bank(bank, ContextNumbers), bool(episode.outcome.success)
    found = answers(index, numbers, embedder).values()
    credit = [change for each in found for change in credited(each, success=success)]
    notes = writer.write(EXPERT, episode, ())
    if notes.payload is None:
        skipped = {name: CollectionResult(name, "skip", notes.reason) for name in COLLECTIONS}
        return Plan(LearnResult(episode.id, True, skipped), tuple(credit), episode)
    nothing = "nothing was filed that insights come from"
    waiting = {name: CollectionResult(name, "waiting", nothing) for name in INSIGHTS.values()}
    update = _Update(index, episode, numbers.batch, writer, embedder, credit, waiting)
    expert = {name: _said(text) for name, text in notes.payload.items()}
    told = update.remember(expert, kind.calls)
    update.file_environment(expert, notes, told)
    results = {name: update.results[name] for name in COLLECTIONS}
    return Plan(LearnResult(episode.id, True, results), tuple(update.changes), episode)


def _said(text: str) -> str:
    """Return a text, empty if it says that there is nothing."""
    return "" if text.strip().rstrip(".").casefold() in _NOTHING else text.strip()


@dataclass(frozen=True, slots=True)
class _Update:
    """The changes of one episode to a bank, gathered; nothing is written."""

    index: Index
    episode: Trajectory
    batch: int
    writer: Writer
    embedder: Embedder
    changes: list[Change]
    results: dict[str, CollectionResult]

    @property
    def _label(self) -> Label:
        return "success" if self.episode.outcome.success else "failure"

    def remember(self, expert: Mapping[str, str], calls: tuple[Call, ...]) -> str:
        """File the shortcut of a success, or the reflection on a failure, below its task.

        Returns what a failure says of the environment; empty if nothing.
        """
        index, label = self.index, self._label
        purpose, inputs = SHORTCUT, {"expert_actions": expert["actions"]}
        if label == "failure":
            here = index.at(ENVIRONMENTS)
            known = here.payload["memory"] if here else ""
            purpose, inputs = FAILURE, {**inputs, "env_memory": known}
            inputs["locations"] = expert["locations"]
        tasks = [index.at(TASKS, each) for each in LABELS]
        earlier = [node for task in tasks for node in index.below(TASKS, task)]
        written = self.writer.write(purpose, self.episode, earlier, inputs)
        calls = (*calls, *written.calls("extract", TASKS))
        if (said := written.payload) is None:
            self.results[TASKS] = CollectionResult(TASKS, "skip", written.reason, calls=calls)
            return ""
        root, task = index.path(TASKS, label)
        texts = {"steps": str(len(self.episode.steps))}
        if label == "success":
            texts |= {"text": said["plan"], "actions": said["actions"]}
        else:
            kind = next((kind for kind in _KINDS if kind in said["failure"].casefold()), "")
            texts |= {"text": said["reflection"], "failure": kind, "remedy": said["next_plan"]}
        node = filed(TASKS, task, label, texts, written.origin(self.writer.name, self.episode))
        decision = "shortcut" if label == "success" else "reflection"
        self.results[TASKS] = CollectionResult(TASKS, decision, written.reason, node, calls=calls)
        self._file(TASKS, root, task, node)
        return _said(said.get("env_memory", ""))

    def file_environment(self, expert: Mapping[str, str], notes: Extraction, told: str) -> None:
        """File what is known of the environment now, and what things in it were seen to do.

        After a failure, the writer may have `told` what is known.
        """
        index, half = self.index, ENVIRONMENTS
        calls = notes.calls("extract", half)
        if not index.env:
            reason = "the episode says nothing of its environment"
            self.results[half] = CollectionResult(half, "unasked", reason, calls=calls)
            return
        root, here = index.path(half)
        here = index.at(half) or here
        memory = told or merged(here.payload["memory"], expert["locations"])
        memory = "\n".join(memory.splitlines()[-_MEMORY_LINES:])
        if expert["functions"]:
            origin = notes.origin(self.writer.name, self.episode)
            node = filed(half, here, self._label, {"text": expert["functions"]}, origin)
            result = CollectionResult(half, "functions", notes.reason, node, calls=calls)
            self._file(half, root, here, node)
        else:
            reason = "no function of a thing was seen"
            result = CollectionResult(half, "places", reason, here, calls=calls)
            self._add(half, root, here)
        self.results[half] = result
        if here.payload["memory"] != memory:
            payload = {**here.payload, "memory": memory}
            self.changes.append(Revise(half, replace(here, payload=payload)))

    def _file(self, half: str, root: Node, place: Node, node: Node) -> None:
        """Add a memory below its place, with new insights if a batch of its list is full."""
        name = INSIGHTS[half]
        tree, known = self.index.bank.tree(half), self.index.living(half, root)
        rows = members(tree, known) if known else ()
        nodes = [*(tree.node_at(int(row)) for row in rows), node]
        new = [each for each in nodes if not each.consolidated]
        self._add(half, root, place, node)
        if len(new) < self.batch:
            reason = f"{len(new)} of {self.batch} new memories"
            self.results[name] = CollectionResult(name, "waiting", reason)
            return
        self._induce(half, root, nodes, new[: self.batch])

    def _induce(self, half: str, root: Node, nodes: Sequence[Node], batch: Sequence[Node]) -> None:
        """Make the insights of a list anew after its oldest batch of new members."""
        index, writer, name, kind = self.index, self.writer, INSIGHTS[half], root.payload["text"]
        known = index.root(name, kind, root.label)
        old = index.below(name, known)
        inputs: Inputs = {
            "kind": kind,
            "batch": tuple(map(_text, batch)),
            "insights": tuple(node.payload["text"] for node in old),
        }
        purpose = MISTAKES if root.label == "failure" else PLANS
        purpose = FUNCTIONS if half == ENVIRONMENTS else purpose
        written, wanted, calls = written_of(
            writer,
            purpose,
            nodes,
            lambda each: METHOD.cleaned(name, {"text": each["insight"]}),
            ("induce", name),
            inputs,
        )
        if not wanted:
            self.results[name] = CollectionResult(name, "postponed", written.reason, calls=calls)
            return
        above = known or filed(name, None, root.label, {"text": kind})
        gone, new = set_change(old, wanted)
        sources = tuple(dict.fromkeys(each for node in batch for each in node.origin.episodes))
        of_batch = Origin(outcome_source=batch[-1].origin.outcome_source, sources=sources)
        origin = written.origin(writer.name, before=of_batch)
        added = [filed(name, above, root.label, payload, origin) for payload in new]
        first = added[0] if added else None
        self.results[name] = CollectionResult(name, "insights", written.reason, first, calls=calls)
        self.changes.extend(deletion(name, each) for each in gone)
        self._add(name, above, *added)
        self.changes.extend(Revise(half, replace(each, consolidated=True)) for each in batch)

    def _add(self, half: str, *nodes: Node) -> None:
        """Add those nodes that the bank does not have."""
        tree = self.index.bank.tree(half)
        new = (each for each in nodes if self.index.living(half, each) is None)
        self.changes.extend(addition(tree, each, self.embedder) for each in new)


def _text(member: Node) -> str:
    """Return a member of a batch as a model reads it."""
    said = member.payload
    if not said.get("remedy"):
        return said["text"]
    return f"{said['failure'] or 'failure'}: {said['text']}\nNext time: {said['remedy']}"


# Texts without a model


def write_by_rules(
    purpose: str, episode: Trajectory | None, notes: Notes, inputs: Inputs = NO_INPUTS
) -> Extraction:
    """Return what one of the method's prompts asks for.

    Insights are made from the notes, all members of their list; the environment of a failure as it
    is known so far is the input `env_memory`.
    """
    if episode is None:
        if not notes:
            raise ExtractionError("no short-term memories to summarise")
        insights = [{"insight": text} for text in by_support(purpose, notes)[:MOST_INSIGHTS]]
        return extraction_of(insights, f"from {counted(len(notes), 'memory', 'memories')}")
    if not episode.steps:
        return Extraction(None, "the episode has no steps")
    if purpose == EXPERT:
        return Extraction(expert_notes(episode), "what the log shows")
    if purpose == SHORTCUT:
        actions, plan = _done_in(episode), "\n".join(way_of(episode))
        texts = {"actions": actions, "plan": plan} if actions and plan else None
        return Extraction(texts, "the actions that had an effect")
    found, known = failure_of(episode), str(inputs.get("env_memory", ""))
    payload = {
        "env_memory": merged(known, expert_notes(episode)["locations"]),
        "failure": found.kind,
        "reflection": found.reflection,
        "next_plan": found.plan,
    }
    return Extraction(payload, f"a failure of {found.kind}")


def expert_notes(episode: Trajectory) -> dict[str, str]:
    """Write down where things are, what devices do, what was done: one a line."""
    domain = domain_for(episode.domain)
    places = dict(domain.places_of_things(episode)).items()
    located = [f"{thing}: {place}" for thing, place in places if place]
    return {
        "locations": "\n".join(located),
        "functions": "\n".join(fact.line for fact in domain.functions(episode)),
        "actions": _done_in(episode) or "none had an effect",
    }


def _done_in(episode: Trajectory) -> str:
    return "\n".join(one_line(episode.steps[at].action) for at in effective_steps(episode))


def merged(known: str, new: str) -> str:
    """Return the lines `thing: place` of an environment with new ones: a thing is at one place."""
    lines: dict[str, str] = {}
    for line in filter(str.strip, [*known.splitlines(), *new.splitlines()]):
        thing = line.partition(":")[0].strip().casefold()
        lines.pop(thing, None)
        lines[thing] = line.strip()
    return "\n".join(lines.values())


def by_support(purpose: str, notes: Sequence[Node]) -> list[str]:
    """Return what notes conclude, of more episodes first, then the shorter.

    That is the way of each success, a mistake for each remedy, or what each thing does.
    """
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for node in notes:
        said, text = node.payload, node.payload["text"].strip()
        if purpose == FUNCTIONS:
            for subject, _, items in (line.partition(": ") for line in text.splitlines()):
                groups[subject.strip()].update(items.split("; "))
        elif purpose == MISTAKES:
            mistake = f"{said['failure'] or 'failure'}: {text} {said['remedy']}"
            groups[f"{said['failure']}: {said['remedy'] or text}"][mistake] += 1
        else:
            groups[text][text] += 1
    ranked = _ranked({name: counts.total() for name, counts in groups.items()})
    if purpose == FUNCTIONS:
        most = {name: "; ".join(_ranked(groups[name])[:_MOST_ITEMS]) for name in ranked}
        return [f"{subject}: {items}".removesuffix(": ") for subject, items in most.items()]
    return [_ranked(groups[name])[0] for name in ranked]


def _ranked(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda text: (-counts[text], text.count("\n"), text))
