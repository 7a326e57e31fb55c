"""The numbers of a method: typed structs whose annotations are their ranges.

A method's settings are a struct of numbers, or of structs of numbers, one per collection; what
is switched on or off, or named, counts as a number too. The same annotations check what a
manifest holds, what a person types, and what a caller passes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
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
from deltamem_tui.memory.policies import DEFAULT_POLICY, Forgetting, Policy
from deltamem_tui.text import one_line
from deltamem_tui.typed import converted

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.manifest import Manifest

_RETIRED = {
    *("budget", "by", "every", "half_life", "least_recalls", "least_success", "reflections"),
    *("capacity", "most_env_insights", "most_from_successes", "most_task_insights"),
    "tau_fixed",
}
"""Settings of earlier versions. A frozen bank keeps them for ever; they mean nothing any more."""
FromOne = Annotated[int, Meta(ge=1)]


class Numbers(Struct, frozen=True, forbid_unknown_fields=True):
    """Some numbers that belong together. A field's `Meta` has its range, or its description."""


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

    admission: Policy = DEFAULT_POLICY
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

    @classmethod
    def presets(cls) -> Collection[str]:
        """Return the domains with a preset of their own, that of all others last; perhaps none."""
        return ()

    @classmethod
    def groups(cls) -> dict[str, type[Numbers]]:
        """Return the collections that have numbers of their own, and what those consist of."""
        fields = msgspec.structs.fields(cls)
        return {each.name: each.type for each in fields if _is_group(each.type)}

    def of(self, collection: str) -> Any:
        """Return the numbers of one collection; all if they are not given per collection."""
        found = getattr(self, collection, self)
        return found if isinstance(found, Numbers) else self

    def __getitem__(self, collection: str) -> Any:
        return self.of(collection)


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Numbers)


SettingsT = TypeVar("SettingsT", bound=Settings)
NumbersT = TypeVar("NumbersT", bound=Struct)


class Setting(Struct, frozen=True):
    """One number, for a person.

    Attributes:
        path: What it is assigned by: `task.tau_base`.
        description: What it can be: `a similarity from -1 to 1`.
        choices: The names that it can have; empty if it is a number.
        optional: Whether it can be none.
    """

    path: str
    description: str
    value: Any
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def name(self) -> str:
        """The path without the collection: `tau_base`."""
        return self.path.rpartition(".")[2]


def of_bank(bank: Bank, kind: type[SettingsT], given: Settings | None = None) -> SettingsT:
    """Return the numbers that a bank's manifest keeps, unless some were given to be tried instead.

    Raises:
        BankCorruptError: One is missing, unknown, of another type or outside its range.
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


def change(
    bank: Bank, kind: type[SettingsT], why: str, how: Callable[[SettingsT], SettingsT]
) -> SettingsT:
    """Change a bank's numbers, and note it in the journal unless they stay as they are.

    `how` gets the numbers as they are under the writer's lock; `why` goes into the journal.

    Returns:
        The bank's numbers now.

    Raises:
        BankFrozenError: The bank is frozen.
        ConfigurationError: A number is outside its range; nothing was written.
    """
    how(of_bank(bank, kind))  # what is wrong by itself is refused before any file is touched

    def changed(manifest: Manifest) -> tuple[Manifest, Mapping[str, Any]]:
        before = of_bank(bank, kind)
        after = checked(how(before))
        if after == before:
            return manifest, {}
        record = stored_record(after)
        return replace(manifest, settings=record), {"why": why, **record}

    bank.change_manifest("parameters", changed)
    return of_bank(bank, kind)


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


def from_record(kind: type[NumbersT], record: Mapping[str, Any], source: str = "") -> NumbersT:
    """Return the settings of a manifest.

    Raises:
        ConfigurationError: One is missing, unknown, of another type or outside its range.
    """
    try:
        return converted(record, kind)
    except msgspec.ValidationError as error:
        raise _told(kind, record, source) or ConfigurationError(str(error)) from error


def _told(kind: type[Struct], record: Mapping[str, Any], source: str) -> ConfigurationError | None:
    """Return which number is wrong, and what it can be."""
    known = {field.name: field for field in msgspec.structs.fields(kind)}
    for name in sorted(set(record) - set(known)):
        return ConfigurationError(f"unknown parameter {one_line(name, 40)!r}", source=source)
    for name, field in known.items():
        if field.required and name not in record:
            return ConfigurationError(f"the parameter {name!r} is missing", source=source)
        value, is_group = record.get(name, field.default), _is_group(field.type)
        if is_group and isinstance(value, Mapping) and (found := _told(field.type, value, name)):
            return found
        wanted = "settings" if is_group else description(field)
        try:
            converted(value, field.type)
        except msgspec.ValidationError:
            told = f"{name} must be {wanted}, not {one_line(repr(value), 40)}"
            return ConfigurationError(told, source=source)
    return None


def description(field: msgspec.structs.FieldInfo) -> str:
    """Return what a number can be, from its annotation, which may say it in words of its own."""
    kind, choices, optional = _annotated(field)
    if choices:
        text = f"{', '.join(choices[:-1])} or {choices[-1]}"
    elif kind is bool:
        text = "true or false"
    else:
        of_type, *metas = get_args(kind) or (kind,)
        text = "a whole number" if of_type is int else "a number"
        for each in metas:
            if each.description:
                return str(each.description)
            text += "" if each.ge is None else f" from {each.ge}"
            text += "" if each.le is None else f" to {each.le}"
    return f"{text}, or none" if optional else text


def _annotated(field: msgspec.structs.FieldInfo) -> tuple[Any, tuple[str, ...], bool]:
    """Return a number's type, its choices if those have names, and whether it can be none."""
    of_several = get_origin(field.type) in (Union, UnionType)
    types = get_args(field.type) if of_several else (field.type,)
    choices = get_args(types[0]) if get_origin(types[0]) is Literal else ()
    return types[0], choices, NoneType in types


def checked(settings: NumbersT) -> NumbersT:
    """Return the same settings, if they are within their ranges.

    Raises:
        ConfigurationError: One is of another type or outside its range.
    """
    return from_record(type(settings), to_record(settings))


def listed(settings: Struct, prefix: str = "") -> list[Setting]:
    """Return every number that means something with the path that assigns it, in order."""
    found: list[Setting] = []
    for field in msgspec.structs.fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, Numbers):
            found += listed(value, f"{prefix}{field.name}.")
        else:
            _, choices, optional = _annotated(field)
            path = prefix + field.name
            found.append(Setting(path, description(field), value, choices, optional))
    meaningless = getattr(settings, "meaningless", ())
    return [each for each in found if each.path not in meaningless]


def replaced(settings: SettingsT, path: str, value: Any) -> SettingsT:
    """Return the same settings but for one number.

    Raises:
        ConfigurationError: There is no such number, or it cannot have this value.
    """
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


_VALUES: Mapping[str, bool | None] = {"none": None, "true": True, "false": False}


def assigned(settings: SettingsT, assignment: str) -> SettingsT:
    """Return the same settings after `path=value`, as a person types it.

    Raises:
        ConfigurationError: There is no such setting, or it cannot have this value.
    """
    path, equals, text = assignment.partition("=")
    path, text = path.strip(), text.strip().lower()
    if not equals:
        raise ConfigurationError(
            f"expected NAME=VALUE, got {one_line(assignment, 60)!r}",
            hint=f"there are {', '.join(each.path for each in listed(settings))}",
        )
    if text == "none":
        with suppress(ConfigurationError):
            return replaced(settings, path, text)  # the name of a choice
    return replaced(settings, path, _VALUES[text] if text in _VALUES else _number(text))


def _number(text: str) -> int | float | str:
    """Return the number; the text itself if it is not one, for parameters that name a choice."""
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text
