"""A command's result as a value: all that is printed of it, and the exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

from deltamem_tui.cli.page import Page
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.text import clean, cleaned

if TYPE_CHECKING:
    from deltamem_tui.memory.reports.view import ReportView

Status = Literal["success", "partial", "error"]
View = Callable[[Page], None]


def facts(named: Mapping[str, Any]) -> View:
    """Return a view of name and value pairs."""
    return lambda page: page.facts(named)


def table(columns: Sequence[str], rows: Iterable[Any]) -> View:
    """Return a view of rows, or of records by the names of the columns; without any, nothing."""
    found = [[row[c] for c in columns] if isinstance(row, Mapping) else row for row in rows]
    names = [each.replace("_", " ") for each in columns]
    return lambda page: page.table(names, found) if found else None


class ExitCode(IntEnum):
    """The exit codes."""

    SUCCESS = 0
    FAILURE = 1
    USAGE = 2
    PARTIAL = 3
    INTERRUPTED = 130


class InterruptionError(DeltaMemError):
    """The user pressed Ctrl+C before the work was done."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a command: everything that is printed, in either form.

    Attributes:
        command: The command's name.
        data: What it found or made, the `data` of the JSON document: plain values,
            dataclasses, paths and arrays; None if there is nothing because of an error.
        errors: What went wrong, whole or in part.
        status: `success` without errors, `partial` if some of the work stands, else `error`.
        view: Shows the data to a person; without one, nothing is on stdout.
        notes: What else a person should know: what was done, what to do next.
        code: What to exit with; as the status says if None.
    """

    command: str
    data: Any = None
    errors: Sequence[DeltaMemError] = ()
    status: Status = "success"
    view: View | None = field(default=None, compare=False)
    notes: Sequence[object] = ()
    code: ExitCode | None = None

    @classmethod
    def failed(cls, command: str, error: DeltaMemError) -> Result:
        """Return the result of a command that an error ended."""
        return cls(command, None, (error,), "error")

    @classmethod
    def of_view(
        cls,
        command: str,
        view: ReportView,
        errors: Sequence[DeltaMemError] = (),
        status: Status = "success",
    ) -> Result:
        """Return the result of a command that did what a report shows."""
        return cls(command, view.record, errors, status, facts(view.facts), view.notes)

    @staticmethod
    def verdict(done: int, errors: Sequence[DeltaMemError]) -> Status:
        """Return the status of work on many things, of which `done` were done."""
        if not errors:
            return "success"
        return "partial" if done else "error"

    @property
    def exit_code(self) -> ExitCode:
        """The exit code: 130 whenever the work was interrupted."""
        if any(isinstance(error, InterruptionError) for error in self.errors):
            return ExitCode.INTERRUPTED
        if self.code is not None:
            return self.code
        if self.status != "error":
            return ExitCode.SUCCESS if self.status == "success" else ExitCode.PARTIAL
        usage = all(isinstance(error, UsageError) for error in self.errors)
        return ExitCode.USAGE if usage else ExitCode.FAILURE

    def document(self) -> bytes:
        """Return the JSON document, in UTF-8, with a newline at its end."""
        import orjson

        options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY
        content = {
            "command": self.command,
            "status": self.status,
            "data": cleaned(self.data),
            "errors": [_described(error) for error in self.errors],
        }
        return orjson.dumps(content, option=options)


def _described(error: DeltaMemError) -> dict[str, str]:
    parts = {name: getattr(error, name) for name in ("message", "source", "position", "hint")}
    return {name: clean(part) for name, part in parts.items() if part is not None}
