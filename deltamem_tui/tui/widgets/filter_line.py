"""The line that filters a list, and below it help, or what is wrong with what was typed."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.views.language import LONGEST_FILTER, Language
from deltamem_tui.tui.widgets.inputs import LineInput


class FilterLine(Vertical):
    """A filter as it is typed. It is there while one types, and while it filters.

    Args:
        language: The conditions that can be typed.
    """

    DEFAULT_CSS = """
    FilterLine { height: auto; }
    FilterLine > LineInput { display: none; }
    FilterLine.-open > LineInput { display: block; }
    FilterLine > Static {
        display: none; height: auto; padding: 0 1;
        &.-shown { display: block; }
        &.-help { text-style: dim; }
        &.-warning { color: $text-warning; }
        &:ansi.-warning { color: ansi_red; }
    }
    """

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language
        self._line = LineInput(
            placeholder="words or conditions", id="filter", compact=True, max_length=LONGEST_FILTER
        )
        self._remark = Static()

    def compose(self) -> ComposeResult:
        """The line, and a remark."""
        yield self._line
        yield self._remark

    @property
    def text(self) -> str:
        """What was typed."""
        return self._line.value

    @property
    def is_typed_in(self) -> bool:
        """Whether it has the focus."""
        return self._line.has_focus

    def open(self) -> None:
        """Let the user type."""
        self.add_class("-open")
        self.screen.set_focus(self._line)  # at once: what is typed now is for this line

    def show(self, text: str, *, open: bool = False) -> None:  # noqa: A002 - the opposite of shut
        """Show this filter; an empty one is put away, unless it is to be open."""
        if self._line.value != text:
            self._line.value = text
        self.set_class(bool(text) or open, "-open")
        self._show_remark()

    def on_input_changed(self) -> None:
        """Show at once what is wrong with what was typed."""
        self._show_remark()

    def on_descendant_focus(self) -> None:
        """Show what can be typed."""
        self._show_remark()

    def on_descendant_blur(self) -> None:
        """Hide the help."""
        self._show_remark()

    def _show_remark(self) -> None:
        text, kind = self._remark_on(self.text)
        self._remark.update(Text(text))
        self._remark.set_class(bool(text), "-shown")
        for each in ("-help", "-warning"):
            self._remark.set_class(kind == each, each)

    def _remark_on(self, text: str) -> tuple[str, str]:
        """The remark on a filter, and whether it is help or a warning."""
        if not text:
            return (self._language.help if self.is_typed_in else ""), "-help"
        try:
            self._language.parse(text)
        except UsageError as error:
            return f"✗ {error}", "-warning"
        doubt = self._language.doubt_about(text)
        return (f"! {doubt}" if doubt else ""), "-warning"
