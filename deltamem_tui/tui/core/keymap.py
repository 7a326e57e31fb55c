"""The keys that a person chose in `[keys]`: whether they exist and go together."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache

from textual.binding import Binding
from textual.keys import Keys

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.text import one_line
from deltamem_tui.tui.core.actions import ACTIONS, TOGETHER, Action, of_scopes
from deltamem_tui.tui.core.textual_compat import sent_keys

_MODIFIERS = {"ctrl", "alt", "shift", "super", "meta", "hyper"}
_MOVING = {*("left", "right", "up", "down", "home", "end", "pageup", "pagedown", "delete")}
_SHIFTED = 12
"""Terminals send function keys with shift as those behind the last of a keyboard."""

_QUITS = "ctrl+q"
"""Textual's own key comes before all others."""

_SAME: Mapping[str, str] = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+left_square_bracket": "escape",
    "ctrl+h": "backspace",
    "return": "enter",
}


def checked_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """The keys that a person chose, named as textual names them.

    Args:
        keys: Per action its keys, several of them with commas between.

    Raises:
        ConfigurationError: There is no such action or no such key, or a key would mean two
            things on a screen.
    """
    actions = {action.name: action for action in ACTIONS}
    chosen: dict[str, tuple[str, ...]] = {}
    for name, words in keys.items():
        if name not in actions:
            raise _refused(
                f"names no action {one_line(name, 40)!r}",
                f"did you mean {_near(name, actions)}? There are {', '.join(actions)}",
            )
        chosen[name] = tuple(_checked(name, words))
    _refuse_two_things(chosen)
    return {name: ",".join(each) for name, each in chosen.items()}


def _checked(name: str, words: str) -> Iterator[str]:
    for word in words.split(",") if words != "," else [words]:
        key = _named(word.strip())
        if why := _why_not(key):
            raise _refused(
                f"gives {name} the key {one_line(word.strip(), 40)!r}, {why}",
                "such as x, X, ctrl+x, f5, pagedown or slash",
            )
        yield key


def _named(word: str) -> str:
    """How textual calls a key: a sign by its name, also behind ctrl or alt."""
    before, plus, last = word.rpartition("+") if len(word) > 1 else ("", "", word)
    if len(last) != 1:
        return word
    if last == ",":
        return "comma"
    (binding,) = Binding.make_bindings([Binding(last, "")])
    return f"{before}{plus}{binding.key}"


def _why_not(key: str) -> str:
    """Why no action can have this key; empty if one can.

    What every terminal can send counts, not what a few send to who asks them for more.
    """
    *modifiers, last = key.split("+")
    if not (last in _named_keys() or len(last) == 1) or not _MODIFIERS.issuperset(modifiers):
        return "which there is not"
    if key == _QUITS:
        return "which quits whatever is said here"
    if same := _same_as(modifiers, last):
        return f"which terminals send as {same}"
    return "" if _is_sent(modifiers, last) else "which terminals do not send"


def _same_as(modifiers: list[str], last: str) -> str:
    """The key that a terminal cannot tell from this one; empty if there is none."""
    if modifiers == ["shift"] and last in string.ascii_letters:
        return last.upper()
    if modifiers == ["shift"] and (number := last.removeprefix("f")).isdecimal():
        return f"f{int(number) + _SHIFTED}" if int(number) <= _SHIFTED else ""
    return _SAME.get("+".join([*modifiers, last]), "")


def _is_sent(modifiers: list[str], last: str) -> bool:
    sign = len(last) == 1 or last in _signs()
    match sorted(modifiers):
        case []:
            return True
        case ["alt"]:
            return (sign and not last.isupper()) or last in _MOVING
        case ["alt", "shift"]:
            return last in string.ascii_lowercase
        case ["ctrl"] if last.isdecimal():
            return False
        case _:
            return "+".join([*modifiers, last]) in sent_keys()


@cache
def _named_keys() -> frozenset[str]:
    named = {key.value for key in Keys if key.value[0] != "<"} - {Keys.Ignore.value}
    return frozenset(named | _signs())


@cache
def _signs() -> frozenset[str]:
    return frozenset(_named(sign) for sign in string.punctuation)


def _refuse_two_things(chosen: Mapping[str, tuple[str, ...]]) -> None:
    for scopes in TOGETHER:
        owners: dict[str, Action] = {}
        for action in of_scopes(scopes):
            for key in chosen.get(action.name, action.keys):
                other = owners.setdefault(key, action)
                if other is not action:
                    mine = action if action.name in chosen else other
                    raise _refused(
                        f"gives {mine.name} the key {key!r}, which "
                        f"{(other if mine is action else action).name} has on the same screen",
                        "choose another, or give that one another key as well",
                    )


def _near(name: str, actions: Mapping[str, Action]) -> str:
    return get_close_matches(name, actions, n=1, cutoff=0.0)[0]


def _refused(message: str, hint: str) -> ConfigurationError:
    return ConfigurationError(f"[keys] {message}", source="deltamem.toml", hint=hint)
