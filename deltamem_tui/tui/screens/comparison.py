"""Two banks side by side: what differs above, both sides of one difference below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from deltamem_tui.bank.bank import Bank
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.actions import Scope, bindings
from deltamem_tui.tui.core.background import Inquiry
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.core.forms import FormAnswer, FormLine
from deltamem_tui.tui.core.job import Retry, WorkState
from deltamem_tui.tui.core.open_bank import Stamp, stamp_of
from deltamem_tui.tui.models.banks import BankLine
from deltamem_tui.tui.models.comparison import BankComparison, BankDifference
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens import bank_actions
from deltamem_tui.tui.screens.base import bottom_bars
from deltamem_tui.tui.widgets.bars import TopBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.painting import line_of
from deltamem_tui.tui.widgets.text_pane import TextPane

_STYLES = {"+": "good", "−": "warning", "~": "strong"}


class DifferenceList(LineList):
    """One difference a line.

    Attributes:
        differences: What is listed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.differences: Sequence[BankDifference] = ()

    def line_count(self) -> int:
        """How many differences there are."""
        return len(self.differences)

    def line_text(self, line: int, width: int) -> Text:  # noqa: ARG002 - the list cuts it
        """Sign, collection, title."""
        each = self.differences[line]
        quiet = self.style_of("quiet")
        sign = (f" {each.sign} ", self.style_of(_STYLES[each.sign]))
        return line_of(sign, (f"{each.where}  ", quiet), (each.title, None))


class ComparisonScreen(Screen[None]):
    """Two banks, and what differs.

    Args:
        before: The bank at the left.
        after: The bank at the right.
    """

    SCOPES: ClassVar[tuple[Scope, ...]] = ("comparison", "list", "app")
    BINDINGS: ClassVar = [*bindings("comparison")]
    DEFAULT_CSS = """
    ComparisonScreen DifferenceList { height: 1fr; border-top: solid $primary; }
    ComparisonScreen #sides { height: 1fr; }
    ComparisonScreen TextPane { width: 1fr; border-top: solid $primary; padding: 0 1; }
    ComparisonScreen DifferenceList:focus, ComparisonScreen TextPane:focus {
        border-top: heavy $accent;
    }
    """

    def __init__(self, before: Path, after: Path) -> None:
        super().__init__()
        self._paths = before, after
        self._looking = Inquiry(self, "comparing the banks")
        self._list = DifferenceList()
        self._sides = TextPane(id="before"), TextPane(id="after")
        self._stamps: Sequence[Stamp] = ()
        self._told = "comparing …"

    def compose(self) -> ComposeResult:
        """Differences, and the sides of one."""
        yield TopBar("two banks")
        yield self._list
        with Horizontal(id="sides"):
            yield from self._sides
        yield from bottom_bars(self.SCOPES)

    def on_mount(self) -> None:
        """Goes to the list, and compares again whenever work may have written a bank."""
        self.browser.work.changed.subscribe(self, self._written)
        self._list.focus()
        self._look()

    @property
    def browser(self) -> Browser:
        """The program."""
        return browser_of(self)

    def panes(self) -> Iterable[Widget]:
        """The panes that actions are about while none of them has the focus, the first first."""
        return self.focus_chain

    def _written(self, state: WorkState | None) -> None:
        if state is None and self._stamps != [stamp_of(path) for path in self._paths]:
            self._look()

    def _look(self) -> None:
        """Compares the banks as they are now."""
        before, after = self._paths
        self._stamps = [stamp_of(path) for path in self._paths]
        for pane, path in zip(self._sides, self._paths, strict=True):
            pane.border_title = Content(one_line(path.name, 60))
        self._list.border_title = "comparing …"
        self._looking.ask(
            lambda _: BankComparison.of(Bank.open(before), Bank.open(after)),
            self._show,
            at_once=True,
        )

    def _show(self, found: BankComparison) -> None:
        self._told = found.summary
        self._list.border_title = Content(found.summary)
        self._list.differences = found.differences
        self._list.lines_changed(min(self._list.cursor, max(len(found.differences) - 1, 0)))

    def on_line_list_moved(self) -> None:
        """Shows both sides of the difference under the cursor."""
        found = self._list.differences
        nothing = [Section("", self._told, quiet=True)]
        sides = found[self._list.cursor].sides() if found else (nothing, nothing)
        for pane, sections in zip(self._sides, sides, strict=True):
            pane.show(sections)

    def action_leave_comparison(self) -> None:
        """Goes back."""
        self.dismiss()

    def action_swap_sides(self) -> None:
        """Puts the left bank to the right."""
        self._paths = self._paths[::-1]
        self._look()

    def action_merge_right(self) -> None:
        """Shows what merging the right bank into the left one would do, and asks."""
        target, source = self._paths
        bank_actions.plan_merge(self.browser, target, [str(source.resolve())])


def ask_for_comparison(
    browser: Browser, screen: Screen[None], bank: BankLine, banks: Sequence[BankLine]
) -> None:
    """Asks which bank stands at the right, and shows the two side by side."""
    others = {
        each.place.name: f"{each.domain}, {counted(sum(each.nodes.values()), 'node')}"
        for each in banks
        if each is not bank and not each.error
    }
    if bank.error or not others:
        browser.notes.notify("there is no other bank to compare it with")
        return
    paths = {each.place.name: each.place.path for each in banks}
    lines = (FormLine("other", "On the right", next(iter(others)), choices=others),)

    def begin(answer: FormAnswer, retry: Retry) -> None:
        retry.forget()
        screen.app.push_screen(ComparisonScreen(bank.place.path, paths[answer["other"]]))

    browser.forms.ask(f"Compare {bank.place.name} with", lines, begin, bank=bank.place.path)
