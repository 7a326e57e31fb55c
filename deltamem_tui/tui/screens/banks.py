"""The banks: what there is, what is known of each, and how one begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.screen import Screen

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.paths import BankPlace
from deltamem_tui.text import counted, one_line
from deltamem_tui.tui.core.actions import Scope, bindings
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.browser import Browser, browser_of
from deltamem_tui.tui.jobs.agent_sessions import AgentSessions, find_sessions
from deltamem_tui.tui.models.sections import Section, local_time
from deltamem_tui.tui.screens import bank_actions, travelling
from deltamem_tui.tui.screens.base import bottom_bars
from deltamem_tui.tui.widgets.bars import KeyBar, TopBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.text_pane import TextPane, columns, line_of

_WITH_BANK: Mapping[str, Callable[[Browser, Path], object]] = {
    "open_bank": lambda browser, path: browser.session.open(path),
    "export_bank": travelling.export,
    "merge_banks": travelling.merge,
    "compare_banks": travelling.compare,
    "freeze_bank": bank_actions.freeze,
    "verify_bank": bank_actions.verify,
    "rename_bank": bank_actions.rename,
    "delete_bank": bank_actions.delete,
}
"""The actions that are about the bank under the cursor, by name."""

_NAME, _WIDE = 24, 76


@dataclass(frozen=True, slots=True)
class BankLine:
    """A row of the list of banks: where it is, its handle, or why it cannot be opened."""

    place: BankPlace
    bank: Bank | None = None
    nodes: Mapping[str, int] = field(default_factory=dict)
    error: str = ""

    @classmethod
    def of(cls, place: BankPlace) -> BankLine:
        """Open one bank; if it cannot be opened, say why."""
        try:
            bank = Bank.open(place.path)
            bank.episodes.waiting()  # reads the index now: when it is shown, the bank may be gone
            return cls(place, bank, {name: len(tree) for name, tree in bank.trees.items()})
        except DeltaMemError as error:
            return cls(place, error=one_line(str(error)))

    @property
    def facts(self) -> tuple[str, str, str]:
        """The domain, the method and the search model."""
        if self.bank is None:
            return "", "", ""
        known = self.bank.manifest
        model = str(known.embedder.get("model", ""))
        return one_line(known.domain, 100), one_line(known.method, 100), one_line(model, 200)

    @property
    def locked(self) -> str:
        """Why it cannot be written although it is not frozen; empty if it can."""
        if self.place.shipped:
            return "install a writable copy"
        if files.is_archive(self.place.path):
            return "an archive cannot be changed: import it, writable"
        # Whoever writes makes files in the folder: the lock, and drafts.
        is_writable = os.access(self.place.path, os.W_OK | os.X_OK)
        return "" if is_writable else "you may not write to its folder"

    @property
    def possible(self) -> frozenset[str]:
        """The names of the actions that can be done with the bank."""
        found = set[str]()
        if self.bank is not None:
            found |= {"open_bank", "verify_bank", "export_bank", "compare_banks"}
            if not self.locked:
                found |= {"freeze_bank"} if self.bank.frozen else {"freeze_bank", "merge_banks"}
        return frozenset(found if self.place.shipped else found | {"rename_bank", "delete_bank"})

    def sections(self) -> list[Section]:
        """Return all that is known of the bank without reading its nodes."""
        where = shown_path(self.place.path)
        if self.bank is None:
            title = f"{self.place.name} cannot be opened"
            return [Section(title, self.error, True), Section("", where)]
        writing = f"read only: {self.locked}" if self.locked else "can be written"
        domain, method, model = self.facts
        changed, waiting = local_time(self.bank.commit.time), len(self.bank.episodes.waiting())
        facts = [
            " · ".join(
                f"{name.replace('_', ' ')} {counted(count, 'node')}"
                for name, count in self.nodes.items()
            ),
            f"{counted(len(self.bank.episodes), 'episode')}, {waiting:,} waiting to be learnt",
            f"method {method} · domain {domain} · embedder {model}",
            f"last change {changed}" if changed else "",
            "frozen: it cannot be changed" if self.bank.frozen else writing,
            f"{'comes with the program, ' if self.place.shipped else ''}{where}",
        ]
        description = self.bank.manifest.description
        described = [Section("", description)] if description.strip() else []
        return [Section(self.place.name, "\n".join(filter(None, facts))), *described]


def shown_path(path: Path) -> str:
    """Return a path as a person would write it here."""
    for folder, sign in ((Path.cwd(), ""), (Path.home(), "~/")):
        if path.is_relative_to(folder):
            return one_line(f"{sign}{path.relative_to(folder)}")
    return one_line(str(path))


class BankList(LineList):
    """One bank a line."""

    lines: Sequence[BankLine] = ()

    def line_text(self, line: int, width: int) -> Text:
        """Return a bank in columns, or why it cannot be opened."""
        bank, quiet = self.lines[line], self.style_of("quiet")
        name = line_of((f" {bank.place.name}", None))
        name.truncate(min(_NAME, width // 3), overflow="ellipsis", pad=True)
        name.append("  ")
        if bank.error:
            return name.append_text(line_of((f"✗ {bank.error}", self.style_of("warning"))))
        nodes = counted(sum(bank.nodes.values()), "node")
        name.append_text(line_of((f"{nodes:<13}", None)))
        if width >= _WIDE:
            name.append_text(line_of(("  ".join(bank.facts), quiet)))
        frozen = "frozen " if bank.bank and bank.bank.frozen else ""
        state = "ships " if bank.place.shipped else frozen
        time = local_time(bank.bank.commit.time) if bank.bank else ""
        changed = time[: None if width >= _WIDE else 10]
        right = line_of((state, self.style_of("strong")), (f"{changed} ", quiet))
        return columns(name, right, width)

    @property
    def bank(self) -> BankLine | None:
        """The bank under the cursor."""
        return self.lines[self.cursor] if self.lines else None


class BanksScreen(Screen[None]):
    """All banks, and what is known of the one under the cursor, or how to begin."""

    SCOPES: ClassVar[tuple[Scope, ...]] = ("banks", "list", "app")
    BINDINGS: ClassVar = [*bindings("banks")]
    DEFAULT_CSS = """
    BanksScreen BankList { height: 1fr; border-top: solid $primary; }
    BanksScreen TextPane { height: 11; max-height: 50%; border-top: solid $primary; padding: 0 1; }
    BanksScreen #start { height: auto; max-height: 60%; display: none; }
    BanksScreen.-start #start { display: block; }
    BanksScreen.-start.-low #bank { display: none; }
    """

    def __init__(self, left: Path | None = None) -> None:
        super().__init__()
        self._expected = left
        self._list = BankList()
        self._start = TextPane(id="start")
        self._pane = TextPane(id="bank")
        self._sessions: Sequence[AgentSessions] = ()
        self._then: Callable[[], object] | None = None

    def compose(self) -> ComposeResult:
        yield TopBar()
        yield self._start
        yield self._list
        yield self._pane
        yield from bottom_bars()

    @property
    def browser(self) -> Browser:
        """The program."""
        return browser_of(self)

    def on_mount(self) -> None:
        self._list.border_title, self._start.border_title = "banks", "begin here"
        self._start.can_focus = False
        self._list.focus()

    def on_screen_resume(self) -> None:
        """Look again: a bank may have grown meanwhile."""
        self.action_look()

    def action_look(self) -> None:
        """Look for banks, and for sessions of agents."""
        folder = self.browser.folder
        look_up(
            self,
            "looking for banks",
            lambda _: [BankLine.of(place) for place in paths.find_banks(folder)],
            self._show,
        )
        look_up(self, "looking for sessions", lambda _: find_sessions(Path.home()), self._found)

    def expect(self, path: Path) -> None:
        """Put the cursor on a bank once it is listed."""
        self._expected = path

    def when_listed(self, then: Callable[[], object]) -> None:
        """Do something once the banks are listed."""
        self._then = then
        self.action_look()

    def _found(self, sessions: Sequence[AgentSessions]) -> None:
        self._sessions = sessions
        self._show_start()

    def _show(self, found: Sequence[BankLine]) -> None:
        """List the banks, the cursor on the one that is expected, or that it was on."""
        wanted = [each.resolve() for each in (self._expected, self._path) if each]
        self._list.lines = found
        # A bank that was named by another path than the list's is on the same line.
        lines = {bank.place.path.resolve(): line for line, bank in enumerate(found)}
        if self._expected and self._expected.resolve() in lines:
            self._expected = None
        self._list.lines_changed(next((lines[each] for each in wanted if each in lines), 0))
        self._show_start()
        if not found:
            text = f"There are no banks in {shown_path(self.browser.folder)}."
            self._pane.show([Section("No banks yet", text)])
        if self._then is not None:
            self.call_after_refresh(self._then)
            self._then = None

    def _show_start(self) -> None:
        """Say how to begin while there is no bank of the user's own."""
        banks, key = self._list.lines, self.browser.key_of
        self.set_class(all(each.place.shipped for each in banks), "-start")
        agents = ", ".join(f"{each.count:,} of {each.agent}" for each in self._sessions)
        found = agents or "none found on this machine"
        lines = [
            "Your agent's past sessions become skills. It gets the ones that fit a new task.",
            f"{key('own_sessions')}      bring your agent's sessions: {found}",
            f"{key('open_bank')}  look at the bank under the cursor; it ships with deltamem",
            f"{key('help')}      read what a node, a chain and a threshold are",
            f"{key('create_bank')}      make an empty bank in {shown_path(self.browser.folder)}",
        ]
        if not banks:
            del lines[2]
        self._start.show([Section("", "\n".join(lines))])

    def on_line_list_moved(self) -> None:
        possible = bank.possible if (bank := self._list.bank) else frozenset()
        keys = self.query_one(KeyBar)
        keys.offer(*_WITH_BANK, when=False)
        keys.offer(*possible, when=True)
        if bank:
            self._pane.show(bank.sections())

    def on_line_list_chosen(self) -> None:
        self.action_with_bank("open_bank")

    @property
    def _path(self) -> Path | None:
        """The bank under the cursor."""
        bank = self._list.bank
        return bank.place.path if bank else None

    def action_with_bank(self, name: str) -> None:
        if path := self._path:
            _WITH_BANK[name](self.browser, path)

    def action_create(self) -> None:
        bank_actions.create(self.browser)

    def action_bring(self) -> None:
        bank_actions.bring_sessions(self.browser, self._sessions)

    def action_install(self) -> None:
        travelling.install(self.browser)
