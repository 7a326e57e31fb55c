"""What one types into or ticks. What is pasted is outside text like any other."""

from __future__ import annotations

import os
from asyncio import to_thread
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import wrap
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual.binding import Binding
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input

from deltamem_tui.memory.settings import Setting
from deltamem_tui.text import clean, one_line

_NUMBER, _NAME = r"[-0-9.,]*", r"[A-Za-z]*"
_LEAST_WIDTH = 6


_INDENT = 6
_TYPED = frozenset({"slash", "minus", "plus"})


class LineInput(Input):
    """A line that keeps control characters out, and whose cursor stands still.

    A blinking one would send to the terminal for ever, also over a slow line.

    Attributes:
        offers: What the arrow keys type.
    """

    BINDINGS: ClassVar = [
        Binding("up", "offer(-1)", "What is offered above", show=False),
        Binding("down", "offer(1)", "What is offered below", show=False),
    ]
    offers: Sequence[str] = ()

    def on_mount(self) -> None:
        self.cursor_blink = False

    def action_offer(self, step: int) -> None:
        """Type what is offered above or below; nothing if nothing is."""
        if self.offers:
            names, typed = list(self.offers), self.value.strip()
            place = names.index(typed) + step if typed in names else 0
            self.value = names[min(max(place, 0), len(names) - 1)]
            self.action_end()

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return whether a key is typed here; textual does not know what some of them type."""
        return key in _TYPED or super().check_consume_key(key, character)

    def validate_value(self, value: str) -> str:
        """Return the text as one line, its spaces kept: one may still be typing."""
        return clean(value).replace("\n", " ").replace("\t", " ")


class Tick(Widget, can_focus=True):
    """A line with a box, whose state shows without colours.

    Space ticks it; enter is left to the dialog, which goes on.
    """

    DEFAULT_CSS = """
    Tick { height: 1; margin-bottom: 1; }
    Tick:focus { text-style: bold reverse; }
    """
    BINDINGS: ClassVar = [
        Binding("space", "tick", "Tick it"),
        Binding("enter", "screen.go_on", "Go on"),
    ]

    ticked: reactive[bool] = reactive(False)

    def __init__(self, label: str, *, ticked: bool = False, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._label = one_line(label)
        self.set_reactive(Tick.ticked, ticked)

    def render(self) -> Text:
        return Text(f"[{'x' if self.ticked else ' '}] {self._label}", no_wrap=True)

    def action_tick(self) -> None:
        self.ticked = not self.ticked

    def on_click(self) -> None:
        self.action_tick()


class Choice(Widget, can_focus=True):
    """Some lines, one of which is chosen; which one shows without colours.

    The arrow keys choose; enter is left to the dialog, which goes on. All lines are there while
    it has the focus, else the one that is chosen.

    Args:
        choices: What can be chosen, and what each is; a second line is shown of the chosen one.
        chosen: What is chosen at first; the first one if that is none of them.
    """

    DEFAULT_CSS = """
    Choice { height: auto; margin-bottom: 1; }
    Choice:focus { text-style: bold; }
    """
    BINDINGS: ClassVar = [
        Binding("up", "choose(-1)", "The one above"),
        Binding("down", "choose(1)", "The one below"),
        Binding("enter", "screen.go_on", "Go on"),
    ]

    place: reactive[int] = reactive(0, layout=True)

    def __init__(self, choices: Mapping[str, str], chosen: str, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._choices = choices
        names = list(choices)
        self.set_reactive(Choice.place, names.index(chosen) if chosen in choices else 0)

    @property
    def chosen(self) -> str:
        """What is chosen."""
        return list(self._choices)[self.place]

    def render(self) -> Text:
        return _painted(self._lines(), self.size.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As many lines as there are."""
        return len(list(self._lines(width)))

    def _lines(self, width: int = 0) -> Iterator[_ChoiceLine]:
        width = width or self.size.width
        return _lines(self._choices, self.chosen, width, whole=self.has_focus)

    def on_focus(self) -> None:
        self.refresh(layout=True)

    def on_blur(self) -> None:
        self.refresh(layout=True)

    def action_choose(self, step: int) -> None:
        self.place = min(max(self.place + step, 0), len(self._choices) - 1)

    def on_click(self, event: Click) -> None:
        lines = list(self._lines())
        self.place = list(self._choices).index(lines[min(event.y, len(lines) - 1)].name)


class _ChoiceLine(NamedTuple):
    """A line of a list of choices, and the choice that it is about."""

    name: str
    text: str


def _lines(
    choices: Mapping[str, str], chosen: str, width: int, *, whole: bool
) -> Iterator[_ChoiceLine]:
    """List the choices, a line each, and more of the chosen one; that alone if not whole."""
    longest = max(map(len, choices), default=0)
    for name, what in choices.items():
        if not whole and name != chosen:
            continue
        first, _, more = what.partition("\n")
        mark = "•" if name == chosen else " "
        yield _ChoiceLine(name, f"({mark}) {one_line(name):<{longest}}  {one_line(first)}")
        if name == chosen:
            for line in wrap(one_line(more), max(width - _INDENT, 1)):
                yield _ChoiceLine(name, f"{' ' * _INDENT}{line}")


def _painted(lines: Iterable[_ChoiceLine], width: int) -> Text:
    texts = [Text(line.text, no_wrap=True) for line in lines]
    for text in texts:
        text.truncate(max(width, 1), overflow="ellipsis")
    return Text("\n").join(texts)


class Offers(Widget):
    """What may be typed into the line above: the arrow keys choose one there.

    The list is there while the line has the focus.
    """

    DEFAULT_CSS = """
    Offers { height: auto; margin-bottom: 1; color: $text-muted; }
    Offers:ansi { color: ansi_default; }
    """

    def __init__(self, line: LineInput, choices: Mapping[str, str]) -> None:
        super().__init__()
        self._line = line
        self._choices = choices
        line.offers = list(choices)

    def on_mount(self) -> None:
        self.watch(self._line, "value", self._changed, init=False)
        self.watch(self._line, "has_focus", self._changed, init=False)

    def _changed(self) -> None:
        self.refresh(layout=True)

    def render(self) -> Text:
        """Return what is offered; nothing while another line has the focus."""
        return _painted(self._lines(), self.size.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As many lines as there are."""
        return len(list(self._lines(width)))

    def _lines(self, width: int = 0) -> Iterator[_ChoiceLine]:
        chosen, whole = self._line.value.strip(), self._line.has_focus
        return _lines(self._choices, chosen, width or self.size.width, whole=whole)

    def on_click(self, event: Click) -> None:
        lines = list(self._lines())
        if event.y < len(lines):
            self._line.value = lines[event.y].name
        self._line.focus()


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


class NumberInput(LineInput):
    """A line as wide as every name that the number can have. The arrow keys move the number.

    Args:
        tree: The collection whose answer the number changes.
        number: The number.

    Attributes:
        collection: The same.
        number: The same.
    """

    class Nudged(Message):
        """The number is to be moved by some steps."""

        def __init__(self, line: NumberInput, steps: int) -> None:
            super().__init__()
            self.line = line
            self.steps = steps

    def __init__(self, tree: str, number: Setting) -> None:
        words = [*number.choices, *["none"] * number.optional]
        typable = _NAME if number.choices else _NUMBER
        typable = f"{typable}|{_NAME}" if number.optional else typable
        super().__init__(id=f"{tree}-{number.name}", compact=True, restrict=typable)
        self.styles.width = max(_LEAST_WIDTH, *(len(each) + 1 for each in ("", *words)))
        self.collection = tree
        self.number = number

    def action_offer(self, step: int) -> None:
        """Move the number: up is more."""
        self.post_message(self.Nudged(self, -step))
