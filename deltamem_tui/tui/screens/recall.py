"""The recall lab: what would an agent be told, why, and what would be written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, Static

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_of, method_of, settings_of
from deltamem_tui.memory.settings import Setting, Settings, listed
from deltamem_tui.text import count_tokens, counted
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Inquiry, LookupFailed
from deltamem_tui.tui.core.open_bank import OpenBank
from deltamem_tui.tui.core.visits import Visit
from deltamem_tui.tui.models.recall_lab import (
    LabAnswer,
    LabEmbedder,
    LabQuestion,
    TrialNumbers,
    answer,
    lab_numbers,
    match_lines,
    number_label,
    number_text,
    save_numbers,
    why_not,
)
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.inputs import LineInput
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.match_list import MatchHeading, MatchList
from deltamem_tui.tui.widgets.text_pane import TextPane

_RECALLING = "recalling"
_NUMBER, _NAME = r"[-0-9.,]*", r"[A-Za-z]*"
_LEAST_WIDTH = 6
_FEW = 2
"""Answers side by side, of which each has room for all its numbers in one line."""


class RecallScreen(BankScreen):
    """Two questions above, the collections' answers in the middle, the agent's context below."""

    SCOPES = ("recall", "list", "bank", "app")
    AUTO_FOCUS = ""  # see `on_mount`
    BINDINGS: ClassVar = [*bindings("recall")]
    DEFAULT_CSS = """
    RecallScreen .question { height: 1; }
    RecallScreen .question > Static { width: 7; padding: 0 0 0 1; }
    RecallScreen .question > Input { width: 1fr; }
    RecallScreen #answers { height: 1fr; }
    RecallScreen .answer { width: 1fr; border-top: solid $primary; }
    RecallScreen .answer:focus-within { border-top: heavy $accent; }
    RecallScreen #meaning { height: auto; padding: 0 1; color: $text-muted; }
    RecallScreen #meaning.-warning { color: $text-warning; text-style: bold; }
    RecallScreen .numbers, RecallScreen .number { height: 1; }
    RecallScreen .number { width: auto; margin-right: 1; }
    RecallScreen .number > Static { width: auto; padding: 0 1; }
    RecallScreen .number > Input.-invalid { color: $text-error; text-style: bold reverse; }
    RecallScreen.-narrow #answers { height: 2fr; }
    RecallScreen.-narrow .numbers, RecallScreen .numbers.-below {
        layout: vertical; height: auto;
    }
    RecallScreen MatchList { height: 1fr; }
    RecallScreen .placement { height: auto; max-height: 2; padding: 0 1; color: $text-muted; }
    RecallScreen #context { height: 1fr; border-top: solid $primary; padding: 0 1; }
    RecallScreen #context:focus { border-top: heavy $accent; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self._displays = _asked(home)
        self._names = tuple(self._displays)
        self._numbers = _lines(home)
        self._embedder = LabEmbedder()
        self._trial: TrialNumbers | None = None
        self._timer: Timer | None = None
        self._recalled = Inquiry(self, _RECALLING)
        self._asked: tuple[Bank, LabQuestion] | None = None
        self._submitted: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        """Questions, answers, context."""
        yield TopBar("DeltaMem", "recall")
        for name, hint in (("task", "the goal, as the agent is told it"), ("scene", "where it is")):
            with Horizontal(classes="question"):
                yield Static(Text(name))
                yield LineInput(placeholder=hint, id=name, compact=True)
        yield Static(id="meaning", markup=False)
        below = " -below" if len(self._names) > _FEW else ""
        with Horizontal(id="answers"):
            for tree, display in self._displays.items():
                with Vertical(classes="answer", id=f"{tree}-answer"):
                    with Horizontal(classes=f"numbers{below}"):
                        for line in (each for each in self._numbers if each.tree == tree):
                            with Horizontal(classes="number"):
                                yield Static(Text(number_label(line.name)))
                                yield line.field()
                    yield MatchHeading(penalised=display.penalised)
                    yield MatchList(id=f"{tree}-matches", penalised=display.penalised)
                    yield Static(id=f"{tree}-placement", classes="placement", markup=False)
        yield TextPane(id="context")
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        """Show the bank's numbers. Who comes here types a task.

        Who opens a bank that was left here did not choose the lab: their letters are keys.
        """
        if len(self.home.screens) > 1:
            self._focus_question()
        else:
            self._focus_answer()
        self.query_one("#context", TextPane).border_title = "context"
        self._remark("")
        self._explain()

    def _explain(self) -> None:
        key = self.browser.key_of
        words = (
            f"Type a task ({key('ask_task')}), a scene ({key('ask_scene')}) or both: you see which "
            "nodes match, what an agent would be told, and what an episode like this would "
            "become."
        )
        if names := ", ".join(dict.fromkeys(each.name for each in self._numbers)):
            words += (
                f"\n\nChange a number ({names} in `deltamem parameters`) and see the answer "
                "change; nothing is written before you save it."
            )
        self.query_one("#context", TextPane).show([Section("", words, quiet=True)])

    def bank_changed(self) -> None:
        """Takes over the bank's numbers, but for those the user plays with; asks again."""
        try:
            stored = settings_of(self.bank)
        except DeltaMemError as error:
            self._trial = None
            self._show_failure(error)
            return
        self._take_over(stored)
        self._remark("")
        for tree, display in self._displays.items():
            self.query_one(f"#{tree}-answer").border_title = Content(
                f"{display.title} · {counted(len(self.bank.tree(tree)), 'node')}"
            )
        self._ask()

    def _take_over(self, stored: Settings) -> None:
        self._trial = self._trial.over(stored) if self._trial else TrialNumbers(stored, stored)
        values = {each.path: each.value for each in listed(stored)}
        for number in self._numbers:
            line = self.query_one(f"#{number.id}", Input)
            if number.path not in self._trial.changes and not line.has_class("-invalid"):
                with self.prevent(Input.Changed):
                    line.value = number_text(values[number.path])

    # Asking

    def on_input_changed(self, event: Input.Changed) -> None:
        """Ask after a moment of silence; numbers count at once."""
        if event.input.id in {"task", "scene"}:
            self._ask_soon()
        else:
            self._take_number(event.input)

    def _ask_soon(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        if self.browser.debounce:
            self._timer = self.set_timer(self.browser.debounce, self._ask)
        else:
            self._ask()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Ask at once, and go to the answer. The question before can be come back to."""
        before, self._submitted = self._submitted, self.place()
        if before and before != self._submitted:
            self.browser.session.visits.leave(Visit(self.home.path, "recall", before))
        self._ask()
        self._focus_answer(-1 if event.input.id == "scene" else 0)

    def on_screen_suspend(self) -> None:
        """Is ready to be typed into for when the user comes back; not so after a dialog."""
        if not isinstance(self.app.screen, ModalScreen) and not any(self.place()):
            self._focus_question()

    def _focus_question(self) -> None:
        self.query_one("#task").focus()

    def _focus_answer(self, place: int = 0) -> None:
        if self._names:
            self.query_one(f"#{self._names[place]}-matches").focus()

    def _take_number(self, line: Input) -> None:
        number = next((each for each in self._numbers if each.id == line.id), None)
        if number is None or self._trial is None:
            return
        try:
            trial = self._trial.with_number(number.path, line.value)
        except (ValueError, DeltaMemError) as error:
            line.add_class("-invalid")
            self._remark(why_not(self._displays[number.tree].title, number.name, error))
            return
        line.remove_class("-invalid")
        self._remark("")
        self._trial = trial
        self._ask()

    def _remark(self, words: str) -> None:
        """Say why a number does not count, or again what is recalled."""
        meaning = self.query_one("#meaning", Static)
        meaning.update(Text(words or self._ranking()))
        meaning.set_class(bool(words), "-warning")

    def _ranking(self) -> str:
        """What is recalled; empty if the bank's method is not installed."""
        try:
            return method_of(self.home.handle).ranking
        except DeltaMemError:
            return ""

    def _ask(self) -> None:
        """Ask; of what is under way nothing is given up, and then the last question is asked."""
        if self._trial is None:
            return
        question = LabQuestion(
            self.query_one("#task", Input).value,
            self.query_one("#scene", Input).value,
            self._trial.typed,
        )
        known, self._asked = self._asked, (self.bank, question)
        if question.is_empty:
            self._asked = None
            self._show(LabAnswer(question))
            self._explain()
            return
        if self._recalled.under_way and known == self._asked:
            return
        bank, embedder, settings = self.bank, self._embedder, self.browser.configuration
        self._recalled.ask(
            lambda _: answer(bank, question, embedder, settings.prompt_folders()), self._answered
        )
        self._say_that_it_goes_on()

    def _say_that_it_goes_on(self) -> None:
        self.query_one("#context", TextPane).border_title = "context · asking …"

    def _answered(self, found: LabAnswer) -> None:
        """Shows the answer, unless the question was withdrawn; the last one may be under way."""
        if self._asked is None:
            return
        self._show(found)
        if self._recalled.has_more:
            self._say_that_it_goes_on()

    def on_lookup_failed(self, message: LookupFailed) -> None:
        """Say why there is no answer, if nothing else was asked since; the app says it too."""
        if message.name != _RECALLING or self._asked is None or self._recalled.has_more:
            return
        self._show_failure(message.error)

    def _show_failure(self, error: DeltaMemError) -> None:
        pane = self.query_one("#context", TextPane)
        pane.border_title = "context"
        pane.show([Section("No answer", str(error), warning=True)])

    def _show(self, given: LabAnswer) -> None:
        method = method_of(self.bank)
        for tree in self._names:
            found = given.of(tree)
            self.query_one(f"#{tree}-matches", MatchList).show(match_lines(self.bank, found))
            where = method.placement(tree, found, given.question.settings)
            self.query_one(f"#{tree}-placement", Static).update(Text(where))
        context = given.found.context if given.found else ""
        pane = self.query_one("#context", TextPane)
        pane.border_title = Content(f"context · {counted(count_tokens(context), 'token')}")
        pane.show([Section("", context or "Nothing is recalled: the agent is told nothing.")])

    # What can be done

    def readable(self) -> Sequence[Section]:
        """The context."""
        return self.query_one("#context", TextPane).sections

    def action_ask_task(self) -> None:
        """Type a task."""
        self._focus_question()

    def action_ask_scene(self) -> None:
        """Type a scene."""
        self.query_one("#scene").focus()

    def action_thresholds(self) -> None:
        """Type numbers."""
        if self._numbers:
            self.query_one(f"#{self._numbers[0].id}").focus()

    def action_show_node(self) -> None:
        """Show the node under the cursor in its tree."""
        for tree in self._names:
            matches = self.query_one(f"#{tree}-matches", MatchList)
            if matches.has_focus and matches.node:
                self.browser.session.show_node(tree, matches.node.id)

    def action_evidence(self) -> None:
        """Show the episode that the node under the cursor is from."""
        for tree in self._names:
            matches = self.query_one(f"#{tree}-matches", MatchList)
            if matches.has_focus and matches.node:
                self.show_evidence(tree, matches.node)

    def place(self) -> tuple[str, ...]:
        """Returns the question."""
        return self.query_one("#task", Input).value, self.query_one("#scene", Input).value

    def return_to(self, place: tuple[str, ...]) -> None:
        """Asks a question again, unless it is the one that is answered."""
        self._submitted = place
        for name, text in zip(("task", "scene"), place, strict=True):
            self.query_one(f"#{name}", Input).value = text

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """A second click shows the node in its tree."""
        message.lines.focus()
        self.action_show_node()

    async def action_step_back(self) -> None:
        """Leave the line one types in first; then the bank."""
        if isinstance(self.focused, Input):
            self._focus_answer()
        else:
            await super().action_step_back()

    def action_save_parameters(self) -> None:
        """Save the numbers as the bank's own."""
        if self.query("Input.-invalid"):
            self.browser.notes.notify("not saved: the marked number cannot be used", warning=True)
            return
        trial = self._trial  # stays so until the bank has been read with what was saved
        if trial is None or not trial.changes:
            self.browser.notes.notify("nothing to save: the bank has these numbers already")
            return
        if self.writable():
            self.change("saving the parameters", lambda bank: save_numbers(bank, trial))


class _NumberLine(NamedTuple):
    """A line for a number, and whose it is."""

    tree: str
    number: Setting

    @property
    def path(self) -> str:
        return self.number.path

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def id(self) -> str:
        return f"{self.tree}-{self.name}"

    def field(self) -> LineInput:
        """What it is typed in, wide enough for every name that it can have."""
        words = [*self.number.choices, *["none"] * self.number.optional]
        typable = _NAME if self.number.choices else _NUMBER
        typable = f"{typable}|{_NAME}" if self.number.optional else typable
        field = LineInput(id=self.id, compact=True, restrict=typable)
        field.styles.width = max(_LEAST_WIDTH, *(len(each) + 1 for each in ("", *words)))
        return field


def _asked(home: OpenBank) -> dict[str, Display]:
    """The collections that questions are put to, and how they are shown."""
    displays = {name: display_of(home.handle, name) for name in home.tree_names}
    return {name: each for name, each in displays.items() if each.asked}


def _lines(home: OpenBank) -> list[_NumberLine]:
    """The lines for numbers; none of a bank whose method's numbers cannot be read."""
    try:
        numbers = lab_numbers(home.handle)
    except DeltaMemError:
        return []
    return [
        _NumberLine(tree, each)
        for tree, own in numbers.items()
        for each in own
        if display_of(home.handle, tree).asked
    ]
