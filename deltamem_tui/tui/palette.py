"""The command palette: the registry's actions by name, those of the screen in front first."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from functools import partial
from typing import Any

from textual.app import App
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.widgets import Input

from deltamem_tui.tui.core.actions import SCOPE_TITLES, Action, Scope, key_names, of_scopes
from deltamem_tui.tui.core.browser import browser_of, scopes_of

SCREENS: tuple[Scope, ...] = ("memory", "tree", "recall", "episodes", "report", "banks")


class Palette(CommandPalette):
    """A palette in the terminal's own colours, if they are wanted, whose cursor stands still."""

    DEFAULT_CSS = """
    Palette:ansi { color: ansi_default; }
    Palette:ansi > Vertical { background: ansi_default; }
    Palette:ansi #--input { border: hkey ansi_blue; }
    Palette:ansi SearchIcon, Palette:ansi .option-list--option { color: ansi_default; }
    Palette:ansi CommandInput, Palette:ansi CommandInput:focus { border: blank ansi_default; }
    Palette:ansi CommandList, Palette:ansi CommandList:focus {
        border-top: blank ansi_default; border-bottom: hkey ansi_blue;
    }
    """

    def on_mount(self) -> None:
        self.query_one(Input).cursor_blink = False


class ActionProvider(Provider):
    """Finds actions of every screen: those of the one in front do, others lead there first."""

    def _actions(self) -> Iterator[tuple[Action, str, partial[Coroutine[Any, Any, None]], str]]:
        """Return each action with its title, what it runs and its keys, those in front first."""
        here, keys = scopes_of(self.screen), browser_of(self.screen).configuration.keys
        for scope in [*here, *(each for each in SCREENS if here and each not in here)]:
            if scope in here or "bank" in here or scope == "banks":
                for action in of_scopes([scope]):
                    title = f"{SCOPE_TITLES[scope]}: {action.title}"
                    do = partial(self._run, action, is_here=scope in here)
                    yield action, title, do, key_names(action, keys)

    async def discover(self) -> Hits:
        """Everything, before anything is typed."""
        for _, title, do, keys in self._actions():
            yield DiscoveryHit(Content(title), do, title, keys)

    async def search(self, query: str) -> Hits:
        """Return the actions that say all words; one whose title begins with them comes first."""
        typed = query.casefold().strip()
        for action, title, do, keys in self._actions():
            if all(word in title.casefold() for word in typed.split()):
                score = 1 + action.title.casefold().startswith(typed)
                yield Hit(score, Content(title), do, title, keys)

    async def _run(self, action: Action, *, is_here: bool) -> None:
        """Do it where its key would do it, on its own screen if that is another."""
        session = browser_of(self.screen).session
        do = partial(do_action, self.app, action)
        if is_here:
            await do()
        elif action.scope == "banks":
            from deltamem_tui.tui.screens.banks import BanksScreen

            await session.close()
            if isinstance(self.app.screen, BanksScreen):
                self.app.screen.when_listed(do)
        else:
            session.show("memory" if action.scope == "tree" else action.scope)
            self.app.call_after_refresh(do)


async def do_action(app: App[object], action: Action) -> None:
    """Do what the key of an action does on the screen in front."""
    screen = app.screen
    for _ in range(2 if scopes_of(screen) else 0):
        for active in screen.active_bindings.values():
            if active.binding.id == action.name:
                await app.run_action(active.binding.action, active.node)
                return
        panes = screen.query(screen.AUTO_FOCUS or "*")  # the key may be a pane's
        screen.set_focus(next((each for each in panes if each.focusable), None))
