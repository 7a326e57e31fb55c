"""CDMem's recall: what lies under the question's own kind of task and of environment.

The context index is two trees. Task-Index[kind][success|failure] is a root of the short-term
memories, one for each label; below it lie the tasks, each with the environment that it was tried
in, and below those what each try left. Env-Index[kind] is a root of the environments; below it lie
the exact environments, and below those what each episode there showed of the things' functions.

Exemplars are successful episodes: first those at this very task in this environment, then those of
the same kind whose tasks are most similar; of equal ones the shorter, then the newer. Insights are
ranked by how well they stand for all short-term memories of their kind, not by the question. With
them come what is known of this environment, and the last failures at this very task in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.cdmem.definition import (
    COLLECTIONS,
    DISPLAY,
    ENV_INSIGHTS,
    ENVIRONMENTS,
    HERE,
    INSIGHT,
    INSIGHTS,
    KIND,
    METHOD,
    TASK_INSIGHTS,
    TASKS,
    ContextNumbers,
)
from deltamem_tui.memory.domain import domain_for, goal_of
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.findings import effective_steps
from deltamem_tui.memory.kinds import OTHER, task_kind
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.recall_result import (
    CollectionRecall,
    Query,
    RecallResult,
    answer_of,
    fenced,
)
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.vectors.search import Candidate, cosines, successes
from deltamem_tui.memory.work_context import with_context
from deltamem_tui.text import clean, condense, count_tokens, one_line, shortened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

LABELS: tuple[Label, Label] = ("success", "failure")
_PLACE_DEPTH, _MEMBER_DEPTH = 2, 3
_NO_EPISODE = Origin()
_WIDTH = 300
_MOST_TASK_INSIGHTS, _FROM_SUCCESSES = 6, 3  # of the released code
_MOST_OF_ENV = 10
_REFLECTIONS = 3
_BUDGET = 1000  # tokens of all examples together


@dataclass(frozen=True, slots=True)
class Index:
    """A position in a bank's context index: a task, its environment, and their kinds."""

    bank: Bank
    task: str
    kind: str
    env: str
    env_kind: str

    def path(self, half: str, label: Label = "success") -> list[Node]:
        """Return a kind, and below it the task or the environment; empty if it is not known."""
        kind, texts = self.env_kind, {"text": self.env}
        if half == TASKS:
            kind, texts = self.kind, {"text": self.task, "env": self.env}
        if not kind or not texts["text"]:
            return []
        root = filed(half, None, label, {"text": kind})
        return [root, filed(half, root, label, texts)]

    def at(self, half: str, label: Label = "success") -> Node | None:
        """Return the task or the environment; None if the bank has it not."""
        path = self.path(half, label)
        return self.living(half, path[-1]) if path else None

    def root(self, collection: str, kind: str, label: Label) -> Node | None:
        """Return the root of a kind; None if the bank has none."""
        node = filed(collection, None, label, {"text": kind}) if kind else None
        return node and self.living(collection, node)

    def living(self, collection: str, node: Node) -> Node | None:
        """Return a node as the bank has it now, by its id; None if it does not."""
        try:
            return self.bank.tree(collection).node(node.id)
        except NodeNotFoundError:
            return None

    def below(self, collection: str, node: Node | None) -> list[Node]:
        """Return what lies right below a node, in order of birth."""
        return list(self.bank.tree(collection).children(node.id)) if node else []


def place_of(domain: str, scene: str) -> tuple[str, str]:
    """Return an environment and its kind as they are filed; empty if nothing is known of it."""
    env = domain_for(domain).exact_env(scene) or one_line(scene, _WIDTH)
    return env, (domain_for(domain).env_kind(scene) or OTHER) if env else ""


def filed(
    collection: str,
    parent: Node | None,
    label: Label,
    texts: Mapping[str, str],
    origin: Origin = _NO_EPISODE,
) -> Node:
    """Return a new node. A kind or a place is of no episode: its id is the same in every bank."""
    return born(collection, parent, label, METHOD.cleaned(collection, texts), origin)


def members(tree: Tree, root: Node) -> Rows:
    """Return the rows of one list, in order of birth: all that is two levels below its root."""
    index = tree.snapshot.index
    deep = tree.rows[index["depth"][tree.rows] == _MEMBER_DEPTH]
    parents = tree.snapshot.current[index["parent"][deep]]
    found: Rows = deep[index["parent"][parents] == tree.birth[tree.row(root.id)]]
    return found


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall exemplars, what is known of this environment, insights, the last failures here."""
    index = _asked(bank, clean(query.task).strip(), clean(query.environment), embedder)
    numbers = of_bank(bank, ContextNumbers, query.settings)
    found = answers(index, numbers, embedder, query.count)
    entries = partial(_entries, bank, query.task, found)
    return with_context(bank, query, found, embedder, entries)


def _asked(bank: Bank, task: str, scene: str, embedder: Embedder) -> Index:
    """Return where a question belongs, as the bank's memories are filed."""
    domain, tree = bank.manifest.domain, bank.tree(TASKS)
    kind = task_kind(domain, task)
    rows = tree.rows[tree.depth[tree.rows] == _PLACE_DEPTH]
    if task and not kind and len(rows):
        scores = cosines(tree, rows, embedder.embed_queries([task])[0])
        kind = tree.chain_at(int(rows[scores.argmax()]))[0].payload["text"]
    return Index(bank, task, kind, *place_of(domain, scene))


def answers(
    index: Index, numbers: ContextNumbers, embedder: Embedder, count: int = 1
) -> dict[str, CollectionRecall | None]:
    """Return what each collection answers, and up to `count` candidates; None if not asked."""
    found = _exemplars(index, embedder, max(numbers.exemplars, count)) if index.task else []
    failed = index.below(TASKS, index.at(TASKS, "failure"))
    shown = [*found[: numbers.exemplars], *map(_certain, failed[-_REFLECTIONS:])]
    env = index.at(ENVIRONMENTS)
    seen = [_certain(env)] if env and env.payload["memory"] else []
    won, lost = (_insights(index, TASKS, index.kind, label) for label in LABELS)
    told = won[:_FROM_SUCCESSES]
    told = [*told, *lost[: _MOST_TASK_INSIGHTS - len(told)]]
    of_env = _insights(index, ENVIRONMENTS, index.env_kind, "success")
    rule = shown[0].rule if shown else KIND
    given = {
        TASKS: (index.task, shown, found, rule),
        ENVIRONMENTS: (index.env, seen, (), HERE),
        TASK_INSIGHTS: (index.kind if index.task else "", told, (*won, *lost), INSIGHT),
        ENV_INSIGHTS: (index.env_kind, of_env[:_MOST_OF_ENV], of_env, INSIGHT),
    }
    is_asked = dict(zip(COLLECTIONS, (index.task, index.env) * 2, strict=True))
    return {
        name: answer_of(index.bank.tree(name), text, recalled, others, count=count, rule=rule)
        if is_asked[name]
        else None
        for name, (text, recalled, others, rule) in given.items()
    }


def _certain(node: Node) -> Candidate:
    return Candidate(node, 1.0, 0.0, 1.0, HERE)


def _exemplars(index: Index, embedder: Embedder, most: int) -> list[Candidate]:
    """Return the successes of a kind: those here first, then by the similarity of their tasks."""
    tree, root = index.bank.tree(TASKS), index.root(TASKS, index.kind, "success")
    if root is None:
        return []
    here = index.at(TASKS)
    own = tree.row(here.id) if here else -1
    rows = tree.child_rows(tree.row(root.id))
    scores = cosines(tree, rows, embedder.embed_queries([index.task])[0]).tolist()
    least = min(sorted(scores, reverse=True)[:most], default=0.0)
    found = []
    for row, similarity in zip(rows.tolist(), scores, strict=True):
        score, rule = (1.0, HERE) if row == own else (similarity, KIND)
        if score >= least:
            for child in tree.child_rows(row).tolist():
                node = tree.node_at(child)
                steps = node.payload["steps"]
                length = int(steps) if steps.isdecimal() else 1_000_000
                order = row != own, -score, length, -int(tree.birth[child])
                found.append((order, Candidate(node, score, 0.0, score, rule)))
    return [each for _, each in sorted(found, key=lambda pair: pair[0])[:most]]


def _insights(index: Index, half: str, kind: str, label: Label) -> list[Candidate]:
    """Return a list's insights by their likeness to all memories of its kind, then successes."""
    import numpy as np

    memories, tree = index.bank.tree(half), index.bank.tree(INSIGHTS[half])
    roots = [index.root(half, kind, each) for each in LABELS]
    rows = np.concatenate([np.zeros(0, int), *(members(memories, each) for each in roots if each)])
    root = index.root(INSIGHTS[half], kind, label)
    if root is None or not len(rows):
        return []
    mean = memories.embeddings[rows].sum(axis=0, dtype=np.float64) / len(rows)
    own = tree.child_rows(tree.row(root.id))
    scores = cosines(tree, own, mean)
    newest = -tree.birth[own].astype(np.int64)
    order = np.lexsort((newest, -successes(tree)[own], -scores))
    found = ((tree.node_at(int(own[at])), float(scores[at])) for at in order)
    return [Candidate(node, score, 0.0, score, INSIGHT) for node, score in found]


def _entries(
    bank: Bank, task: str, found: Mapping[str, CollectionRecall | None], nodes: Sequence[Node]
) -> list[str]:
    """Return those of the nodes that were recalled as entries, the task's names filled in."""
    names, wanted = dict(goal_of(bank.manifest.domain, task).slots), {each.id for each in nodes}
    shown: dict[tuple[str, Label], list[tuple[Node, ...]]] = defaultdict(list)
    for name, answer in found.items():
        for chain in answer.chains if answer else ():
            if chain[-1].id in wanted:
                shown[name, chain[-1].label].append(chain)
    rules = {e.node.id: e.rule for each in found.values() if each for e in each.candidates}
    solved = shown[TASKS, "success"]
    mistakes = f"Mistakes at this kind of task ({DISPLAY[TASK_INSIGHTS].warning})"
    return [
        *(_example(bank, chain, rules[chain[-1].id], _BUDGET // len(solved)) for chain in solved),
        *(_places(chain[-1].payload["memory"]) for chain in shown[ENVIRONMENTS, "success"]),
        *_listed("What things do here", shown[ENV_INSIGHTS, "success"], names),
        *_listed("Plans for this kind of task", shown[TASK_INSIGHTS, "success"], names),
        *_listed(mistakes, shown[TASK_INSIGHTS, "failure"], names),
        *_tries(shown[TASKS, "failure"], names),
    ]


def _example(bank: Bank, chain: Sequence[Node], rule: str, budget: int) -> str:
    """Return an exemplar with its task and the steps that tell how it is done."""
    *_, task, node = chain
    steps = node.payload["actions"].splitlines()
    source = stored_episode(bank, node.origin.trajectory) if node.origin.trajectory else None
    if source:
        told = [source.steps[at] for at in effective_steps(source)]
        steps = [f"> {condense(e.action, 60)}\n{condense(e.observation, 30)}".strip() for e in told]
    where = "this task, here" if rule == HERE else "a task of this kind"
    lines = [f"### Example of {where}", f"Task: {fenced(task.payload['text'])}"]
    most = 40
    while (text := "\n".join(shortened(steps, most))) and most > 2 and count_tokens(text) > budget:
        most = min(most, len(steps)) - 1
    return "\n".join([*lines, fenced(text)])


def _places(memory: str) -> str:
    """Return what is known of this environment, the things of one place in one line."""
    things: dict[str, list[str]] = {}
    for line in memory.splitlines():
        thing, _, place = line.partition(": ")
        things.setdefault(place, []).append(thing)
    lines = [f"{at}: {', '.join(some)}" if at else "\n".join(some) for at, some in things.items()]
    text = "\n".join(lines)
    return f"### Seen here before\n{fenced(text)}"


def _listed(title: str, chains: Sequence[Sequence[Node]], names: Mapping[str, str]) -> list[str]:
    texts = [filled(node.payload["text"], names) for *_, node in chains]
    lines = [f"{n}.{chr(10) if chr(10) in each else ' '}{each}" for n, each in enumerate(texts, 1)]
    text = fenced("\n".join(lines))
    return [f"### {title}\n{text}"] if lines else []


def _tries(chains: Sequence[Sequence[Node]], names: Mapping[str, str]) -> list[str]:
    lines = dict.fromkeys(
        f"- {': '.join(filter(None, [node.payload['failure'], node.payload['text']]))}"
        f" {DISPLAY[TASKS].label('remedy')}: {node.payload['remedy']}"
        for *_, node in chains
    )
    text = fenced(filled("\n".join(lines), names))
    return [f"### Last tries at this task, here: they failed\n{text}"] if lines else []
