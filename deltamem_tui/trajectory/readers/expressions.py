"""JMESPath expressions of declared formats, with the few functions that logs need beside its own.

| function | gives |
|---|---|
| `call(name, arguments)` | a tool's call as every reader writes it; what is null is left out |
| `entries(object)` | its members, as a list of `{key, value}` |
| `rows({a: list, …})` | parallel lists as a list of objects; a list that ends early gives null |
| `facts({a: value, …})` | a line `a: value` for each value that is there |
| `scene(text)` | a game's first observation without its goal and its banner |
| `flat(list, key)` | the items of the lists under a key, each with the fields of what holds it |
| `pick(list, key, value)` | the first item that has a value under a key |
| `path(tree, key)` | from the root of a tree to the leaf reached last, its branches under a key |
| `beside(tree, key)` | how many of its nodes are not on that path |
| `first(tree, key, flag)` | its first node under which a flag is true, from the top |
| `merged(list, key)` | items as turns: another begins at a key, or at what says otherwise |
| `without(object, names)` | an object without some of its members |
| `parsed(text)` | the value that a text is, in JSON or as Python shows it; any other as it is |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial

import jmespath  # type: ignore[import-untyped]
from jmespath.exceptions import JMESPathError  # type: ignore[import-untyped]
from jmespath.functions import Functions, signature  # type: ignore[import-untyped]
from jmespath.visitor import TreeInterpreter  # type: ignore[import-untyped]

from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.text import one_line
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
    """The nodes of a tree, each before its branches; one may be too deep for recursion."""
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
    """The one for all expressions: to make one takes as long as most of them."""
    return _Interpreter(jmespath.Options(custom_functions=_LogFunctions()))


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
