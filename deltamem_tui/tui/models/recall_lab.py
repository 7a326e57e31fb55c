"""The recall lab: a question to a bank, its answer, and the numbers that the user plays with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from msgspec.structs import fields

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import EmbedderCard
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.methods import change_settings, display_of, method_of, settings_of
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Setting, Settings, listed, replaced
from deltamem_tui.memory.staleness import recalled
from deltamem_tui.memory.vectors.embedder import EmbeddingCache, card_of, embedder_of
from deltamem_tui.memory.vectors.search import Candidate
from deltamem_tui.tui.models.nodes import entry_of

CANDIDATES = 20
_KEPT_QUESTIONS = 200
_LABELS = {"tau_base": "threshold"}
_NONE = "none"


# The numbers


def number_label(name: str) -> str:
    """What a number is called beside the line it is typed in."""
    return _LABELS.get(name) or name.replace("_", " ")


def number_text(value: object) -> str:
    """A number, none, or the name of a choice, as it is typed."""
    if value is None:
        return _NONE
    return value if isinstance(value, str) else f"{value:g}"


def lab_numbers(bank: Bank) -> dict[str, list[Setting]]:
    """Per collection, the numbers to play with, as the method's settings say.

    If those do not say, all of the method's own; what belongs to no collection stands with the
    first.

    Raises:
        BankCorruptError: A number of the bank cannot be used.
        UsageError: The bank's method is not installed.
    """
    settings = settings_of(bank)
    found: dict[str, list[Setting]] = {name: [] for name in bank.trees}
    first = next(iter(found), "")
    of_learning = {each.name for each in fields(Settings)}
    for each in listed(settings):
        if each.path in of_learning:
            continue
        place = each.path.rpartition(".")[0] or first
        if settings.recalling:
            place = settings.recalling.get(each.path, "")
        if place in found and not isinstance(each.value, bool):
            found[place].append(each)
    return found


@dataclass(frozen=True, slots=True)
class TrialNumbers:
    """A method's numbers as they were typed, and as the bank has them.

    Attributes:
        typed: What counts in the lab.
        stored: What the bank had when it was last read.
    """

    typed: Settings
    stored: Settings

    @property
    def changes(self) -> Mapping[str, object]:
        """The numbers that were typed and are not the bank's own, by their paths."""
        stored = {each.path: each.value for each in listed(self.stored)}
        typed = listed(self.typed)
        return {each.path: each.value for each in typed if each.value != stored[each.path]}

    def over(self, stored: Settings) -> TrialNumbers:
        """The same play over what the bank has by now: the other numbers are the bank's."""
        return TrialNumbers(_with_changes(stored, self.changes), stored)

    def with_number(self, path: str, text: str) -> TrialNumbers:
        """The play with one more number or choice, as it was typed.

        Raises:
            ConfigurationError: It is outside its range.
            ValueError: It is not a number.
        """
        number = next(each for each in listed(self.stored) if each.path == path)
        return replace(self, typed=replaced(self.typed, path, _value(number, text.strip().lower())))


def _value(number: Setting, text: str) -> int | float | str | None:
    if number.choices:
        return text
    if number.optional and text == _NONE:
        return None
    value = float(text.replace(",", "."))
    return int(value) if value.is_integer() else value


def _with_changes(settings: Settings, changes: Mapping[str, object]) -> Settings:
    for path, value in changes.items():
        settings = replaced(settings, path, value)
    return settings


def why_not(title: str, name: str, error: ValueError | DeltaMemError) -> str:
    """Why what was typed is not such a number of a collection, named as it is beside its line."""
    named = f"{number_label(name)} ({name})"
    if isinstance(error, DeltaMemError):
        return str(error).replace(name, named)
    return f"{title}: {named} must be a number"


def save_numbers(bank: Bank, trial: TrialNumbers) -> str:
    """Change the numbers that were typed over, and leave the others as they were last written.

    Returns:
        What the numbers of the lab are now, as a sentence.

    Raises:
        BankFrozenError: The bank is frozen.
        ConfigurationError: A number is outside its range.
    """
    change_settings(bank, "recall lab", lambda numbers: _with_changes(numbers, trial.changes))
    saved = []
    for name, numbers in lab_numbers(bank).items():
        values = (f"{number_label(_name(each))} {number_text(each.value)}" for each in numbers)
        if text := ", ".join(values):
            saved.append(f"{display_of(bank, name).title} {text}")
    return f"saved: {'; '.join(saved)}"


def _name(number: Setting) -> str:
    return number.path.rpartition(".")[2]


# Question and answer


@dataclass(frozen=True, slots=True)
class LabQuestion:
    """What is asked, and with which numbers.

    Attributes:
        task: The goal; may be empty.
        scene: The scene; may be empty.
        settings: The method's numbers, as they were typed.
    """

    task: str
    scene: str
    settings: Settings

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked."""
        return not (self.task.strip() or self.scene.strip())


@dataclass(frozen=True, slots=True)
class LabAnswer:
    """What a bank answers.

    Attributes:
        question: What was asked.
        found: What is recalled; None if nothing was asked.
    """

    question: LabQuestion
    found: RecallResult | None = None

    def of(self, tree: str) -> CollectionRecall | None:
        """A collection's answer; None if it was not asked."""
        return self.found.collections.get(tree) if self.found else None


class LabEmbedder:
    """The embedder of the bank that is asked: to change a number embeds nothing anew.

    A bank that is given another embedder, while it is looked at, has its questions embedded
    anew: to mix the two would score nonsense.
    """

    def __init__(self) -> None:
        self._card: EmbedderCard | None = None
        self._cache: EmbeddingCache | None = None
        self._questions = 0

    def of(self, bank: Bank) -> EmbeddingCache:
        """The bank's embedder, loaded when it is first asked for."""
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

    Raises:
        ConfigurationError: The header cannot be read.
        EmbedderUnavailableError: The bank's embedding model cannot be loaded.
        BankCorruptError: The bank breaks the rules of the format.
    """
    places = None if folders is None else tuple(folders)
    query = Query(question.task, question.scene, CANDIDATES, question.settings, places)
    return LabAnswer(question, recalled(bank, query, embedder.of(bank)))


@dataclass(frozen=True, slots=True)
class MatchLine:
    """One line of a collection's answer.

    Attributes:
        kind: A match, a runner-up, the line that the threshold draws among them, or one below
            those that another rule found.
        text: What a line between says.
        candidate: The node and its numbers; None for a line between.
        entry: What can be said of the node, the most telling first.
    """

    kind: Literal["match", "runner-up", "threshold", "rule"]
    text: str = ""
    candidate: Candidate | None = None
    entry: tuple[str, ...] = ()


def match_lines(bank: Bank, found: CollectionRecall | None) -> list[MatchLine]:
    """A collection's candidates, best first, and the threshold where it stands among them.

    Those of another rule come first, and below them a line that says which it is: their scores
    are not compared with the threshold.
    """
    if found is None:
        return []
    tree, display = bank.tree(found.collection), display_of(bank, found.collection)
    lines = [
        MatchLine(
            "match" if found.matches(each) else "runner-up",
            candidate=each,
            entry=entry_of(tree, each.node, display),
        )
        for each in found.candidates
    ]
    others = sum(each.rule != "threshold" for each in found.candidates)
    if found.threshold > -1:  # else all match
        rest = found.candidates[others:]
        above = others + sum(each.score >= found.threshold for each in rest)
        lines.insert(above, MatchLine("threshold", f"threshold {found.threshold:g}"))
    if others:
        text = method_of(bank).rules.get(found.rule, "")
        lines.insert(others, MatchLine("rule", f"↑ by {found.rule}: {text}"))
    return lines
