"""DeltaMem's recall: a question in, the chain root → match out (equations 6 and 7).

The task tree is asked with the goal, the env tree with the scene. They never see each
other's question, and their chains meet only in the agent's context.

The paper's rule takes the best node of all if it reaches τ (`recall = "paper"`). By default
(`recall = "kind"`) the rules that write triggers read the question too: a tree that has the
question's own kind of goal answers with the success of that kind whose names are nearest, and
with what failed; the paper's rule decides where the kind is new or not understood, among the
nodes that do not clearly ask for something else. Where all of the task tree's answer failed, the
best success that reaches τ comes with it.

Two rules are this project's own. Scores count to six decimals, so that equal texts score
equally on every machine; τ is compared with those. Of equal scores the shallower node
matches, then the older one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder, Weighting
from deltamem_tui.memory.context import compose
from deltamem_tui.memory.deltamem.context import context_entries, facts_of
from deltamem_tui.memory.deltamem.definition import Parameters, TreeParameters
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.places import TaskAtHand
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import (
    BEHIND_EVERY_SUCCESS,
    SAME_TEXT,
    Candidate,
    ranked,
    scan_of,
)
from deltamem_tui.memory.work.writing import task_text
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.memory.domain import Domain, Goal

DECIMALS = 6
_CONTRADICTED = 2.0  # below any threshold
_ARTICLE = re.compile(r"\ba\(n\)|\ban\b")
_NEAR = 64  # so many successes of a kind are looked at closely


def questions(task: str, environment: str) -> dict[str, str]:
    """Return the question to each tree; empty where there is nothing to ask."""
    return {"task": clean(task).strip(), "env": clean(environment).strip()}


def questions_of(episode: Trajectory) -> dict[str, str]:
    """Return an episode's question to each tree."""
    return questions(episode.task, scene_of(episode))


class Recollection(RecallResult):
    """The answers of both trees."""

    @property
    def task(self) -> CollectionRecall | None:
        """The task tree's answer; None if it was not asked."""
        return self["task"]

    @property
    def env(self) -> CollectionRecall | None:
        """The env tree's answer; None if it was not asked."""
        return self["env"]


@dataclass(frozen=True, slots=True)
class TaskKind:
    """A question to the task tree as the rules would write its trigger.

    Attributes:
        dialect: In which words the rules read it.
        goal: How they understand it.
        trigger: The trigger, embedded as one. float32 [dimensions], of unit length.
        instance: The same with the names that the question has.
    """

    dialect: Domain
    goal: Goal
    trigger: NDArray[np.float32]
    instance: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TreeQuestion:
    """A question to one tree.

    Attributes:
        text: The question as it was put.
        vector: The same, embedded. float32 [dimensions], of unit length.
        kind: Its kind of goal; None if that is not looked for, or not understood.
        dialect: In which words a node may contradict it; None if the similarity alone counts.
    """

    text: str
    vector: NDArray[np.float32]
    kind: TaskKind | None = None
    dialect: Domain | None = None

    def is_contradicted_by(self, node: Node) -> bool:
        """Return whether a node's trigger asks for what the question clearly does not."""
        trigger = node.payload["activation_condition"]
        return self.dialect is not None and self.dialect.contradicts(self.text, trigger)


def question_to(
    tree: str,
    text: str,
    parameters: TreeParameters,
    embedder: Embedder,
    dialect: Domain,
) -> TreeQuestion:
    """Return a question made ready for a tree; a task is read in the words of a dialect."""
    from deltamem_tui.memory.domain import GENERAL

    if tree == "task" and dialect is GENERAL:
        text = task_text(text) or text
    vector = embedder.embed_queries([text])[0]
    if not _by_kind(tree, parameters):
        return TreeQuestion(text, vector)
    from deltamem_tui.memory.domain import goal_in

    goal = goal_in(dialect, text)
    if not goal.understood:
        return TreeQuestion(text, vector)
    # One by one, as triggers are embedded: a vector's last bits depend on the texts beside it.
    trigger = embedder.embed_passages([goal.trigger])[0]
    named = f"{goal.trigger} ({goal.variant})"
    instance = embedder.embed_passages([named])[0] if goal.variant else trigger
    return TreeQuestion(text, vector, TaskKind(dialect, goal, trigger, instance))


def rank(
    bank: Bank,
    collection: str,
    text: str,
    vector: NDArray[np.float32],
    count: int,
    settings: Settings | None = None,
) -> CollectionRecall:
    """Return what equations 6 and 7 find in one tree; see `Method.rank`."""
    numbers = of_bank(bank, Parameters, settings)[collection]
    question = TreeQuestion(text, vector)
    return recall_tree(bank.tree(collection), question, numbers, weighting_of(bank), count)


def recall(bank: Bank, query: Query, embedder: Embedder) -> Recollection:
    """Ask the trees that are switched on and for which there is a question."""
    from deltamem_tui.memory.domain import GENERAL, domain_for, goal_in

    settings = of_bank(bank, Parameters, query.settings)
    domain, weighting = bank.manifest.domain, weighting_of(bank)
    texts = questions(query.task, query.environment)
    dialect = domain_for(domain)
    if dialect is GENERAL and settings.task.recall != "paper":
        return _recall_work(bank, query, texts, settings, embedder)
    asked = {
        name: question_to(name, text, settings[name], embedder, dialect)
        for name, text in texts.items()
        if text and settings[name].enabled
    }
    if "task" in asked and _by_kind("task", settings["task"]):
        asked["task"] = replace(asked["task"], dialect=dialect)
    found = {
        name: recall_tree(bank.tree(name), question, settings[name], weighting, query.count)
        for name, question in asked.items()
    }
    goal = goal_in(dialect, texts["task"]) if "task" in asked else None
    task = None
    if goal and goal.understood:
        scene = asked["env"].vector if "env" in asked else None
        facts = facts_of(bank, scene) if settings["env"].enabled else []
        task = TaskAtHand(dict(goal.slots), texts["env"], facts, goal.options, goal.made)
    entries = context_entries(bank, found, dialect, task, settings.budget)
    context = compose(domain, entries, query.folders)
    return Recollection({"task": found.get("task"), "env": found.get("env")}, context)


def _recall_work(
    bank: Bank,
    query: Query,
    texts: Mapping[str, str],
    settings: Parameters,
    embedder: Embedder,
) -> Recollection:
    """Ask all that is known of real work."""
    from deltamem_tui.memory.deltamem import general

    room = general.room_for_lines(bank, settings.budget, query.folders)
    task = env = None
    lines: list[str] = []
    traps: list[str] = []
    if texts["task"] and settings.task.enabled:
        numbers = settings.task
        task, lines = general.recall_task(bank, texts["task"], numbers, embedder, room, query.count)
    if texts["env"] and settings.env.enabled:
        env, traps = general.recall_env(bank, texts["env"], settings.env.tau_base, embedder)
    context = general.compose(bank, lines, traps, room, query.folders)
    return Recollection({"task": task, "env": env}, context)


def _by_kind(tree: str, parameters: TreeParameters) -> bool:
    """Return whether the kind of a question to a tree is looked for before the best node."""
    return tree == "task" and parameters.recall == "kind"


def recall_tree(
    tree: Tree,
    question: TreeQuestion,
    parameters: TreeParameters,
    weighting: Weighting,
    count: int = 1,
) -> CollectionRecall:
    """Ask one tree: by kind where it has the question's, else by equations 6 and 7."""
    threshold = parameters.tau_base
    candidates = _ranked(tree, question, weighting, parameters.failure_penalty, count)
    recalled = _of_kind(tree, question.kind, weighting) if question.kind and candidates else []
    by_kind = bool(recalled)
    if candidates and not by_kind and candidates[0].score >= threshold:
        recalled = candidates[:1]
    chains = [tree.chain(each.node.id) for each in recalled]
    succeeded = any(node.label == "success" for chain in chains for node in chain)
    if chains and not succeeded and _by_kind(tree.name, parameters):
        for way in _best_success(tree, question, weighting, threshold):
            recalled = [*recalled, way]
            chains.append(tree.chain(way.node.id))
    known = {each.node.id for each in recalled}
    others = [each for each in candidates if each.node.id not in known]
    return CollectionRecall(
        tree.name,
        question.text,
        threshold,
        (*recalled, *others)[: max(count, len(recalled))],
        tuple(chains),
        rule="kind" if by_kind else "threshold",
        new_kind=question.kind is not None and not by_kind,
    )


def _ranked(
    tree: Tree, question: TreeQuestion, weighting: Weighting, penalty: float, count: int
) -> list[Candidate]:
    """Return the best nodes, best first; those that contradict the question behind all others."""
    best = [each for _, each in ranked(tree, question.vector, weighting, penalty, count)]
    if not best or not question.is_contradicted_by(best[0].node):
        return best
    wider = ranked(tree, question.vector, weighting, penalty, max(count, _NEAR))
    judged = [
        replace(each, penalty=each.penalty + _CONTRADICTED, score=each.score - _CONTRADICTED)
        if question.is_contradicted_by(each.node)
        else each
        for _, each in wider
    ]
    return sorted(judged, key=lambda each: -each.score)


def _best_success(
    tree: Tree, question: TreeQuestion, weighting: Weighting, threshold: float
) -> list[Candidate]:
    """Return the success that is most similar to a question, if it reaches the threshold."""
    best = _ranked(tree, question, weighting, BEHIND_EVERY_SUCCESS, 1)[:1]
    return [each for each in best if each.node.label == "success" and each.score >= threshold]


def _of_kind(tree: Tree, kind: TaskKind, weighting: Weighting) -> list[Candidate]:
    """Return what the tree has of a kind, or of the only one whose first sentence the question
    is.
    """
    if found := _nearest_of_kind(tree, kind, weighting):
        return found
    asked = _plain(kind.goal.trigger.rstrip("."))
    speaking = {
        trigger: each.node
        for _, each in ranked(tree, kind.trigger, weighting, 0.0, _NEAR)
        if _plain(trigger := each.node.payload["activation_condition"]).startswith(f"{asked}. ")
        and not trigger.endswith(")")
    }
    if len(speaking) != 1:
        return []
    trigger = tree.embeddings[tree.row(*(node.id for node in speaking.values()))]
    return _nearest_of_kind(tree, replace(kind, trigger=trigger), weighting)


def _plain(trigger: str) -> str:
    return _ARTICLE.sub("a", trigger.casefold())


def _nearest_of_kind(tree: Tree, kind: TaskKind, weighting: Weighting) -> list[Candidate]:
    """Return the nearest success of a kind, then the nearest failure; none if it is new."""
    import numpy as np

    rows = _rows_of_kind(tree, kind, weighting)
    similarities = np.round(tree.embeddings[rows] @ kind.instance, DECIMALS)
    scores = similarities.round(DECIMALS)
    order = np.lexsort((tree.birth[rows], tree.depth[rows], -scores))
    found = []
    for failed in (False, True):
        of_label = [at for at in order if bool(tree.failure[rows[at]]) is failed]
        for at in of_label[:1]:
            node, similarity = tree.node_at(int(rows[at])), float(similarities[at])
            score = float(scores[at])
            found.append(Candidate(node, similarity, similarity - score, score, "kind"))
    return found


def _rows_of_kind(tree: Tree, kind: TaskKind, weighting: Weighting) -> NDArray[np.intp]:
    """Return the living rows of the trees that hold a node with the kind's very trigger.

    A root that was fused from a residual has the trigger with the residual's names, and is
    found by those: for other names, the chain that it was made from says the same.
    """
    import numpy as np

    same = scan_of(tree, weighting).alike(np.stack([kind.trigger, kind.instance]), SAME_TEXT)
    waiting = list(dict.fromkeys(tree.chain_rows(int(row))[0] for row in same))
    family: list[int] = []
    while waiting:
        row = waiting.pop()
        family.append(row)
        waiting += map(int, tree.child_rows(row))
    rows = np.array(sorted(family), dtype=np.intp)
    return rows[~tree.dead[rows]]
