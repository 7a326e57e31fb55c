"""CDMem's recall: what lies under the question's own kind of task and of environment.

Exemplars are successful episodes: first those at this very task in this environment, then those of
the same kind whose tasks are most similar; of equal ones the shorter, then the newer. Insights are
ranked by how well they stand for all short-term memories of their kind, not by the question. With
them come what is known of this environment, and the last failures at this very task in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.memory.cdmem.definition import (
    DISPLAY,
    ENV_INSIGHTS,
    ENVIRONMENTS,
    HERE,
    INSIGHT,
    INSIGHTS,
    KIND,
    TASK_INSIGHTS,
    TASKS,
    ContextNumbers,
)
from deltamem_tui.memory.cdmem.index import (
    IndexReader,
    Surroundings,
    members,
    of_question,
    similarities,
    total,
    tries,
)
from deltamem_tui.memory.context import compose, fenced
from deltamem_tui.memory.domain import goal_of
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.episodes.stored_episodes import episode as stored_episode
from deltamem_tui.memory.findings import effective_steps, moves_of
from deltamem_tui.memory.kinds import task_kind
from deltamem_tui.memory.procedure import filled
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.vectors.exact import nodes_with_key
from deltamem_tui.memory.vectors.search import Candidate, as_fresh
from deltamem_tui.memory.wording import condense, shortened
from deltamem_tui.text import clean, count_tokens
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

DECIMALS = 6
NOISE = 1e-6  # similarities that are closer to one another are equal: they are sums of float32
_LABELS: tuple[Label, Label] = ("success", "failure")
_TASK_DEPTH = 2
_LOOKED_AT = 100


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Recall exemplars, what is known of this environment, insights, the last failures here."""
    index, numbers = IndexReader(bank, embedder), of_bank(bank, ContextNumbers, query.settings)
    place = of_question(bank, query.task, query.environment)
    place = replace(place, kind=kind_of(index, place), env_kind=env_kind_of(index, place))
    found = Recaller(index, place, numbers, query.count).answers()
    entries = context_entries(bank, query.task, found, numbers.budget)
    return RecallResult(found, compose(bank.manifest.domain, entries, query.folders))


def questions(episode: Trajectory) -> Mapping[str, str]:
    """Return the task for what is filed by task, the scene for what is filed by environment."""
    task, scene = clean(episode.task).strip(), clean(scene_of(episode)).strip()
    return {TASKS: task, ENVIRONMENTS: scene, TASK_INSIGHTS: task, ENV_INSIGHTS: scene}


def kind_of(index: IndexReader, place: Surroundings) -> str:
    """Return the kind of a question's task, as the bank's memories are filed.

    It is the rules'. Where nothing is filed by that, a log or a model may have named it otherwise:
    then it is the kind of the most similar task that the rules take for the same. Where the rules
    understand nothing, it is that of the most similar task.
    """
    tree = index.bank.tree(TASKS)
    filed = any(index.root(TASKS, place.kind, label) for label in _LABELS)
    rows = tree.rows[tree.depth[tree.rows] == _TASK_DEPTH]
    if filed or not place.task or not len(rows):
        return place.kind
    vector = index.embedder.embed_queries([place.task])[0]
    nearest = rows[(-similarities(tree, rows, vector)).argsort(kind="stable")[:_LOOKED_AT]]
    for root, task in (tree.chain_at(int(row)) for row in nearest):
        if task_kind(index.bank.manifest.domain, task.payload["text"]) == place.kind:
            return root.payload["text"]
    return place.kind or tree.chain_at(int(nearest[0]))[0].payload["text"]


def env_kind_of(index: IndexReader, place: Surroundings) -> str:
    """Return the kind of a question's environment, as the bank's memories are filed.

    It is the rules', or that by which this very environment is filed.
    """
    if not place.env or index.root(ENVIRONMENTS, place.env_kind):
        return place.env_kind
    tree = index.bank.tree(ENVIRONMENTS)
    same = nodes_with_key(tree, place.env, index.vector(place.env))
    here = [each for each in same if each.depth == _TASK_DEPTH]
    return tree.chain(here[-1].id)[0].payload["text"] if here else place.env_kind


def known_kinds(index: IndexReader) -> list[str]:
    """Return the kinds of task that a bank has, those with most memories first."""
    tree = index.bank.tree(TASKS)
    sizes: dict[str, int] = {}
    for row in tree.child_rows(None):
        root = tree.node_at(int(row))
        kind = root.payload["text"]
        sizes[kind] = sizes.get(kind, 0) + len(members(tree, root))
    return sorted(sizes, key=lambda kind: (-sizes[kind], kind))


@dataclass(frozen=True, slots=True)
class Recaller:
    """Recalls what a bank has for one place.

    Attributes:
        count: The most candidates a collection, those that are not recalled included.
    """

    index: IndexReader
    place: Surroundings
    numbers: ContextNumbers
    count: int = 1

    def answers(self) -> dict[str, CollectionRecall | None]:
        """Return what each collection answers; None if it was not asked."""
        of_task, of_env = bool(self.place.task), bool(self.place.env)
        return {
            TASKS: self._tasks() if of_task else None,
            ENVIRONMENTS: self._environment() if of_env else None,
            TASK_INSIGHTS: self._task_insights() if of_task else None,
            ENV_INSIGHTS: self._env_insights() if of_env else None,
        }

    def _tasks(self) -> CollectionRecall:
        """Return the exemplars, then the last failures here, the oldest of them first."""
        tree, place, most = self.index.bank.tree(TASKS), self.place, self.numbers.exemplars
        ranked: list[Candidate] = []
        if won := self.index.root(TASKS, place.kind):
            vector = self.index.embedder.embed_queries([place.task])[0]
            here = self.index.place(TASKS, won, place.task, place.env)
            ranked = list(islice(exemplars(tree, won, here, vector), max(most, self.count)))
        lost = self.index.root(TASKS, place.kind, "failure")
        failed = self.index.place(TASKS, lost, place.task, place.env) if lost else None
        rows = tries(tree, failed)[-self.numbers.reflections :] if failed else ()
        rows = rows if self.numbers.reflections else ()
        shown = [*ranked[:most], *(_certain(tree.node_at(int(row))) for row in rows)]
        rule = shown[0].rule if shown else KIND
        return self._answer(TASKS, place.task, shown, ranked[most:], rule)

    def _environment(self) -> CollectionRecall:
        root = self.index.root(ENVIRONMENTS, self.place.env_kind)
        here = self.index.place(ENVIRONMENTS, root, self.place.env) if root else None
        shown = [_certain(here)] if here and here.payload["memory"] else []
        return self._answer(ENVIRONMENTS, self.place.env, shown, (), HERE)

    def _task_insights(self) -> CollectionRecall:
        """Return some from successes first, then those from failures."""
        most = self.numbers.most_task_insights
        won, lost = (self._insights(TASKS, self.place.kind, label) for label in _LABELS)
        first = won[: min(self.numbers.most_from_successes, most)]
        left = most - len(first)
        others = [*won[len(first) :], *lost[left:]]
        return self._answer(TASK_INSIGHTS, self.place.kind, [*first, *lost[:left]], others, INSIGHT)

    def _env_insights(self) -> CollectionRecall:
        most = self.numbers.most_env_insights
        found = self._insights(ENVIRONMENTS, self.place.env_kind, "success")
        return self._answer(ENV_INSIGHTS, self.place.env_kind, found[:most], found[most:], INSIGHT)

    def _insights(self, half: str, kind: str, label: Label) -> list[Candidate]:
        """Return the insights of one list, ranked by all memories of its kind."""
        import numpy as np

        name, tree = INSIGHTS[half], self.index.bank.tree(half)
        roots = [self.index.root(half, kind, each) for each in _LABELS]
        rows = np.concatenate([np.zeros(0, int), *(members(tree, each) for each in roots if each)])
        known = roots[_LABELS.index(label)]
        root = self.index.root(name, known.payload["text"], label) if known else None
        if root is None or not len(rows):
            return []
        return ranked_insights(self.index.bank.tree(name), root, total(tree, rows), len(rows))

    def _answer(
        self,
        collection: str,
        text: str,
        shown: Sequence[Candidate],
        others: Iterable[Candidate],
        rule: str,
    ) -> CollectionRecall:
        tree = self.index.bank.tree(collection)
        chains = tuple(tree.chain(each.node.id) for each in shown)
        candidates = (*shown, *others)[: max(self.count, len(shown))]
        return CollectionRecall(collection, text, -1.0, candidates, chains, rule)


def exemplars(tree: Tree, root: Node, here: Node | None, vector: Vector) -> Iterator[Candidate]:
    """Yield the successes below the root of a kind, best first.

    `here` is this very task in this environment, if it succeeded before; the vector is the task's,
    float32 [dimensions], of unit length.
    """
    import numpy as np

    row_here = tree.row(here.id) if here else -1
    if here:
        yield from _shortest(tree, [row_here], 1.0, HERE)
    rows = tree.child_rows(tree.row(root.id))
    found = similarities(tree, rows, vector)
    scores = as_fresh(tree, rows, found)
    places, nearness = ranks(scores), ranks(found)
    order = np.lexsort((nearness, places))
    for _, ties in groupby(order, lambda at: (places[at], nearness[at])):
        at, *more = ties
        others = [int(rows[each]) for each in (at, *more) if rows[each] != row_here]
        similarity, score = (round(float(each[at]), DECIMALS) for each in (found, scores))
        yield from _shortest(tree, others, similarity, KIND, score)


def ranks(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return each score's rank, 0 for the best; those that only noise tells apart share one.

    Rounding would not do: of two that are all but equal, one may be rounded up.
    """
    import numpy as np

    order = np.argsort(-scores, kind="stable")
    found = np.zeros(len(scores), np.intp)
    found[order[1:]] = np.cumsum(-np.diff(scores[order]) > NOISE)
    return found


def _shortest(
    tree: Tree, tasks: Sequence[int], similarity: float, rule: str, score: float = 1.0
) -> list[Candidate]:
    """Return the successes at some tasks, those with fewer steps first, then the newer ones."""
    rows = [int(row) for task in tasks for row in tree.child_rows(task)]
    rows.sort(key=lambda row: -int(tree.birth[row]))
    nodes = sorted(map(tree.node_at, rows), key=_steps)
    return [Candidate(node, similarity, 0.0, score, rule) for node in nodes]


def _steps(node: Node) -> int:
    text = node.payload["steps"]
    return int(text) if text.isdecimal() else 1_000_000


def ranked_insights(
    tree: Tree, root: Node, memories: NDArray[np.float64], count: int
) -> list[Candidate]:
    """Return the insights below a root by the sum of their similarities to all memories of the
    kind.

    Of equal ones that with more successes goes first, then the newer. Of the `count` memories, the
    sum of the vectors is given, float64 [dimensions].
    """
    rows = tree.child_rows(tree.row(root.id))
    sums = similarities(tree, rows, memories)
    scores = as_fresh(tree, rows, sums)
    places = ranks(scores / count)
    successes = [tree.counts_at(int(row)).successes for row in rows]
    order = sorted(
        range(len(rows)), key=lambda at: (places[at], -successes[at], -int(tree.birth[rows[at]]))
    )
    return [
        Candidate(
            tree.node_at(int(rows[at])),
            round(float(sums[at]) / count, DECIMALS),
            0.0,
            round(float(scores[at]), DECIMALS),
            INSIGHT,
        )
        for at in order
    ]


def _certain(node: Node) -> Candidate:
    return Candidate(node, 1.0, 0.0, 1.0, HERE)


_SHORTENED = ", without detours"
_ACTION_WORDS = 60
_ANSWER_WORDS = 30
_STEPS = 40
_LEAST_STEPS = 2


def context_entries(
    bank: Bank, task: str, found: Mapping[str, CollectionRecall | None], budget: int | None
) -> list[str]:
    """Everything that was recalled, an entry each, the names of the present task filled in.

    The examples have at most `budget` tokens together.
    """
    names = dict(goal_of(bank.manifest.domain, task).slots)
    shown = {name: _shown(each) for name, each in found.items()}
    lost = [node for node in shown[TASKS] if node.label == "failure"]
    insights = shown[TASK_INSIGHTS]
    return [
        *_examples(bank, found[TASKS], budget),
        *(_places(each.payload["memory"]) for each in shown[ENVIRONMENTS]),
        *_listed("What things do here", shown[ENV_INSIGHTS], names),
        *_listed("Plans for this kind of task", _of(insights, "success"), names),
        *_listed(
            f"Mistakes at this kind of task ({DISPLAY[TASK_INSIGHTS].warning})",
            _of(insights, "failure"),
            names,
        ),
        *_tries(lost, names),
    ]


def _shown(found: CollectionRecall | None) -> list[Node]:
    return [chain[-1] for chain in found.chains] if found else []


def _of(nodes: Sequence[Node], label: str) -> list[Node]:
    return [node for node in nodes if node.label == label]


def _examples(bank: Bank, found: CollectionRecall | None, budget: int | None) -> list[str]:
    """Return the exemplars, each with its task and the steps that tell how it is done."""
    if found is None:
        return []
    rules = {each.node.id: each.rule for each in found.candidates}
    chains = [chain for chain in found.chains if chain[-1].label == "success"]
    share = None if budget is None else budget // max(len(chains), 1)
    entries = []
    for _, task, node in chains:
        source = stored_episode(bank, node.origin.trajectory) if node.origin.trajectory else None
        steps, aside = _told_steps(source) if source else (node.payload["actions"].splitlines(), "")
        where = "this task, here" if rules.get(node.id) == HERE else "a task of this kind"
        lines = [f"### Example of {where}{aside}", f"Task: {fenced(task.payload['text'])}"]
        entries.append("\n".join([*lines, fenced(_within(steps, share))]))
    return entries


def _within(steps: list[str], budget: int | None) -> str:
    """As many steps as a budget of tokens holds, two at least."""
    most = _STEPS
    while True:
        text = "\n".join(shortened(steps, most))
        if budget is None or most <= _LEAST_STEPS or count_tokens(text) <= budget:
            return text
        most = min(most, len(steps)) - 1


def _told_steps(source: Trajectory) -> tuple[list[str], str]:
    """Return steps with what came back, and how the title goes on.

    They are those that a replay proves are enough, where the rules can tell; else all that had an
    effect.
    """
    _, moves = moves_of(source)
    proved = [at for at, move in enumerate(moves) if move.is_needed]
    lines = []
    for step in (source.steps[at] for at in proved or effective_steps(source)):
        answer = condense(step.observation, _ANSWER_WORDS)
        lines.append(f"> {condense(step.action, _ACTION_WORDS)}\n{answer}".strip())
    return lines, _SHORTENED if proved else ""


def _places(memory: str) -> str:
    """Return what is known of this environment, the things of one place in one line."""
    things: dict[str, list[str]] = {}
    for line in memory.splitlines():
        thing, _, place = line.partition(": ")
        things.setdefault(place, []).append(thing)
    lines = [
        f"{place}: {', '.join(items)}" if place else "\n".join(items)
        for place, items in things.items()
    ]
    return f"### Seen here before\n{fenced(chr(10).join(lines))}"


def _listed(title: str, nodes: Sequence[Node], names: Mapping[str, str]) -> list[str]:
    texts = [filled(node.payload["text"], names) for node in nodes]
    lines = [
        f"{number}.{chr(10) if chr(10) in text else ' '}{text}"
        for number, text in enumerate(texts, 1)
    ]
    return [f"### {title}\n{fenced(chr(10).join(lines))}"] if lines else []


def _tries(lost: Sequence[Node], names: Mapping[str, str]) -> list[str]:
    lines = [
        f"- {': '.join(filter(None, [node.payload['failure'], node.payload['text']]))}"
        f" {DISPLAY[TASKS].label('remedy')}: {node.payload['remedy']}"
        for node in lost
    ]
    text = fenced(filled("\n".join(dict.fromkeys(lines)), names))
    return [f"### Last tries at this task, here: they failed\n{text}"] if lines else []
