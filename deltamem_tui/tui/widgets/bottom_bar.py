"""The line at the bottom: the keys one most likely wants, or a note in their place.

The keys are one widget that draws one line. A widget for each key would be made anew whenever
another pane gets the focus, which costs more than all the rest of a key press.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text
from textual import events
from textual.binding import Binding
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from deltamem_tui.tui.core.actions import Scope, of_scopes
from deltamem_tui.tui.core.browser import browser_of
from deltamem_tui.tui.core.notes import Note
from deltamem_tui.tui.widgets.painting import line_of, wrapped

_LINES = 5
_PADDING = 1

_ALWAYS = ("step_back", "quit", "help")
"""The actions whose keys are shown however narrow the terminal is: the ways out, and help."""


_WRITING = frozenset(
    {
        *("edit", "undo", "save_parameters", "import_logs", "extract", "apply_proposal"),
        *("verdict_success", "verdict_failure", "verdict_unclear"),
    }
)
"""The actions whose keys are not shown for a frozen bank. The key itself says why."""

_MATCHES = frozenset(
    {
        *("next_match", "previous_match"),
        *("next_episode_match", "previous_episode_match"),
    }
)
"""The actions whose keys are shown only where something is filtered."""


class KeyBar(Widget):
    """Keys with what they do; a click on one does it.

    Args:
        scopes: The scopes of the screen: the keys of the first come first.

    Attributes:
        filtered: Whether what one sees is filtered.
        idle: The names of the actions that have nothing to work on now; their keys are not shown.
    """

    COMPONENT_CLASSES = {"keys--key"}  # noqa: RUF012 - textual reads it so
    DEFAULT_CSS = """
    KeyBar {
        height: 1; dock: bottom; background: $footer-background; color: $footer-foreground;
        & > .keys--key { color: $footer-key-foreground; text-style: bold; }
        &:ansi { background: ansi_default; color: ansi_default; }
        &:ansi > .keys--key { color: ansi_cyan; text-style: bold; }
    }
    """

    filtered: reactive[bool] = reactive(False)
    idle: reactive[frozenset[str]] = reactive(frozenset())

    def __init__(self, scopes: Sequence[Scope]) -> None:
        super().__init__()
        self._order = [action.name for scope in scopes for action in of_scopes([scope])]

    def on_mount(self) -> None:
        """Follows the focus, and gives way to notes."""
        notes = browser_of(self).notes
        notes.changed.subscribe(self, self._give_way)
        self._give_way(notes.current)
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, _: Screen[object]) -> None:
        self.refresh()

    def _give_way(self, note: Note | None) -> None:
        self.display = note is None

    def render(self) -> Text:
        """The line."""
        style = self.get_component_rich_style("keys--key", partial=True)
        line = line_of()
        for key, words, _ in self._shown():
            line.append(f" {key}", style)
            line.append(f" {words} ")
        return line

    def _shown(self) -> Iterator[tuple[str, str, str]]:
        """Key, words and action of what there is room for."""
        entries = [
            (self.app.get_key_display(binding), binding.description, binding.action)
            for binding in self._offered()
        ]
        entries.sort(key=lambda entry: entry[2] == "help")  # the last of all
        room = self.size.width - sum(_width(entry) for entry in entries if entry[2] in _ALWAYS)
        for entry in entries:
            if entry[2] in _ALWAYS:
                yield entry
                continue
            room -= _width(entry)  # what comes behind one that has no room has none either
            if room >= 0:
                yield entry

    def offer(self, *actions: str, when: bool) -> None:
        """Shows the keys of actions only when they have something to work on.

        Args:
            actions: Their names.
            when: Whether there is something.
        """
        self.idle = self.idle.difference(actions) if when else self.idle.union(actions)

    @property
    def hidden(self) -> frozenset[str]:
        """The names of the actions that cannot be done here and now."""
        home = browser_of(self).session.home
        frozen = home is not None and home.bank.frozen
        hidden = self.idle | (_WRITING if frozen else frozenset())
        return hidden if self.filtered else hidden | _MATCHES

    def _offered(self) -> list[Binding]:
        """One binding an action that can be done, in the order of the scopes."""
        hidden = self.hidden
        found: dict[str, Binding] = {}
        for active in self.screen.active_bindings.values():
            if active.binding.show and active.binding.id not in hidden:
                found.setdefault(active.binding.action, active.binding)
        return sorted(found.values(), key=lambda binding: self._rank(binding.id or ""))

    def _rank(self, name: str) -> int:
        if name in _MATCHES:
            return -1  # who filters wants to see what was found
        return self._order.index(name) if name in self._order else len(self._order)

    async def on_click(self, event: events.Click) -> None:
        """Do what was clicked."""
        left = 0
        for entry in self._shown():
            left += _width(entry)
            if event.x < left:
                await self._do(entry[2])
                return

    async def _do(self, action: str) -> None:
        for active in self.screen.active_bindings.values():
            if active.binding.action == action:
                await self.app.run_action(action, active.node)
                return


def _width(entry: tuple[str, str, str]) -> int:
    key, words, _ = entry
    return Text(f" {key} {words} ").cell_len


class NoteBar(Static):
    """A note in the place of the keys. It takes room of its own, so nothing is hidden by it.

    One that is too long for it says how the rest can be read. A click shows it, too.
    """

    DEFAULT_CSS = """
    NoteBar {
        dock: bottom; height: auto; padding: 0 1; display: none;
        background: $footer-background; color: $footer-foreground; text-style: bold;
        &.-warning { color: $text-warning; }
        &.-error { color: $text-error; }
        &:ansi { background: ansi_default; color: ansi_default; }
        &:ansi.-warning, &:ansi.-error { color: ansi_red; }
    }
    """

    _note: Note | None = None

    def on_mount(self) -> None:
        """Follows the notes."""
        notes = browser_of(self).notes
        notes.changed.subscribe(self, self._show)
        self._show(notes.current)

    def _show(self, note: Note | None) -> None:
        """Shows a note instead of the one before; hides when there is none."""
        self._note = note
        self.display = note is not None
        if note is not None:
            self._fit(note)
            for severity in ("warning", "error"):
                self.set_class(note.severity == severity, f"-{severity}")

    def on_resize(self) -> None:
        """Fits the note to another width."""
        if self._note is not None:
            self._fit(self._note)

    def _fit(self, note: Note) -> None:
        """Shows as many lines as there is room for, the last of them with the way to the rest."""
        width = self.size.width or self.app.size.width - 2 * _PADDING
        lines = list(wrapped(note.shown, self.app.console, width))
        if len(lines) > _LINES:
            lines = [*lines[: _LINES - 1], f"… {self._key()} shows all of it"]
        self.update(Text("\n".join(lines)))

    def _key(self) -> str:
        return browser_of(self).key_of("notes")

    async def on_click(self) -> None:
        """Shows all of it."""
        await self.app.run_action("notes")
