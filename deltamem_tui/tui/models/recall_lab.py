"""A question to a bank, and its answer, with other numbers beside the bank's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import EmbedderCard
from deltamem_tui.memory.methods import display_of, method_of
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Settings
from deltamem_tui.memory.vectors.embedder import EmbeddingCache, card_of, embedder_of
from deltamem_tui.memory.vectors.search import Candidate
from deltamem_tui.text import one_line
from deltamem_tui.tui.models.nodes import entry_of

CANDIDATES = 20
_KEPT_QUESTIONS = 200
_SHORT_TITLE = 40
NOTHING_RECALLED = "Nothing is recalled: the agent is told nothing."


@dataclass(frozen=True, slots=True)
class LabQuestion:
    """A question, and the numbers it is asked with.

    Attributes:
        task: The goal; may be empty.
        scene: The scene; may be empty.
        settings: The method's numbers, as they were typed.
        compared: The bank's own numbers, if the answer is to be compared with theirs.
    """

    task: str
    scene: str
    settings: Settings
    compared: Settings | None = None

    @property
    def is_empty(self) -> bool:
        """True if nothing is asked."""
        return not (self.task.strip() or self.scene.strip())


@dataclass(frozen=True, slots=True)
class LabAnswer:
    """A bank's answer.

    Attributes:
        question: What was asked.
        found: What is recalled; None if nothing was asked.
        usual: What is recalled with the bank's own numbers, if that was to be compared.
    """

    question: LabQuestion
    found: RecallResult | None = None
    usual: RecallResult | None = None

    def of(self, tree: str) -> CollectionRecall | None:
        """Return a collection's answer; None if it was not asked."""
        return self.found.collections.get(tree) if self.found else None

    def usual_of(self, tree: str) -> CollectionRecall | None:
        """Return the same with the bank's own numbers; None also if that was not to be compared."""
        return self.usual.collections.get(tree) if self.usual else None


def matched(found: CollectionRecall | None) -> frozenset[str]:
    """Return the ids of the nodes that a collection recalls."""
    return frozenset(chain[-1].id for chain in found.chains) if found else frozenset()


class LabEmbedder:
    """The embedder of the bank that is asked: to change a number embeds nothing anew.

    A bank that is given another embedder, while it is looked at, has its questions embedded
    anew: to mix the two would score nonsense.
    """

    def __init__(self) -> None:
        self._card: EmbedderCard | None = None
        self._cache: EmbeddingCache | None = None
        self._questions = 0

    def is_at_hand(self, bank: Bank) -> bool:
        """Return whether a bank's embedder is loaded."""
        return self._cache is not None and card_of(bank) == self._card

    def of(self, bank: Bank) -> EmbeddingCache:
        """Return the bank's embedder, loaded when it is first asked for."""
        card = card_of(bank)
        self._questions += 1
        if self._cache is None or card != self._card or self._questions > _KEPT_QUESTIONS:
            self._cache, self._card, self._questions = EmbeddingCache(embedder_of(bank)), card, 1
        return self._cache


def answer(
    bank: Bank, question: LabQuestion, embedder: LabEmbedder, folders: Sequence[Path] | None = None
) -> LabAnswer:
    """Ask a bank. Nothing is written.

    Args:
        bank: The bank.
        question: What is asked.
        embedder: What embedded the earlier questions.
        folders: Where the context's header is looked up; the usual places if not given.
    """
    places = None if folders is None else tuple(folders)
    ready = embedder.of(bank)

    def ask(settings: Settings) -> RecallResult:
        query = Query(question.task, question.scene, CANDIDATES, settings, places)
        return method_of(bank).recall(bank, query, ready)

    usual = ask(question.compared) if question.compared else None
    return LabAnswer(question, ask(question.settings), usual)


@dataclass(frozen=True, slots=True)
class MatchLine:
    """One line of a collection's answer.

    Attributes:
        kind: A match, a runner-up, the line that the threshold draws among them, or one below
            those that another rule found.
        text: What a line between says.
        candidate: The node and its numbers; None for a line between.
        entry: What can be said of the node, the most telling first.
        change: Whether it is a match with the numbers that are tried alone, or with the bank's
            own alone; empty for neither.
    """

    kind: Literal["match", "runner-up", "threshold", "rule"]
    text: str = ""
    candidate: Candidate | None = None
    entry: tuple[str, ...] = ()
    change: Literal["", "gained", "lost"] = ""


def match_lines(
    bank: Bank, found: CollectionRecall | None, usual: CollectionRecall | None = None
) -> list[MatchLine]:
    """Return a collection's candidates, best first, and the threshold where it stands among them.

    Those of another rule come first, and below them a line that says which it is: their scores
    are not compared with the threshold.
    """
    if found is None:
        return []
    lines = [_candidate_line(bank, found, usual, each) for each in found.candidates]
    others = sum(each.rule != "threshold" for each in found.candidates)
    if found.threshold > -1:  # else all match
        rest = found.candidates[others:]
        above = others + sum(each.score >= found.threshold for each in rest)
        differs = usual and usual.threshold != found.threshold
        own = f" (bank {usual.threshold:g})" if usual and differs else ""
        lines.insert(above, MatchLine("threshold", f"threshold {found.threshold:g}{own}"))
    if others:
        text = method_of(bank).rules.get(found.rule, "")
        lines.insert(others, MatchLine("rule", f"↑ by {found.rule}: {text}"))
    return lines


def _candidate_line(
    bank: Bank, found: CollectionRecall, usual: CollectionRecall | None, candidate: Candidate
) -> MatchLine:
    tree, display = bank.tree(found.collection), display_of(bank, found.collection)
    matches = found.matches(candidate)
    did_match = usual.matches(candidate) if usual else matches
    return MatchLine(
        "match" if matches else "runner-up",
        candidate=candidate,
        entry=entry_of(tree, candidate.node, display),
        change="" if matches == did_match else "gained" if matches else "lost",
    )


def change_text(found: CollectionRecall | None, usual: CollectionRecall | None) -> str:
    """Return how many matches the numbers that are tried gain and lose; empty if none are tried."""
    if usual is None:
        return ""
    now, before = matched(found), matched(usual)
    gained, lost = len(now - before), len(before - now)
    parts = [f"{sign}{count}" for sign, count in (("+", gained), ("−", lost)) if count]
    return f"{' '.join(parts) or 'same'} {'match' if gained + lost == 1 else 'matches'}"


def why_matched(bank: Bank, found: CollectionRecall | None) -> str:
    """Say why the first node matched and not the next; empty if nothing was asked."""
    if found is None:
        return ""
    if not found.candidates:
        return "Nothing is known here yet."
    display, match = display_of(bank, found.collection), found.match
    if match is None:
        best = found.candidates[0].score
        return f"No match: the best score, {best:.3f}, is below the threshold {found.threshold:g}."
    if match.rule != "threshold":
        why = f"Matched by {match.rule}: the threshold is not used."
    elif found.threshold > -1:
        why = f"Its score {match.score:.3f} reaches the threshold {found.threshold:g}."
    else:
        why = "The nearest are recalled, whatever their score."
    place = found.candidates.index(match) + 1
    if place == len(found.candidates):
        return why
    following = found.candidates[place]
    title = one_line(display.of_title(following.node), _SHORT_TITLE)
    if found.matches(following):
        return f"{why} The next, {title}, is recalled too."
    if following.rule != match.rule:
        return f"{why} The next, {title}, was not found by that rule."
    if -1 < found.threshold <= following.score and match.rule == "threshold":
        return f"{why} The next, {title}, reaches it too ({following.score:.3f}): the best is told."
    less = " as a failure" if following.penalty and following.node.label == "failure" else ""
    return f"{why} The next, {title}, has {following.score:.3f}{less}."
