"""Calibration: a threshold per tree from the scores that a bank's own episodes get.

The published thresholds were chosen by looking at the scores of a small sample. Here
each episode is asked as a question, its own nodes left aside. Sorted from the best down, its
scores fall slowly among what is of its kind, then jump to the rest: the middle of its widest
jump is where this episode would draw the line. The proposal is the median of those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import TREES, TreeName
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.intake import episodes
from deltamem_tui.memory.parameters import Parameters, changed, of_bank, to_record
from deltamem_tui.memory.recall import embedder_of, scan_of, weighting_of
from deltamem_tui.memory.similarity import Rows, Scan
from deltamem_tui.trajectory.model import Outcome, Trajectory

QUESTION_LIMIT = 1000
_LEAST_ROWS = 3
_BINS = 20


@dataclass(frozen=True, slots=True)
class Proposal:
    """What calibration found for one tree.

    Attributes:
        tree: `task` or `env`.
        questions: How many episodes were asked.
        compared_with: `nodes`, or `triggers` while the tree is too small: the activation
            conditions that the rules would write for the episodes.
        current: τ_base as it is.
        proposed: τ_base as proposed; None if there is too little to tell.
        matching_now: Share of the questions whose best score reaches the current threshold.
        matching_then: The same for the proposed one.
        bin_edges: Edges of the histogram of best scores, one more than bins.
        bin_counts: Questions per bin.
    """

    tree: TreeName
    questions: int
    compared_with: str
    current: float
    proposed: float | None
    matching_now: float
    matching_then: float | None
    bin_edges: tuple[float, ...]
    bin_counts: tuple[int, ...]


def calibrate(bank: Bank, *, embedder: Embedder | None = None) -> list[Proposal]:
    """Propose a threshold for each tree. Nothing is written.

    Args:
        bank: The bank; its nodes and all its episodes, learnt or waiting, are looked at.
        embedder: The bank's embedder; loaded if not given.
    """
    loaded = embedder_of(bank, embedder)
    asked = _sample(list(episodes(bank)))
    parameters = of_bank(bank)
    return [
        _propose(bank, name, asked, parameters, loaded)
        for name in TREES
        if parameters[name].enabled
    ]


def apply(bank: Bank, proposals: Sequence[Proposal]) -> Parameters:
    """Make the proposed thresholds the bank's own.

    Raises:
        BankFrozenError: The bank is frozen.
    """
    parameters = of_bank(bank)
    for proposal in proposals:
        if proposal.proposed is not None:
            parameters = changed(parameters, proposal.tree, tau_base=proposal.proposed)
    record = to_record(parameters)
    bank.change_manifest("parameters", {"why": "calibrate", **record}, parameters=record)
    return parameters


def _sample(found: list[Trajectory]) -> list[Trajectory]:
    """At most `QUESTION_LIMIT` episodes, evenly over the order of import."""
    if len(found) <= QUESTION_LIMIT:
        return found
    picked = np.linspace(0, len(found) - 1, QUESTION_LIMIT).astype(int)
    return [found[int(number)] for number in picked]


def _propose(
    bank: Bank,
    name: TreeName,
    asked: Sequence[Trajectory],
    parameters: Parameters,
    embedder: Embedder,
) -> Proposal:
    questions = _questions(name, asked)
    vectors = embedder.embed_queries(list(questions.values()))
    penalty = parameters[name].failure_penalty
    firsts: list[float] = []
    lines: list[float] = []
    triggers = [] if _has_nodes(bank, name) else _triggers(name, asked, questions)
    passages = embedder.embed_passages(triggers)
    for scores in _scores(bank, name, questions, vectors, penalty, passages):
        firsts += [float(score) for score in scores[:1]]
        line = widest_jump(scores)
        lines += [] if line is None else [line]
    best = np.array(firsts)
    current = parameters[name].tau_base
    proposed = round(float(np.median(lines)), 2) if lines else None
    counts, edges = np.histogram(best, bins=_BINS) if len(best) else (np.zeros(0), np.zeros(0))
    return Proposal(
        tree=name,
        questions=len(questions),
        compared_with="nodes" if _has_nodes(bank, name) else "triggers",
        current=current,
        proposed=proposed,
        matching_now=_share(best, current),
        matching_then=None if proposed is None else _share(best, proposed),
        bin_edges=tuple(round(float(edge), 4) for edge in edges),
        bin_counts=tuple(int(count) for count in counts),
    )


def _questions(name: TreeName, asked: Sequence[Trajectory]) -> dict[str, str]:
    """What each episode asks the tree, by its id. A text asked twice would only match itself."""
    texts: dict[str, str] = {}
    for each in asked:
        text = (each.task if name == "task" else each.environment).strip()
        if text:
            texts.setdefault(text, each.id)
    return {episode_id: text for text, episode_id in texts.items()}


def _triggers(
    name: TreeName, asked: Sequence[Trajectory], questions: Mapping[str, str]
) -> list[str]:
    """What the rules would have the asking episodes' own nodes be found by."""
    from deltamem_tui.memory.rules import RulesExtractor

    extractor = RulesExtractor()
    triggers = []
    for each in asked:
        if each.id not in questions:
            continue
        # A trigger does not tell how the episode ended, and many wait because nobody knows.
        known = each if each.outcome.known else each.with_outcome(Outcome(success=True))
        try:
            payload = extractor.extract(name, known, ()).payload
        except ExtractionError:
            payload = None
        triggers.append(payload.activation_condition if payload else questions[each.id])
    return triggers


def _has_nodes(bank: Bank, name: TreeName) -> bool:
    return len(bank.tree(name)) >= _LEAST_ROWS


def _scores(
    bank: Bank,
    name: TreeName,
    questions: dict[str, str],
    vectors: NDArray[np.float32],
    penalty: float,
    triggers: NDArray[np.float32],
) -> Iterator[NDArray[np.float32]]:
    """Per question, the scores of everything but its own, best first."""
    weighting = weighting_of(bank)
    if _has_nodes(bank, name):
        tree = bank.tree(name)
        scan = scan_of(tree, weighting)
        origins = np.full(len(tree.dead), "", dtype="U16")
        for row in tree.rows:
            origins[row] = tree.node_at(int(row)).origin.trajectory
    else:
        scan = Scan(Rows.of_vectors(triggers), weighting)
        origins = np.array(list(questions), dtype="U16")
    for episode_id, vector in zip(questions, vectors, strict=True):
        yield _others(scan.scores(vector, penalty), origins == episode_id)


def _others(scores: NDArray[np.float32], own: NDArray[np.bool_]) -> NDArray[np.float32]:
    others: NDArray[np.float32] = np.sort(scores[~own & np.isfinite(scores)])
    return others[::-1]


def widest_jump(scores: NDArray[np.float32]) -> float | None:
    """The middle of the widest jump among the better half of scores that fall.

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


def _share(best: NDArray[np.float32], threshold: float) -> float:
    return round(float(np.mean(best >= threshold)), 3) if len(best) else 0.0
