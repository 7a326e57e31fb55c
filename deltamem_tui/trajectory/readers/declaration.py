"""A declaration of a format: a TOML file of path expressions, read and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.outcomes import number

Search = Callable[[object], object]
STEP_KEYS = ("thought", "action", "observation", "reward")
_MOST_BYTES = 1_000_000
_TOP = ("records", "task", "environment", "steps", "domain", "agent")
_OUTCOME = ("success", "reward", "reason")
_TABLES = ("step", "outcome", "metadata")
_KEYS = (*_TOP, *_TABLES, "name", "description")


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a TOML file declares: compiled expressions by the key they stand under.

    Attributes:
        name: What the format is called.
        description: One line for people.
        expressions: By key, those of tables as `step.action`.
        best: The reward that means that all of the task was solved.
        source: The TOML file's name, for errors.
    """

    name: str
    description: str
    expressions: Mapping[str, Search]
    best: float = 1.0
    source: str = ""
    metadata: tuple[str, ...] = field(default=())


class Watch:
    """Notes which of a declaration's expressions find something, all through a log.

    One that never does is most likely mistyped; one that leads to nothing but null is not.
    """

    def __init__(self, declaration: Declaration) -> None:
        """Watch a declaration; nothing was found yet."""
        self._declaration = declaration
        self._found: set[str] = set()
        self._idle: dict[str, None] = {}

    def declaration(self) -> Declaration:
        """The same declaration, but what its expressions find is noted."""
        watched = {
            key: partial(self._search, key, search)
            for key, search in self._declaration.expressions.items()
        }
        return replace(self._declaration, expressions=watched)

    def idle(self) -> list[str]:
        """The keys of those that were looked up and found nothing, in order."""
        return list(self._idle)

    def _search(self, key: str, search: Search, record: object) -> object:
        found = search(record)
        if key not in self._found:
            if _is_something(found) or _leads_to_null(search, record):
                self._found.add(key)
                self._idle.pop(key, None)
            else:
                self._idle[key] = None
        return found


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


def load_declaration(path: Path) -> Declaration:
    """The declaration in a TOML file.

    Raises:
        ConfigurationError: The file cannot be read, is not TOML, has an unknown key, lacks a
            task or an action, or holds an expression that is no JMESPath.
    """
    return _declaration(_loaded(path), one_line(path.name, 200))


def _loaded(path: Path) -> dict[str, object]:
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


def _declaration(table: dict[str, object], source: str) -> Declaration:
    _known(table, _KEYS, "", source)
    expressions = {key: _compiled(table[key], key, source) for key in _TOP if key in table}
    best = 1.0
    for name, keys in (("step", STEP_KEYS), ("outcome", (*_OUTCOME, "best")), ("metadata", None)):
        inner = table.get(name, {})
        if not isinstance(inner, dict):
            raise ConfigurationError("not a table", source=source, position=name)
        if keys is not None:
            _known(inner, keys, f"{name}.", source)
        if name == "outcome" and "best" in inner:
            best = _best(inner["best"], source)
        for key, value in inner.items():
            if (name, key) != ("outcome", "best"):
                full = f"{name}.{key}"
                expressions[full] = _compiled(value, full, source)
    for key in ("task", "step.action"):
        if key not in expressions:
            raise ConfigurationError(
                f"no `{key}`", source=source, hint="every format needs a task and an action"
            )
    return Declaration(
        name=_plain(table, "name", source) or source.partition(".")[0],
        description=_plain(table, "description", source) or f"declared in {source}",
        expressions=expressions,
        best=best,
        source=source,
        metadata=tuple(key for key in expressions if key.startswith("metadata.")),
    )


def _known(table: Mapping[str, object], keys: tuple[str, ...], prefix: str, source: str) -> None:
    for key in table:
        if key not in keys:
            raise ConfigurationError(
                f"unknown key `{one_line(prefix + key, 80)}`",
                source=source,
                hint=f"known are {', '.join(prefix + known for known in keys)}",
            )


def _best(value: object, source: str) -> float:
    best = number(value)
    if best is None or best <= 0:
        raise ConfigurationError("not a number above 0", source=source, position="outcome.best")
    return best


def _plain(table: Mapping[str, object], key: str, source: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise ConfigurationError("not text", source=source, position=key)
    return one_line(value, 200)


def _compiled(value: object, key: str, source: str) -> Search:
    import jmespath  # type: ignore[import-untyped]
    from jmespath.exceptions import JMESPathError  # type: ignore[import-untyped]

    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError("not a path expression", source=source, position=key)
    try:
        expression = jmespath.compile(value)
    except (JMESPathError, RecursionError) as error:
        told = one_line(str(error), 200)
        raise ConfigurationError(
            f"not a path expression: {told}", source=source, position=key
        ) from error

    def search(record: object) -> object:
        try:
            found: object = expression.search(record)
        except (JMESPathError, RecursionError, TypeError, ValueError) as error:
            told = one_line(str(error), 200)
            raise RecordError(f"`{key}` = {one_line(value, 80)} fails: {told}") from error
        return found

    return search
