"""A form: lines to fill in, lists to choose from, and what would come of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from deltamem_tui.text import clean
from deltamem_tui.tui.core.background import Stopped, look_up
from deltamem_tui.tui.core.forms import FormContent, FormLine
from deltamem_tui.tui.widgets.dialogs import Dialog, Key, KeyLine
from deltamem_tui.tui.widgets.inputs import (
    Choice,
    LineInput,
    Offers,
    PathSuggester,
    Tick,
)


class _FieldPlace(NamedTuple):
    """Where a field is among the others, and the line of it that is typed in or chosen.

    Attributes:
        field: The label and all below it.
        line: The first cell of the line.
        window: How much is in sight.
    """

    field: Region
    line: Region
    window: Size


class AskDialog(Dialog[Mapping[str, str] | None]):
    """Asks for a few lines; gives them by name, or None.

    Args:
        form: The lines, what they are for, and what is wrong with them if anything is.
    """

    DEFAULT_CSS = """
    AskDialog #lines { height: auto; scrollbar-size-vertical: 1; }
    AskDialog .-field { height: auto; }
    AskDialog .-label { color: $text-primary; }
    AskDialog .-label.-refused { color: $text-warning; text-style: bold; }
    AskDialog Input, AskDialog .-above-offers.-shut { margin-bottom: 1; }
    AskDialog Input.-above-offers { margin-bottom: 0; }
    AskDialog #preview { max-height: 9; }
    AskDialog #reason { color: $text-warning; text-style: bold; max-height: 5; }
    AskDialog:ansi .-label { color: ansi_cyan; }
    AskDialog:ansi #reason, AskDialog:ansi .-label.-refused { color: ansi_red; }
    """
    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "Cancel")]

    def __init__(self, form: FormContent) -> None:
        super().__init__()
        if form.refused:  # the line that has to be mended; else the first
            self.AUTO_FOCUS = f"#{form.refused}"  # type: ignore[misc]  # textual reads it so
        self.title_text = form.title
        self._form = form
        self._shown: _FieldPlace | None = None

    def compose(self) -> ComposeResult:
        """Return the lines; what they are for stays in sight while they are scrolled."""
        form = self._form
        with Vertical():
            yield Static(Text(clean(form.title), "bold"))
            with VerticalScroll(id="lines", classes="-scrolled", can_focus=False):
                for line in form.lines:
                    with Vertical(classes="-field"):
                        yield from self._line(line)
            if form.reason and not form.refused:
                yield self._reason()
            if form.preview:
                yield Static(id="preview", markup=False)
            yield KeyLine(self._keys())

    def _line(self, line: FormLine) -> Iterator[Widget]:
        """Return a line with its label, which is marked if it was refused, and says why."""
        if line.tick:
            yield Tick(line.label, ticked=bool(line.value), id=line.name)
            return
        refused = line.name == self._form.refused
        label = Static(Text(("✗ " if refused else "") + clean(line.label)), classes="-label")
        yield label.set_class(refused, "-refused")
        if refused:
            yield self._reason()
        if line.choices and not line.free:
            yield Choice(line.choices, line.value, id=line.name)
            return
        typed = LineInput(
            line.value,
            placeholder=line.hint,
            id=line.name,
            compact=True,
            suggester=PathSuggester() if line.path else None,
        )
        yield typed.set_class(bool(line.choices), "-above-offers")
        if line.choices:
            yield Offers(typed, line.choices)

    def _reason(self) -> Static:
        return Static(Text(clean(self._form.reason)), id="reason")

    def _keys(self) -> list[Key]:
        lines = self._form.lines
        more = [Key("space ticks")] if any(line.tick for line in lines) else []
        more += [Key("↑↓ choose")] if any(line.choices for line in lines) else []
        more += [Key("→ completes a path")] if any(line.path for line in lines) else []
        return [
            Key("enter submits", "go_on"),
            Key("tab moves to the next field", "app.focus_next"),
            *more,
            Key("escape cancels", "dismiss(None)"),
        ]

    def on_mount(self) -> None:
        self.screen_layout_refresh_signal.subscribe(self, self._laid_out)
        self._look_ahead()

    def on_input_changed(self) -> None:
        self._look_ahead()

    def set_focus(
        self,
        widget: Widget | None,
        scroll_visible: bool = True,  # noqa: ARG002 - textual's signature
        from_app_focus: bool = False,
    ) -> None:
        """Give a field the focus. Textual would scroll to its middle, and its label away."""
        super().set_focus(widget, scroll_visible=False, from_app_focus=from_app_focus)

    def on_descendant_focus(self) -> None:
        """Bring the field into sight; once its list is there, the layout does so again."""
        self.show_focused()

    def _laid_out(self, _: Screen[Any]) -> None:
        """Keep the field in focus in sight if it moved, and not if the user scrolled."""
        if (place := self._place()) != self._shown:
            self._shown = place
            self.show_focused()

    def show_focused(self) -> None:
        """Bring the field in focus into sight, its label if not all, its line in any case."""
        if (place := self._place()) is None:
            return
        label = Region.from_offset(place.field.offset, (1, 1))
        for region in (place.field, label, place.line):
            self.query_one("#lines").scroll_to_region(
                region, animate=False, force=True, immediate=True
            )

    def _place(self) -> _FieldPlace | None:
        """Return where the field in focus is; None if none is."""
        focused = self.focused
        if focused is None or not isinstance(focused.parent, Widget):
            return None
        field = focused.parent.virtual_region
        down = focused.place if isinstance(focused, Choice) else 0
        top = field.offset + focused.virtual_region.offset + (0, down)
        return _FieldPlace(field, Region.from_offset(top, (1, 1)), self.query_one("#lines").size)

    def _look_ahead(self) -> None:
        preview, answer = self._form.preview, self._answers()
        if preview is None:
            return

        def work(stopped: Stopped) -> Sequence[str]:
            return preview(answer, stopped)

        def show(lines: Sequence[str]) -> None:
            if self.is_mounted:
                self.query_one("#preview", Static).update(Text(clean("\n".join(lines))))
                self.on_resize()

        if self.is_attached:
            look_up(self, "looking ahead", work, show)

    def on_input_submitted(self) -> None:
        self.action_go_on()

    def action_go_on(self) -> None:
        if self.is_active:
            self.dismiss(self._answers())

    def _answers(self) -> dict[str, str]:
        return {line.name: self._answer(line) for line in self._form.lines}

    def _answer(self, line: FormLine) -> str:
        if line.tick:
            return "yes" if self.query_one(f"#{line.name}", Tick).ticked else ""
        if line.choices and not line.free:
            return self.query_one(f"#{line.name}", Choice).chosen
        return self.query_one(f"#{line.name}", Input).value.strip()
