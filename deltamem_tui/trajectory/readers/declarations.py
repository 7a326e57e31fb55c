"""Declarations of formats as they are written: small TOML files of expressions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, structs

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.tables import StoredTable

_MOST_BYTES = 1_000_000


class _StepPaths(Struct, forbid_unknown_fields=True):
    action: str = ""
    observation: str = ""
    thought: str = ""
    reward: str = ""
    tool: str = ""
    arguments: str = ""
    status: str = ""


class OutcomePaths(Struct, forbid_unknown_fields=True):
    """Expressions that give how a record ended."""

    success: str = ""
    reward: str = ""
    reason: str = ""
    source: str = ""
    best: str | Annotated[float, Meta(gt=0)] = 1.0


class Declaration(Struct, forbid_unknown_fields=True):
    """A declaration as it is written: expressions, except for the names and `gather`."""

    name: str = ""
    description: str = ""
    own: str = ""
    gather: bool = False
    follows: str = ""
    begins: str = ""
    foreign: str = ""
    calls: bool = False
    records: str = ""
    task: str = ""
    environment: str = ""
    messages: str = ""
    spans: str = ""
    fault: str = ""
    steps: str = ""
    rewards: str = ""
    domain: str = ""
    agent: str = ""
    scores: str = ""
    step: _StepPaths = msgspec.field(default_factory=_StepPaths)
    outcome: str | OutcomePaths = ""
    tables: dict[str, StoredTable] = msgspec.field(default_factory=dict)
    left_out: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    metadata: str | dict[str, str] = msgspec.field(default_factory=dict)

    def expressions(self) -> dict[str, str]:
        """Return all expressions that are there, by key; those of tables as `step.action`."""
        found: dict[str, object] = {}
        waiting: list[tuple[str, object]] = [*structs.asdict(self).items()]
        for key, value in waiting:  # grows while it is walked
            table = structs.asdict(value) if isinstance(value, Struct) else value
            if isinstance(table, dict) and key != "tables":
                waiting += [(f"{key}.{name}", inner) for name, inner in table.items()]
            elif key not in ("name", "description"):
                found[key] = table
        return {key: text for key, text in found.items() if text and isinstance(text, str)}


def loaded(path: Path, source: str) -> Declaration:
    """Return the declaration in a file, which errors call `source`.

    Raises:
        ConfigurationError: It cannot be read, or is no declaration.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        raise ConfigurationError(reason, source=source) from error
    if len(data) > _MOST_BYTES:
        raise ConfigurationError("larger than any declaration of a format", source=source)
    try:
        return msgspec.toml.decode(data.decode("utf-8"), type=Declaration)
    except msgspec.ValidationError as error:
        raise ConfigurationError(one_line(str(error), 200), source=source) from error
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as error:
        reason = f"not TOML: {one_line(str(error), 200)}"
        raise ConfigurationError(reason, source=source) from error
