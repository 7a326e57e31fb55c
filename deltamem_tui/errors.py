"""Every error that reaches a user, as one tree below `DeltaMemError`.

An error says what is wrong, where, and what to do, in one line. Only errors of this tree are meant
for people; anything else is a defect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any


class Remedy(StrEnum):
    """Advice on an error for which each face has its own wording.

    It is an error's hint. Its value is how the command line says it; another face has its own
    words for each.
    """

    ALLOW_WRITING = (
        "`deltamem bank unfreeze` allows writing; if it came with the package, copy it first"
    )
    UNPACK = "`deltamem bank install --unfreeze` unpacks one that can be"
    REPAIR = "`deltamem bank verify --repair` cuts it back to its last whole commit, if that is all"
    MAKE_BANK = "`deltamem init` makes a new one"
    LIST_BANKS = "`deltamem bank list` names all banks, `deltamem init NAME` makes one"
    REPLACE = "`--replace` writes over it"
    NAME_LOG = "a path, a folder, a pattern in quotes, or - for standard input"
    PIPE_LOG = "- reads standard input"
    NAME_FORMAT = "name the format with `--format`"
    DECLARE_FORMAT = (
        "name the format if you know it, or a TOML file that declares it, with `--format`"
    )
    SPLIT_LOG = (
        "split the log if another format begins here; "
        "else leave it out, or name the format with `--format`"
    )
    ASK_AFRESH = "try another model, or ask this one afresh with `--no-cache`"
    KEEP_NO_ANSWERS = "free some space, or use `--no-cache`"


class DeltaMemError(Exception):
    """Root of all errors that are meant for people.

    Attributes:
        message: What is wrong, as one sentence without a final full stop.
        source: The file, bank or node concerned, if there is one.
        position: Where in the source (`line 3`, `record 7`, `byte 120`), if known.
        hint: What to do about it, if there is something to do; a `Remedy` where faces differ.
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        position: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.position = position
        self.hint = hint

    def __str__(self) -> str:
        """Return the whole error on one line: `source, position: message (hint)`."""
        return on_one_line(self.message, self.source, self.position, self.hint)


def on_one_line(message: str, source: str | None, position: str | None, hint: str | None) -> str:
    """Return what, where and what to do as one line: `source, position: message (hint)`."""
    where = ", ".join(part for part in (source, position) if part)
    line = f"{where}: {message}" if where else message
    return f"{line} ({hint})" if hint else line


def lines_by_reason(remarks: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """Yield a line for each reason that errors or notices of a source share, and their number."""
    places: dict[tuple[str, str | None, str | None], list[str | None]] = {}
    for each in remarks:
        reason = (each.message, each.source, each.hint)
        places.setdefault(reason, []).append(each.position)
    for (message, source, hint), found in places.items():
        where = found[0]
        if more := len(found) - 1:
            where = f"{where} and {more:,} more" if where else f"{len(found):,} times"
        yield on_one_line(message, source, where, hint), len(found)


class UsageError(DeltaMemError):
    """The call itself is wrong: an unknown option value, a missing argument."""


def wrong_argument(name: str, wanted: str, given: object) -> UsageError:
    """Return the error of a call that hands over something of another kind than was asked for."""
    return UsageError(f"{name} must be {wanted}, not {type(given).__name__}")


class ConfigurationError(UsageError):
    """A setting that does not exist or has a value it cannot have."""


class BankError(DeltaMemError):
    """Something about a bank."""


class BankNotFoundError(BankError):
    """No bank has this name or path."""


class BankExistsError(BankError):
    """A bank would be written over."""


class BankCorruptError(BankError):
    """A file of the bank breaks the rules of the format."""


class BankFrozenError(BankError):
    """A write was asked of a frozen bank."""


class BankBusyError(BankError):
    """Another process is at work on the bank, for longer than is waited for."""


class BankRewrittenError(BankBusyError):
    """The bank's files were replaced since this handle looked: `refresh`, and read again."""


class NodeNotFoundError(BankError):
    """No node has this id."""


class StorageError(BankError):
    """The operating system refused to read or write."""


class TrajectoryError(DeltaMemError):
    """Something about a log or an episode."""


class RecordError(TrajectoryError):
    """One record of a log cannot be read; the others can.

    Attributes:
        format: The format it was read as; empty if none was found.
    """

    format: str = ""


class LogFormatError(TrajectoryError):
    """No reader claims the log, or several claim it equally."""


class EmbeddingError(DeltaMemError):
    """Something about turning text into vectors."""


class EmbedderUnavailableError(EmbeddingError):
    """The embedding model cannot be loaded here."""


class EmbedderMismatchError(EmbeddingError):
    """The bank was embedded by another model."""


class VectorError(EmbeddingError):
    """Vectors that are not finite, not of unit length or of the wrong width."""


class LanguageModelError(DeltaMemError):
    """Something about asking a language model. The call that failed has written nothing."""


class ModelUnavailableError(LanguageModelError):
    """The model did not answer, and asking again did not help."""


class PromptTooLongError(LanguageModelError):
    """The prompt does not fit the model's window."""


class AnswerError(LanguageModelError):
    """The model answered, but not with anything that can be used."""


class BudgetError(LanguageModelError):
    """The next call could pass the limit on cost, or its price is not known."""


class ExtractionError(DeltaMemError):
    """An extractor could not distil an episode."""


class GameError(DeltaMemError):
    """A game of an evaluation cannot be played on: its process died, or broke its protocol."""
