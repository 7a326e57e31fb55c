"""The recall lab's question and answer: equations 5 to 7 on a bank, with numbers one plays with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import EmbedderCard
from deltamem_tui.memory.context import compose
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.memory.deltamem.context import chain_entries
from deltamem_tui.memory.deltamem.recall import recall_tree
from deltamem_tui.memory.deltamem.settings import Parameters
from deltamem_tui.memory.method import CollectionRecall
from deltamem_tui.memory.vectors.embedder import card_of, embedder_of, weighting_of
from deltamem_tui.memory.vectors.search import Candidate
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CANDIDATES = 20
_KEPT_VECTORS = 200


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and with which numbers.

    Attributes:
        task: The goal; empty: the task tree is not asked.
        scene: The scene; empty: the env tree is not asked.
        parameters: τ, ε and the rest, as they were typed.
    """

    task: str
    scene: str
    parameters: Parameters

    def text(self, name: str) -> str:
        """What a tree is asked; empty if it is not, or is switched off."""
        text = self.task if name == "task" else self.scene
        return text.strip() if self.parameters[name].enabled else ""


@dataclass(frozen=True, slots=True)
class LabAnswer:
    """What the trees answer.

    Attributes:
        question: What was asked.
        trees: Per tree that was asked, its answer.
        context: The text for an agent's prompt.
    """

    question: Question
    trees: Mapping[str, CollectionRecall]
    context: str


class Vectors:
    """The vectors of the last questions: to change a number needs no new embedding.

    They are one embedder's. A bank that is given another one, while it is looked at, has its
    questions embedded anew: to mix the two would score nonsense.
    """

    def __init__(self) -> None:
        self._card: EmbedderCard | None = None
        self._known: dict[str, NDArray[np.float32]] = {}

    def of(self, bank: Bank, texts: list[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of some texts. Loads the bank's embedder when one is not known yet."""
        card = card_of(bank)
        if card != self._card or len(self._known) > _KEPT_VECTORS:
            self._card, self._known = card, {}
        unknown = [text for text in texts if text not in self._known]
        if unknown:
            vectors = embedder_of(bank).embed_queries(unknown)
            self._known.update(zip(unknown, vectors, strict=True))
        return {text: self._known[text] for text in texts}


def answer(
    bank: Bank, question: Question, vectors: Vectors, folders: Sequence[Path] | None = None
) -> LabAnswer:
    """Ask the trees. Nothing is written.

    Args:
        bank: The bank.
        question: What is asked.
        vectors: The vectors of earlier questions.
        folders: Where the context's header is looked up; the usual places if not given.

    Raises:
        ConfigurationError: The header cannot be read.
        EmbedderUnavailableError: The bank's embedding model cannot be loaded.
        BankCorruptError: The bank breaks the rules of the format.
    """
    asked = {name: text for name in COLLECTIONS if (text := question.text(name))}
    known = vectors.of(bank, list(dict.fromkeys(asked.values()))) if asked else {}
    weighting = weighting_of(bank)
    found = {
        name: recall_tree(
            bank.tree(name), text, known[text], question.parameters[name], weighting, CANDIDATES
        )
        for name, text in asked.items()
    }
    entries = [each for name in found for each in chain_entries(name, found[name].chain)]
    text = compose(bank.manifest.domain, entries, folders)
    return LabAnswer(question, found, text)


@dataclass(frozen=True, slots=True)
class MatchLine:
    """One line of a tree's answer.

    Attributes:
        kind: The match, a runner-up, or the line that the threshold draws among them.
        text: What it says, beside its numbers.
        candidate: The node and its numbers; None for the threshold.
    """

    kind: Literal["match", "runner-up", "threshold"]
    text: str
    candidate: Candidate | None = None


def match_lines(found: CollectionRecall) -> list[MatchLine]:
    """A tree's candidates, best first, and the threshold where it stands among them."""
    lines: list[MatchLine] = []
    drawn = False
    for number, candidate in enumerate(found.candidates):
        if not drawn and candidate.score < found.threshold:
            lines.append(_threshold(found))
            drawn = True
        kind: Literal["match", "runner-up"] = "match" if not number and not drawn else "runner-up"
        condition = candidate.node.payload["activation_condition"]
        lines.append(MatchLine(kind, one_line(condition[:2000], 300), candidate))
    if not drawn:
        lines.append(_threshold(found))
    return lines


def _threshold(found: CollectionRecall) -> MatchLine:
    return MatchLine("threshold", f"threshold {found.threshold:g}")
