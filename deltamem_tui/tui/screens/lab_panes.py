"""The numbers that the user plays with in the recall lab, in the lines that they are typed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from textual.content import Content
from textual.widgets import Input

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_of, settings_of
from deltamem_tui.memory.settings import Settings, listed
from deltamem_tui.memory.vectors.embedder import card_of
from deltamem_tui.text import count_tokens, counted, one_line
from deltamem_tui.tui.core.background import Inquiry
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.core.forms import FormAnswer, FormLine
from deltamem_tui.tui.core.work import Retry
from deltamem_tui.tui.models.banks import bank_lines
from deltamem_tui.tui.models.nodes import chain_sections
from deltamem_tui.tui.models.recall_lab import (
    LabAnswer,
    LabEmbedder,
    LabQuestion,
    TrialNumbers,
    answer,
    answer_sections,
    lab_numbers,
    nudged,
    number_text,
    why_not,
)
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.widgets.inputs import NumberInput
from deltamem_tui.tui.widgets.text_pane import TextPane

ASKING_OTHER = "asking the other bank"
_NAME = 40


class BesideContext:
    """What stands beside the context, if anything does.

    Attributes:
        pane: Where it stands.
        shows: What it is; empty for nothing.
    """

    def __init__(self, screen: BankScreen, embedder: LabEmbedder) -> None:
        self.pane = TextPane(id="beside")
        self.shows: Literal["", "chain", "bank"] = ""
        self._screen = screen
        self._embedder = embedder
        self._other_embedder = LabEmbedder()
        self._other: Path | None = None
        self._asking = Inquiry(screen, ASKING_OTHER)

    def show(self, what: Literal["", "chain", "bank"]) -> None:
        """Show something else, or nothing."""
        self.shows = what
        self._screen.set_class(bool(what), "-beside")

    def follow(self, tree: str, node: Node | None) -> None:
        """Show the chain that leads to a node, if chains are shown."""
        if self.shows != "chain":
            return
        self.pane.border_title = "chain"
        if node is None:
            self.pane.show([Section("", "No node is under the cursor.", quiet=True)])
            return
        bank = self._screen.bank
        chain, display = bank.tree(tree).chain(node.id), display_of(bank, tree)
        self.pane.border_title = Content(f"chain · {display.title} · {node.id}")
        self.pane.show(chain_sections(display, chain), len(chain) - 1)

    def choose(self, question: tuple[str, str]) -> None:
        """Ask which other bank is to be asked the same."""
        browser, here = self._screen.browser, self._screen.bank.path
        others = {
            each.place.name: each
            for each in bank_lines(browser.folder)
            if not each.error and each.place.path.resolve() != here.resolve()
        }
        if not others:
            browser.notes.notify("there is no other bank to ask")
            return
        choices = {
            name: f"{each.domain}, {counted(sum(each.nodes.values()), 'node')}"
            for name, each in others.items()
        }
        lines = (FormLine("other", "Bank", choices=choices),)

        def begin(given: FormAnswer, retry: Retry) -> None:
            retry.forget()
            self._other = others[given["other"]].place.path
            self.show("bank")
            self.ask(*question)

        browser.forms.ask("Ask another bank the same", lines, begin, bank=here)

    def ask(self, task: str, scene: str) -> None:
        """Ask the other bank, if one is shown, with its own numbers."""
        if self.shows != "bank" or self._other is None:
            return
        path, name = self._other, one_line(self._other.name, _NAME)
        if not (task.strip() or scene.strip()):
            self.pane.border_title = Content(name)
            self.pane.show([Section("", "Nothing is asked.", quiet=True)])
            return
        self.pane.border_title = Content(f"{name} · asking …")
        folders, card = (
            self._screen.browser.configuration.prompt_folders(),
            card_of(self._screen.bank),
        )

        def work() -> tuple[Bank, LabAnswer]:
            bank = Bank.open(path)
            embedder = self._embedder if card_of(bank) == card else self._other_embedder
            return bank, answer(
                bank, LabQuestion(task, scene, settings_of(bank)), embedder, folders
            )

        self._asking.ask(lambda _: work(), self._answered)

    def _answered(self, found: tuple[Bank, LabAnswer]) -> None:
        bank, given = found
        if self.shows != "bank":
            return
        context = given.found.context if given.found else ""
        tokens = counted(count_tokens(context), "token")
        self.pane.border_title = Content(f"{one_line(bank.path.name, _NAME)} · {tokens}")
        self.pane.show(answer_sections(bank, given))

    def failed(self, reason: str) -> None:
        """Say why the other bank gives no answer."""
        self.pane.show([Section("No answer", reason, warning=True)])


class NumberTrial:
    """The bank's numbers, and those that are tried in their place.

    Args:
        home: The open bank.
        displays: The collections that questions are put to, and how they are shown.

    Attributes:
        lines: The lines that the numbers are typed in.
        numbers: What they say; None of a bank whose numbers cannot be read.
    """

    def __init__(self, home: OpenBank, displays: Mapping[str, Display]) -> None:
        self._displays = displays
        self.lines = _lines(home, displays)
        self.numbers: TrialNumbers | None = None

    def of(self, tree: str) -> list[NumberInput]:
        """Return the lines of a collection."""
        return [each for each in self.lines if each.collection == tree]

    @property
    def is_sound(self) -> bool:
        """True if no line says what cannot be used."""
        return not any(each.has_class("-invalid") for each in self.lines)

    def take_over(self, stored: Settings) -> None:
        """Show the bank's numbers, but for those that the user plays with."""
        self.numbers = self.numbers.over(stored) if self.numbers else TrialNumbers(stored, stored)
        values = {each.path: each.value for each in listed(stored)}
        for line in self.lines:
            path = line.number.path
            if path not in self.numbers.changes and not line.has_class("-invalid"):
                with line.prevent(Input.Changed):
                    line.value = number_text(values[path])

    def take(self, line: NumberInput) -> str:
        """Take what was typed. Returns why it does not count; empty if it does."""
        if self.numbers is None:
            return ""
        try:
            self.numbers = self.numbers.with_number(line.number.path, line.value)
        except (ValueError, DeltaMemError):
            line.add_class("-invalid")
            return why_not(self._displays[line.collection].title, line.number)
        line.remove_class("-invalid")
        return ""

    def nudge(self, lines: Sequence[NumberInput], steps: int) -> NumberInput | None:
        """Move the first threshold, else the first number, of some lines.

        Returns:
            The line that says another number now, which is still to be taken; None if none does.
        """
        numbers = [each.number for each in lines]
        found = nudged(self.numbers.typed, numbers, steps) if self.numbers else None
        if found is None:
            return None
        line = next(each for each in lines if each.number.path == found[0])
        with line.prevent(Input.Changed):  # the next key may come before such a message
            line.value = found[1]
        return line

    def take_back(self) -> None:
        """Show the bank's own numbers again."""
        if self.numbers is None:
            return
        for line in self.lines:
            line.remove_class("-invalid")
        stored, self.numbers = self.numbers.stored, None
        self.take_over(stored)


def _lines(home: OpenBank, displays: Mapping[str, Display]) -> list[NumberInput]:
    """Return the lines for numbers; none of a bank whose method's numbers cannot be read."""
    try:
        numbers = lab_numbers(home.bank)
    except DeltaMemError:
        return []
    return [NumberInput(tree, each) for tree in displays for each in numbers[tree]]
