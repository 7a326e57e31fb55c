"""Common parts of a bank's screens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from textual.screen import Screen
from textual.widget import Widget

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.core.actions import Scope, bindings
from deltamem_tui.tui.core.bank_session import OpenBank
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.core.work import BankChange
from deltamem_tui.tui.models.nodes import evidence_of
from deltamem_tui.tui.models.sections import Section, plain
from deltamem_tui.tui.widgets.bars import KeyBar, NoteBar, TopBar, WorkBar
from deltamem_tui.tui.widgets.text_pane import TextPane


def bottom_bars() -> Iterator[Widget]:
    """Return the lines at the bottom of a screen: what goes on, a note, or the keys."""
    yield WorkBar()
    yield NoteBar()
    yield KeyBar()


class BankScreen(Screen[None]):
    """A screen of the bank that is open. It catches up when the bank changes."""

    SCOPES: ClassVar[tuple[Scope, ...]] = ()
    main_pane: TextPane
    BINDINGS: ClassVar = [*bindings("bank")]

    def __init__(self, home: OpenBank) -> None:
        super().__init__(classes="-normal")  # as most terminals are: it is not styled twice
        self.home = home
        self.is_ready = False
        self._shown: Bank | None = None
        self._stepped_at = -1
        home.followers.append(self.catch_up)

    @property
    def browser(self) -> Browser:
        """The program."""
        return browser_of(self)

    @property
    def bank(self) -> Bank:
        """The bank as the screen shows it, also while the screen goes away."""
        return self._shown or self.home.bank

    def on_mount(self) -> None:
        self.is_ready = True
        self.catch_up()

    def catch_up(self) -> None:
        """Show the bank as it was last read."""
        if not self.is_ready or self.home.is_closed or self._shown is self.home.bank:
            return
        self._shown = self.home.bank
        self.refresh_bindings()
        self.query_one(TopBar).show(self.bank)
        self.bank_changed()

    def bank_changed(self) -> None:
        """React to a bank that is another, or says something else."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing can be done with a bank that was closed."""
        return not self.home.is_closed and super().check_action(action, parameters)

    def offer(self, *actions: str, when: bool) -> None:
        """Offers actions, in the last line and the palette, only if they have something to do."""
        self.query_one(KeyBar).offer(*actions, when=when)

    def show_evidence(self, tree: str, node: Node) -> None:
        """Show the episode that a node is from, or say why there is none to be shown."""
        kept, missing = evidence_of(self.bank, tree, node)
        if kept:
            self.browser.session.follow_link("episodes", kept[0], tree, node.id)
        elif missing:
            self.browser.notes.notify("this bank was shipped without the node's episodes")
        else:
            self.browser.notes.notify("this node is not from an episode")

    # Writing

    def writable(self) -> bool:
        """Return whether the bank may be written; if not, the reason is reported."""
        from deltamem_tui.tui.screens import bank_actions

        if not bank_actions.is_own(self.browser, self.bank.path):
            return False
        try:
            self.bank.require_writable()
        except DeltaMemError as error:
            self.browser.notes.report(error)
            return False
        return True

    def change(
        self, name: str, work: Callable[[Bank], str], node: tuple[str, str] | None = None
    ) -> bool:
        """Write to the bank that the screen shows, with a handle of its own."""
        path = self.home.path
        return self.browser.work.start(
            name, lambda _: BankChange(path, work(Bank.open(path)), node)
        )

    # What can be done on every screen of a bank

    def readable(self) -> Sequence[Section]:
        """Return what `copy` and `read_whole` are about: the text pane in focus, else the first."""
        focused = self.focused
        return focused.sections if isinstance(focused, TextPane) else self.main_pane.sections

    def action_copy(self) -> None:
        if sections := self.readable():
            self.browser.texts.copy(plain(list(sections)))

    def action_read_whole(self) -> None:
        if sections := self.readable():
            self.browser.texts.read(plain(list(sections)))

    def action_show(self, screen: str) -> None:
        self.browser.session.show(screen)

    async def action_step_back(self) -> None:
        """Go back to where a link led from; else leave the bank, if asked for twice in a row."""
        if self.browser.session.back_by_link():
            return
        inputs = self.browser.attention.position().inputs
        if inputs == self._stepped_at + 1:
            await self.browser.session.close()
            return
        self._stepped_at = inputs
        key = self.browser.key_of
        self.browser.notes.notify(
            f"{key('step_back')} again goes back to the banks, {key('close_bank')} at once"
        )

    async def action_close_bank(self) -> None:
        await self.browser.session.close()
