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
from deltamem_tui.tui.actions import ACTIONS, TOGETHER, Action, of_scopes

_MODIFIERS = {"ctrl", "alt", "shift", "super", "meta", "hyper"}


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
        if not _is_key(key):
            raise _refused(
                f"gives {name} the key {one_line(word.strip(), 40)!r}, which there is not",
                "such as x, X, ctrl+x, f5, pagedown or slash",
            )
        yield key


def _named(word: str) -> str:
    """How textual calls a key: a sign by its name."""
    if len(word) != 1:
        return word
    if word == ",":
        return "comma"
    (binding,) = Binding.make_bindings([Binding(word, "")])
    return binding.key


def _is_key(key: str) -> bool:
    """Whether a terminal can send such a key: one by name, or a sign of any script."""
    *modifiers, last = key.split("+")
    known = key in _named_keys() or last in _named_keys() or len(last) == 1
    return known and _MODIFIERS.issuperset(modifiers)


@cache
def _named_keys() -> frozenset[str]:
    named = {key.value for key in Keys if key.value[0] != "<"} - {Keys.Ignore.value}
    return frozenset(named | {_named(sign) for sign in string.punctuation})


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
