"""DeltaMem's recall: a question in, the chain root → match out (equations 6 and 7).

The task tree is asked with the goal, the env tree with the scene. They never see each other's
question, and their chains meet only in the agent's context.

The paper's rule takes the best node of all if it reaches τ (`recall = "paper"`). By default
(`recall = "kind"`) the rules that write triggers read the question too: a tree that has the
question's own kind of goal answers with the success of that kind whose names are nearest, and
with what failed; the paper's rule decides where the kind is new or not understood. Where all of
the task tree's answer failed, the best success that reaches τ comes with it.

Where no plug-in knows the domain, the whole task tree answers by the facts that its nodes keep
(`memory.work_context`); τ decides only where an episode is written.

Scores count to six decimals, so that equal texts score equally on every machine. Of equal scores
the shallower node matches, then the older one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder, Weighting
from deltamem_tui.embedding.scan import DECIMALS
from deltamem_tui.memory.context import compose
from deltamem_tui.memory.deltamem.definition import Parameters, TreeParameters
from deltamem_tui.memory.domain import GENERAL, Domain, domain_for, goal_in
from deltamem_tui.memory.episodes.stored_episodes import scene_of
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult, answer_of
from deltamem_tui.memory.settings import Settings, of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import (
    BEHIND_EVERY_SUCCESS,
    SAME_TEXT,
    Candidate,
    ranked,
    scan_of,
)
from deltamem_tui.memory.work.writing import scene_text, task_text
from deltamem_tui.memory.work_context import composed, recall_tasks, room_for_lines
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TreeQuestion:
    """A question to one tree.

    Attributes:
        text: The question as it was put.
        vector: The same, embedded. float32 [dimensions], of unit length.
        kind: Its trigger as the rules would write it, without and with its names, embedded.
            float32 [2, dimensions]; None if its kind is not looked for, or not understood.
    """

    text: str
    vector: Vector
    kind: NDArray[np.float32] | None = None


def questions(task: str, environment: str) -> dict[str, str]:
    """Return the question to each tree; empty where there is nothing to ask."""
    return {"task": clean(task).strip(), "env": clean(environment).strip()}


def questions_of(episode: Trajectory) -> dict[str, str]:
    """Return an episode's question to each tree."""
    return questions(episode.task, scene_of(episode))


def question_to(
    tree: str, text: str, numbers: TreeParameters, embedder: Embedder, domain: Domain
) -> TreeQuestion:
    """Return a question made ready for a tree; a task is read in the words of a domain."""
    import numpy as np

    if domain is GENERAL:
        text = (task_text(text) if tree == "task" else scene_text(text)) or text
    question = TreeQuestion(text, embedder.embed_queries([text])[0])
    goal = goal_in(domain, text) if _by_kind(tree, numbers) else None
    if goal is None or not goal.understood:
        return question
    named = f"{goal.trigger} ({goal.variant})" if goal.variant else goal.trigger
    # One by one, as triggers are embedded: a vector's last bits depend on the texts beside it.
    kind = np.stack([embedder.embed_passages([each])[0] for each in (goal.trigger, named)])
    return replace(question, kind=kind)


def _by_kind(tree: str, numbers: TreeParameters) -> bool:
    """Return whether the kind of a question to a tree is looked for before the best node."""
    return tree == "task" and numbers.recall == "kind"


def recall(bank: Bank, query: Query, embedder: Embedder) -> RecallResult:
    """Ask the trees that are switched on and for which there is a question."""
    settings, domain = of_bank(bank, Parameters, query.settings), domain_for(bank.manifest.domain)
    texts = {
        name: text if settings[name].enabled else ""
        for name, text in questions(query.task, query.environment).items()
    }
    if domain is GENERAL and settings.task.recall == "kind":
        return _recall_work(bank, query, texts, settings, embedder)
    from deltamem_tui.memory.deltamem.context import context_entries

    found: dict[str, CollectionRecall | None] = dict.fromkeys(texts)
    for name, text in texts.items():
        if text:
            numbers = settings[name]
            question = question_to(name, text, numbers, embedder, domain)
            tree = bank.tree(name)
            found[name] = recall_tree(tree, question, numbers, weighting_of(bank), query.count)
    entries = context_entries(bank, found, texts, settings)
    return RecallResult(found, compose(bank.manifest.domain, entries, query.folders))


def rank(
    bank: Bank,
    collection: str,
    text: str,
    vector: Vector,
    count: int,
    settings: Settings | None = None,
) -> CollectionRecall:
    """Return what equations 6 and 7 find in one tree; see `Method.rank`."""
    numbers = of_bank(bank, Parameters, settings)[collection]
    question = TreeQuestion(text, vector)
    return recall_tree(bank.tree(collection), question, numbers, weighting_of(bank), count)


def recall_tree(
    tree: Tree,
    question: TreeQuestion,
    numbers: TreeParameters,
    weighting: Weighting,
    count: int = 1,
) -> CollectionRecall:
    """Ask one tree: by kind where it has the question's, else by equations 6 and 7."""
    tau = numbers.tau_base
    penalty = numbers.failure_penalty
    candidates = [each for _, each in ranked(tree, question.vector, weighting, penalty, count)]
    recalled: list[Candidate] = []
    if candidates and question.kind is not None:
        recalled = _of_kind(tree, question.kind, weighting)
    is_known = bool(recalled)
    if not is_known:
        recalled = [each for each in candidates[:1] if each.score >= tau]
    nodes = (node for each in recalled for node in tree.chain(each.node.id))
    if recalled and _by_kind(tree.name, numbers) and all(each.label == "failure" for each in nodes):
        best = ranked(tree, question.vector, weighting, BEHIND_EVERY_SUCCESS, 1)
        recalled += [e for _, e in best if e.node.label == "success" and e.score >= tau]
    return answer_of(
        tree,
        question.text,
        recalled,
        candidates,
        count=count,
        threshold=tau,
        rule="kind" if is_known else "threshold",
        new_kind=question.kind is not None and not is_known,
    )


def _of_kind(tree: Tree, kind: NDArray[np.float32], weighting: Weighting) -> list[Candidate]:
    """Return the nearest success of a kind, then the nearest failure; none if the kind is new."""
    import numpy as np

    rows = _rows_of_kind(tree, kind, weighting)
    scores = np.round(tree.embeddings[rows] @ kind[1], DECIMALS)
    nearest: dict[bool, Candidate] = {}
    for at in np.lexsort((tree.birth[rows], tree.depth[rows], -scores)):
        failed, score = bool(tree.failure[rows[at]]), float(scores[at])
        if failed not in nearest:
            nearest[failed] = Candidate(tree.node_at(int(rows[at])), score, 0.0, score, "kind")
    return [nearest[failed] for failed in sorted(nearest)]


def _rows_of_kind(tree: Tree, kind: NDArray[np.float32], weighting: Weighting) -> NDArray[np.intp]:
    """Return the living rows of the trees that hold a node with the kind's very trigger.

    A root that was fused from a residual has the trigger with the residual's names, and is
    found by those: for other names, the chain that it was made from says the same.
    """
    import numpy as np

    same = scan_of(tree, weighting).alike(kind, SAME_TEXT)
    family = list(dict.fromkeys(tree.chain_rows(int(row))[0] for row in same))
    for row in family:
        family += map(int, tree.child_rows(row))
    rows = np.array(sorted(family), dtype=np.intp)
    return rows[~tree.dead[rows]]


def _recall_work(
    bank: Bank, query: Query, texts: Mapping[str, str], settings: Parameters, embedder: Embedder
) -> RecallResult:
    """Ask all that is known of real work, and warn of what goes wrong in its scene."""
    room, weighting = room_for_lines(bank, settings.budget, query.folders), weighting_of(bank)
    task = env = None
    lines: list[str] = []
    known: list[str] = []
    if texts["task"]:
        tree, penalty = bank.tree("task"), settings.task.failure_penalty
        task, lines = recall_tasks(
            tree, texts["task"], weighting, penalty, embedder, room, query.count
        )
    if texts["env"]:
        question = question_to("env", texts["env"], settings.env, embedder, GENERAL)
        env = recall_tree(bank.tree("env"), question, settings.env, weighting, query.count)
        known = [each.payload["execution_procedure"] for each in env.chain]
    context = composed(bank, lines, known, room, query.folders)
    return RecallResult({"task": task, "env": env}, context)
