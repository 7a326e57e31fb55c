"""The recall lab: what would an agent be told, why, and what would be written."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.deltamem.settings import Parameters, from_record
from deltamem_tui.memory.deltamem.write import placement
from deltamem_tui.text import count_tokens, counted
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Inquiry, LookupFailed
from deltamem_tui.tui.core.open_bank import OpenBank
from deltamem_tui.tui.jobs.numbers import save_numbers
from deltamem_tui.tui.models.questions import (
    LabAnswer,
    Question,
    Vectors,
    answer,
    match_lines,
)
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.models.what_if import NUMBERS, WORDS, PlayedNumbers, why_not
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.line_input import LineInput
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.match_list import MatchHeading, MatchList
from deltamem_tui.tui.widgets.text_pane import TextPane

_RECALLING = "recalling"
_TYPABLE = r"[-0-9.,]*"
_MEANING = (
    "score = similarity − failure penalty (if a failure) · the best is the match "
    "from the threshold (tau_base) up"
)


class RecallScreen(BankScreen):
    """Two questions above, both trees' answers in the middle, the agent's context below."""

    SCOPES = ("recall", "list", "bank", "app")
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
    RecallScreen .number > Input { width: 6; }
    RecallScreen .number > Input.-invalid { color: $text-error; text-style: bold reverse; }
    RecallScreen.-narrow #answers { height: 2fr; }
    RecallScreen.-narrow .numbers { layout: vertical; height: 2; }
    RecallScreen MatchList { height: 1fr; }
    RecallScreen .placement { height: auto; max-height: 2; padding: 0 1; color: $text-muted; }
    RecallScreen #context { height: 1fr; border-top: solid $primary; padding: 0 1; }
    RecallScreen #context:focus { border-top: heavy $accent; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self._names = home.tree_names
        self._vectors = Vectors()
        self._played: PlayedNumbers | None = None
        self._timer: Timer | None = None
        self._recalled = Inquiry(self, _RECALLING)
        self._asked: tuple[Bank, Question] | None = None
        self._answer: LabAnswer | None = None

    def compose(self) -> ComposeResult:
        """Questions, answers, context."""
        yield TopBar("DeltaMem", "recall")
        for name, hint in (("task", "the goal, as the agent is told it"), ("scene", "where it is")):
            with Horizontal(classes="question"):
                yield Static(Text(name))
                yield LineInput(placeholder=hint, id=name, compact=True)
        yield Static(Text(_MEANING), id="meaning")
        with Horizontal(id="answers"):
            for tree in self._names:
                with Vertical(classes="answer", id=f"{tree}-answer"):
                    with Horizontal(classes="numbers"):
                        for number in NUMBERS:
                            with Horizontal(classes="number"):
                                yield Static(Text(WORDS[number]))
                                yield LineInput(
                                    id=f"{tree}-{number}", compact=True, restrict=_TYPABLE
                                )
                    yield MatchHeading()
                    yield MatchList(id=f"{tree}-matches")
                    yield Static(id=f"{tree}-placement", classes="placement", markup=False)
        yield TextPane(id="context")
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        """Show the bank's numbers. Letters are keys here too, until a line is asked for."""
        self.query_one("#task-matches").focus()
        self.query_one("#context", TextPane).border_title = "context"
        self._explain()

    def _explain(self) -> None:
        key = self.browser.key_of
        words = (
            f"Type a task ({key('ask_task')}), a scene ({key('ask_scene')}) or both: you see which "
            "nodes match, what an agent would be told, and what an episode like this would "
            "become.\n\n"
            "Change a threshold or failure penalty (tau_base and failure_penalty in `deltamem "
            "parameters`) and see the match change; nothing is written before you save it."
        )
        self.query_one("#context", TextPane).show([Section("", words, quiet=True)])

    def bank_changed(self) -> None:
        """Take over the bank's numbers, but for those one plays with; ask again."""
        self._take_over(from_record(self.bank.manifest.settings))
        for tree in self._names:
            self.query_one(f"#{tree}-answer").border_title = Content(
                f"{tree} · {counted(len(self.bank.tree(tree)), 'node')}"
            )
        self._ask()

    def _take_over(self, stored: Parameters) -> None:
        self._played = self._played.over(stored) if self._played else PlayedNumbers(stored, stored)
        for tree in self._names:
            for number in NUMBERS:
                line = self.query_one(f"#{tree}-{number}", Input)
                if not self._played.plays_with(tree, number) and not line.has_class("-invalid"):
                    with self.prevent(Input.Changed):
                        line.value = f"{getattr(stored[tree], number):g}"

    @property
    def played(self) -> PlayedNumbers:
        """The numbers as they are typed, beside the bank's own."""
        if self._played is None:
            stored = from_record(self.bank.manifest.settings)
            return PlayedNumbers(stored, stored)
        return self._played

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
        """Ask at once, and go to the answer."""
        self._ask()
        tree = "env" if event.input.id == "scene" else "task"
        self.query_one(f"#{tree}-matches").focus()

    def _take_number(self, line: Input) -> None:
        tree, _, number = (line.id or "").rpartition("-")
        try:
            played = self.played.with_number(tree, number, line.value)
        except (ValueError, DeltaMemError) as error:
            line.add_class("-invalid")
            self._remark(why_not(tree, number, error))
            return
        line.remove_class("-invalid")
        self._remark("")
        self._played = played
        self._ask()

    def _remark(self, words: str) -> None:
        """Say why a number does not count, or again what the numbers mean."""
        meaning = self.query_one("#meaning", Static)
        meaning.update(Text(words or _MEANING))
        meaning.set_class(bool(words), "-warning")

    def _ask(self) -> None:
        """Ask; of what is under way nothing is given up, and then the last question is asked."""
        question = Question(
            self.query_one("#task", Input).value,
            self.query_one("#scene", Input).value,
            self.played.typed,
        )
        known, self._asked = self._asked, (self.bank, question)
        if not any(question.text(name) for name in self._names):
            self._asked = None
            self._show(LabAnswer(question, {}, ""))
            self._explain()
            return
        if self._recalled.under_way and known == self._asked:
            return
        bank, vectors, settings = self.bank, self._vectors, self.browser.configuration
        self._recalled.ask(
            lambda _: answer(bank, question, vectors, settings.prompt_folders()), self._answered
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
        pane = self.query_one("#context", TextPane)
        pane.border_title = "context"
        pane.show([Section("No answer", str(message.error), warning=True)])

    def _show(self, given: LabAnswer) -> None:
        self._answer = given
        for tree in self._names:
            found = given.trees.get(tree)
            self.query_one(f"#{tree}-matches", MatchList).show(match_lines(found) if found else [])
            where = placement(found, given.question.parameters[tree])
            self.query_one(f"#{tree}-placement", Static).update(Text(where))
        pane = self.query_one("#context", TextPane)
        pane.border_title = Content(f"context · {counted(count_tokens(given.context), 'token')}")
        pane.show([Section("", given.context or "Nothing is recalled: the agent is told nothing.")])

    # What can be done

    def readable(self) -> Sequence[Section]:
        """The context."""
        return self.query_one("#context", TextPane).sections

    def action_ask_task(self) -> None:
        """Type a task."""
        self.query_one("#task").focus()

    def action_ask_scene(self) -> None:
        """Type a scene."""
        self.query_one("#scene").focus()

    def action_thresholds(self) -> None:
        """Type thresholds."""
        self.query_one("#task-tau_base").focus()

    def action_show_node(self) -> None:
        """Show the node under the cursor in its tree."""
        for tree in self._names:
            matches = self.query_one(f"#{tree}-matches", MatchList)
            if matches.has_focus and matches.node:
                self.browser.session.show_node(tree, matches.node.id)

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """A second click shows the node in its tree."""
        message.lines.focus()
        self.action_show_node()

    async def action_step_back(self) -> None:
        """Leave the line one types in first; then the bank."""
        if isinstance(self.focused, Input):
            self.query_one("#task-matches").focus()
        else:
            await super().action_step_back()

    def action_save_parameters(self) -> None:
        """Save threshold and failure penalty as the bank's own."""
        if self.query("Input.-invalid"):
            self.browser.notes.notify(
                "not saved: a number that is marked does not count", warning=True
            )
            return
        typed = self.played.typed
        with contextlib.suppress(DeltaMemError):
            if typed == from_record(self.bank.manifest.settings):
                self.browser.notes.notify("nothing to save: the bank has these numbers already")
                return
        if not self.writable():
            return
        shown = self.played.stored  # stays so until the bank has been read with what was saved
        self.change("saving the parameters", lambda bank: save_numbers(bank, typed, shown))
