"""Calibration: a threshold per tree from the scores that a bank's own episodes get.

Each episode is asked as a question, and compared with what the rules would have the others found
by; episodes that have one trigger are of one kind. The proposal is the threshold that best
separates each question's best score among its kind from that among the others (Youden's index).

Where too few episodes have one of their kind, it is the median of the middles of the widest jumps
in each question's sorted scores. Nothing is proposed before ten episodes resemble another: on two
simulators, thresholds from three episodes and from ten lay a quarter apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import PUBLISHED_EMBEDDER
from deltamem_tui.embedding.protocol import Embedder, Weighting
from deltamem_tui.embedding.scan import Rows, Scan
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, Parameters
from deltamem_tui.memory.deltamem.recall import questions_of
from deltamem_tui.memory.deltamem.write import purpose_of
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.plan import Proposal
from deltamem_tui.memory.settings import of_bank
from deltamem_tui.memory.vectors.embedder import weighting_of
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.trajectory.model import Outcome, Trajectory

QUESTION_LIMIT = 1000
LEAST_SCORES = 10
_LEAST_SCORE = 0.005  # less is zero to the two digits that a threshold is proposed with
_BINS = 20
_LEAST_KINDRED = 0.5  # the share of questions that must have one of their kind


def calibrate(
    bank: Bank, writer: Writer, embedder: Embedder, between: Callable[[], None] = lambda: None
) -> list[Proposal]:
    """Propose a threshold for each tree. Nothing is written.

    The rules as `writer` decide which episodes are of one kind. `between` is called before each
    question to a tree; what it raises ends the work.
    """
    numbers = of_bank(bank, Parameters)
    asked = list(islice(episodes(bank), QUESTION_LIMIT))
    tools = _Tools(weighting_of(bank), writer, embedder, between)
    return [
        _propose(name, numbers[name].tau_base, asked, tools)
        for name in COLLECTIONS
        if numbers[name].enabled
    ]


def first_thresholds(bank: Bank, writer: Writer, embedder: Embedder) -> list[Proposal]:
    """Propose thresholds for the trees that still have the preset's, from the first episodes.

    The published ones stay for the embedder that they were published for. Scenes that an
    interrupted run left behind do not count.
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
    tools = _Tools(weighting_of(bank), writer, embedder, lambda: None)
    proposals = [
        _propose(name, now[name].tau_base, asked, tools)
        for name in waiting
        if len(_questions(name, asked)) >= LEAST_SCORES
    ]
    return [each for each in proposals if each.proposed is not None]


@dataclass(frozen=True, slots=True)
class _Tools:
    weighting: Weighting
    writer: Writer
    embedder: Embedder
    between: Callable[[], None]


def _propose(name: str, current: float, asked: Sequence[Trajectory], tools: _Tools) -> Proposal:
    tools.between()
    questions = _questions(name, asked)
    # All at once: a vector's last bits depend on the texts that are embedded beside it.
    vectors = tools.embedder.embed_queries(list(questions))
    triggers = [_trigger(name, text, episode, tools) for text, episode in questions.items()]
    scan = Scan(Rows.of_vectors(tools.embedder.embed_passages(triggers)), tools.weighting)
    kinds = np.array(triggers, dtype=object)
    best, jumps, pairs = [], [], []
    for at, vector in enumerate(vectors):
        tools.between()
        scores = np.delete(scan.scores(vector, 0.0), at)
        own = np.delete(kinds == kinds[at], at)
        best += [float(scores.max())] if len(scores) else []
        if best and best[-1] >= _LEAST_SCORE and (jump := widest_jump(np.sort(scores)[::-1])):
            jumps.append(jump)
        if own.any() and not own.all():
            pairs.append((float(scores[own].max()), float(scores[~own].max())))
    told_apart = len(pairs) >= _LEAST_KINDRED * len(questions)
    line = dividing_line(pairs) if told_apart else None
    if line is None and jumps:
        line = float(np.median(jumps))
    return _proposal(name, current, len(questions), np.array(best), line)


def _questions(name: str, asked: Sequence[Trajectory]) -> dict[str, Trajectory]:
    """Return what each episode asks the tree. A text asked twice would only match itself."""
    texts: dict[str, Trajectory] = {}
    for each in asked:
        if text := questions_of(each)[name]:
            texts.setdefault(text, each)
    return texts


def _trigger(name: str, text: str, episode: Trajectory, tools: _Tools) -> str:
    """Return what the rules would have an episode's own node be found by."""
    tools.between()
    if not episode.outcome.known:  # a trigger does not depend on how the episode ended
        episode = episode.with_outcome(Outcome(success=True))
    try:
        payload = tools.writer.write(purpose_of(name, episode, ()), episode, ()).payload
    except ExtractionError:
        payload = None
    return payload["activation_condition"] if payload else text


def _proposal(
    name: str,
    current: float,
    questions: int,
    best: NDArray[np.float64],
    line: float | None,
) -> Proposal:
    found, reason = int((best >= _LEAST_SCORE).sum()), ""
    if found < LEAST_SCORES:
        reason = (
            f"too few episodes are alike: {found} of {questions} resemble another, "
            f"and {LEAST_SCORES} are needed"
        )
    elif line is None:
        reason = "no threshold separates what is alike from what is not by these scores"
    proposed = None if line is None or reason else round(line, 2)
    counts, edges = np.histogram(best, bins=_BINS) if len(best) else (np.zeros(0), np.zeros(0))
    return Proposal(
        tree=name,
        questions=questions,
        scores=found,
        current=current,
        proposed=proposed,
        reason=reason,
        matching_now=_share(best, current),
        matching_then=None if proposed is None else _share(best, proposed),
        bin_edges=tuple(round(float(edge), 4) for edge in edges),
        bin_counts=tuple(int(count) for count in counts),
    )


def _share(best: NDArray[np.float64], threshold: float) -> float:
    return round(float(np.mean(best >= threshold)), 3) if len(best) else 0.0


def dividing_line(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return the threshold that most questions reach with their own kind, fewest with another."""
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
    """Return the middle of the widest jump among the better half of scores, best first.

    None if there are too few scores, or all are the same.
    """
    upper = scores[: max(len(scores) // 2, 2)]
    if len(upper) < 2:
        return None
    jumps = upper[:-1] - upper[1:]
    widest = int(np.argmax(jumps))
    return float(upper[widest] + upper[widest + 1]) / 2 if jumps[widest] > 0 else None
