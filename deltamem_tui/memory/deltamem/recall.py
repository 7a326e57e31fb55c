"""Recall: a question in, the chain root → match out (DeltaMem, equations 6 and 7).

The task tree is asked with the goal, the env tree with the scene. They never see each
other's question, and their chains meet only in the agent's context.

Two rules are this project's own. Scores count to six decimals, so that equal texts score
equally on every machine; τ is compared with those. Of equal scores the shallower node
matches, then the older one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder, Weighting
from deltamem_tui.errors import UsageError, wrong_argument
from deltamem_tui.memory.deltamem import context
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.memory.deltamem.questions import questions_of
from deltamem_tui.memory.deltamem.settings import TreeParameters, of_bank
from deltamem_tui.memory.vectors.embedder import embedder_of, weighting_of
from deltamem_tui.memory.vectors.similarity import Rows, Scan
from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node and how well it fits a question.

    Attributes:
        node: The node.
        similarity: cos(e_q, e_v), rounded to six decimals.
        penalty: What was taken off, because the node is a failure.
        score: s(v) of equation 6.
    """

    node: Node
    similarity: float
    penalty: float
    score: float


@dataclass(frozen=True, slots=True)
class TreeRecall:
    """What one tree answered.

    Attributes:
        tree: `task` or `env`.
        query: The question as it was asked.
        threshold: τ_base.
        candidates: The best nodes, best first; the first is the match if it reaches the threshold.
        chain: Root → match (equation 7); empty if nothing matched.
    """

    tree: str
    query: str
    threshold: float
    candidates: tuple[Candidate, ...]
    chain: tuple[Node, ...]

    @property
    def match(self) -> Candidate | None:
        """v*, or None if no node reaches the threshold."""
        return self.candidates[0] if self.chain else None


@dataclass(frozen=True, slots=True)
class Recollection:
    """What a bank recalls for a task and a scene.

    Attributes:
        task: What the task tree answered; None if it was not asked.
        env: What the env tree answered; None if it was not asked.
        context: The text for the agent's prompt; empty if nothing matched.
    """

    task: TreeRecall | None
    env: TreeRecall | None
    context: str


def recall(
    bank: Bank,
    task: str,
    environment: str = "",
    *,
    embedder: Embedder | None = None,
    candidates: int = 1,
    folders: Sequence[Path] | None = None,
) -> Recollection:
    """Recall what a bank knows about a task and a scene. Nothing is written.

    Args:
        bank: The bank, as its handle shows it.
        task: The goal, as the agent is told it.
        environment: The scene: the environment part of the instruction or the first
            observation, without the goal. Empty: the env tree is not asked.
        embedder: The bank's embedder; loaded if not given.
        candidates: How many nodes to return per tree, runners-up included.
        folders: Where the header of the context is looked up; the usual places if not given.

    Raises:
        UsageError: An argument is of the wrong kind, or there is nothing to ask.
        EmbedderUnavailableError: The bank's embedding model cannot be loaded.
        EmbedderMismatchError: The embedder is not the bank's.
        BankCorruptError: The bank breaks the rules of the format.
    """
    _check_arguments(bank, task, environment, candidates)
    questions = questions_of(task, environment)
    if not any(questions.values()):
        raise UsageError("task and environment are both empty", hint="say what the agent is to do")
    parameters = of_bank(bank)
    asked = [name for name in COLLECTIONS if questions[name] and parameters[name].enabled]
    vectors = _vectors(bank, embedder, {name: questions[name] for name in asked})
    answers = {
        name: recall_tree(
            bank.tree(name),
            questions[name],
            vectors[name],
            parameters[name],
            weighting_of(bank),
            candidates,
        )
        for name in asked
    }
    task_answer, env_answer = answers.get("task"), answers.get("env")
    return Recollection(
        task_answer,
        env_answer,
        context.compose(
            bank.manifest.domain,
            task_answer.chain if task_answer else (),
            env_answer.chain if env_answer else (),
            folders,
        ),
    )


def _check_arguments(bank: object, task: object, environment: object, candidates: object) -> None:
    if not isinstance(bank, Bank):
        raise wrong_argument("bank", "an open bank", bank)
    for name, text in (("task", task), ("environment", environment)):
        if not isinstance(text, str):
            raise wrong_argument(name, "text", text)
    if type(candidates) is not int or candidates < 1:
        raise UsageError(
            f"candidates must be a number of nodes from 1, not {one_line(repr(candidates), 40)}"
        )


def search(
    bank: Bank,
    text: str,
    trees: Iterable[str] = COLLECTIONS,
    count: int = 10,
    *,
    embedder: Embedder | None = None,
) -> list[TreeRecall]:
    """The nodes that fit a text best, tree by tree, whether they reach the threshold or not.

    Args:
        bank: The bank, as its handle shows it.
        text: Any text; both trees are asked the same.
        trees: The trees to ask.
        count: The most nodes per tree.
        embedder: The bank's embedder; loaded if not given.
    """
    parameters = of_bank(bank)
    text = clean(text).strip()
    vector = embedder_of(bank, embedder).embed_queries([text])[0]
    return [
        recall_tree(bank.tree(name), text, vector, parameters[name], weighting_of(bank), count)
        for name in trees
    ]


def recall_tree(
    tree: Tree,
    query: str,
    vector: NDArray[np.float32],
    parameters: TreeParameters,
    weighting: Weighting,
    candidates: int = 1,
) -> TreeRecall:
    """Ask one tree (equations 6 and 7).

    Args:
        tree: The tree.
        query: The question, kept for the report.
        vector: The question's vector, float32 [dimensions], unit length.
        parameters: The tree's numbers.
        weighting: How its embedder's dimensions are weighted.
        candidates: How many nodes to return, runners-up included.
    """
    best = scan_of(tree, weighting).best(vector, parameters.failure_penalty, max(candidates, 1))
    found = tuple(
        Candidate(
            node=tree.node_at(row),
            similarity=similarity,
            penalty=parameters.failure_penalty if tree.failure[row] else 0.0,
            score=score,
        )
        for row, similarity, score in best
    )
    matched = bool(found) and found[0].score >= parameters.tau_base
    chain = tree.chain_at(best[0][0]) if matched else ()
    return TreeRecall(tree.name, query, parameters.tau_base, found, chain)


def _vectors(
    bank: Bank, embedder: Embedder | None, questions: Mapping[str, str]
) -> dict[str, NDArray[np.float32]]:
    if not questions:
        return {}
    vectors = embedder_of(bank, embedder).embed_queries(list(questions.values()))
    return dict(zip(questions, vectors, strict=True))


_scans: WeakKeyDictionary[Tree, Scan] = WeakKeyDictionary()


def scan_of(tree: Tree, weighting: Weighting) -> Scan:
    """The scan of a tree, made once for each commit that a handle shows."""
    scan = _scans.get(tree)
    if scan is None or scan.weighting != weighting:
        scan = _scans[tree] = Scan(Rows.of_tree(tree), weighting)
    return scan
