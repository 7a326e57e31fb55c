"""Who is entered for an evaluation: by flags, or by a file of TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from deltamem_tui.errors import ConfigurationError, UsageError
from deltamem_tui.lab.contestants.baselines import BASELINES
from deltamem_tui.memory.methods import names
from deltamem_tui.memory.replay.contestants import Contestant, contestants
from deltamem_tui.memory.settings import Settings, assigned
from deltamem_tui.text import one_line
from deltamem_tui.typed import converted

Sort = Literal["baseline", "method", "bank"]
_NAME_WIDTH = 60


class Entrant(Struct, frozen=True, omit_defaults=True):
    """One of those that compete.

    Attributes:
        name: Tells it from the others.
        method: A memory method, or one of the baselines; empty for a bank.
        admission: Which episodes a method learns.
        forgetting: What it forgets.
        parameters: Numbers of its bank in place of the domain's preset: `task.recall=paper`.
        bank: The path of a bank that is given.
    """

    name: str
    method: str = ""
    admission: str = "strict"
    forgetting: str = "none"
    parameters: tuple[str, ...] = ()
    bank: str = ""

    @property
    def sort(self) -> Sort:
        """Whether it is a baseline, a method that has to learn, or a bank that has learnt."""
        if self.bank:
            return "bank"
        return "baseline" if self.method in BASELINES else "method"

    @property
    def trains(self) -> bool:
        """Whether it learns from games that are played before those that count."""
        return self.sort != "bank" and self.method != "nothing"

    @property
    def contestant(self) -> Contestant:
        """A method with its policies."""
        return Contestant(self.method, self.admission, self.forgetting)

    def settings(self, domain: str) -> Settings:
        """The parameters of a method's bank.

        Raises:
            ConfigurationError: There is no such number, or it cannot have that value.
        """
        settings = self.contestant.settings(domain)
        for each in self.parameters:
            settings = assigned(settings, each)
        return settings


class _Entry(Struct, forbid_unknown_fields=True):
    """A contestant as a file has it."""

    method: str = ""
    bank: str = ""
    name: str = ""
    admit: str = "strict"
    forget: str = "none"
    parameters: tuple[str, ...] = field(default=(), name="set")


class _File(Struct, forbid_unknown_fields=True):
    contestant: tuple[_Entry, ...]


def entrants(
    methods: Iterable[str],
    admissions: Sequence[str] = ("strict",),
    forgettings: Sequence[str] = ("none",),
    banks: Mapping[str, Path] | None = None,
) -> tuple[Entrant, ...]:
    """Baselines, every method with every admission and every forgetting, and banks, each once.

    Args:
        methods: Names of memory methods and of baselines, in the order in which they compete.
        admissions: As a bank's `admission`, or `unjudged`.
        forgettings: As `deltamem replay --forget` has them.
        banks: By the name that was given, where the bank lies.

    Raises:
        UsageError: A name is not one, or a number of forgetting is not.
    """
    found: dict[Entrant, None] = {}
    known = (*BASELINES, *names())
    for method in methods:
        if method not in known:
            raise UsageError(
                f"there is no method {one_line(method, 40)!r}", hint=f"one of {', '.join(known)}"
            )
        if method in BASELINES:
            found[Entrant(method, method)] = None
            continue
        for each in contestants([method], admissions, forgettings):
            found[Entrant(_name(each), each.method, each.admission, each.forgetting)] = None
    for name, path in (banks or {}).items():
        shown = one_line(Path(name).name or name, _NAME_WIDTH)
        found[Entrant(shown, bank=str(path.resolve()))] = None
    return _named_apart(found)


def read_entrants(path: Path, banks: Mapping[str, Path]) -> tuple[Entrant, ...]:
    """The contestants that a file of TOML names; `banks` has the place of each bank in it.

    Raises:
        ConfigurationError: It cannot be read, or does not name contestants.
        UsageError: A name in it is not one.
    """
    found = []
    for each in _read(path):
        if bool(each.method) == bool(each.bank):
            raise ConfigurationError(
                "a contestant has either a method or a bank", source=one_line(str(path), 200)
            )
        if each.bank:
            (made,) = entrants([], banks={each.bank: banks[each.bank]})
        else:
            (made,) = entrants([each.method], [each.admit], [each.forget])
        shown = " ".join((made.name, *each.parameters))
        name = one_line(each.name or shown, _NAME_WIDTH)
        found.append(msgspec.structs.replace(made, name=name, parameters=each.parameters))
    return _named_apart(found)


def banks_named(path: Path) -> tuple[str, ...]:
    """The banks that such a file names, to be looked up.

    Raises:
        ConfigurationError: It cannot be read, or does not name contestants.
    """
    return tuple(dict.fromkeys(each.bank for each in _read(path) if each.bank))


def _read(path: Path) -> tuple[_Entry, ...]:
    source = one_line(str(path), 200)
    try:
        table: Any = tomllib.loads(path.read_text("utf-8-sig"))
        return converted(table, _File).contestant
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error.strerror}", source=source) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(
            f"is not TOML: {one_line(str(error), 120)}", source=source
        ) from error
    except msgspec.ValidationError as error:
        raise ConfigurationError(
            f"does not name contestants: {one_line(str(error), 120)}",
            source=source,
            hint="a [[contestant]] has method or bank, and perhaps name, admit, forget, set",
        ) from error


def _name(contestant: Contestant) -> str:
    """Its method, and what of its policies is not the usual."""
    usual = Contestant(contestant.method)
    parts = [contestant.method]
    parts += [contestant.admission] if contestant.admission != usual.admission else []
    parts += [contestant.forgetting] if contestant.forgetting != usual.forgetting else []
    return " ".join(parts)


def _named_apart(found: Iterable[Entrant]) -> tuple[Entrant, ...]:
    """The same, each of a name that no other has."""
    known: dict[str, Entrant] = {}
    for each in found:
        name, number = each.name, 2
        while name in known:
            name, number = f"{each.name} ({number})", number + 1
        known[name] = msgspec.structs.replace(each, name=name)
    if not known:
        raise UsageError("there are no contestants", hint="name a --method or a --bank")
    return tuple(known.values())
