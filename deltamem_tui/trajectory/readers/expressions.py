"""The expressions of declared formats: JMESPath, with the functions that logs take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import jmespath  # type: ignore[import-untyped]
import orjson
from jmespath.exceptions import JMESPathError  # type: ignore[import-untyped]
from jmespath.visitor import TreeInterpreter  # type: ignore[import-untyped]

from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.readers.coding import call_text, repository_of_issue, workspace
from deltamem_tui.trajectory.readers.messages import content_text
from deltamem_tui.trajectory.readers.shapes import (
    Json,
    as_list,
    as_mapping,
    as_object,
    as_text,
    opened_text,
    unfolded,
    unquoted,
)
from deltamem_tui.trajectory.readers.tasks import issue_of, scene_of

Search = Callable[[object], object]
"""The results of an expression on a record; a function in it may fail with a `RecordError`."""
PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
"""An expression that is nothing but names: most are, and need not be interpreted."""

# Where Inspect refers to long texts, and how much they may come to.
_REFERENCE = re.compile(r"(?:attachment|tc)://([0-9a-f]{32})")
_MOST_ATTACHED = 64 * 1024 * 1024
_DEEPEST = 20
_SHELL_END = re.compile(
    r"\n?<shellId: \S+ completed with (?:exit code 0|(exit code -?\d{1,9}))>\s*\Z"
)
_EMPTY: tuple[object, ...] = (None, "", [], {})


def compiled(expression: str, key: str, source: str) -> Search:
    """Return what an expression of a declaration finds; `key` is its place in `source`."""
    if PATH.fullmatch(expression):
        return partial(_at, expression.split("."))
    try:
        tree = jmespath.compile(expression).parsed
    except (JMESPathError, RecursionError) as error:
        raise ConfigurationError(
            f"not a path expression: {one_line(str(error), 200)}", source=source, position=key
        ) from error
    if tree["type"] == "literal":
        return lambda _: tree["value"]

    def search(record: object) -> object:
        try:
            return _INTERPRETER.visit(tree, record)
        except (AttributeError, JMESPathError, RecursionError, TypeError, ValueError) as error:
            problem = one_line(str(error), 200)
            raise RecordError(f"`{key}` = {one_line(expression, 80)} fails: {problem}") from error

    return search


def _at(path: list[str], record: object) -> object:
    for name in path:
        record = as_mapping(record).get(name)
    return record


def _call(name: object, arguments: object) -> str:
    if isinstance(arguments, dict):
        arguments = {key: value for key, value in arguments.items() if value is not None}
    return call_text(as_text(name) or "tool", arguments)


def _rows(columns: Json) -> list[object] | None:
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


def _facts(members: Json) -> str:
    found = ((key, as_text(value)) for key, value in members.items())
    return "\n".join(f"{key}: {text}" for key, text in found if text)


def _workspace(members: Json) -> str:
    texts = {key: as_text(value) for key, value in members.items() if key != "tools"}
    return workspace(tools=map(as_text, as_list(members.get("tools"))), **texts)


def _flat(outer: object, key: str) -> list[object]:
    found: list[object] = []
    for each in map(as_mapping, as_list(outer)):
        fields = {name: value for name, value in each.items() if name != key}
        inner = [as_mapping(item) for item in as_list(each.get(key))]
        found += [{**fields, "index": at, **item} for at, item in enumerate(inner)] or [each]
    return found


def _path(tree: Json, key: str) -> list[object]:
    found: list[object] = [tree]
    while branches := as_list(as_mapping(found[-1]).get(key)):
        found.append(branches[-1])
    return found


def _first(tree: object, key: str, condition: TreeInterpreter) -> Json | None:
    return next((n for n in _nodes(as_mapping(tree), key) if _holds(condition, n)), None)


def _every(items: object, condition: TreeInterpreter) -> bool:
    found = as_list(items)
    return bool(found) and all(_holds(condition, each) for each in found)


def _holds(condition: TreeInterpreter, value: object) -> bool:
    return condition.visit(condition.expression, value) not in (None, False, "", [], {})


def _nodes(tree: Json, key: str) -> Iterator[Json]:
    waiting = [tree]
    while waiting:
        yield (node := waiting.pop())
        waiting += map(as_mapping, reversed(as_list(node.get(key))))


def _replayed(entries: object) -> object:
    """Return the state that a first one (kind 0) and its changes lead to."""
    root: dict[str, object] = {}
    for entry in map(as_mapping, as_list(entries)):
        path = ["", *(as_list(entry.get("k")) if entry.get("kind") else [])]
        place: object = root
        for key in path[:-1]:
            place = _member(place, key)
        key, value, first = path[-1], entry.get("v"), entry.get("i")
        if entry.get("kind") == 2:
            held = _member(place, key)
            value = [*as_list(held)[: first if type(first) is int else None], *as_list(value)]
        if isinstance(place, dict) and isinstance(key, str):
            place[key] = orjson.loads(orjson.dumps(value))  # a change must not reach its record
        elif isinstance(place, list) and type(key) is int and key < len(place):
            place[key] = orjson.loads(orjson.dumps(value))
    return root.get("")


def _attributes(value: object) -> object:
    """Return what dotted names hold, however it is exported, as nested objects and lists."""
    tree: dict[str, object] = {}
    _grow(tree, _typed_values(value) if isinstance(value, list) else as_mapping(value))
    return _listed(tree)


def _typed_values(pairs: object) -> dict[str, object]:
    found = map(as_mapping, as_list(pairs))
    return {as_text(each.get("key")): _typed_value(each.get("value")) for each in found}


def _typed_value(value: object) -> object:
    typed = as_mapping(value)
    if "arrayValue" in typed:
        return [*map(_typed_value, as_list(as_mapping(typed["arrayValue"]).get("values")))]
    if "kvlistValue" in typed:
        return _typed_values(as_mapping(typed["kvlistValue"]).get("values"))
    return next(iter(typed.values()), None)


def _grow(tree: dict[str, object], attributes: Json) -> None:
    for name, value in attributes.items():
        place: object = tree
        *path, last = name.split(".", _DEEPEST)
        for key in path:
            place = place.setdefault(key, {}) if isinstance(place, dict) else None
        if isinstance(place, dict):
            inner = place.setdefault(last, {} if isinstance(value, dict) else value)
            if isinstance(value, dict) and isinstance(inner, dict):
                _grow(inner, value)


def _listed(value: object) -> object:
    if not isinstance(value, dict):
        return value
    inner = {key: _listed(item) for key, item in value.items()}
    if inner and all(key.isdecimal() for key in inner):
        return [inner[key] for key in sorted(inner, key=lambda key: (len(key), key))]
    return inner


def _member(place: object, key: object) -> object:
    if isinstance(place, dict):
        return place.get(key)
    return place[key] if isinstance(place, list) and type(key) is int and key < len(place) else None


def _without(members: object, names: list[str]) -> Json:
    found = as_mapping(members)
    return {k: each for k, each in found.items() if k not in names and each not in _EMPTY}


def _latest(items: object, key: str) -> list[object]:
    """Return items, of those of one name the last, in the place of the first."""
    found: dict[object, object] = {}
    for index, each in enumerate(as_list(items)):
        found[as_text(as_mapping(each).get(key)) or index] = each
    return [*found.values()]


def _arranged(items: object, key: str, names: object) -> list[object]:
    """Return the items of some names in their order; an empty object where there is none."""
    found = {as_text(as_mapping(each).get(key)): each for each in as_list(items)}
    return [found.get(as_text(name), {}) for name in as_list(names)]


def _parted(messages: object, asked: object) -> Json:
    """Return the messages before the user's that asks, and those from it on."""
    found, text = as_list(messages), as_text(asked).strip()
    users = {
        index: content_text(message.get("content")).strip()
        for index, message in enumerate(map(as_mapping, found))
        if message.get("role") == "user"
    }
    fits = [index for index, said in users.items() if said == text]
    fits = fits or [index for index, said in users.items() if text and text in said]
    begin = fits[0] if fits else 0
    return {"before": found[:begin], "after": found[begin:]}


def _between(text: object, begin: str, end: str) -> str:
    told = as_text(text)
    if begin and begin in told:
        told = told.partition(begin)[2]
    return (told.partition(end)[0] if end else told).strip()


def _fenced(text: object, languages: list[str]) -> Json | None:
    """Return the code of the first fence in one of some languages, and the text before it."""
    told, names = as_text(text), "|".join(map(re.escape, languages))
    found = re.search(rf"```(?:{names})[ \t]*\n(.*?)\n?```", told, re.DOTALL)
    return {"before": told[: found.start()], "code": found[1].strip()} if found else None


def _attached(sample: object) -> object:
    """Return a value in which texts that it holds once stand wherever it refers to them."""
    record = as_mapping(sample)
    transcript = as_mapping(record.get("transcript"))
    held = as_mapping(record.get("attachments")) or as_mapping(transcript.get("content"))
    left = _MOST_ATTACHED

    def text(found: re.Match[str]) -> str:
        nonlocal left
        written = as_text(held.get(found[1], found[0]))
        left -= len(written)
        if left < 0:
            raise ValueError("more than 64 MB with all attachments in their places")
        return written

    def put(value: object, depth: int = 0) -> object:
        if isinstance(value, str):
            return _REFERENCE.sub(text, value)
        if isinstance(value, list) and depth < _DEEPEST:
            return [put(each, depth + 1) for each in value]
        if isinstance(value, dict) and depth < _DEEPEST:
            return {key: put(each, depth + 1) for key, each in value.items()}
        return value

    return put(sample) if held else sample


_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "arranged": _arranged,
    "attached": _attached,
    "attributes": _attributes,
    "beside": lambda tree, key: sum(1 for _ in _nodes(tree, key)) - len(_path(tree, key)),
    "between": _between,
    "call": _call,
    "entries": lambda members: [{"key": k, "value": v} for k, v in members.items()],
    "every": _every,
    "facts": _facts,
    "fenced": _fenced,
    "first": _first,
    "flat": _flat,
    "opened": opened_text,
    "parted": _parted,
    "latest": _latest,
    "parsed": lambda text: as_object(unfolded(text)),
    "issue": lambda content: issue_of(content_text(content)).strip(),
    "path": _path,
    "pick": lambda items, key, value: next(
        (each for each in map(as_mapping, as_list(items)) if each.get(key) == value), None
    ),
    "replayed": _replayed,
    "repository": lambda issue: repository_of_issue(as_text(issue)),
    "rows": _rows,
    "scene": lambda text: scene_of(as_text(text)),
    "shell": lambda text: _SHELL_END.sub(
        lambda at: f"\n({at[1]})" if at[1] else "", as_text(text)
    ).lstrip("\n"),
    "stripped": lambda content: content_text(content).strip(),
    "text": content_text,
    "unquoted": unquoted,
    "without": _without,
    "workspace": _workspace,
}


class _Interpreter(TreeInterpreter):  # type: ignore[misc]
    """JMESPath's own, with more functions and less spent on every step."""

    def visit(self, node: Mapping[str, str], value: object) -> object:
        method = self._method_cache.get(node["type"])
        return method(node, value) if method else super().visit(node, value)

    def visit_function_expression(self, node: Mapping[str, str], value: object) -> object:
        function = _FUNCTIONS.get(node["value"])
        if function is None:
            return super().visit_function_expression(node, value)
        return function(*(self.visit(child, value) for child in node["children"]))  # type: ignore[arg-type]


_INTERPRETER = _Interpreter()  # to make one takes as long as most expressions
