"""The questions that the user keeps, asked again: what has changed since each was kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.methods import display_of, settings_of
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.models.recall_lab import (
    LabAnswer,
    LabEmbedder,
    LabQuestion,
    answer,
    answer_sections,
    difference_text,
)
from deltamem_tui.tui.models.sections import Section

_TITLE = 200
_SHORT_ID = 8


class KeptQuestion(Struct, frozen=True):
    """A question with a name.

    Attributes:
        task: The goal; may be empty.
        scene: The scene; may be empty.
        matches: Per collection, the ids of the nodes that it recalled when it was kept.
    """

    task: str
    scene: str = ""
    matches: Mapping[str, frozenset[str]] = {}


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A kept question and what the bank answers now.

    Attributes:
        name: What it is called.
        question: The question.
        answer: The answer; None before there is one.
        gained: The nodes that match now and did not, a title each.
        lost: The nodes that did match and do not.
        sections: The same and the answer, for a person.
    """

    name: str
    question: KeptQuestion
    answer: LabAnswer | None = None
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def change(self) -> str:
        """How many matches there are more and less."""
        return difference_text(len(self.gained), len(self.lost)) if self.answer else "…"


def ask_again(
    bank: Bank,
    kept: Mapping[str, KeptQuestion],
    embedder: LabEmbedder,
    folders: Sequence[Path],
    stopped: Callable[[], bool],
) -> list[KeptAnswer]:
    """Asks a bank all kept questions, with its own numbers.

    Raises:
        DeltaMemError: See `recall_lab.answer`.
    """
    found = []
    for name, each in kept.items():
        if stopped():
            break
        question = LabQuestion(each.task, each.scene, settings_of(bank))
        found.append(_compared(bank, name, each, answer(bank, question, embedder, folders)))
    return found


def _compared(bank: Bank, name: str, kept: KeptQuestion, given: LabAnswer) -> KeptAnswer:
    now = given.matches
    gained = tuple(_titles(bank, now, kept.matches))
    lost = tuple(_titles(bank, kept.matches, now))
    asked = [Section(title, text) for title, text in (("Task", kept.task), ("Scene", kept.scene))]
    sections = [each for each in asked if each.body.strip()]
    for sign, titles in (("More", gained), ("Fewer", lost)):
        if titles:
            heading = f"{sign} than when it was kept: {counted(len(titles), 'match', 'matches')}"
            sections.append(Section(heading, "\n".join(titles)))
    sections += answer_sections(bank, given)
    return KeptAnswer(name, kept, given, gained, lost, tuple(sections))


def _titles(
    bank: Bank, ids: Mapping[str, frozenset[str]], others: Mapping[str, frozenset[str]]
) -> Iterator[str]:
    """What is called what is among some nodes and not among others."""
    for name, tree in bank.trees.items():
        display = display_of(bank, name)
        for node_id in sorted(ids.get(name, frozenset()) - others.get(name, frozenset())):
            there = tree.find(node_id)
            title = display.of_title(tree.node(node_id)) if there else "it is not there any more"
            yield f"{node_id[:_SHORT_ID]}  {one_line(title, _TITLE)}"
