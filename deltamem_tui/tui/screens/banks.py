"""The banks: what there is, and a new one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget

from deltamem_tui import paths
from deltamem_tui.errors import BankError, EmbeddingError
from deltamem_tui.memory.deltamem.settings import domain_named
from deltamem_tui.text import clean, one_line
from deltamem_tui.tui.actions import bindings
from deltamem_tui.tui.background import Progress
from deltamem_tui.tui.form_errors import about
from deltamem_tui.tui.forms import Answer
from deltamem_tui.tui.jobs import maintenance
from deltamem_tui.tui.messages import Again, BanksFound, Changed
from deltamem_tui.tui.models.bank_table import BankTable
from deltamem_tui.tui.models.banks import BankLine, bank_sections
from deltamem_tui.tui.models.proposing import proposed_embedder
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.screens.transfer import TravellingScreen
from deltamem_tui.tui.widgets.bars import TopBar, WorkBar
from deltamem_tui.tui.widgets.dialogs import Field
from deltamem_tui.tui.widgets.key_bar import KeyBar
from deltamem_tui.tui.widgets.line_list import LineList
from deltamem_tui.tui.widgets.painting import columns, line_of
from deltamem_tui.tui.widgets.text_pane import TextPane


class BankList(LineList):
    """One bank a line.

    Attributes:
        banks: The banks.
    """

    def __init__(self) -> None:
        super().__init__()
        self.banks: Sequence[BankLine] = ()

    def line_count(self) -> int:
        """How many banks there are."""
        return len(self.banks)

    def line_text(self, line: int, width: int) -> Text:
        """A bank in columns, or why it cannot be opened."""
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
        """The line."""
        width = self.size.width
        if not self._banks:
            return Text()
        said = BankTable.of(self._banks, width).headings
        left = line_of((f"{said.name}{said.counts}{said.about}", None))
        line = columns(left, line_of((f"{said.frozen}{said.changed}", None)), width)
        line.stylize("dim")
        return line


class BanksScreen(TravellingScreen):
    """All banks, and what is known of the one under the cursor.

    Args:
        left: The bank that the person comes from, if they saw no list before.
    """

    SCOPES = ("banks", "list", "app")
    BINDINGS: ClassVar = [*bindings("banks")]
    DEFAULT_CSS = """
    BanksScreen BankList { height: 1fr; }
    BanksScreen TextPane { height: 11; border-top: solid $primary; padding: 0 1; }
    """

    def __init__(self, left: Path | None = None) -> None:
        super().__init__()
        self._expected = left

    def compose(self) -> ComposeResult:
        """List above, details below."""
        yield TopBar("DeltaMem")
        yield BankHeading()
        yield BankList()
        yield TextPane()
        yield WorkBar()
        yield KeyBar(self.SCOPES)

    def on_mount(self) -> None:
        """Look for banks."""
        self.query_one(BankList).focus()
        self.browser.find_banks()

    def on_screen_resume(self) -> None:
        """Look again: a bank may have grown meanwhile."""
        self.browser.find_banks()

    def expect_bank(self, path: Path) -> None:
        """Put the cursor on a bank once it is listed."""
        self._expected = path

    def show_banks(self, message: BanksFound) -> None:
        """List the banks, the cursor on the one that is expected, or that it was on."""
        banks = self.query_one(BankList)
        wanted = [each.resolve() for each in (self._expected, self.chosen_path()) if each]
        banks.banks = message.banks
        self.query_one(BankHeading).show(message.banks)
        self._show_folder(message.folder)
        # Who named a bank by another path than the list comes back to the same line.
        lines = {bank.place.path.resolve(): line for line, bank in enumerate(message.banks)}
        if self._expected and self._expected.resolve() in lines:
            self._expected = None
        banks.lines_changed(next((lines[each] for each in wanted if each in lines), 0))
        if not message.banks:
            key = self.browser.key_of("create_bank")
            words = f"There are no banks in {message.folder}. Press {key} to create one."
            self.query_one(TextPane).show([Section("No banks", words)])

    def _show_folder(self, folder: Path) -> None:
        """Say that there is no such folder, as long as that is so: its name may be mistyped."""
        title = "Banks"
        if not folder.is_dir():
            key = self.browser.key_of("create_bank")
            title += f" · {key} makes the folder, which is not there yet: {one_line(str(folder))}"
        self.query_one(BankHeading).border_title = Content(title)

    def on_line_list_moved(self) -> None:
        """Say what is known of the bank."""
        bank = self.query_one(BankList).bank
        if bank:
            self.query_one(TextPane).show(bank_sections(bank))

    def on_line_list_chosen(self) -> None:
        """A second click opens."""
        self.action_open_bank()

    def chosen_path(self) -> Path | None:
        """The bank under the cursor."""
        bank = self.query_one(BankList).bank
        return bank.place.path if bank else None

    def action_open_bank(self) -> None:
        """Open the bank under the cursor."""
        if bank := self.query_one(BankList).bank:
            self.browser.open_bank(bank.place.path)

    def action_look_again(self) -> None:
        """Look for banks again."""
        self.browser.find_banks()

    def action_freeze_bank(self) -> None:
        """Freeze the bank, or unfreeze it."""
        if bank := self.query_one(BankList).bank:
            self.browser.freeze(bank.place.path, frozen=not bank.frozen)

    def action_verify_bank(self) -> None:
        """Verify every file of the bank."""
        if bank := self.query_one(BankList).bank:
            self.browser.verify(bank.place.path)

    def action_create_bank(self) -> None:
        """Ask what the new bank shall be."""
        configuration = self.browser.configuration
        embedder, why_not = proposed_embedder(configuration.embedder)
        label = "Embedder, for good" + (f" ({why_not})" if why_not else "")
        fields = (
            Field("name", "Name", hint="letters, digits, '.', '_' and '-'"),
            Field("domain", "Domain", configuration.domain, "alfworld, scienceworld, webshop, …"),
            Field(
                "embedder",
                label,
                embedder,
                "minilm, hashing, or a sentence-transformers model",
            ),
            Field("description", "What it is for", hint="may be empty"),
        )
        self.browser.ask("A new bank", fields, self._create)

    def _create(self, answer: Answer, again: Again) -> bool:
        # A path would place it where this list never looks.
        with about("name"):
            name = paths.check_bank_name(answer["name"])
            path = paths.new_bank_path(name, self.browser.folder)
        with about("domain"):
            domain = domain_named(clean(answer["domain"]).strip() or "generic")
            domain = paths.check_domain(domain)
        embedder, description = answer["embedder"], clean(answer["description"])

        def create(_: Progress) -> Changed:
            with about("embedder", EmbeddingError), about("name", BankError):
                return maintenance.create(
                    path, embedder=embedder, domain=domain, description=description
                )

        return self.browser.work(f"creating {path.name}", create, again=again)
