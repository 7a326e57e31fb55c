"""The questions that the user keeps for a bank: named, asked again, and what has changed since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import StorageError
from deltamem_tui.text import clean, one_line
from deltamem_tui.tui.core.background import Inquiry, LookupFailed
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.core.forms import FormAnswer, FormLine
from deltamem_tui.tui.core.job import Retry
from deltamem_tui.tui.core.kept_questions import KeptQuestions
from deltamem_tui.tui.models.kept_answers import KeptAnswer, KeptQuestion, ask_again
from deltamem_tui.tui.models.recall_lab import LabAnswer, LabEmbedder
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.widgets.dialog import Dialog, Key, KeyLine
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.painting import line_of
from deltamem_tui.tui.widgets.text_pane import TextPane

_ASKING = "asking the kept questions"
_NAME = 60
_CHANGE = 14


class KeptList(LineList):
    """A kept question a line.

    Attributes:
        answers: What is listed.
    """

    answers: Sequence[KeptAnswer] = ()

    def line_count(self) -> int:
        """How many questions there are."""
        return len(self.answers)

    def line_text(self, line: int, width: int) -> Text:  # noqa: ARG002 - the list cuts it
        """What has changed, the name, the question."""
        each = self.answers[line]
        changed = self.style_of("strong" if each.gained or each.lost else "quiet")
        asked = " · ".join(filter(None, (each.question.task, each.question.scene)))
        more = "" if each.name == asked else f"  {asked}"
        quiet = self.style_of("quiet")
        return line_of((f" {each.change:<{_CHANGE}} ", changed), (each.name, None), (more, quiet))


class KeptQuestionsDialog(Dialog[KeptQuestion | None]):
    """Lists the kept questions; gives back the one that is to be asked in the lab.

    Args:
        bank: The bank as the lab shows it.
        embedder: What embedded the lab's questions.
    """

    IS_BOX = False
    DEFAULT_CSS = """
    KeptQuestionsDialog { align: center middle; }
    KeptQuestionsDialog > Vertical {
        width: 96%; height: 90%; border: round $primary; padding: 0 1; background: $surface;
    }
    KeptQuestionsDialog KeptList { height: 2fr; }
    KeptQuestionsDialog TextPane { height: 3fr; border-top: solid $primary; }
    KeptQuestionsDialog KeyLine { color: $text-muted; }
    KeptQuestionsDialog:ansi > Vertical { background: ansi_default; border: round ansi_blue; }
    """
    BINDINGS: ClassVar = [
        Binding("enter", "choose", "Ask it in the lab"),
        Binding("K", "keep", "Keep today's answer"),
        Binding("D,delete", "drop", "Delete it"),
        Binding("escape", "dismiss(None)", "Close"),
    ]

    def __init__(self, bank: Bank, embedder: LabEmbedder) -> None:
        super().__init__()
        self._bank = bank
        self._embedder = embedder
        self._kept = KeptQuestions(bank.path)
        self._asking = Inquiry(self, _ASKING)
        self._list = KeptList()
        self._pane = TextPane()

    def compose(self) -> ComposeResult:
        """The questions, one of them with its answer, the keys."""
        with Vertical():
            yield Static(Text("Kept questions: matches since each was kept", "bold"))
            yield self._list
            yield self._pane
            yield KeyLine(
                (
                    Key("enter asks it in the lab", "choose"),
                    Key("K keeps today's answer", "keep"),
                    Key("D deletes it", "drop"),
                    Key("escape closes", "dismiss(None)"),
                )
            )

    def on_mount(self) -> None:
        """Lists the questions, and asks them."""
        self._list.focus()
        self._show([KeptAnswer(name, each) for name, each in self._kept.all().items()])
        self._ask()

    def _ask(self) -> None:
        bank, embedder, kept = self._bank, self._embedder, self._kept.all()
        folders = browser_of(self).configuration.prompt_folders()
        self._asking.ask(
            lambda stopped: ask_again(bank, kept, embedder, folders, stopped), self._show
        )

    def _show(self, answers: Sequence[KeptAnswer]) -> None:
        kept = self._kept.all()
        self._list.answers = [each for each in answers if each.name in kept]
        self._list.lines_changed()

    def on_lookup_failed(self, message: LookupFailed) -> None:
        """Says why there are no answers."""
        self._pane.show([Section("No answer", str(message.error), warning=True)])

    @property
    def _current(self) -> KeptAnswer | None:
        answers = self._list.answers
        return answers[self._list.cursor] if answers else None

    def on_line_list_moved(self) -> None:
        """Shows the answer to the question under the cursor."""
        current = self._current
        self._pane.border_title = Content(one_line(current.name, _NAME)) if current else ""
        waiting = "asking …" if current else "No question is kept for this bank."
        sections = current.sections if current else ()
        self._pane.show(sections or [Section("", waiting, quiet=True)])

    def on_line_list_chosen(self) -> None:
        """A second click asks it in the lab."""
        self.action_choose()

    def action_choose(self) -> None:
        """Ask it in the lab."""
        if self._current:
            self.dismiss(self._current.question)

    def action_keep(self) -> None:
        """Compare with today's answer from now on."""
        current = self._current
        if current and current.answer:
            matches = current.answer.matches
            self._kept.keep(
                current.name, KeptQuestion(current.question.task, current.question.scene, matches)
            )
            self._ask()

    def action_drop(self) -> None:
        """Keep it no longer."""
        if self._current:
            self._kept.drop(self._current.name)
            self._show(self._list.answers)


def ask_for_name(browser: Browser, bank: Bank, given: LabAnswer) -> None:
    """Asks what a question is to be called, and keeps it with its answer.

    Args:
        browser: The program.
        bank: The bank that was asked.
        given: The question with its answer.
    """
    question, kept = given.question, KeptQuestions(bank.path)
    asked = (question.task, question.scene)
    known = (name for name, each in kept.all().items() if (each.task, each.scene) == asked)
    proposed = next(known, one_line(question.task or question.scene, _NAME))

    def begin(answer: FormAnswer, retry: Retry) -> None:
        name = one_line(clean(answer["name"]), _NAME) or proposed
        if not kept.keep(name, KeptQuestion(*asked, given.matches)):
            raise StorageError("the question cannot be kept: the state folder cannot be written")
        retry.forget()
        lists = browser.key_of("kept_questions")
        browser.notes.notify(f"kept as {name}; {lists} lists and asks all kept questions again")

    lines = (FormLine("name", "Name", proposed),)
    browser.forms.ask("Keep the question", lines, begin, bank=bank.path)
