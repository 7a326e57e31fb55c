"""The command palette: the registry's actions by name, those of the screen in front first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from textual.app import App
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.widgets import Input

from deltamem_tui.text import one_line
from deltamem_tui.tui.core.actions import SCOPE_TITLES, Action, Scope, key_names, of_scopes
from deltamem_tui.tui.core.browser import browser_of, main_screen

SCREENS: tuple[Scope, ...] = ("memory", "tree", "recall", "episodes", "report", "banks")

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


class ActionProvider(Provider):
    """Finds actions of every screen: those of the one in front do, others lead there first."""

    def _actions(self) -> Iterator[tuple[Action, str]]:
        """Return all actions with what the palette says of them, those in front first."""
        screen = main_screen(self.screen)
        here = screen.SCOPES if screen else ()
        bank_is_open = "bank" in here
        scopes = [*here, *(each for each in SCREENS if each not in here)] if screen else ()
        for scope in scopes:
            if scope in here or bank_is_open or scope == "banks":
                for action in of_scopes([scope]):
                    yield action, f"{SCOPE_TITLES[scope]}: {action.title}"

    async def discover(self) -> Hits:
        """Everything, before anything is typed."""
        for action, title in self._actions():
            run = partial(self._run, action)
            yield DiscoveryHit(Content(title), run, title, self._keys(action))

    async def search(self, query: str) -> Hits:
        """Return what has words that begin so; else what has the letters anywhere."""
        matcher = self.matcher(query)
        scores = {action: _nearness(query, action.title) for action, _ in self._actions()}
        is_near, found = any(scores.values()), False
        for action, title in self._actions():
            score = matcher.match(title)
            if score > 0 and (scores[action] or not is_near):
                found = True
                score += _ABOVE * scores[action] + self._is_here(action)
                run = partial(self._run, action)
                yield Hit(score, matcher.highlight(title), run, title, self._keys(action))
        if not found:
            said = (
                f"No action is called “{one_line(query, 40)}”; {self._key('help')} lists them all"
            )
            yield Hit(1, Content(said), lambda: None, said)

    def _key(self, name: str) -> str:
        return browser_of(self.screen).key_of(name)

    def _keys(self, action: Action) -> str:
        return key_names(action, browser_of(self.screen).configuration.keys)

    def _is_here(self, action: Action) -> bool:
        screen = main_screen(self.screen)
        return screen is not None and action.scope in screen.SCOPES

    async def _run(self, action: Action) -> None:
        """Do it where its key would do it, on its own screen if that is another."""
        session = browser_of(self.screen).session
        if self._is_here(action):
            await do_action(self.app, action)
            return
        do = partial(do_action, self.app, action)
        if action.scope == "banks":
            from deltamem_tui.tui.screens.banks import BanksScreen

            await session.close()
            if isinstance(self.app.screen, BanksScreen):
                self.app.screen.when_listed(do)
        else:
            session.show("memory" if action.scope == "tree" else action.scope)
            self.app.call_after_refresh(do)


async def do_action(app: App[object], action: Action) -> None:
    """Do what the key of an action does on the screen in front."""
    screen = main_screen(app.screen)
    if screen is None:
        return
    for _ in range(2):
        for active in app.screen.active_bindings.values():
            if active.binding.id == action.name:
                await app.run_action(active.binding.action, active.node)
                return
        app.screen.set_focus(next(iter(screen.panes()), None))  # the key may be a pane's


def _nearness(query: str, title: str) -> int:
    """Say how surely an action is meant: 2 if its title begins so, 1 if words of it do, else 0."""
    typed, said = query.casefold().strip(), title.casefold()
    if said.startswith(typed):
        return 2
    words = re.findall(r"\w+", said)
    return int(all(any(word.startswith(part) for word in words) for part in typed.split()))
