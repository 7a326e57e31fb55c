"""The recall lab: a question to a bank, and its answer, with other numbers beside the bank's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from msgspec.structs import fields

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import EmbedderCard
from deltamem_tui.memory.methods import change_settings, display_of, method_of, settings_of
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.settings import Setting, Settings, listed, replaced
from deltamem_tui.memory.vectors.embedder import EmbeddingCache, card_of, embedder_of
from deltamem_tui.memory.vectors.search import Candidate
from deltamem_tui.text import one_line
from deltamem_tui.tui.models.nodes import entry_of
from deltamem_tui.tui.models.sections import Section

_LABELS = {"tau_base": "threshold", "failure_penalty": "penalty"}
_NONE = "none"
_HUNDREDTH, _DECIMALS = 0.01, 6


def number_label(name: str) -> str:
    """Return what a number is called beside the line it is typed in."""
    return _LABELS.get(name) or name.replace("_", " ")


def number_text(value: object) -> str:
    """Return a number, none, or the name of a choice, as it is typed."""
    if value is None:
        return _NONE
    return value if isinstance(value, str) else f"{value:g}"


def lab_numbers(bank: Bank) -> dict[str, list[Setting]]:
    """Per collection, the numbers to play with, as the method's settings say.

    If those do not say, all of the method's own; what belongs to no collection is with the first.

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
    def summary(self) -> str:
        """What was typed, and what the bank has instead; empty if that is the same."""
        stored, changes = {each.path: each for each in listed(self.stored)}, self.changes
        return ", ".join(
            f"{number_label(stored[path].name)} {number_text(value)} "
            f"(bank {number_text(stored[path].value)})"
            for path, value in changes.items()
            if not isinstance(value, bool)  # what another number fixes
        )

    @property
    def changes(self) -> Mapping[str, object]:
        """The numbers that were typed and are not the bank's own, by their paths."""
        stored = {each.path: each.value for each in listed(self.stored)}
        typed = listed(self.typed)
        return {each.path: each.value for each in typed if each.value != stored[each.path]}

    def over(self, stored: Settings) -> TrialNumbers:
        """Return the same play over what the bank has by now: the other numbers are the bank's."""
        return TrialNumbers(_with_changes(stored, self.changes), stored)

    def with_number(self, path: str, text: str) -> TrialNumbers:
        """Return the play with one more number or choice, as it was typed.

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


def why_not(title: str, number: Setting) -> str:
    """Return what would be such a number of a collection, named as it is beside its line."""
    name = number.name
    named = f"{_LABELS[name]} ({name})" if name in _LABELS else number_label(name)
    return f"{title}: {named} must be {number.description}"


def nudged(settings: Settings, numbers: Sequence[Setting], steps: int) -> tuple[str, str] | None:
    """Return the first of some numbers that has hundredths, else the first whole one, moved.

    Args:
        settings: The numbers as they were typed.
        numbers: Those of one collection.
        steps: How many hundredths, or ones of a whole number, it is moved by.

    Returns:
        Its path and what would be typed; None if there is no number among them.
    """
    values = {each.path: each.value for each in listed(settings)}
    found = [(each.path, values[each.path]) for each in numbers]
    for path, value in found:
        if isinstance(value, float):
            return path, number_text(round(value + steps * _HUNDREDTH, _DECIMALS))
    return next(
        ((path, str(value + steps)) for path, value in found if isinstance(value, int)), None
    )


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
        values = (f"{number_label(each.name)} {number_text(each.value)}" for each in numbers)
        if text := ", ".join(values):
            saved.append(f"{display_of(bank, name).title} {text}")
    return f"saved: {'; '.join(saved)}"


CANDIDATES = 20
_KEPT_QUESTIONS = 200
_NEAREST = 3
_TITLE_WIDTH = 80
NOTHING_THERE = "nothing is known of this"
NOTHING_RECALLED = "Nothing is recalled: the agent is told nothing."


@dataclass(frozen=True, slots=True)
class LabQuestion:
    """What is asked, and with which numbers.

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
    """What a bank answers.

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

    @property
    def matches(self) -> dict[str, frozenset[str]]:
        """Per collection, the ids of what the bank's own numbers recall."""
        found = self.usual or self.found
        answers = found.collections.items() if found else ()
        return {name: matched(each) for name, each in answers}


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

    Raises:
        ConfigurationError: The header cannot be read.
        EmbedderUnavailableError: The bank's embedding model cannot be loaded.
        BankCorruptError: The bank breaks the rules of the format.
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

    Args:
        bank: The bank.
        found: The collection's answer.
        usual: Its answer with the bank's own numbers, if `found` is with others.
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
    return difference_text(len(now - before), len(before - now))


def difference_text(gained: int, lost: int) -> str:
    """Return how many matches there are more and less."""
    parts = [f"{sign}{count}" for sign, count in (("+", gained), ("−", lost)) if count]
    count = " ".join(parts) or "same"
    return f"{count} {'match' if gained + lost == 1 else 'matches'}"


def near_misses(bank: Bank, answer: LabAnswer) -> list[Section]:
    """Per collection that recalls nothing, the nearest nodes and how much they miss."""
    sections: list[Section] = []
    for found in answer.found.collections.values() if answer.found else ():
        if found is None or found.chains or not display_of(bank, found.collection).asked:
            continue
        display = display_of(bank, found.collection)
        lines = [
            f"{each.score:.3f}{_missed_by(found, each)}  "
            f"{one_line(display.of_title(each.node), _TITLE_WIDTH)}"
            for each in found.candidates[:_NEAREST]
        ]
        body = "\n".join(lines) or NOTHING_THERE
        sections.append(Section(f"Nearest in the {display.title}", body, quiet=True))
    return sections


def _missed_by(found: CollectionRecall, candidate: Candidate) -> str:
    """Return how much is missing to the threshold; empty if there is none."""
    missing = found.threshold - candidate.score
    return f" ({missing:.3f} below)" if found.threshold > -1 and missing > 0 else ""


def answer_sections(bank: Bank, answer: LabAnswer) -> list[Section]:
    """Return an answer as text: the best nodes of each collection, then the context."""
    sections: list[Section] = []
    for found in answer.found.collections.values() if answer.found else ():
        if found is None or not display_of(bank, found.collection).asked:
            continue
        display = display_of(bank, found.collection)
        lines = [
            f"{'▶' if found.matches(each) else ' '}{each.score:.3f}  "
            f"{one_line(display.of_title(each.node), _TITLE_WIDTH)}"
            for each in found.candidates[:_NEAREST]
        ]
        sections.append(Section(display.title, "\n".join(lines) or NOTHING_THERE))
    context = answer.found.context if answer.found else ""
    return [*sections, Section("", context or NOTHING_RECALLED)]
