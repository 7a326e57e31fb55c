"""A reader that a person declares in a small TOML file, so that an unknown format needs no code.

```toml
name = "my-harness"
records = "runs[]"      # the episodes in each record; without it a record is one
task = "goal.text"
environment = "goal.room"
steps = "turns"         # a list; what follows is looked up in each of its items

[step]
thought = "reasoning"
action = "call.command"
observation = "result"
reward = "points"

[outcome]
success = "solved"      # a flag, 0 or 1, or a word …
reward = "score"        # … or a number, of which `best` means that all was solved
best = 100
```

Every expression is a JMESPath. Where steps lie in parallel lists, leave `steps` out and let
the expressions under `[step]` give lists of equal length.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import number, together, unit_reward, verdict_of
from deltamem_tui.trajectory.readers.declaration import (
    STEP_KEYS,
    Declaration,
    Watch,
    load_declaration,
)
from deltamem_tui.trajectory.readers.reader import Reader, Reading, readings_of
from deltamem_tui.trajectory.readers.shapes import as_text
from deltamem_tui.trajectory.secrets.quoting import quoted


def declared_reader(path: Path) -> Reader:
    """The reader that a TOML file declares.

    It claims a log whose first records give a task and a step, less surely than the readers
    that know their format by heart.

    Args:
        path: The TOML file.

    Raises:
        ConfigurationError: The file cannot be read, is not TOML, has an unknown key, lacks a
            task or an action, or holds an expression that is no JMESPath.
    """
    declaration = load_declaration(path)

    def read(log: Log) -> Iterator[Reading]:
        watch = Watch(declaration)
        watched = watch.declaration()
        is_read = False
        for item in log.records():
            for reading in readings_of(item, partial(_readings, watched), log):
                is_read = is_read or isinstance(reading, Trajectory)
                yield reading
        if is_read and (idle := watch.idle()):  # where all is refused, that says enough
            several = ", ".join(f"`{key}`" for key in idle)
            yield RecordError(
                f"{several} found nothing in all of the log, with {declaration.source}",
                hint="look for a slip of the pen; `key || ''` says that a key may be missing",
            )

    def claims(preview: Preview) -> float:
        return 0.4 * _share_read(declaration, preview)

    return Reader(declaration.name, declaration.description, claims, read)


def _readings(declaration: Declaration, value: object) -> Iterator[Reading]:
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


def _episode(declaration: Declaration, record: object) -> Trajectory:
    metadata = {
        key.partition(".")[2]: _text(declaration, key, record) for key in declaration.metadata
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


def _steps(declaration: Declaration, record: object) -> Iterator[Step]:
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


def _step_records(declaration: Declaration, record: object) -> Iterator[dict[str, object]]:
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


def _outcome(declaration: Declaration, record: object) -> Outcome:
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
    said = {"success": verdict}
    if reward is not None:
        said["reward"] = Outcome(reward=reward, source="stated")
    outcome = together(said)
    if outcome.source == "unknown":
        return outcome
    return replace(outcome, reason=_text(declaration, "outcome.reason", record))


def _found(declaration: Declaration, key: str, record: object) -> object:
    search = declaration.expressions.get(key)
    return search(record) if search else None


def _text(declaration: Declaration, key: str, record: object) -> str:
    return as_text(_found(declaration, key, record))


def _required(declaration: Declaration, key: str, record: object) -> str:
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


def _share_read(declaration: Declaration, preview: Preview) -> float:
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
