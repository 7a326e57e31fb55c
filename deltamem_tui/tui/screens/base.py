"""What all screens of the browser have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.widget import Widget

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.actions import Scope, bindings
from deltamem_tui.tui.messages import Changed
from deltamem_tui.tui.models.sections import Section, plain
from deltamem_tui.tui.textual_compat import SwitchableScreen
from deltamem_tui.tui.widgets.bars import TopBar, WorkBar
from deltamem_tui.tui.widgets.key_bar import KeyBar
from deltamem_tui.tui.widgets.note_bar import Note, NoteBar
from deltamem_tui.tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from pathlib import Path

    from deltamem_tui.memory.method import Proposal
    from deltamem_tui.tui.app import DeltaMemApp
    from deltamem_tui.tui.messages import BanksFound, WorkAdvanced
    from deltamem_tui.tui.open_bank import OpenBank


class BrowserScreen(SwitchableScreen):
    """A screen that can do what its scopes say.

    Attributes:
        SCOPES: The scopes whose actions it has, for help and palette.
    """

    SCOPES: ClassVar[tuple[Scope, ...]] = ()

    @property
    def browser(self) -> DeltaMemApp:
        """The app."""
        return cast("DeltaMemApp", self.app)

    def on_screen_resume(self) -> None:
        """Show what is going on, and what was said."""
        self.show_work(self.browser.work_state)
        self.show_note(self.browser.note)

    def show_work(self, state: WorkAdvanced | None) -> None:
        """Show what is going on."""
        for bar in self.query(WorkBar):
            bar.state = state
            bar.plan = self.browser.plan

    def show_note(self, note: Note | None) -> None:
        """Show a note in the place of the keys, or the keys again."""
        bars = self.query(NoteBar)
        if note is None:
            bars.set(display=False)
        elif bars:
            bars.first().show(note)
            bars.set(display=True)
        elif self.is_mounted:
            bar = NoteBar()
            bar.show(note)
            self.mount(bar)
        self.query(KeyBar).set(display=note is None)

    def panes(self) -> Iterable[Widget]:
        """The panes that actions are about while none of them has the focus, the first first."""
        return self.focus_chain

    def expect_bank(self, path: Path) -> None:
        """A bank was made, and is listed soon; a screen that lists banks puts the cursor there."""

    def show_banks(self, message: BanksFound) -> None:
        """The banks folder was looked through; a screen that lists banks says how."""


class BankScreen(BrowserScreen):
    """A screen of the bank that is open. It catches up when the bank changes.

    Attributes:
        home: The open bank that it was made for.
    """

    BINDINGS: ClassVar = [*bindings("bank")]
    home: OpenBank

    def __init__(self) -> None:
        super().__init__()
        self._seen: Bank | None = None
        self._ready = False
        self._stepped_at: int | None = None
        self._deeds_elsewhere = 0
        self._left_at: int | None = None

    @property
    def bank(self) -> Bank:
        """The bank as the screen shows it, also while the screen goes away."""
        return self._seen or self.home.bank

    def change(
        self,
        name: str,
        work: Callable[[Bank], str],
        node: tuple[str, str] | None = None,
    ) -> bool:
        """Write to the bank that the screen shows, with a handle of its own.

        Args:
            name: What is being done.
            work: Does it, and says what was done.
            node: The node to look at afterwards.

        Returns:
            Whether it was begun; if not, the person was told what goes on.
        """
        path = self.home.path

        def write() -> Changed:
            return Changed(path, work(Bank.open(path)), node)

        return self.browser.work(name, lambda _: write())

    def on_mount(self) -> None:
        """Show the bank, after the screen of its kind has made itself ready."""
        self._ready = True
        self.catch_up()

    def on_screen_suspend(self) -> None:
        """Another screen comes in front."""
        self._left_at = self.browser.deeds

    def on_screen_resume(self) -> None:
        """Show what changed since another screen was in front."""
        self._deeds_elsewhere, self._left_at = self.browser.deeds - self._deeds_here, None
        self.catch_up()

    @property
    def _deeds_here(self) -> int:
        """How much the person did while this screen was in front."""
        now = self.browser.deeds if self._left_at is None else self._left_at
        return now - self._deeds_elsewhere

    def catch_up(self) -> None:
        """Show the bank as it was last read."""
        if not (self._ready and self.home.is_read) or self._seen is self.home.bank:
            return
        self._seen = self.home.bank
        self.refresh_bindings()
        self.query_one(TopBar).show(self.bank)
        self.bank_changed()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing can be done with a bank that is still being opened."""
        return self.home.is_read and super().check_action(action, parameters)

    def bank_changed(self) -> None:
        """The bank is another, or says something else."""

    def writable(self) -> bool:
        """Whether the bank may be written; if not, the reason is shown."""
        if not self.browser.is_own(self.bank.path):
            return False
        try:
            self.bank.require_writable()
        except DeltaMemError as error:
            self.browser.tell_error(error)
            return False
        return True

    def show_proposals(self, proposals: Sequence[Proposal], grounds: object) -> None:
        """Every episode was asked for its scores; a screen that shows them says how."""

    def readable(self) -> Sequence[Section]:
        """What `copy` and `read_whole` are about; nothing by default."""
        focused = self.focused
        return focused.sections if isinstance(focused, TextPane) else ()

    def action_copy(self) -> None:
        """Copy what is shown."""
        if sections := self.readable():
            self.browser.copy(plain(list(sections)))

    def action_read_whole(self) -> None:
        """Read what is shown in the pager."""
        if sections := self.readable():
            self.browser.read(plain(list(sections)))

    def action_show(self, screen: str) -> None:
        """Show another screen of the bank."""
        self.browser.show(screen)

    async def action_step_back(self) -> None:
        """Leave what is open; where nothing is, the bank, if it is asked for twice in a row.

        Who pressed it once more than there were things to close would be among the banks,
        where the keys mean other things.
        """
        deeds = self._deeds_here  # in the palette one has to type until this is found
        if self._stepped_at is not None and deeds <= self._stepped_at + 1:
            await self.browser.close_bank()
            return
        self._stepped_at = deeds
        key = self.browser.key_of
        self.browser.tell(
            f"{key('step_back')} again goes back to the banks, {key('close_bank')} at once"
        )

    async def action_close_bank(self) -> None:
        """Go back to the banks."""
        await self.browser.close_bank()

    def action_freeze(self) -> None:
        """Freeze the bank, or unfreeze it."""
        self.browser.freeze(self.bank.path, frozen=not self.bank.frozen)

    def action_verify(self) -> None:
        """Verify every file."""
        self.browser.verify(self.bank.path)
