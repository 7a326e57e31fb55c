"""The command palette: the registry's actions by name, those of the screen in front first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from textual import on
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.command import Command, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.dom import DOMNode
from textual.theme import ThemeProvider
from textual.widgets import Input, OptionList

from deltamem_tui.tui.core.actions import (
    SCOPE_TITLES,
    TOGETHER,
    Action,
    Scope,
    key_names,
    of_scopes,
)
from deltamem_tui.tui.core.browser import BrowserScreen, browser_of, main_screen
from deltamem_tui.tui.widgets.bars import KeyBar

_ABOVE = 1_000.0
"""More than any score of textual's matcher, which finds letters anywhere between others."""


class Palette(CommandPalette):
    """A palette in the terminal's own colours, if they are wanted, whose cursor stands still."""

    DEFAULT_CSS = """
    Palette:ansi { color: ansi_default; }
    Palette:ansi > Vertical { background: ansi_default; }
    Palette:ansi #--input { border: hkey ansi_blue; }
    Palette:ansi SearchIcon { color: ansi_default; }
    Palette:ansi CommandInput, Palette:ansi CommandInput:focus { border: blank ansi_default; }
    Palette:ansi CommandList, Palette:ansi CommandList:focus {
        border-top: blank ansi_default; border-bottom: hkey ansi_blue;
    }
    """

    def on_mount(self) -> None:
        self.query_one(Input).cursor_blink = False


class ThemePalette(Palette):
    """Themes by name; the one under the cursor is shown at once, and left unless it is chosen."""

    def __init__(self) -> None:
        super().__init__([ThemeProvider], placeholder="a theme's name")

    def on_mount(self) -> None:
        super().on_mount()
        self._before = self.app.theme

    @on(OptionList.OptionHighlighted)
    def _preview(self, event: OptionList.OptionHighlighted) -> None:
        # The first of the whole list has the cursor before anyone has moved it.
        chosen = event.option_index > 0 or bool(self.query_one(Input).value)
        if isinstance(event.option, Command):
            self.app.theme = str(event.option.hit.text) if chosen else self._before

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Give the theme back; a chosen one is set after that."""
        self.app.theme = self._before
        return super().dismiss(result)


class ActionProvider(Provider):
    """Finds actions for what was typed."""

    def _actions(self) -> Iterator[tuple[Action, str]]:
        """Return what can be done here and now."""
        screen = main_screen(self.screen)
        hidden = {name for bar in self.screen.query(KeyBar) for name in bar.hidden}
        for scope in screen.SCOPES if screen else ():
            for action in of_scopes([scope]):
                if action.name not in hidden:
                    yield action, f"{SCOPE_TITLES[scope]}: {action.title}"

    async def discover(self) -> Hits:
        """Everything, before anything is typed."""
        for action, title in self._actions():
            yield DiscoveryHit(
                Content(title), partial(self._run, action), title, self._keys(action)
            )

    async def search(self, query: str) -> Hits:
        """Return what fits the words; first what begins with them, then what has words that do."""
        matcher = self.matcher(query)
        for action, title in self._actions():
            if (score := matcher.match(title)) > 0:
                score += _ABOVE * _nearness(query, action.title)
                shown = matcher.highlight(title)
                yield Hit(score, shown, partial(self._run, action), title, self._keys(action))

        for action, scope in self._elsewhere():
            title = f"{SCOPE_TITLES[scope]}: {action.title}"
            if _nearness(query, action.title) and (score := matcher.match(title)) > 0:
                keys = (
                    f"{browser_of(self.screen).key_of(f'show_{scope}')}, then {self._keys(action)}"
                )
                goes = partial(browser_of(self.screen).session.show, scope)
                yield Hit(min(score, _ABOVE), matcher.highlight(title), goes, title, keys)

    def _elsewhere(self) -> Iterator[tuple[Action, Scope]]:
        """Return what the bank's other screens can do: to find it leads to its screen."""
        screen = main_screen(self.screen)
        here = screen.SCOPES if screen else ()
        for scope, *with_it in TOGETHER:
            if "bank" in here and "bank" in with_it and scope not in here:
                yield from ((action, scope) for action in of_scopes([scope]))

    def _keys(self, action: Action) -> str:
        return key_names(action, browser_of(self.screen).configuration.keys)

    async def _run(self, action: Action) -> None:
        """Do it where its key would do it."""
        screen = main_screen(self.screen)
        if screen and (owner := _owner(action, screen)):
            await self.app.run_action(action.method, owner)


def _nearness(query: str, title: str) -> int:
    """Return how surely an action is meant: 2 if its title begins so, 1 if words of it do, else
    0.
    """
    typed, said = query.casefold().strip(), title.casefold()
    if said.startswith(typed):
        return 2
    begun = all(
        any(word.startswith(part) for word in re.findall(r"\w+", said)) for part in typed.split()
    )
    return int(begun)


def _owner(action: Action, screen: BrowserScreen) -> DOMNode | None:
    """Return who has the action's key: the pane in focus, the pane that the screen is about, the
    screen.

    A method of the same name proves nothing: a line one types in has a copy of its own.
    """
    above = screen.focused.ancestors_with_self if screen.focused else [screen, screen.app]
    return next((node for node in [*above, *screen.panes()] if _binds(node, action)), None)


def _binds(node: DOMNode, action: Action) -> bool:
    kinds = type(node).__mro__
    found = [each for kind in kinds for each in kind.__dict__.get("BINDINGS", ())]
    return any(isinstance(each, Binding) and each.id == action.name for each in found)
