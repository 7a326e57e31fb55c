"""Entries put into a settings file and taken out again, every other byte left as it was.

A settings file belongs to its user: it has an order, comments, a width of indents. So it is never
written anew. A scanner finds where each member stands; what is put in is one piece of text right
behind an opening bracket, and to take it out is to cut that piece.

Whether a bracket is ours, or stood there before, shows right behind it: what we put into a
container that was there begins with a blank, and one that we made has its first member at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deltamem_tui.errors import UsageError

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"[^\s\[\]{},:\"/]+")
_DEEPEST = 100
HOOKS = "hooks"


@dataclass(slots=True)
class SettingsValue:
    """A value and where it stands.

    Attributes:
        start: Where it begins; `end` is behind it.
        members: Of an object or an array, its members in order.
        opening: Its bracket; empty for what has none.
    """

    start: int
    end: int = 0
    opening: str = ""
    members: list[SettingsMember] = field(default_factory=list)
    plain: Any = None

    def member(self, key: str) -> SettingsMember | None:
        """The last member of this name: the one that counts."""
        return next((each for each in reversed(self.members) if each.key == key), None)


@dataclass(slots=True)
class SettingsMember:
    """A member of an object or an array; `start` is where its key begins, or its value."""

    start: int
    value: SettingsValue
    key: str = ""


def put(text: str, entries: Mapping[str, Any]) -> str:
    """The settings with one more entry at the head of each event of `hooks`.

    Raises:
        UsageError: The settings are not an object, or `hooks` is not what it should be.
    """
    if not text:
        return "{" + _hooks(entries) + "}\n"
    root = _root(text)
    found = root.member(HOOKS)
    if found is None:
        return _insert(text, root, _hooks(entries))
    hooks = _of_kind(found.value, "{", HOOKS)
    new = {event: entry for event, entry in entries.items() if hooks.member(event) is None}
    there = [(hooks.member(event), entry) for event, entry in entries.items() if event not in new]
    places = [
        (_of_kind(member.value, "[", member.key), json.dumps(entry))
        for member, entry in there
        if member is not None
    ]
    if new:
        places.append((hooks, _events(new)))
    for value, piece in sorted(places, key=lambda place: place[0].start, reverse=True):
        text = _insert(text, value, piece)
    return text


def take_out(text: str, is_ours: Callable[[Any], bool]) -> str:
    """The settings without the entries that are ours; empty if nothing else was in the file."""
    while (cut := _first_cut(text, is_ours)) is not None:
        start, end = cut
        text = text[:start] + text[end:]
    return text


def entries_in(text: str, is_ours: Callable[[Any], bool]) -> dict[str, Any]:
    """The entries of ours by their event."""
    found = _root(text).member(HOOKS) if text.strip() else None
    return {
        event.key: entry.value.plain
        for event in (found.value.members if found else ())
        for entry in event.value.members
        if is_ours(entry.value.plain)
    }


def _hooks(entries: Mapping[str, Any]) -> str:
    return f'"{HOOKS}": {{{_events(entries)}}}'


def _events(entries: Mapping[str, Any]) -> str:
    return ",\n ".join(f'"{event}": [{json.dumps(entry)}]' for event, entry in entries.items())


def _insert(text: str, value: SettingsValue, piece: str) -> str:
    at = value.start + 1
    return f"{text[:at]} {piece}{',' if value.members else ''}{text[at:]}"


def _first_cut(text: str, is_ours: Callable[[Any], bool]) -> tuple[int, int] | None:
    """What goes next: an entry, or the event, the hooks or the file that we made for entries."""
    root = _root(text) if text.strip() else None
    hooks = root.member(HOOKS) if root else None
    if root is None or hooks is None:
        return None
    ours = {
        event.key: [each for each in event.value.members if is_ours(each.value.plain)]
        for event in hooks.value.members
    }
    made = [
        event
        for event in hooks.value.members
        if len(event.value.members) == 1 == len(ours[event.key]) and _is_made(text, event.value)
    ]
    if made and len(made) == len(hooks.value.members) and _is_made(text, hooks.value):
        alone = len(root.members) == 1 and _is_made(text, root)
        return (0, len(text)) if alone else _extent(text, root, hooks)
    for event in hooks.value.members:
        if event in made:
            return _extent(text, hooks.value, event)
        if ours[event.key]:
            return _extent(text, event.value, ours[event.key][0])
    return None


def _is_made(text: str, container: SettingsValue) -> bool:
    """Whether a container was made for what stands in it: its first member comes at once."""
    return text[container.start + 1] not in " \t\r\n/"


def _extent(text: str, container: SettingsValue, member: SettingsMember) -> tuple[int, int]:
    """From where to where a member goes, with the one comma that goes with it."""
    members = container.members
    place = members.index(member)
    before = members[place - 1].value.end if place else container.start + 1
    if place:
        before = text.index(",", _space(text, before)) + 1
    behind = _space(text, member.value.end)
    if text[behind] == ",":
        return before, behind + 1
    return (before - 1 if place else before), member.value.end


def _of_kind(value: SettingsValue, opening: str, name: str) -> SettingsValue:
    if value.opening != opening:
        kind = "an object" if opening == "{" else "an array"
        raise UsageError(f"{name!r} in the settings is not {kind}", hint="correct it, then repeat")
    return value


def _root(text: str) -> SettingsValue:
    try:
        root = _value(text, _space(text, 0), 0)
        whole = _space(text, root.end) == len(text)
    except (ValueError, IndexError) as error:
        where = error if isinstance(error, ValueError) else "they end too early"
        raise UsageError(
            f"the settings are not JSON: {where}", hint="correct them first"
        ) from error
    if root.opening != "{" or not whole:
        raise UsageError("the settings are not one JSON object", hint="correct them first")
    return root


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> SettingsValue:
    if depth > _DEEPEST:
        raise ValueError("nested too deep")
    if text[at] in "{[":
        return _container(text, at, depth)
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if not found:
        raise ValueError(f"character {at + 1}")
    return SettingsValue(at, found.end(), plain=json.loads(found[0]))


def _container(text: str, at: int, depth: int) -> SettingsValue:
    found = SettingsValue(at, opening=text[at])
    closing = "}" if text[at] == "{" else "]"
    at = _space(text, at + 1)
    while text[at] != closing:
        start, key = at, ""
        if closing == "}":
            name = _value(text, at, depth + 1)
            at = _space(text, name.end)
            if not isinstance(name.plain, str) or text[at] != ":":
                raise ValueError(f"character {at + 1}")
            key, at = name.plain, _space(text, at + 1)
        value = _value(text, at, depth + 1)
        found.members.append(SettingsMember(start, value, key))
        at = _space(text, value.end)
        if text[at] == ",":
            at = _space(text, at + 1)
        elif text[at] != closing:
            raise ValueError(f"character {at + 1}")
    found.end = at + 1
    plain = [(each.key, each.value.plain) for each in found.members]
    found.plain = dict(plain) if closing == "}" else [value for _, value in plain]
    return found
