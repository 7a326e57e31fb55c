"""A reader that a person declares in a small TOML file, so that an unknown format needs no code.

Every value is a JMESPath expression. Where steps lie in parallel lists, `steps` is left out and
the expressions under `[step]` give lists of equal length. `docs/readers.md` has an example.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from deltamem_tui.errors import ConfigurationError, RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import number, together, unit_reward, verdict_of
from deltamem_tui.trajectory.readers.reader import Reader, Reading, readings_of
from deltamem_tui.trajectory.readers.shapes import as_text
from deltamem_tui.trajectory.secrets.quoting import quoted

Search = Callable[[object], object]
STEP_KEYS = ("thought", "action", "observation", "reward")
_MOST_BYTES = 1_000_000
_TOP = ("records", "task", "environment", "steps", "domain", "agent")
_OUTCOME = ("success", "reward", "reason")
_TABLES = ("step", "outcome", "metadata")
_KEYS = (*_TOP, *_TABLES, "name", "description")


@dataclass(frozen=True, slots=True)
class _Declaration:
    """What a TOML file declares: compiled expressions by key, those of tables as `step.action`."""

    name: str
    description: str
    expressions: Mapping[str, Search]
    best: float = 1.0
    source: str = ""

    def watched(self, idle: dict[str, bool]) -> _Declaration:
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


def _declaration(table: dict[str, object], source: str) -> _Declaration:
    _known(table, _KEYS, "", source)
    expressions = {key: _compiled(table[key], key, source) for key in _TOP if key in table}
    best = 1.0
    for name, keys in (("step", STEP_KEYS), ("outcome", (*_OUTCOME, "best")), ("metadata", None)):
        inner = table.get(name, {})
        if not isinstance(inner, dict):
            raise ConfigurationError("not a table", source=source, position=name)
        if keys is not None:
            _known(inner, keys, f"{name}.", source)
        for key, value in inner.items():
            full = f"{name}.{key}"
            if full != "outcome.best":
                expressions[full] = _compiled(value, full, source)
            elif (best := number(value) or 0.0) <= 0:
                raise ConfigurationError("not a number above 0", source=source, position=full)
    for key in ("task", "step.action"):
        if key not in expressions:
            raise ConfigurationError(
                f"no `{key}`", source=source, hint="every format needs a task and an action"
            )
    return _Declaration(
        name=_plain(table, "name", source) or source.partition(".")[0],
        description=_plain(table, "description", source) or f"declared in {source}",
        expressions=expressions,
        best=best,
        source=source,
    )


def _known(table: Mapping[str, object], keys: tuple[str, ...], prefix: str, source: str) -> None:
    for key in table:
        if key not in keys:
            raise ConfigurationError(
                f"unknown key `{one_line(prefix + key, 80)}`",
                source=source,
                hint=f"known are {', '.join(prefix + known for known in keys)}",
            )


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
        problem = one_line(str(error), 200)
        raise ConfigurationError(
            f"not a path expression: {problem}", source=source, position=key
        ) from error

    def search(record: object) -> object:
        try:
            found: object = expression.search(record)
        except (JMESPathError, RecursionError, TypeError, ValueError) as error:
            problem = one_line(str(error), 200)
            raise RecordError(f"`{key}` = {one_line(value, 80)} fails: {problem}") from error
        return found

    return search


def declared_reader(path: Path) -> Reader:
    """The reader that a TOML file declares.

    It claims a log whose first records give a task and a step, less surely than the built-in
    readers.

    Raises:
        ConfigurationError: The file cannot be read, is not TOML, has an unknown key, lacks a
            task or an action, or holds an expression that is not a JMESPath.
    """
    declaration = _declaration(_loaded(path), one_line(path.name, 200))

    def read(log: Log) -> Iterator[Reading]:
        idle: dict[str, bool] = {}
        watched = declaration.watched(idle)
        is_read = False
        for item in log.records():
            for reading in readings_of(item, partial(_readings, watched), log):
                is_read = is_read or isinstance(reading, Trajectory)
                yield reading
        several = ", ".join(f"`{key}`" for key, is_idle in idle.items() if is_idle)
        if is_read and several:  # where all is refused, that says enough
            yield RecordError(
                f"{several} found nothing in all of the log, with {declaration.source}",
                hint="look for a slip of the pen; `key || ''` says that a key may be missing",
            )

    def claims(preview: Preview) -> float:
        return 0.4 * _share_read(declaration, preview)

    return Reader(declaration.name, declaration.description, claims, read)


def _readings(declaration: _Declaration, value: object) -> Iterator[Reading]:
    """The episodes of one JSON value of the log; each is refused by itself."""
    search = declaration.expressions.get("records")
    if search is None:
        yield _episode(declaration, value)
        return
    found = search(value)
    if not isinstance(found, list):
        raise RecordError(f"`records` gave {_shown(found)} where a list was expected")
    for number_of, record in enumerate(found, 1):
        try:
            episode = _episode(declaration, record)
        except RecordError as error:
            yield RecordError(f"episode {number_of}: {error.message}", hint=error.hint)
            continue
        metadata = {**episode.metadata, "record": str(number_of)} if len(found) > 1 else None
        yield replace(episode, metadata=metadata) if metadata else episode


def _episode(declaration: _Declaration, record: object) -> Trajectory:
    metadata = {
        key.removeprefix("metadata."): _text(declaration, key, record)
        for key in declaration.expressions
        if key.startswith("metadata.")
    }
    return Trajectory(
        task=_required(declaration, "task", record).strip(),
        environment=_text(declaration, "environment", record).strip(),
        steps=tuple(_steps(declaration, record)),
        outcome=_outcome(declaration, record),
        source=LogSource(format=declaration.name),
        domain=_text(declaration, "domain", record),
        agent=_text(declaration, "agent", record),
        metadata={key: text for key, text in metadata.items() if text},
    )


def _steps(declaration: _Declaration, record: object) -> Iterator[Step]:
    for index, item in enumerate(_step_records(declaration, record), 1):
        action = item.get("action")
        if not isinstance(action, str) or not action.strip():
            raise RecordError(f"`step.action` gave {_shown(action)} for step {index}, not text")
        reward = None if item.get("reward") == "" else item.get("reward")
        if reward is not None and number(reward) is None:
            raise RecordError(f"`step.reward` gave {_shown(reward)} for step {index}, no number")
        yield Step(
            action.strip(),
            as_text(item.get("observation")),
            as_text(item.get("thought")),
            number(reward),
        )


def _step_records(declaration: _Declaration, record: object) -> Iterator[dict[str, object]]:
    """The parts of each step, out of a list of steps or out of parallel lists."""
    given = {
        key: declaration.expressions[f"step.{key}"]
        for key in STEP_KEYS
        if f"step.{key}" in declaration.expressions
    }
    if search := declaration.expressions.get("steps"):
        steps = search(record)
        if not isinstance(steps, list):
            raise RecordError(f"`steps` gave {_shown(steps)} where a list was expected")
        for step in steps:
            yield {key: part(step) for key, part in given.items()}
        return
    lists = {key: part(record) for key, part in given.items()}
    actions = lists["action"]
    if not isinstance(actions, list):
        raise RecordError(f"`step.action` gave {_shown(actions)} where a list was expected")
    for key, values in lists.items():
        if values in (None, ""):
            continue
        if not isinstance(values, list) or len(values) != len(actions):
            raise RecordError(
                f"`step.{key}` gave {_shown(values)} where a list of {len(actions)} was expected"
            )
    for index in range(len(actions)):
        yield {
            key: values[index] if isinstance(values, list) else None
            for key, values in lists.items()
        }


def _outcome(declaration: _Declaration, record: object) -> Outcome:
    flag = _found(declaration, "outcome.success", record)
    points = _found(declaration, "outcome.reward", record)
    flag, points = (None if given == "" else given for given in (flag, points))
    verdict = verdict_of(flag, best=1.0 if isinstance(flag, str) else declaration.best)
    reward = unit_reward(points, declaration.best)
    if flag is not None and verdict.source == "unknown":
        raise RecordError(f"`outcome.success` gave {_shown(flag)}, which says neither yes nor no")
    if points is not None and reward is None:
        raise RecordError(
            f"`outcome.reward` gave {_shown(points)}, no number up to {declaration.best:g}",
            hint="set `best` under [outcome] to the highest there is",
        )
    outcomes = {"success": verdict}
    if reward is not None:
        outcomes["reward"] = Outcome(reward=reward, source="stated")
    outcome = together(outcomes)
    if outcome.source == "unknown":
        return outcome
    return replace(outcome, reason=_text(declaration, "outcome.reason", record))


def _found(declaration: _Declaration, key: str, record: object) -> object:
    search = declaration.expressions.get(key)
    return search(record) if search else None


def _text(declaration: _Declaration, key: str, record: object) -> str:
    return as_text(_found(declaration, key, record))


def _required(declaration: _Declaration, key: str, record: object) -> str:
    value = _found(declaration, key, record)
    if not isinstance(value, str) or not value.strip():
        raise RecordError(f"`{key}` gave {_shown(value)} where text was expected")
    return value


def _shown(value: object) -> str:
    """A value as an error shows it: what it is, and how it begins."""
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"{quoted(as_text(value), 60)!r}"


def _share_read(declaration: _Declaration, preview: Preview) -> float:
    if not preview.records:
        return 0.0
    read = 0
    for value in preview.records:
        with suppress(RecordError):
            read += all(
                isinstance(found, Trajectory) and bool(found.steps)
                for found in _readings(declaration, value)
            )
    return read / len(preview.records)
