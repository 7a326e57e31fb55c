"""Recall: what an agent would be told, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.method import display_of, method_of, settings_of
from deltamem_tui.memory.recall_result import Query, RecallResult
from deltamem_tui.memory.settings import Settings
from deltamem_tui.memory.vectors.search import card_of
from deltamem_tui.memory.work.advice import CHARS
from deltamem_tui.text import counted
from deltamem_tui.tui.core.actions import bindings
from deltamem_tui.tui.core.background import Inquiry, LookupFailed
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.core.forms import FormAnswer
from deltamem_tui.tui.core.work import Retry
from deltamem_tui.tui.models.nodes import chain_sections
from deltamem_tui.tui.models.recall_lab import (
    CANDIDATES,
    NOTHING_RECALLED,
    Embedders,
    MatchLine,
    answer,
    match_lines,
    uses_threshold,
    why_matched,
)
from deltamem_tui.tui.models.sections import Section, title_of
from deltamem_tui.tui.screens.base import BankScreen, bottom_bars
from deltamem_tui.tui.screens.numbers import (
    Tried,
    differences,
    from_answer,
    lab_numbers,
    nudged,
    number_lines,
    save_numbers,
    tried_text,
    with_tried,
)
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.line_input import LineInput
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.text_pane import TextPane, line_of

_RECALLING = "recalling"
_FAILURE = "✗ "
_HEADER = re.compile(r".*?\n(?=#)|.*?\n\n.*?\n\n", re.DOTALL)
"""Up to the first heading; of real work, which has none, the fence and one paragraph."""


class MatchList(LineList):
    """The candidates of one collection, each with its score."""

    lines: Sequence[MatchLine] = ()

    def show(self, lines: Sequence[MatchLine]) -> None:
        """Show these candidates, the cursor on the best."""
        self.lines = lines
        self.lines_changed(0)

    @property
    def node(self) -> Node | None:
        """The node under the cursor."""
        candidate = self.lines[self.cursor].candidate if self.lines else None
        return candidate.node if candidate else None

    def line_text(self, line: int, width: int) -> Text:
        """Score, penalty, and the title; or the threshold."""
        told = self.lines[line]
        if told.candidate is None:
            rule = f"──── {told.text} "
            return line_of((rule + "─" * max(width - len(rule), 0), self.style_of("strong")))
        candidate = told.candidate
        failure = candidate.node.label == "failure"
        style = self.style_of("warning") if failure else None
        mark, name = ("▶", "good") if told.kind == "match" else (" ", "quiet")
        penalty = f"(−{candidate.penalty:.2f}) " if candidate.penalty else ""
        left = line_of(
            (f"{mark}{candidate.score:.3f} ", self.style_of(name)),
            (penalty, self.style_of("quiet")),
            (_FAILURE if failure else "", style),
        )
        left.append_text(line_of((title_of(told.title, width - left.cell_len), style)))
        return left


class AnswerPane(Vertical):
    """The answer of a collection: its candidates, and why."""

    DEFAULT_CSS = """
    AnswerPane { width: 1fr; height: 1fr; border-top: solid $primary; }
    AnswerPane:focus-within { border-top: heavy $accent; }
    AnswerPane MatchList { height: 1fr; min-height: 2; }
    AnswerPane .why { height: auto; padding: 0 1; color: $text-muted; }
    AnswerPane:ansi .why, RecallScreen:ansi #tried { color: ansi_default; }
    """

    def __init__(self, tree: str, title: str) -> None:
        super().__init__(id=f"{tree}-answer")
        self.matches = MatchList(id=f"{tree}-matches")
        self._title = title
        self._why = Static(id=f"{tree}-why", classes="why", markup=False)

    def compose(self) -> ComposeResult:
        yield self.matches
        yield self._why

    def show(self, nodes: int, lines: Sequence[MatchLine], why: str = "") -> None:
        """Show candidates out of so many nodes, and what is to be said of them."""
        self.matches.show(lines)
        self._why.update(Text(why))
        self.border_title = Content(f"{self._title} · {counted(nodes, 'node')}")


class RecallScreen(BankScreen):
    """Two questions above, the collections' answers in the middle, the agent's context below."""

    SCOPES = ("recall", "list", "bank", "app")
    AUTO_FOCUS = ""  # see `on_mount`
    BINDINGS: ClassVar = [*bindings("recall")]
    DEFAULT_CSS = """
    RecallScreen .question { height: 1; }
    RecallScreen .question > Static { width: 7; padding: 0 0 0 1; }
    RecallScreen .question > Input { width: 1fr; }
    RecallScreen #answers { height: 1fr; layout: vertical; }
    RecallScreen.-broad #answers, RecallScreen.-wide #answers { layout: horizontal; }
    RecallScreen.-low #answers { height: 3fr; }
    RecallScreen.-low #below { height: 2fr; }
    RecallScreen #tried { height: auto; padding: 0 1; color: $text-muted; display: none; }
    RecallScreen #tried.-shown { display: block; }
    RecallScreen #below { height: 1fr; }
    RecallScreen #below > TextPane { width: 1fr; border-top: solid $primary; padding: 0 1; }
    RecallScreen #below > TextPane:focus { border-top: heavy $accent; }
    RecallScreen #chain { display: none; }
    RecallScreen.-chain #chain { display: block; }
    RecallScreen.-narrow.-chain #context { display: none; }
    """

    def __init__(self, home: OpenBank) -> None:
        super().__init__(home)
        displays = {name: display_of(home.bank, name) for name in home.bank.trees}
        self._answers = {
            name: AnswerPane(name, each.title) for name, each in displays.items() if each.asked
        }
        self._stored: Settings | None = None  # None while they cannot be read
        self._tried: Tried = {}
        self._embedders: Embedders = {}
        self.main_pane = TextPane(id="context")
        self._chain = TextPane(id="chain")
        self._given: RecallResult | None = None
        self._recalled = Inquiry(self, _RECALLING)
        self._asked: tuple[Bank, Query] | None = None

    def compose(self) -> ComposeResult:
        yield TopBar("recall")
        for name, hint in (
            ("task", "the goal, as the agent is told it"),
            ("scene", "where the agent is"),
        ):
            with Horizontal(classes="question"):
                yield Static(Text(name))
                yield LineInput(placeholder=hint, id=name, compact=True)
        yield Static(id="tried", markup=False)
        with Horizontal(id="answers"):
            yield from self._answers.values()
        with Horizontal(id="below"):
            yield self.main_pane
            yield self._chain
        yield from bottom_bars()

    def on_mount(self) -> None:
        """Focus the task: who comes here has one to type."""
        self._focus_question()
        self._remark()
        self._explain()

    def _explain(self) -> None:
        key = self.browser.key_of
        words = self._first_step() or (
            f"Type a task ({key('ask_task')}), a scene (tab) or both: you see which nodes match, "
            f"why, and what an agent would be told. {key('numbers')} tries other parameters; "
            f"nothing is saved until you press {key('save_parameters')}."
        )
        with suppress(DeltaMemError):  # the bank's method may not be installed
            words += f"\n\n{method_of(self.home.bank).ranking}"
        self.main_pane.border_title = "context"
        self.main_pane.show([Section("", words, quiet=True)])

    def _first_step(self) -> str:
        """Return what to do first in a bank that has learnt nothing; else nothing."""
        if any(map(len, self.bank.trees.values())):
            return ""
        key = self.browser.key_of
        steps = f"{key('import_logs')} imports logs, {key('extract')} learns from them."
        return f"There is nothing to recall yet. Press {key('show_episodes')}: {steps}"

    def bank_changed(self) -> None:
        """Take over the bank's numbers, but for those the user plays with; ask again."""
        try:
            self._stored = settings_of(self.bank)
            self._try(with_tried(self._stored, self._tried))
        except DeltaMemError as error:
            self._stored = None
            self._failed(error)

    def _try(self, settings: Settings) -> None:
        """Ask with other numbers than the bank's."""
        if self._stored is not None:
            self._tried = differences(settings, self._stored)
        self._remark()
        self._ask()

    # Asking

    def on_input_changed(self, event: Input.Changed) -> None:
        """Ask while one types: of what is typed until there is an answer, the last is asked."""
        event.stop()
        self._ask()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Ask at once, and go to the answer."""
        self._ask()
        self._focus_answer(-1 if event.input.id == "scene" else 0)

    def on_screen_suspend(self) -> None:
        """Be ready to be typed into for when the user comes back; not so after a dialog."""
        if not isinstance(self.app.screen, ModalScreen) and not any(self.place()):
            self._focus_question()

    def _focus_question(self) -> None:
        self.set_focus(self.query_one("#task"))

    def _focus_answer(self, place: int = 0) -> None:
        if self._answers:
            [*self._answers.values()][place].matches.focus()

    def _remark(self) -> None:
        """Say which numbers are tried, and how to go on."""
        key = self.browser.key_of
        summary = tried_text(self._tried, self._stored) if self._stored else ""
        self.offer("save_parameters", when=bool(summary))
        ways = f"{key('save_parameters')} saves them, {key('own_numbers')} discards them"
        line = self.query_one("#tried", Static)
        line.update(Text(f"tried: {summary} · {ways}"))
        line.set_class(bool(summary), "-shown")

    def _ask(self) -> None:
        """Ask; of what is under way nothing is given up, and then the last question is asked."""
        if self._stored is None:
            return
        bank, folders = self.bank, self.browser.configuration.prompt_folders
        question = Query(*self.place(), CANDIDATES, with_tried(self._stored, self._tried))
        known, self._asked = self._asked, (bank, question)
        if not any(map(str.strip, self.place())):
            self._asked = None
            self._show(None)
            self._explain()
            return
        if self._recalled.under_way and known == self._asked:
            return
        self._recalled.ask(
            lambda _: answer(bank, replace(question, folders=folders()), self._embedders),
            self._answered,
        )
        self.main_pane.border_title = "context · asking …"
        if card_of(bank) not in self._embedders:
            words = "The embedding model is being loaded. The answer comes once it is there."
            self.main_pane.show([Section("", words, quiet=True)])
            for tree, pane in self._answers.items():
                pane.show(len(bank.tree(tree)), [])

    def _answered(self, found: RecallResult) -> None:
        """Show the answer, unless the question was withdrawn; the last one may be under way."""
        if self._asked is None:
            return
        self._show(found)
        if self._recalled.has_more:
            self.main_pane.border_title = "context · asking …"

    def on_lookup_failed(self, message: LookupFailed) -> None:
        """Say why there is no answer, if nothing else was asked since; the app says it too."""
        if message.name == _RECALLING and self._asked and not self._recalled.has_more:
            self._failed(message.error)

    def _failed(self, error: DeltaMemError) -> None:
        self.main_pane.border_title = "context"
        self.main_pane.show([Section("No answer", str(error), warning=True)])

    def _show(self, given: RecallResult | None) -> None:
        self._given = given
        self.offer("show_node", "match_chain", "match_evidence", when=given is not None)
        for tree, pane in self._answers.items():
            found = given.collections.get(tree) if given else None
            pane.display = found is not None or given is None
            lines, why = match_lines(self.bank, found), why_matched(self.bank, found)
            pane.show(len(self.bank.tree(tree)), lines, why)
        context = given.context if given else ""
        self.main_pane.border_title = Content(
            f"context · {counted(len(context) // CHARS, 'token')}"
        )
        self.main_pane.show(_folded(context or self._first_step() or NOTHING_RECALLED))
        self._follow()

    # What can be done

    def readable(self) -> Sequence[Section]:
        """Return the context, whole; or the chain, while that has the focus."""
        context = self._given.context if self._given and not self._chain.has_focus else ""
        return [Section("", context)] if context else super().readable()

    def action_ask_task(self) -> None:
        self._focus_question()

    def action_numbers(self) -> None:
        """Ask for the numbers to try, in a form."""
        stored = self._stored
        if stored is None:
            return
        now = with_tried(stored, self._tried)

        def begin(answer: FormAnswer, retry: Retry) -> None:
            self._try(from_answer(answer, now))
            retry.forget()

        lines = number_lines(self.bank, now)
        self.browser.forms.ask("Try other parameters", lines, begin, bank=self.home.path)

    def action_nudge(self, steps: int) -> None:
        if self._stored is not None:
            now = with_tried(self._stored, self._tried)
            found = self._given.collections.get(self._tree) if self._given else None
            if hasattr(now[self._tree], "tau_base") and not uses_threshold(found):
                said = "no threshold applies to this answer" if found else "ask a task first"
                self.browser.notes.notify(f"{said}; nothing is tried")
                return
            try:
                self._try(nudged(now, lab_numbers(self.bank).get(self._tree, []), steps))
            except DeltaMemError as error:
                self.browser.notes.report(error)

    def action_own_numbers(self) -> None:
        if self._stored is not None:
            self._try(self._stored)

    @property
    def _tree(self) -> str:
        """The collection whose answer has the focus, else the first; empty if there is none."""
        focused = (name for name, each in self._answers.items() if each.matches.has_focus)
        return next(focused, next(iter(self._answers), ""))

    @property
    def _node(self) -> Node | None:
        """The node under the cursor."""
        return self._answers[self._tree].matches.node if self._answers else None

    def action_chain(self) -> None:
        """Show the chain that leads to the node under the cursor; or show it no longer."""
        self.toggle_class("-chain")
        self._follow()

    def _follow(self) -> None:
        """Show the chain that leads to the node under the cursor, if chains are shown."""
        if not self.has_class("-chain"):
            return
        self._chain.border_title = "chain"
        if (node := self._node) is None:
            self._chain.show([Section("", "No node is under the cursor.", quiet=True)])
            return
        chain = self.bank.tree(self._tree).chain(node.id)
        display = display_of(self.bank, self._tree)
        self._chain.border_title = Content(f"chain · {display.title} · {node.id}")
        self._chain.show(chain_sections(display, chain), len(chain) - 1)

    def on_line_list_moved(self, message: LineList.Moved) -> None:
        if message.lines.has_focus:
            self._follow()

    def on_descendant_focus(self) -> None:
        self._follow()

    def action_show_node(self) -> None:
        if node := self._node:
            self.browser.session.follow_link("memory", self._tree, node.id)

    def action_evidence(self) -> None:
        if node := self._node:
            self.show_evidence(self._tree, node)

    def place(self) -> tuple[str, str]:
        """Return the question."""
        return self.query_one("#task", Input).value, self.query_one("#scene", Input).value

    def return_to(self, place: tuple[str, ...]) -> None:
        """Ask a question again, unless it is the one that is answered."""
        for name, text in zip(("task", "scene"), place, strict=True):
            self.query_one(f"#{name}", Input).value = text

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        message.lines.focus()
        self.action_show_node()

    async def action_step_back(self) -> None:
        if isinstance(self.focused, Input):
            self._focus_answer()
        elif self.has_class("-chain"):
            self.remove_class("-chain")
        else:
            await super().action_step_back()

    def action_save_parameters(self) -> None:
        tried = self._tried  # stays so until the bank has been read with what was saved
        if not tried:
            self.browser.notes.notify("nothing to save: the bank has these parameters already")
        elif self.writable():
            self.change("saving the parameters", lambda bank: save_numbers(bank, tried))


def _folded(context: str) -> list[Section]:
    """Return a context with what was learnt first, and what stands around it last and quiet."""
    if not (header := _HEADER.match(context)):
        return [Section("", context)]
    before = Section("The agent reads before it", header[0].rstrip(), quiet=True)
    return [Section("", context[header.end() :]), before]
