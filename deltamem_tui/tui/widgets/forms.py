"""A form: lines to fill in, lists to choose from, and what would come of the answer."""

from __future__ import annotations

import os
from asyncio import to_thread
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Checkbox, Input, OptionList, Static
from textual.widgets.option_list import Option

from deltamem_tui.text import clean, one_line
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.forms import FormContent, FormLine
from deltamem_tui.tui.widgets.dialogs import Dialog, key_text
from deltamem_tui.tui.widgets.line_input import LineInput


class PathSuggester(Suggester):
    """Completes a path by the first file or folder that begins so."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the path as it is typed, up to the end of a name."""
        return await to_thread(completed_path, value)


def completed_path(typed: str) -> str | None:
    """Return a path that begins as it was typed, up to the end of a name; None if there is none."""
    folder, name = os.path.split(typed)
    if not typed:
        return None
    with suppress(OSError, ValueError, RuntimeError):
        place = Path(folder or ".").expanduser()
        found = (each for each in sorted(place.iterdir()) if each.name.startswith(name))
        for each in found:
            if each.name.startswith(".") and not name:
                continue
            return os.path.join(folder, each.name) + ("/" if each.is_dir() else "")  # noqa: PTH118
    return None


class Tick(Checkbox):
    """A box that space ticks; enter is left to the form, which goes on."""

    BINDINGS: ClassVar = [Binding("enter", "screen.go_on", "Go on")]

    @property
    def _button(self) -> Content:  # textual's differs by its colour alone
        return Content("[x]" if self.value else "[ ]")


class Choices(OptionList):
    """A list of which one is chosen by the arrow keys; more is said of the chosen one.

    Enter is left to the form, which goes on.
    """

    DEFAULT_CSS = "Choices > .option-list--option-highlighted { text-style: bold reverse; }"
    BINDINGS: ClassVar = [Binding("enter", "screen.go_on", "Go on")]

    def __init__(self, line: FormLine) -> None:
        self._choices, self._unfit = {**line.choices, **line.unfit}, line.unfit
        self._names = list(self._choices)
        place = self._names.index(line.value) if line.value in line.choices else 0
        super().__init__(*map(self._option, self._names), id=line.name, compact=True)
        self.highlighted = place

    def _option(self, name: str) -> Option:
        """Return what the list says of a choice."""
        first, _, more = self._choices[name].partition("\n")
        width = max(map(len, self._names))
        text = Text(
            f"{one_line(name):<{width}}  {one_line(first)}", overflow="ellipsis", no_wrap=True
        )
        if more:
            text.append(f"\n  {one_line(more, 500)}", "dim")
        return Option(text, disabled=name in self._unfit)

    @property
    def chosen(self) -> str:
        """The chosen value."""
        return self._names[self.highlighted or 0] if self._names else ""


class AnswerPreview(Static):
    """What would come of the answer. The lines above it make room as it grows."""

    def on_resize(self) -> None:
        if isinstance(self.screen, AskDialog):
            self.screen.on_resize()


class AskDialog(Dialog[Mapping[str, str] | None]):
    """Asks for a few lines; gives them by name, or None."""

    DEFAULT_CSS = """
    AskDialog #lines { height: auto; scrollbar-size-vertical: 1; }
    AskDialog .-field { height: auto; margin-bottom: 1; }
    AskDialog .-label.-refused { color: $text-warning; text-style: bold; }
    AskDialog Choices { height: auto; max-height: 1; scrollbar-size-vertical: 1; }
    AskDialog .-field.-open Choices { max-height: 8; }
    AskDialog Tick, AskDialog Tick:focus { border: none; padding: 0; background: $surface; }
    AskDialog #preview { max-height: 9; }
    AskDialog #reason { color: $text-warning; text-style: bold; max-height: 5; }
    AskDialog:ansi #reason, AskDialog:ansi .-label.-refused { color: ansi_red; }
    """
    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "Cancel")]

    def __init__(self, form: FormContent) -> None:
        super().__init__()
        if form.refused:  # the line that has to be mended; else the first
            self.AUTO_FOCUS = f"#{form.refused}"  # type: ignore[misc]  # textual reads it so
        self._form = form

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
                yield AnswerPreview(id="preview", markup=False)
            yield Static(self._keys(), classes="-keys")

    def _line(self, line: FormLine) -> Iterator[Widget]:
        """Return a line with its label, which is marked if it was refused, and says why."""
        if line.tick:
            yield Tick(Text(clean(line.label)), bool(line.value), id=line.name, compact=True)
            return
        refused = line.name == self._form.refused
        label = Static(Text(("✗ " if refused else "") + clean(line.label)), classes="-label")
        yield label.set_class(refused, "-refused")
        if refused:
            yield self._reason()
        if line.choices:
            yield Choices(line)
            return
        suggester = PathSuggester() if line.path else None
        yield LineInput(
            line.value, placeholder=line.hint, id=line.name, compact=True, suggester=suggester
        )

    def _reason(self) -> Static:
        return Static(Text(clean(self._form.reason)), id="reason")

    def _keys(self) -> str:
        lines = self._form.lines
        more = [("space ticks", "")] if any(line.tick for line in lines) else []
        more += [("↑↓ choose", "")] if any(line.choices for line in lines) else []
        more += [("→ completes a path", "")] if any(line.path for line in lines) else []
        return key_text(
            ("enter submits", "screen.go_on"),
            ("tab moves to the next field", "app.focus_next"),
            *more,
            ("escape cancels", "screen.dismiss(None)"),
        )

    def on_mount(self) -> None:
        self._look_ahead()

    def on_input_changed(self) -> None:
        self._look_ahead()

    def on_descendant_focus(self) -> None:
        """Open the list of the field in focus, and bring the field into sight."""
        for field in self.query(".-field"):
            field.set_class(self.focused in field.children, "-open")
        self.call_after_refresh(self.show_focused)

    def show_focused(self) -> None:
        """Bring the field in focus into sight."""
        if self.focused is not None and isinstance(self.focused.parent, Widget):
            self.focused.parent.scroll_visible(animate=False, immediate=True)

    def _look_ahead(self) -> None:
        def show(lines: Sequence[str]) -> None:
            if self.is_mounted:
                self.query_one("#preview", Static).update(Text(clean("\n".join(lines))))

        if self._form.preview and self.is_attached:
            look_up(self, "looking ahead", partial(self._form.preview, self._answers()), show)

    def on_input_submitted(self) -> None:
        self.action_go_on()

    def action_go_on(self) -> None:
        if self.is_active:
            self.dismiss(self._answers())

    def _answers(self) -> dict[str, str]:
        return {line.name: self._answer(line) for line in self._form.lines}

    def _answer(self, line: FormLine) -> str:
        if line.tick:
            return "yes" if self.query_one(f"#{line.name}", Tick).value else ""
        if line.choices:
            return self.query_one(f"#{line.name}", Choices).chosen
        return self.query_one(f"#{line.name}", Input).value.strip()
