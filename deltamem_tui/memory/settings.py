"""The numbers of a method: typed structs whose annotations are their ranges.

A method's settings are a struct of numbers, or of structs of numbers, one per collection; what
is switched on or off, or named, counts as a number too. The same annotations check what a
manifest holds, what a person types, and what a caller passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import msgspec
from msgspec import Meta, Struct

from deltamem_tui.bank.node import Utility
from deltamem_tui.config import PUBLISHED_EMBEDDER
from deltamem_tui.errors import BankCorruptError, ConfigurationError
from deltamem_tui.memory.policies import Forgetting, Policy
from deltamem_tui.text import one_line
from deltamem_tui.typed import converted

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank

_RETIRED = {
    *("budget", "by", "every", "half_life", "least_recalls", "least_success", "reflections"),
    *("capacity", "most_env_insights", "most_from_successes", "most_task_insights"),
    "tau_fixed",
}
"""Settings of earlier versions. A frozen bank keeps them for ever; they mean nothing any more."""
FromOne = Annotated[int, Meta(ge=1)]


class Numbers(Struct, frozen=True, forbid_unknown_fields=True):
    """Some numbers that belong together. A field's `Meta` has its range."""


class Settings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All numbers of a method: fields of its own, or a `Numbers` per collection.

    Attributes:
        admission: Whose word on how an episode ended is good enough for it to be learnt.
        forgetting: Which nodes are to be forgotten; see `policies.forgetting`.
        forget_period: Episodes in which a node has to be shown.
        forget_recalls: The most episodes that still count as idle.
        forget_judged: From how many judged episodes on a node's utility is believed.
        forget_utility: The greatest mean utility that is too little.
        forget_every: After how many learnt episodes learning forgets by itself; None for never.
        utility: What an episode is worth to the nodes that it was shown.
        meaningless: Paths of numbers that a collection shares with others and has no use for:
            they are read, and neither listed nor assigned.
        recalling: The paths of the numbers that one may try on a question, and the collection
            whose answer each changes; all numbers if it is empty.
    """

    admission: Policy = "strict"
    forgetting: Forgetting = "none"
    forget_period: FromOne = 300
    forget_recalls: Annotated[int, Meta(ge=0)] = 1
    forget_judged: FromOne = 5
    forget_utility: Annotated[float, Meta(ge=0, le=1)] = 0.5
    forget_every: FromOne | None = None
    utility: Utility = "success"

    meaningless: ClassVar[tuple[str, ...]] = ()
    recalling: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def preset(cls, domain: str, embedder: str = PUBLISHED_EMBEDDER) -> Self:
        """Return the numbers that a new bank of a domain with an embedder gets."""
        return cls()

    def __getitem__(self, collection: str) -> Any:
        """Return the numbers of one collection; all if they are not given per collection."""
        found = getattr(self, collection, self)
        return found if isinstance(found, Numbers) else self


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Numbers)


SettingsT = TypeVar("SettingsT", bound=Settings)
NumbersT = TypeVar("NumbersT", bound=Struct)


class Setting(Struct, frozen=True):
    """One number, for a person.

    Attributes:
        path: What it is assigned by: `task.tau_base`.
        description: What it can be: `a number from -1 to 1`.
        choices: The names that it can have; empty if it is a number.
    """

    path: str
    description: str
    choices: tuple[str, ...]
    value: Any

    @property
    def name(self) -> str:
        """The path without the collection: `tau_base`."""
        return self.path.rpartition(".")[2]


def of_bank(bank: Bank, kind: type[SettingsT], given: Settings | None = None) -> SettingsT:
    """Return the numbers that a bank's manifest keeps, unless some were given to be tried instead.

    A BankCorruptError says that one is missing, unknown, of another type or outside its range.
    """
    if isinstance(given, kind):
        return given
    try:
        return from_record(kind, _in_use(kind, bank.manifest.settings))
    except ConfigurationError as error:
        raise BankCorruptError(
            error.message,
            source=str(bank.path / "bank.json"),
            position=error.source,
            hint="correct it in the file",
        ) from error


def _in_use(kind: type[Struct], record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a manifest without those of earlier versions."""
    types = {field.name: field.type for field in msgspec.structs.fields(kind)}
    return {
        name: _in_use(types[name], value)
        if isinstance(value, Mapping) and _is_group(types.get(name))
        else value
        for name, value in record.items()
        if name in types or name not in _RETIRED
    }


def to_record(settings: Struct) -> dict[str, Any]:
    """Return all of the settings."""
    record: dict[str, Any] = msgspec.to_builtins(settings)
    return record


def stored_record(settings: Struct) -> dict[str, Any]:
    """Return the settings as the manifest keeps them.

    A choice by name, and what belongs to no collection, only where it is not the usual: so a
    bank says the same as one that was written before there was the setting.
    """
    record: dict[str, Any] = {}
    for field in msgspec.structs.fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, Struct):
            record[field.name] = stored_record(value)
        elif value != field.default or not (
            isinstance(value, str) or isinstance(settings, Settings)
        ):
            record[field.name] = value
    return record


def from_record(kind: type[NumbersT], record: Mapping[str, Any]) -> NumbersT:
    """Return the settings of a manifest; a ConfigurationError says which is missing or wrong."""
    try:
        return converted(record, kind)
    except msgspec.ValidationError as error:
        raise _told(kind, record, "") or ConfigurationError(f"settings: {error}") from error


def _told(kind: type[Struct], record: Mapping[str, Any], source: str) -> ConfigurationError | None:
    """Return which number is out of its range, and what it can be; None if no single one is."""
    for field in msgspec.structs.fields(kind):
        value = record.get(field.name, field.default)
        if _is_group(field.type):
            if isinstance(value, Mapping) and (found := _told(field.type, value, field.name)):
                return found
        elif field.name in record:
            try:
                converted(value, field.type)
            except msgspec.ValidationError:
                told = (
                    f"{field.name} must be {_possible(field)[0]}, not {one_line(repr(value), 40)}"
                )
                return ConfigurationError(told, source=source)
    return None


def _possible(field: msgspec.structs.FieldInfo) -> tuple[str, tuple[str, ...]]:
    """Return what a number can be, from its annotation, and its choices if those have names."""
    of_several = get_origin(field.type) in (Union, UnionType)
    kind, *others = get_args(field.type) if of_several else (field.type,)
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    of_type, *metas = get_args(kind) or (kind,)
    if choices:
        text = f"{', '.join(choices[:-1])} or {choices[-1]}"
    elif kind is bool:
        text = "true or false"
    else:
        text = "a whole number" if of_type is int else "a number"
        for each in metas:
            text += "" if each.ge is None else f" from {each.ge}"
            text += "" if each.le is None else f" to {each.le}"
    return f"{text}, or none" if NoneType in others else text, choices


def checked(settings: NumbersT) -> NumbersT:
    """Return the same settings; a ConfigurationError says which is wrong, or outside its range."""
    return from_record(type(settings), to_record(settings))


def listed(settings: Struct, prefix: str = "") -> list[Setting]:
    """Return every number that means something with the path that assigns it, in order."""
    found: list[Setting] = []
    for field in msgspec.structs.fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, Numbers):
            found += listed(value, f"{prefix}{field.name}.")
        else:
            found.append(Setting(prefix + field.name, *_possible(field), value))
    meaningless = getattr(settings, "meaningless", ())
    return [each for each in found if each.path not in meaningless]


def replaced(settings: SettingsT, path: str, value: Any) -> SettingsT:
    """Return the same settings but for one number; a ConfigurationError says what is wrong."""
    known = [each.path for each in listed(settings)]
    if path not in known:
        raise ConfigurationError(
            f"there is no parameter {one_line(path, 60)!r}", hint=f"one of {', '.join(known)}"
        )
    record = to_record(settings)
    group, _, name = path.rpartition(".")
    numbers = record[group] if group else record
    numbers[name] = value
    return from_record(type(settings), record)


def assigned(settings: SettingsT, assignment: str) -> SettingsT:
    """Return the settings after `path=value`, as a person types it; raises as `replaced` does."""
    path, equals, text = assignment.partition("=")
    path, text = path.strip(), text.strip().lower()
    if not equals:
        raise ConfigurationError(
            f"expected NAME=VALUE, got {one_line(assignment, 60)!r}",
            hint=f"there are {', '.join(each.path for each in listed(settings))}",
        )
    choices = {each.path: each.choices for each in listed(settings)}.get(path, ())
    return replaced(settings, path, text if text in choices else _value(text))


def _value(text: str) -> int | float | str | None:
    """Return the number, or what is switched on, off or none; else the text itself."""
    known: Mapping[str, bool | None] = {"none": None, "true": True, "false": False}
    if text in known:
        return known[text]
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text
