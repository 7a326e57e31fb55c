"""Calibration: a threshold per tree from the scores that a bank's own episodes get.

The published thresholds were chosen by looking at the scores of a small sample. Here each
episode is asked as a question, without what was learnt from the same text. The rules
decide the kinds: episodes that they would find by one trigger are of one kind.
Each question has a best score among its kind and a best among the others, and the proposal
is the threshold that separates these two best: the share of questions that reach it with
their own kind, less the share that reach it with another (Youden's index).

Where too few episodes have one of their kind, there is nothing to separate. Then the scores
of one question, sorted from the best down, fall slowly among what resembles it and jump to the
rest, and the proposal is the median of the middles of their widest jumps.

From a handful of scores either would be chance: on the two simulators that were measured, the
thresholds proposed from three episodes and from ten lie a quarter apart. So nothing is
proposed before ten episodes resemble another at all.

A bank whose thresholds are still the preset's is calibrated before it learns, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.bank.tree import Tree
from deltamem_tui.config import PUBLISHED_EMBEDDER
from deltamem_tui.embedding.protocol import Embedder, Weighting
from deltamem_tui.embedding.scan import Rows, Scan
from deltamem_tui.errors import ExtractionError, NodeNotFoundError
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, Parameters
from deltamem_tui.memory.deltamem.recall import questions_of
from deltamem_tui.memory.deltamem.write import purpose_of
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.plan import Proposal
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.vectors.search import scan_of
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.trajectory.model import Outcome, Trajectory

QUESTION_LIMIT = 1000
LEAST_SCORES = 10
_LEAST_SCORE = 0.005  # less is zero to the two digits that a threshold is proposed with
_LEAST_ROWS = 3
_BINS = 20
_LEAST_KINDRED = 0.5  # the share of questions that must have one of their kind


def calibrate(
    bank: Bank, writer: Writer, embedder: Embedder, between: Callable[[], None] = lambda: None
) -> list[Proposal]:
    """Propose a threshold for each tree. Nothing is written.

    The rules as `writer` decide which episodes are of one kind. `between` is called before each
    question to a tree; what it raises ends the work.
    """
    asked = _sample(list(episodes(bank)))
    parameters = of_bank(bank, Parameters)
    return [
        _propose(bank, name, asked, parameters, _Tools(writer, embedder, between))
        for name in COLLECTIONS
        if parameters[name].enabled
    ]


def first_thresholds(bank: Bank, writer: Writer, embedder: Embedder) -> list[Proposal]:
    """Propose thresholds for the trees that still have the preset's, from the first episodes.

    The published ones stay for the embedder that they were published for. Nodes and scenes that
    an interrupted run left behind do not count.
    """
    now, preset = of_bank(bank, Parameters), Parameters.preset(bank.manifest.domain)
    waiting = [
        name
        for name in COLLECTIONS
        if now[name].enabled
        and not now[name].tau_fixed
        and now[name].tau_base == preset[name].tau_base
    ]
    if not waiting or bank.manifest.embedder["model"] == PUBLISHED_EMBEDDER:
        return []
    asked = [replace(each, metadata={}) for each in islice(episodes(bank), QUESTION_LIMIT)]
    tools = _Tools(writer, embedder, lambda: None, of_nodes=False)
    proposals = [
        _propose(bank, name, asked, now, tools)
        for name in waiting
        if len(_questions(name, asked)) >= LEAST_SCORES
    ]
    return [each for each in proposals if each.proposed is not None]


@dataclass(frozen=True, slots=True)
class _Tools:
    writer: Writer
    embedder: Embedder
    between: Callable[[], None]
    of_nodes: bool = True


def _sample(found: list[Trajectory]) -> list[Trajectory]:
    """At most `QUESTION_LIMIT` episodes, evenly over the order of import."""
    if len(found) <= QUESTION_LIMIT:
        return found
    picked = np.linspace(0, len(found) - 1, QUESTION_LIMIT).astype(int)
    return [found[int(number)] for number in picked]


def _propose(
    bank: Bank,
    name: str,
    asked: Sequence[Trajectory],
    parameters: Parameters,
    tools: _Tools,
) -> Proposal:
    tools.between()
    questions = _questions(name, asked)
    # All at once: a vector's last bits depend on the texts that are embedded beside it.
    vectors = tools.embedder.embed_queries(list(questions.values()))
    tools.between()
    triggers = _triggers(name, asked, questions, tools)
    of_nodes = tools.of_nodes and len(bank.tree(name)) >= _LEAST_ROWS
    compared = (
        _nodes(bank.tree(name), weighting_of(bank), asked, questions, triggers)
        if of_nodes
        else _own_triggers(weighting_of(bank), questions, triggers, tools.embedder)
    )
    scored = []
    for text, trigger, vector in zip(questions.values(), triggers, vectors, strict=True):
        tools.between()
        scores = compared.scan.scores(vector, parameters[name].failure_penalty)
        scored.append(compared.scored(text, trigger, scores))
    return _proposal(name, parameters[name].tau_base, compared.what, scored)


def _proposal(
    name: str, current: float, compared_with: str, scored: Sequence[QuestionScores]
) -> Proposal:
    best = np.array([each.best for each in scored if each.best is not None])
    found = int((best >= _LEAST_SCORE).sum())
    line = separating_line(scored)
    reason = _why_nothing(len(scored), found, line)
    proposed = None if line is None or reason else round(line, 2)
    counts, edges = np.histogram(best, bins=_BINS) if len(best) else (np.zeros(0), np.zeros(0))
    return Proposal(
        tree=name,
        questions=len(scored),
        scores=found,
        compared_with=compared_with,
        current=current,
        proposed=proposed,
        reason=reason,
        matching_now=_share(best, current),
        matching_then=None if proposed is None else _share(best, proposed),
        bin_edges=tuple(round(float(edge), 4) for edge in edges),
        bin_counts=tuple(int(count) for count in counts),
    )


def _why_nothing(questions: int, scores: int, line: float | None) -> str:
    if scores < LEAST_SCORES:
        return (
            f"too few episodes are alike: {scores} of {questions} resemble another, "
            f"and {LEAST_SCORES} are needed"
        )
    if line is None:
        return "no threshold separates what is alike from what is not by these scores"
    return ""


def _questions(name: str, asked: Sequence[Trajectory]) -> dict[str, str]:
    """Return what each episode asks the tree, by its id. A text asked twice would only match
    itself.
    """
    texts: dict[str, str] = {}
    for each in asked:
        if text := questions_of(each)[name]:
            texts.setdefault(text, each.id)
    return {episode_id: text for text, episode_id in texts.items()}


def _triggers(
    name: str,
    asked: Sequence[Trajectory],
    questions: Mapping[str, str],
    tools: _Tools,
) -> list[str]:
    """Return what the rules would have the asking episodes' own nodes be found by."""
    triggers = []
    for each in asked:
        if each.id not in questions:
            continue
        tools.between()
        # A trigger does not depend on how the episode ended, and many wait because that is unknown.
        known = each if each.outcome.known else each.with_outcome(Outcome(success=True))
        try:
            payload = tools.writer.write(purpose_of(name, known, ()), known, ()).payload
        except ExtractionError:
            payload = None
        triggers.append(payload["activation_condition"] if payload else questions[each.id])
    return triggers


@dataclass(frozen=True, slots=True)
class _Compared:
    """What the questions are compared with: the rows, and what each was learnt from."""

    what: str
    scan: Scan
    texts: NDArray[np.object_]
    kinds: NDArray[np.object_]

    def scored(self, text: str, trigger: str, scores: NDArray[np.float32]) -> QuestionScores:
        """Return what a question scored, by all rows' scores: float32 [rows]."""
        others = np.isfinite(scores) & (self.texts != text)
        ranked = np.sort(scores[others])[::-1]
        kindred = scores[others & (self.kinds == trigger)]
        strange = scores[others & (self.kinds != trigger)]
        return QuestionScores(
            best=float(ranked[0]) if len(ranked) else None,
            jump=widest_jump(ranked) if (ranked[:1] >= _LEAST_SCORE).any() else None,
            pair=(float(kindred.max()), float(strange.max()))
            if len(kindred) and len(strange)
            else None,
        )


def _own_triggers(
    weighting: Weighting,
    questions: Mapping[str, str],
    triggers: Sequence[str],
    embedder: Embedder,
) -> _Compared:
    scan = Scan(Rows.of_vectors(embedder.embed_passages(triggers)), weighting)
    texts = np.array(list(questions.values()), dtype=object)
    return _Compared("triggers", scan, texts, np.array(triggers, dtype=object))


def _nodes(
    tree: Tree,
    weighting: Weighting,
    asked: Sequence[Trajectory],
    questions: Mapping[str, str],
    triggers: Sequence[str],
) -> _Compared:
    of_text = dict(zip(questions.values(), triggers, strict=True))
    of_episode = {each.id: questions_of(each)[tree.name] for each in asked}
    texts = [""] * len(tree.dead)
    for row in tree.rows:
        texts[row] = of_episode.get(_source(tree, tree.node_at(int(row))), "")
    kinds = [of_text.get(text, "") for text in texts]
    return _Compared(
        "nodes",
        scan_of(tree, weighting),
        np.array(texts, dtype=object),
        np.array(kinds, dtype=object),
    )


def _source(tree: Tree, node: Node) -> str:
    """Return the episode behind a node; for a fused root, the one behind the end of its chain."""
    seen = {node.id}
    while node.origin.nodes and node.origin.nodes[-1] not in seen:
        try:
            node = tree.node(node.origin.nodes[-1])
        except NodeNotFoundError:
            return ""
        seen.add(node.id)
    return node.origin.trajectory


def _share(best: NDArray[np.float32], threshold: float) -> float:
    return round(float(np.mean(best >= threshold)), 3) if len(best) else 0.0


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """What one question scored, without what was learnt from the same text.

    Attributes:
        best: Its best score; None if there was nothing else to compare it with.
        jump: Where its scores fall most; None if they do not fall, or the best says nothing.
        pair: Its best score among its kind and its best among the others; None without either.
    """

    best: float | None = None
    jump: float | None = None
    pair: tuple[float, float] | None = None


def separating_line(scored: Sequence[QuestionScores]) -> float | None:
    """Return the line between the kinds; the median of the jumps where too few questions have a
    kind.

    Returns:
        None if no line separates anything.
    """
    pairs = [each.pair for each in scored if each.pair is not None]
    told_apart = len(pairs) >= _LEAST_KINDRED * len(scored)
    line = dividing_line(pairs) if told_apart else None
    jumps = [each.jump for each in scored if each.jump is not None]
    return float(np.median(jumps)) if line is None and jumps else line


def dividing_line(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return the threshold that most questions reach with their own kind and fewest with another.

    Args:
        pairs: Per question, its best score among its kind and its best among the others.

    Returns:
        The middle of the best stretch between two scores, the lowest such stretch; None if
        no threshold is better than one that lets everything pass.
    """
    if not pairs:
        return None
    own, other = (np.sort(np.array(scores)) for scores in zip(*pairs, strict=True))
    scores = np.unique(np.concatenate((own, other)))
    middles = (scores[:-1] + scores[1:]) / 2
    if not len(middles):
        return None
    # Both have as many scores, so the counts that lie below compare like the shares above.
    gain = np.searchsorted(other, middles) - np.searchsorted(own, middles)
    best = int(np.argmax(gain))
    return float(middles[best]) if gain[best] > 0 else None


def widest_jump(scores: NDArray[np.float32]) -> float | None:
    """Return the middle of the widest jump among the better half of scores that fall.

    Args:
        scores: float32 [scores], best first.

    Returns:
        None if there are too few scores, or all are the same.
    """
    upper = scores[: max(len(scores) // 2, 2)]
    if len(upper) < 2:
        return None
    jumps = upper[:-1] - upper[1:]
    widest = int(np.argmax(jumps))
    return float(upper[widest] + upper[widest + 1]) / 2 if jumps[widest] > 0 else None
