"""The recall lab: what would an agent be told, why, and what would be written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, Static

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import display_of, method_of, settings_of
from deltamem_tui.text import counted
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Inquiry, LookupFailed
from deltamem_tui.tui.core.bank_session import OpenBank, Visit
from deltamem_tui.tui.models.recall_lab import (
    LabAnswer,
    LabEmbedder,
    LabQuestion,
    answer,
    change_text,
    match_lines,
    save_numbers,
)
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.screens.lab_panes import ASKING_OTHER, BesideContext, NumberTrial
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.inputs import LineInput, NumberInput
from deltamem_tui.tui.widgets.lab import AnswerPane, ContextPane, MatchList
from deltamem_tui.tui.widgets.line_list import LineList

_RECALLING = "recalling"
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
    RecallScreen #meaning { height: auto; padding: 0 1; color: $text-muted; }
    RecallScreen #meaning.-warning { color: $text-warning; text-style: bold; }
    RecallScreen.-narrow #answers { height: 2fr; }
    RecallScreen #below { height: 1fr; }
    RecallScreen #below > TextPane { width: 1fr; border-top: solid $primary; padding: 0 1; }
    RecallScreen #below > TextPane:focus { border-top: heavy $accent; }
    RecallScreen #beside { display: none; }
    RecallScreen.-beside #beside { display: block; }
    RecallScreen.-narrow.-beside #context { display: none; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        self._displays = _asked(home)
        self._names = tuple(self._displays)
        self._numbers = NumberTrial(home, self._displays)
        below = len(self._names) > _FEW
        self._answers = {
            name: AnswerPane(name, display, self._numbers.of(name), below=below)
            for name, display in self._displays.items()
        }
        self._embedder = LabEmbedder()
        self._told = ContextPane(id="context")
        self._beside = BesideContext(self, self._embedder)
        self._given: LabAnswer | None = None
        self._timer: Timer | None = None
        self._recalled = Inquiry(self, _RECALLING)
        self._asked: tuple[Bank, LabQuestion] | None = None
        self._submitted: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        yield TopBar("DeltaMem", "recall")
        for name, hint in (("task", "the goal, as the agent is told it"), ("scene", "where it is")):
            with Horizontal(classes="question"):
                yield Static(Text(name))
                yield LineInput(placeholder=hint, id=name, compact=True)
        yield Static(id="meaning", markup=False)
        with Horizontal(id="answers"):
            yield from self._answers.values()
        with Horizontal(id="below"):
            yield self._told
            yield self._beside.pane
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        """Show the bank's numbers. Who comes here types a task.

        Who opens a bank that was left here did not choose the lab: their letters are keys.
        """
        if len(self.home.screens) > 1:
            self._focus_question()
        else:
            self._focus_answer()
        self._remark("")
        self._explain()

    def _explain(self) -> None:
        key = self.browser.key_of
        words = (
            f"Type a task ({key('ask_task')}), a scene ({key('ask_scene')}) or both: you see which "
            "nodes match, what an agent would be told, and what an episode like this would "
            "become."
        )
        if names := ", ".join(dict.fromkeys(each.number.name for each in self._numbers.lines)):
            words += (
                f"\n\nChange a number ({names} in `deltamem bank parameters`), or move it by "
                f"{key('raise_number')} and {key('lower_number')}, and see the answer change; "
                "nothing is written before you save it."
            )
        self._told.explain(words)

    def bank_changed(self) -> None:
        """Take over the bank's numbers, but for those the user plays with; ask again."""
        try:
            stored = settings_of(self.bank)
        except DeltaMemError as error:
            self._numbers.numbers = None
            self._told.failed(error)
            return
        self._numbers.take_over(stored)
        self._remark("")
        self._ask()

    # Asking

    def on_input_changed(self, event: Input.Changed) -> None:
        """Ask after a moment of silence; numbers count at once."""
        if isinstance(event.input, NumberInput):
            self._take(event.input)
        else:
            self._ask_soon()

    def _take(self, line: NumberInput) -> None:
        self._remark(wrong := self._numbers.take(line))
        if not wrong:
            self._ask()

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
        self.set_focus(self.query_one("#task"))

    def _focus_answer(self, place: int = 0) -> None:
        if self._names:
            self._answers[self._names[place]].matches.focus()

    def _remark(self, words: str) -> None:
        """Say why a number does not count, or which are tried, or what is recalled."""
        numbers = self._numbers.numbers
        self.offer("save_parameters", when=numbers is not None and bool(numbers.summary))
        meaning = self.query_one("#meaning", Static)
        meaning.update(Text(words or self._tried() or self._ranking()))
        meaning.set_class(bool(words), "-warning")

    def _tried(self) -> str:
        """Return the numbers that are tried, and how to go on; empty if they are the bank's."""
        numbers, key = self._numbers.numbers, self.browser.key_of
        if numbers is None or not numbers.summary:
            return ""
        saves, takes_back = key("save_parameters"), key("own_numbers")
        return f"tried: {numbers.summary} · {saves} saves, {takes_back} takes back"

    def _ranking(self) -> str:
        """Return what is recalled; empty if the bank's method is not installed."""
        try:
            return method_of(self.home.bank).ranking
        except DeltaMemError:
            return ""

    def _ask(self) -> None:
        """Ask; of what is under way nothing is given up, and then the last question is asked."""
        if (numbers := self._numbers.numbers) is None:
            return
        compared = numbers.stored if numbers.summary else None
        question = LabQuestion(*self.place(), numbers.typed, compared)
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
        self._told.asking()
        if not embedder.is_at_hand(bank):
            self._told.waiting()
            for pane in self._answers.values():
                pane.show([])

    def _answered(self, found: LabAnswer) -> None:
        """Show the answer, unless the question was withdrawn; the last one may be under way."""
        if self._asked is None:
            return
        self._show(found)
        if self._recalled.has_more:
            self._told.asking()

    def on_lookup_failed(self, message: LookupFailed) -> None:
        """Say why there is no answer, if nothing else was asked since; the app says it too."""
        if message.name == ASKING_OTHER:
            self._beside.failed(str(message.error))
        if message.name != _RECALLING or self._asked is None or self._recalled.has_more:
            return
        self._told.failed(message.error)

    def _show(self, given: LabAnswer) -> None:
        self._given, method = given, method_of(self.bank)
        asked = given.found is not None
        self.offer("show_node", "match_chain", "match_evidence", when=asked)
        for tree, pane in self._answers.items():
            found, usual = given.of(tree), given.usual_of(tree)
            where = method.placement(tree, found, given.question.settings)
            pane.show(match_lines(self.bank, found, usual), where)
            pane.head(counted(len(self.bank.tree(tree)), "node"), change_text(found, usual))
        self._told.answered(self.bank, given)
        self._beside.ask(given.question.task, given.question.scene)

    # What can be done

    def readable(self) -> Sequence[Section]:
        """Return the context; or what stands beside it, while that has the focus."""
        return super().readable() or self._told.sections

    def action_ask_task(self) -> None:
        self._focus_question()

    def action_ask_scene(self) -> None:
        self.query_one("#scene").focus()

    def action_thresholds(self) -> None:
        if self._numbers.lines:
            self._numbers.lines[0].focus()

    def action_nudge(self, steps: int) -> None:
        if tree := self._tree_in_focus or next(iter(self._names), ""):
            self._nudge(self._numbers.of(tree), steps)

    def on_number_input_nudged(self, message: NumberInput.Nudged) -> None:
        self._nudge([message.line], message.steps)

    def _nudge(self, lines: Sequence[NumberInput], steps: int) -> None:
        if line := self._numbers.nudge(lines, steps):
            self._take(line)

    def action_own_numbers(self) -> None:
        self._numbers.take_back()
        self._remark("")
        self._ask()

    @property
    def _tree_in_focus(self) -> str:
        """The collection whose answer has the focus; empty if none has."""
        return next((name for name, each in self._answers.items() if each.matches.has_focus), "")

    def action_chain(self) -> None:
        """Show the chain that leads to the node under the cursor; or show it no longer."""
        self._beside.show("" if self._beside.shows == "chain" else "chain")
        if tree := self._tree_in_focus or next(iter(self._names), ""):
            self._beside.follow(tree, self._answers[tree].matches.node)

    def on_line_list_moved(self, message: LineList.Moved) -> None:
        if isinstance(message.lines, MatchList) and message.lines.has_focus:
            self._beside.follow(self._tree_in_focus, message.lines.node)

    def on_descendant_focus(self) -> None:
        if tree := self._tree_in_focus:
            self._beside.follow(tree, self._answers[tree].matches.node)

    def action_other_bank(self) -> None:
        """Ask another bank the same; or show it no longer."""
        if self._beside.shows == "bank":
            self._beside.show("")
        else:
            self._beside.choose(self.place())

    def action_show_node(self) -> None:
        if (tree := self._tree_in_focus) and (node := self._answers[tree].matches.node):
            self.browser.session.show_node(tree, node.id)

    def action_evidence(self) -> None:
        if (tree := self._tree_in_focus) and (node := self._answers[tree].matches.node):
            self.show_evidence(tree, node)

    def place(self) -> tuple[str, str]:
        """Return the question."""
        return self.query_one("#task", Input).value, self.query_one("#scene", Input).value

    def return_to(self, place: tuple[str, ...]) -> None:
        """Ask a question again, unless it is the one that is answered."""
        self._submitted = place
        for name, text in zip(("task", "scene"), place, strict=True):
            self.query_one(f"#{name}", Input).value = text

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        message.lines.focus()
        self.action_show_node()

    async def action_step_back(self) -> None:
        if isinstance(self.focused, Input):
            self._focus_answer()
        elif self._beside.shows:
            self._beside.show("")
        else:
            await super().action_step_back()

    def action_save_parameters(self) -> None:
        if not self._numbers.is_sound:
            self.browser.notes.notify("not saved: the marked number cannot be used", warning=True)
            return
        trial = self._numbers.numbers  # stays so until the bank has been read with what was saved
        if trial is None or not trial.changes:
            self.browser.notes.notify("nothing to save: the bank has these numbers already")
            return
        if self.writable():
            self.change("saving the parameters", lambda bank: save_numbers(bank, trial))


def _asked(home: OpenBank) -> dict[str, Display]:
    """Return the collections that questions are put to, and how they are shown."""
    displays = {name: display_of(home.bank, name) for name in home.bank.trees}
    return {name: each for name, each in displays.items() if each.asked}
