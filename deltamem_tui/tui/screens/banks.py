"""The banks: what there is, and a new one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from deltamem_tui.text import one_line
from deltamem_tui.tui.core.actions import Scope, bindings
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.core.textual_compat import pop_result_callback
from deltamem_tui.tui.models.banks import BankLine, BankTable, bank_lines, bank_sections
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens import bank_actions
from deltamem_tui.tui.screens.base import bottom_bars
from deltamem_tui.tui.widgets.bars import KeyBar, TopBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.text_pane import TextPane, columns, line_of

_OF_ONE_BANK = (
    *("open_bank", "freeze_bank", "verify_bank", "export_bank", "merge_banks"),
    *("compare_banks", "rename_bank", "delete_bank"),
)
"""The names of the actions that are about the bank under the cursor."""


class BankList(LineList):
    """One bank a line.

    Attributes:
        banks: The banks.
    """

    def __init__(self) -> None:
        super().__init__()
        self.banks: Sequence[BankLine] = ()

    def line_count(self) -> int:
        """Return how many banks there are."""
        return len(self.banks)

    def line_text(self, line: int, width: int) -> Text:
        """Return a bank in columns, or why it cannot be opened."""
        bank = self.banks[line]
        table = BankTable.of(self.banks, width)
        if bank.error:
            warning = self.style_of("warning")
            return line_of((table.name(bank.place.name), None), (f"✗ {bank.error}", warning))
        said = table.cells(bank)
        left = line_of((said.name, None), (said.counts, None), (said.about, self.style_of("quiet")))
        right = line_of(
            (said.frozen, self.style_of("strong")), (said.changed, self.style_of("quiet"))
        )
        return columns(left, right, width)

    @property
    def bank(self) -> BankLine | None:
        """The bank under the cursor."""
        return self.banks[self.cursor] if self.banks else None


class BankHeading(Widget):
    """What the columns of the list of banks are."""

    DEFAULT_CSS = """
    BankHeading { height: 2; border-top: solid $primary; border-title-color: $foreground; }
    BankHeading:ansi { border-title-color: ansi_default; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.border_title = "Banks"
        self._banks: Sequence[BankLine] = ()

    def show(self, banks: Sequence[BankLine]) -> None:
        """Head the columns of these banks."""
        self._banks = banks
        self.refresh()

    def render(self) -> Text:
        width = self.size.width
        if not self._banks:
            return Text()
        said = BankTable.of(self._banks, width).headings
        left = line_of((f"{said.name}{said.counts}{said.about}", None))
        line = columns(left, line_of((f"{said.frozen}{said.changed}", None)), width)
        line.stylize("dim")
        return line


class BanksScreen(Screen[None]):
    """All banks, and what is known of the one under the cursor.

    Args:
        left: The bank that the user comes from, if no list was shown before.
    """

    SCOPES: ClassVar[tuple[Scope, ...]] = ("banks", "list", "app")
    BINDINGS: ClassVar = [*bindings("banks")]
    DEFAULT_CSS = """
    BanksScreen BankList { height: 1fr; }
    BanksScreen TextPane { height: 11; max-height: 50%; border-top: solid $primary; padding: 0 1; }
    """
    _pop_result_callback = pop_result_callback

    def __init__(self, left: Path | None = None) -> None:
        super().__init__()
        self._expected = left
        self._list = BankList()
        self._heading = BankHeading()
        self._pane = TextPane()

    def compose(self) -> ComposeResult:
        yield TopBar("DeltaMem")
        yield self._heading
        yield self._list
        yield self._pane
        yield from bottom_bars(self.SCOPES)

    @property
    def browser(self) -> Browser:
        """The program."""
        return browser_of(self)

    def on_mount(self) -> None:
        self._list.focus()

    def on_screen_resume(self) -> None:
        """Look again: a bank may have grown meanwhile."""
        self.look()

    def panes(self) -> Iterable[Widget]:
        """Return the panes that actions are about while none has the focus, in order."""
        return self.focus_chain

    def look(self) -> None:
        """Look for banks."""
        folder = self.browser.folder
        look_up(self, "looking for banks", lambda _: bank_lines(folder), self._show)

    def expect(self, path: Path) -> None:
        """Put the cursor on a bank once it is listed."""
        self._expected = path

    def _show(self, found: Sequence[BankLine]) -> None:
        """List the banks, the cursor on the one that is expected, or that it was on."""
        folder = self.browser.folder
        wanted = [each.resolve() for each in (self._expected, self._path) if each]
        self._list.banks = found
        self._heading.show(found)
        self._show_folder(folder)
        # A bank that was named by another path than the list's is on the same line.
        lines = {bank.place.path.resolve(): line for line, bank in enumerate(found)}
        if self._expected and self._expected.resolve() in lines:
            self._expected = None
        self._list.lines_changed(next((lines[each] for each in wanted if each in lines), 0))
        if not found:
            create, explain = self.browser.key_of("create_bank"), self.browser.key_of("help")
            text = (
                f"There are no banks in {folder}.\n\n"
                f"{create} creates one. Open it, import the logs of your agent, learn from them, "
                f"and ask: the screens say which key comes next. {explain} explains keys and words."
            )
            self._pane.show([Section("No banks yet", text)])

    def _show_folder(self, folder: Path) -> None:
        """Names a folder that does not exist: its name may be mistyped."""
        title = "Banks"
        if not folder.is_dir():
            key = self.browser.key_of("create_bank")
            title += (
                f" · No banks of your own yet. {key} makes your first (in {one_line(str(folder))})."
            )
        self._heading.border_title = Content(title)

    def on_line_list_moved(self) -> None:
        possible = bank.possible if (bank := self._list.bank) else frozenset()
        keys = self.query_one(KeyBar)
        keys.offer(*_OF_ONE_BANK, when=False)
        keys.offer(*possible, when=True)
        if bank:
            self._pane.show(bank_sections(bank))

    def on_line_list_chosen(self) -> None:
        self.action_open_bank()

    @property
    def _path(self) -> Path | None:
        """The bank under the cursor."""
        bank = self._list.bank
        return bank.place.path if bank else None

    def action_open_bank(self) -> None:
        if path := self._path:
            self.browser.session.open(path)

    def action_look_again(self) -> None:
        self.look()

    def action_create_bank(self) -> None:
        bank_actions.create(self.browser)

    def action_freeze_bank(self) -> None:
        if bank := self._list.bank:
            bank_actions.freeze(self.browser, bank.place.path, frozen=bank.frozen)

    def action_rename_bank(self) -> None:
        if path := self._path:
            bank_actions.rename(self.browser, path)

    def action_delete_bank(self) -> None:
        if path := self._path:
            bank_actions.delete(self.browser, self, path)

    def action_verify_bank(self) -> None:
        if path := self._path:
            bank_actions.verify(self.browser, path)

    def action_export_bank(self) -> None:
        if path := self._path:
            bank_actions.export(self.browser, path)

    def action_install_bank(self) -> None:
        bank_actions.install(self.browser)

    def action_merge_banks(self) -> None:
        if path := self._path:
            bank_actions.merge(self.browser, path)

    def action_open_contest(self) -> None:
        from deltamem_tui.tui.screens.contest import ask_for_contest

        ask_for_contest(self.browser, self)

    def action_compare_banks(self) -> None:
        from deltamem_tui.tui.screens.comparison import ask_for_comparison

        if bank := self._list.bank:
            ask_for_comparison(self.browser, self, bank, self._list.banks)
