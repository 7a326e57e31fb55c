"""JMESPath expressions of declared formats, with the few functions that logs need beside its own.

| function | gives |
|---|---|
| `call(name, arguments)` | a tool's call as every reader writes it |
| `entries(object)` | its members, as a list of `{key, value}` |
| `rows({a: list, …})` | parallel lists as a list of objects; a list that ends early gives null |
| `facts({a: value, …})` | a line `a: value` for each value that is there |
| `scene(text)` | a game's first observation without its goal and its banner |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial

import jmespath  # type: ignore[import-untyped]
from jmespath.exceptions import JMESPathError  # type: ignore[import-untyped]
from jmespath.functions import Functions, signature  # type: ignore[import-untyped]

from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.readers.coding import call_text
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
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


@cache
def _options() -> jmespath.Options:
    return jmespath.Options(custom_functions=_LogFunctions())


def compiled(value: object, key: str, source: str) -> Search:
    """What an expression of a declaration finds; `key` is where it stands in `source`.

    Raises:
        ConfigurationError: It is not a JMESPath expression.
    """
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError("not a path expression", source=source, position=key)
    if PATH.fullmatch(value):
        return partial(_at, value.split("."))
    try:
        expression = jmespath.compile(value)
    except (JMESPathError, RecursionError) as error:
        problem = one_line(str(error), 200)
        raise ConfigurationError(
            f"not a path expression: {problem}", source=source, position=key
        ) from error

    def search(record: object) -> object:
        try:
            found: object = expression.search(record, options=_options())
        except (JMESPathError, RecursionError, TypeError, ValueError) as error:
            problem = one_line(str(error), 200)
            raise RecordError(f"`{key}` = {one_line(value, 80)} fails: {problem}") from error
        return found

    return search
