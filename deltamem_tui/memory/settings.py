"""The numbers of a method: typed structs whose annotations are their ranges.

A method's settings are a struct of numbers, or of structs of numbers, one per collection. The
same annotations check what a manifest holds, what a person types, and what a caller passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

import msgspec
from msgspec import Struct

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.text import one_line


class Numbers(Struct, frozen=True, forbid_unknown_fields=True):
    """Some numbers that belong together. A field's `Meta` has its range and its description."""


class Settings(Numbers, frozen=True):
    """All numbers of a method: fields of its own, or a `Numbers` per collection."""

    @classmethod
    def preset(cls, domain: str) -> Self:
        """The numbers that a new bank of a domain gets."""
        return cls()

    def of(self, collection: str) -> Any:
        """The numbers of one collection; all if they are not given per collection."""
        found = getattr(self, collection, self)
        return found if isinstance(found, Numbers) else self


SettingsT = TypeVar("SettingsT", bound=Settings)
NumbersT = TypeVar("NumbersT", bound=Numbers)


class Setting(Struct, frozen=True):
    """One number, for a person.

    Attributes:
        path: What it is assigned by: `task.tau_base`.
        description: What it can be: `a similarity from -1 to 1`.
        value: What it is.
    """

    path: str
    description: str
    value: Any


def to_record(settings: Numbers) -> dict[str, Any]:
    """The settings as the manifest keeps them."""
    record: dict[str, Any] = msgspec.to_builtins(settings)
    return record


def from_record(kind: type[NumbersT], record: Mapping[str, Any], source: str = "") -> NumbersT:
    """The settings of a manifest.

    Raises:
        ConfigurationError: One is missing, unknown, of another type or outside its range.
    """
    values: dict[str, Any] = {}
    known = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    if unknown := sorted(set(record) - set(known)):
        raise ConfigurationError(f"unknown setting {one_line(unknown[0], 40)!r}", source=source)
    for name, field in known.items():
        if name not in record:
            if field.required:
                raise ConfigurationError(f"the setting {name!r} is missing", source=source)
            continue
        values[name] = _value(field, record[name], source)
    return kind(**values)


def _value(field: msgspec.structs.FieldInfo, value: Any, source: str) -> Any:
    if isinstance(field.type, type) and issubclass(field.type, Numbers):
        if not isinstance(value, Mapping):
            raise ConfigurationError(f"{field.name} must hold settings", source=source)
        return from_record(field.type, value, field.name)
    try:
        return msgspec.convert(value, field.type)
    except msgspec.ValidationError as error:
        raise ConfigurationError(
            f"{field.name} must be {description(field)}, not {one_line(repr(value), 40)}",
            source=source,
        ) from error


def description(field: msgspec.structs.FieldInfo) -> str:
    """What a number can be, from its annotation; its type's name if that does not say."""
    for each in (field.type, *getattr(field.type, "__args__", ())):
        for meta in getattr(each, "__metadata__", ()):
            if isinstance(meta, msgspec.Meta) and meta.description:
                return meta.description
    return {bool: "true or false"}.get(field.type, getattr(field.type, "__name__", "a number"))


def checked(settings: NumbersT) -> NumbersT:
    """The same settings, if they are within their ranges.

    Raises:
        ConfigurationError: One is of another type or outside its range.
    """
    return from_record(type(settings), to_record(settings))


def listed(settings: Numbers, prefix: str = "") -> list[Setting]:
    """Every number with the path that assigns it, in order."""
    found: list[Setting] = []
    for field in msgspec.structs.fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, Numbers):
            found += listed(value, f"{prefix}{field.name}.")
        else:
            found.append(Setting(prefix + field.name, description(field), value))
    return found


def replaced(settings: SettingsT, path: str, value: Any) -> SettingsT:
    """The same settings but for one number.

    Raises:
        ConfigurationError: There is no such number, or it cannot have this value.
    """
    known = [each.path for each in listed(settings)]
    if path not in known:
        raise ConfigurationError(
            f"there is no setting {one_line(path, 60)!r}", hint=f"one of {', '.join(known)}"
        )
    record = to_record(settings)
    group, _, name = path.rpartition(".")
    (record[group] if group else record)[name] = value
    return from_record(type(settings), record)


_VALUES: Mapping[str, bool | None] = {"none": None, "true": True, "false": False}


def assigned(settings: SettingsT, assignment: str) -> SettingsT:
    """The same settings after `path=value`, as a person types it.

    Raises:
        ConfigurationError: There is no such setting, or it cannot have this value.
    """
    path, equals, text = assignment.partition("=")
    path, text = path.strip(), text.strip().lower()
    if not equals:
        raise ConfigurationError(
            f"{one_line(assignment, 60)!r} assigns no setting",
            hint=f"NAME=VALUE with one of {', '.join(each.path for each in listed(settings))}",
        )
    return replaced(settings, path, _VALUES[text] if text in _VALUES else _number(path, text))


def _number(path: str, text: str) -> int | float:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError as error:
        raise ConfigurationError(
            f"{one_line(text, 40)!r} is not a number", source=one_line(path, 60)
        ) from error
