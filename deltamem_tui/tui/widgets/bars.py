"""The line at the top that says where one is, and the line that says what is going on."""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.binding import Binding
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from deltamem_tui.bank.bank import Bank
from deltamem_tui.tui.core.actions import of_scopes
from deltamem_tui.tui.core.browser import browser_of, scopes_of
from deltamem_tui.tui.core.notes import Note
from deltamem_tui.tui.core.work import Progress
from deltamem_tui.tui.widgets.text_pane import columns, line_of, wrapped

_LINES = 5
_PADDING = 1

_STAYING = frozenset({"step_back", "quit", "help"})
"""The actions whose keys are shown however narrow the terminal is: the ways out, and help."""

_OF_THE_APP = frozenset(action.name for action in of_scopes(["app"]))

_WRITING = frozenset(
    {
        *("edit", "undo", "save_parameters", "import_logs", "extract"),
        *("succeeded", "failed", "cannot_tell", "mark_all", "join", "move"),
    }
)
"""The actions whose keys are not shown for a frozen bank. The key itself says why."""


class KeyBar(Widget):
    """Keys with what they do; a click on one does it."""

    COMPONENT_CLASSES = {"keys--key"}  # noqa: RUF012 - textual reads it so
    DEFAULT_CSS = """
    KeyBar {
        height: 1; dock: bottom; background: $footer-background; color: $footer-foreground;
        & > .keys--key { color: $footer-key-foreground; text-style: bold; }
        &:light > .keys--key { color: $footer-foreground; }
        &:ansi { background: ansi_default; color: ansi_default; }
        &:ansi > .keys--key { color: ansi_cyan; text-style: bold; }
        &:ansi:light > .keys--key { color: ansi_blue; }
    }
    """

    idle: reactive[frozenset[str]] = reactive(frozenset())

    def on_mount(self) -> None:
        self.auto_links = False  # a key has its own colour
        notes = browser_of(self).notes
        notes.changed.subscribe(self, self._give_way)
        self._give_way(notes.current)
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, _: Screen[object]) -> None:
        self.refresh()

    def _give_way(self, note: Note | None) -> None:
        self.display = note is None

    def render(self) -> Text:
        """Return what there is room for; what is behind one that has no room has none either."""
        style = self.get_component_rich_style("keys--key", partial=True)
        offered = [
            (each, f" {self.app.get_key_display(each)}", f" {each.description} ")
            for each in self._offered()
        ]
        line, stay = line_of(), [cell_len(k + d) for each, k, d in offered if each.id in _STAYING]
        room = self.size.width - sum(stay)
        for binding, key, does in offered:
            if binding.id not in _STAYING:
                room -= cell_len(key + does)
                if room < 0:
                    continue
            scope = "app" if binding.id in _OF_THE_APP else "screen"
            click = Style.from_meta({"@click": f"{scope}.{binding.action}"})
            line.append(key, style + click)
            line.append(does, click)
        return line

    def offer(self, *actions: str, when: bool) -> None:
        """Show the keys of actions only when they have something to work on."""
        self.idle = self.idle.difference(actions) if when else self.idle.union(actions)

    @property
    def hidden(self) -> frozenset[str]:
        """The names of the actions that cannot be done here and now."""
        home = browser_of(self).session.home
        frozen = home is not None and home.bank.frozen
        return self.idle | (_WRITING if frozen else frozenset())

    def _offered(self) -> list[Binding]:
        """Return one binding an action that can be done, in the order of the scopes."""
        hidden, found = self.hidden, dict[str | None, Binding]()
        for active in self.screen.active_bindings.values():
            if active.binding.show and active.binding.id not in hidden:
                found.setdefault(active.binding.id, active.binding)
        scopes = scopes_of(self.screen)
        names = [action.name for scope in scopes for action in of_scopes([scope])]
        names.sort(key=lambda name: name == "help")  # the last
        return [found[name] for name in names if name in found]


class NoteBar(Static):
    """A note in the place of the keys; one that is too long says how the rest can be read."""

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
        notes = browser_of(self).notes
        notes.changed.subscribe(self, self._show)
        self._show(notes.current)

    def _show(self, note: Note | None) -> None:
        """Show a note instead of the one before; hides when there is none."""
        self._note = note
        self.display = note is not None
        if note is not None:
            self._fit(note)
            for severity in ("warning", "error"):
                self.set_class(note.severity == severity, f"-{severity}")

    def on_resize(self) -> None:
        if self._note is not None:
            self._fit(self._note)

    def _fit(self, note: Note) -> None:
        """Show as many lines as there is room for, the last of them with the way to the rest."""
        width = self.size.width or self.app.size.width - 2 * _PADDING
        lines = [each.plain for each in wrapped(note.shown, self.app.console, width)]
        if len(lines) > _LINES:
            key = browser_of(self).key_of("notes")
            lines = [*lines[: _LINES - 1], f"… {key} shows all of it"]
        self.update(Text("\n".join(lines)))

    async def on_click(self) -> None:
        await self.app.run_action("notes")


TABS = (
    ("memory", "1 Memory"),
    ("recall", "2 Recall"),
    ("episodes", "3 Episodes"),
    ("report", "4 Report"),
)
_NARROW = 70


class TopBar(Widget):
    """Which bank, what it is, and its screens; a click on one shows it."""

    DEFAULT_CSS = """
    TopBar { dock: top; height: 1; background: $panel; color: $text; }
    TopBar:ansi { background: ansi_default; color: ansi_default; text-style: bold; }
    """

    def __init__(self, tab: str = "") -> None:
        super().__init__()
        self.auto_links = False
        self._tab = tab
        self._bank: Bank | None = None

    def show(self, bank: Bank) -> None:
        """Say what this bank is."""
        self._bank = bank
        self.refresh()

    def render(self) -> Text:
        text = " DeltaMem"
        if self._bank is not None:
            manifest, frozen = self._bank.manifest, " FROZEN" if self._bank.frozen else ""
            facts = manifest.method, manifest.domain, str(manifest.embedder.get("model", ""))
            text = " · ".join([f" {self._bank.name}{frozen}", *facts])
        return columns(line_of((text, None)), self._tabs(), self.size.width)

    def _tabs(self) -> Text:
        """Return the names of the screens, as many as there is room for beside the bank."""
        text = Text(end="", no_wrap=True)
        for name, label in TABS if self._tab else ():
            here = name == self._tab
            said = label if here or self.size.width >= _NARROW else label[:1]
            click = Style.from_meta({"@click": f"screen.show('{name}')"})
            text.append(f" {said} ", Style(reverse=here, bold=here) + click)
        return text


class WorkBar(Widget):
    """The work under way, how far it is, and how to stop it; or a plan that waits."""

    DEFAULT_CSS = """
    WorkBar { height: 1; display: none; background: $boost; color: $text; }
    WorkBar.-busy { display: block; }
    WorkBar:ansi { background: ansi_default; color: ansi_default; }
    """

    def on_mount(self) -> None:
        """Follows the work, and the focus: in a line the key that cancels is a letter."""
        work = browser_of(self).work
        work.changed.subscribe(self, self._come_or_go)
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())
        self._come_or_go(work.state)

    def _come_or_go(self, state: Progress | None) -> None:
        self.set_class(state is not None or browser_of(self).work.plan is not None, "-busy")
        self.refresh()

    def render(self) -> Text:
        work = browser_of(self).work
        if (state := work.state) is not None:
            text, todo = self._how_far(state), state.how_it_ends(self._key("cancel"))
        elif work.plan is not None:
            text, todo = f"the {work.plan.kind} is ready", f"{self._key('plan')} opens it"
        else:
            return Text()
        return columns(line_of((f" {text}", None)), line_of((f"{todo} ", None)), self.size.width)

    def _key(self, action: str) -> str:
        """Return what to press; a line one types in has to be left first."""
        key = browser_of(self).key_of(action)
        typing = isinstance(self.screen.focused, Input) and len(key) == 1
        return f"escape, then {key}" if typing else key

    def _how_far(self, state: Progress) -> str:
        text = state.name
        if state.total:
            text += f" {state.done:,} of {state.total:,}"
            cells = 20 if self.size.width >= _NARROW else 5
            filled = round(cells * min(state.done / state.total, 1))
            text += f" {'━' * filled}{'╌' * (cells - filled)}"
        elif state.done:
            text += f" {state.done:,}"
        return f"{text} · {state.note}" if state.note else text
