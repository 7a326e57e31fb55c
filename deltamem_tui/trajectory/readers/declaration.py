"""What a TOML file declares about a format: read, checked, its expressions compiled."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeGuard

from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.outcomes import number
from deltamem_tui.trajectory.readers.expressions import PATH, Search, compiled
from deltamem_tui.trajectory.readers.shapes import as_mapping

STEP_KEYS = ("thought", "action", "observation", "reward", "tool", "arguments", "status")
_MOST_BYTES = 1_000_000
_TOP = ("own", "records", "task", "environment", "messages", "fault", "steps", "branches")
_ABOUT = ("domain", "agent")
_OUTCOME = ("success", "reward", "reason", "best")
_TABLES = ("step", "outcome", "metadata")
_KEYS = (*_TOP, *_ABOUT, *_TABLES, "name", "description", "gather")


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a TOML file declares.

    Attributes:
        expressions: Compiled, by key; those of tables as `step.action`.
        names: What a record itself calls what an expression leads to, of those that are paths.
        gathers: Whether all records of a log are one value, a list of them.
    """

    expressions: Mapping[str, Search]
    names: Mapping[str, str]
    gathers: bool = False

    def found(self, key: str, record: object) -> object:
        """What the expression under a key finds in a record; None if there is no such key."""
        search = self.expressions.get(key)
        return search(record) if search else None

    def keys_of(self, table: str) -> tuple[str, ...]:
        """The keys of a table that are declared."""
        prefix = f"{table}."
        return tuple(key.removeprefix(prefix) for key in self.expressions if key.startswith(prefix))

    def name_of(self, key: str) -> str:
        """What a record itself calls what the expression under a key leads to, if it is a path."""
        return self.names.get(key) or key.rpartition(".")[2]

    def watched(self, idle: dict[str, bool]) -> Declaration:
        """The same declaration, but `idle` says of each key looked up whether it finds nothing.

        One that never does is most likely mistyped; one that leads to nothing but null is not.
        """

        def watch(key: str, search: Search, record: object) -> object:
            found = search(record)
            if idle.get(key, True):
                idle[key] = not (_is_something(found) or _leads_to_null(search, record))
            return found

        watched = {key: partial(watch, key, each) for key, each in self.expressions.items()}
        return dataclasses.replace(self, expressions=watched)


def _is_something(found: object) -> bool:
    return found is not None and found != []


def _leads_to_null(search: Search, record: object) -> bool:
    """Whether an expression leads to a null, which to it is the same as no such key."""
    try:
        return _is_something(search(_without_nulls(record)))
    except RecordError:  # a function that takes a null, but no text
        return True


def _without_nulls(value: object) -> object:
    """The same JSON value with an empty text for each null."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return "" if value is None else value


def loaded(path: Path) -> dict[str, object]:
    """The table of a TOML file.

    Raises:
        ConfigurationError: It cannot be read, is too large, or is not TOML.
    """
    name = one_line(path.name, 200)
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        raise ConfigurationError(reason, source=name) from error
    if len(data) > _MOST_BYTES:
        raise ConfigurationError("larger than any declaration of a format", source=name)
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        twice = any(words in str(error) for words in ("overwrite", "mutate", "twice"))
        what = "a name is given twice: " if twice else ""
        reason = f"not TOML: {what}{one_line(str(error), 200)}"
        raise ConfigurationError(reason, source=name) from error


def declaration_of(table: Mapping[str, object], source: str) -> Declaration:
    """The declaration in a table; `source` is the name of the file it comes from.

    Raises:
        ConfigurationError: A key is unknown or missing, or an expression is not a JMESPath.
    """
    _known(table, _KEYS, "", source)
    expressions = {
        key: compiled(table[key], key, source) for key in (*_TOP, *_ABOUT) if key in table
    }
    for name, keys in (("step", STEP_KEYS), ("outcome", _OUTCOME), ("metadata", None)):
        inner = table.get(name, {})
        if not isinstance(inner, dict):
            raise ConfigurationError("not a table", source=source, position=name)
        if keys is not None:
            _known(inner, keys, f"{name}.", source)
        for key, value in inner.items():
            full = f"{name}.{key}"
            is_best = full == "outcome.best" and not isinstance(value, str)
            expressions[full] = (
                _constant(value, full, source) if is_best else compiled(value, full, source)
            )
    for key in () if "messages" in expressions else ("task", "step.action", "steps"):
        if key not in expressions:
            raise ConfigurationError(
                f"no `{key}`",
                source=source,
                hint="every format needs a task, steps and an action, or `messages`",
            )
    outcome = as_mapping(table.get("outcome"))
    paths = {f"outcome.{key}": path for key, path in outcome.items() if _is_path(path)}
    names = {key: path.split(".")[-1] for key, path in paths.items()}
    if (gathers := table.get("gather", False)) not in (True, False):
        raise ConfigurationError("neither true nor false", source=source, position="gather")
    return Declaration(expressions, names, gathers=bool(gathers))


def _is_path(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and PATH.fullmatch(value) is not None


def _constant(value: object, key: str, source: str) -> Search:
    best = number(value) or 0.0
    if best <= 0:
        raise ConfigurationError("not a number above 0", source=source, position=key)
    return lambda _: best


def _known(table: Mapping[str, object], keys: tuple[str, ...], prefix: str, source: str) -> None:
    for key in table:
        if key not in keys:
            raise ConfigurationError(
                f"unknown key `{one_line(prefix + key, 80)}`",
                source=source,
                hint=f"known are {', '.join(prefix + known for known in keys)}",
            )


def plain_text(table: Mapping[str, object], key: str, source: str) -> str:
    """The text under a key that is not an expression; empty if it is missing.

    Raises:
        ConfigurationError: It is not text.
    """
    value = table.get(key, "")
    if not isinstance(value, str):
        raise ConfigurationError("not text", source=source, position=key)
    return one_line(value, 200)
