"""What a TOML file declares about a format: read, checked, its expressions compiled."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TypeGuard

import jmespath  # type: ignore[import-untyped]
from jmespath.exceptions import JMESPathError  # type: ignore[import-untyped]
from jmespath.functions import Functions, signature  # type: ignore[import-untyped]
from jmespath.visitor import TreeInterpreter  # type: ignore[import-untyped]

from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.outcomes import number
from deltamem_tui.trajectory.readers.coding import call_text
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_object,
    as_text,
    unfolded,
)
from deltamem_tui.trajectory.readers.tasks import scene_of

Search = Callable[[object], object]
"""What an expression finds in a record.

Raises:
    RecordError: A function in it fails on what the record holds.
"""


PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
"""An expression that is nothing but names: most are, and need not be interpreted."""


def _at(path: list[str], record: object) -> object:
    for name in path:
        record = as_mapping(record).get(name)
    return record


class _LogFunctions(Functions):  # type: ignore[misc]
    """What an expression may call; each method is the function of its name."""

    @signature({"types": []}, {"types": []})  # type: ignore[untyped-decorator]
    def _func_call(self, name: object, arguments: object) -> str:
        if isinstance(arguments, dict):
            arguments = {key: value for key, value in arguments.items() if value is not None}
        return call_text(as_text(name) or "tool", arguments)

    @signature({"types": ["object"]})  # type: ignore[untyped-decorator]
    def _func_entries(self, members: Json) -> list[object]:
        return [{"key": key, "value": value} for key, value in members.items()]

    @signature({"types": ["object"]})  # type: ignore[untyped-decorator]
    def _func_rows(self, columns: Json) -> list[object] | None:
        lists = {key: as_list(values) for key, values in columns.items()}
        first = next(iter(columns.values()), None)
        if not isinstance(first, list):
            return None
        if any(len(values) > len(first) for values in lists.values()):
            raise ValueError("a list is longer than the first")
        return [
            {key: values[index] if index < len(values) else None for key, values in lists.items()}
            for index in range(len(first))
        ]

    @signature({"types": ["object"]})  # type: ignore[untyped-decorator]
    def _func_facts(self, members: Json) -> str:
        found = ((key, as_text(value)) for key, value in members.items())
        return "\n".join(f"{key}: {text}" for key, text in found if text)

    @signature({"types": ["string", "null"]})  # type: ignore[untyped-decorator]
    def _func_scene(self, observation: object) -> str:
        return scene_of(as_text(observation))

    @signature({"types": ["array", "null"]}, {"types": ["string"]})  # type: ignore[untyped-decorator]
    def _func_flat(self, outer: object, key: str) -> list[object]:
        found: list[object] = []
        for each in map(as_mapping, as_list(outer)):
            fields = {name: value for name, value in each.items() if name != key}
            inner = [as_mapping(item) for item in as_list(each.get(key))]
            found += [{**fields, **item} for item in inner] or [each]
        return found

    @signature(  # type: ignore[untyped-decorator]
        {"types": ["array", "null"]}, {"types": ["string"]}, {"types": []}
    )
    def _func_pick(self, items: object, key: str, value: object) -> Json | None:
        return next(
            (each for each in map(as_mapping, as_list(items)) if each.get(key) == value), None
        )

    @signature({"types": ["object"]}, {"types": ["string"]})  # type: ignore[untyped-decorator]
    def _func_path(self, tree: Json, key: str) -> list[object]:
        found: list[object] = [tree]
        while branches := as_list(as_mapping(found[-1]).get(key)):
            found.append(branches[-1])
        return found

    @signature({"types": ["object"]}, {"types": ["string"]})  # type: ignore[untyped-decorator]
    def _func_beside(self, tree: Json, key: str) -> int:
        return sum(1 for _ in _nodes(tree, key)) - len(self._func_path(tree, key))

    @signature(  # type: ignore[untyped-decorator]
        {"types": ["object", "null"]}, {"types": ["string"]}, {"types": ["string"]}
    )
    def _func_first(self, tree: object, key: str, flag: str) -> Json | None:
        return next((node for node in _nodes(as_mapping(tree), key) if node.get(flag)), None)

    @signature({"types": ["array", "object", "null"]}, {"types": ["string"]})  # type: ignore[untyped-decorator]
    def _func_merged(self, items: object, begins: str) -> list[Json]:
        if isinstance(items, dict):  # each is a turn of its own, by its name
            return [*map(as_mapping, items.values())]
        turns: list[Json] = []
        for each in map(as_mapping, as_list(items)):
            turn = turns.pop() if turns else {}
            if begins in each or any(turn.get(key, each[key]) != each[key] for key in each):
                turns.append(turn)
                turn = {}
            turns.append({**turn, **each})
        return turns

    @signature({"types": ["object", "null"]}, {"types": ["array-string"]})  # type: ignore[untyped-decorator]
    def _func_without(self, members: object, names: list[str]) -> Json:
        return {key: value for key, value in as_mapping(members).items() if key not in names}

    @signature({"types": []})  # type: ignore[untyped-decorator]
    def _func_parsed(self, text: object) -> object:
        return as_object(unfolded(text))


def _nodes(tree: Json, key: str) -> Iterator[Json]:
    """Yield the nodes of a tree, each before its branches; one may be too deep for recursion."""
    waiting = [tree]
    while waiting:
        yield (node := waiting.pop())
        waiting += map(as_mapping, reversed(as_list(node.get(key))))


class _Interpreter(TreeInterpreter):  # type: ignore[misc]
    """JMESPath's own, without what its every step spends on arguments that no step has."""

    def visit(self, node: Mapping[str, str], value: object) -> object:
        method = self._method_cache.get(node["type"])
        return method(node, value) if method else super().visit(node, value)


@cache
def _interpreter() -> _Interpreter:
    """Return the one for all expressions: to make one takes as long as most of them."""
    return _Interpreter(jmespath.Options(custom_functions=_LogFunctions()))


def compiled(value: object, key: str, source: str) -> Search:
    """Return what an expression of a declaration finds; `key` is where it stands in `source`.

    Raises:
        ConfigurationError: It is not a JMESPath expression.
    """
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError("not a path expression", source=source, position=key)
    if PATH.fullmatch(value):
        return partial(_at, value.split("."))
    try:
        tree = jmespath.compile(value).parsed
    except (JMESPathError, RecursionError) as error:
        problem = one_line(str(error), 200)
        raise ConfigurationError(
            f"not a path expression: {problem}", source=source, position=key
        ) from error
    if tree["type"] == "literal":
        return lambda _: tree["value"]

    def search(record: object) -> object:
        try:
            found: object = _interpreter().visit(tree, record)
        except (JMESPathError, RecursionError, TypeError, ValueError) as error:
            problem = one_line(str(error), 200)
            raise RecordError(f"`{key}` = {one_line(value, 80)} fails: {problem}") from error
        return found

    return search


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
        """Return what the expression under a key finds; None if there is no such key."""
        search = self.expressions.get(key)
        return search(record) if search else None

    def keys_of(self, table: str) -> tuple[str, ...]:
        """Return the keys of a table that are declared."""
        prefix = f"{table}."
        return tuple(key.removeprefix(prefix) for key in self.expressions if key.startswith(prefix))

    def name_of(self, key: str) -> str:
        """Return the name in a record that the path under a key leads to."""
        return self.names.get(key) or key.rpartition(".")[2]

    def watched(self, idle: dict[str, bool]) -> Declaration:
        """Return the declaration, with `idle` noting of each key whether it finds nothing.

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
    """Return True if an expression leads to a null, which to it is the same as no such key."""
    try:
        return _is_something(search(_without_nulls(record)))
    except RecordError:  # a function that takes a null, but no text
        return True


def _without_nulls(value: object) -> object:
    """Return the same JSON value with an empty text for each null."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return "" if value is None else value


def loaded(path: Path) -> dict[str, object]:
    """Return the table of a TOML file.

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
    """Return the declaration in a table; `source` is the name of the file it comes from.

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
    """Return the text under a key that is not an expression; empty if it is missing.

    Raises:
        ConfigurationError: It is not text.
    """
    value = table.get(key, "")
    if not isinstance(value, str):
        raise ConfigurationError("not text", source=source, position=key)
    return one_line(value, 200)
