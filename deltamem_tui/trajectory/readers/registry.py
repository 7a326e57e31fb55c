"""All log formats, and which of them a log has: the one that was named, or the surest reader's.

A new format is a TOML file in `formats`, or a module beside this one and two lines here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deltamem_tui.errors import ConfigurationError, LogFormatError, Remedy, UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.readers import (
    agent_data,
    alfworld,
    atif,
    chat_logs,
    claude_code,
    cli_agents,
    codex,
    frameworks,
    gateway,
    gemini_cli,
    handwritten,
    inspect_ai,
    labelled,
    langfuse,
    langsmith,
    letta,
    markdown,
    native,
    openclaw,
    openhands,
    otel,
    scienceworld,
    swe_agent,
    webshop,
)
from deltamem_tui.trajectory.readers.declared import declared_reader, shipped_readers
from deltamem_tui.trajectory.readers.reader import Reader
from deltamem_tui.trajectory.readers.unknown import likeness_of

READERS: tuple[Reader, ...] = (
    native.READER,
    alfworld.REACT,
    alfworld.WRAPPER,
    swe_agent.SWE_AGENT,
    swe_agent.MINI_SWE_AGENT,
    openhands.OPENHANDS,
    openhands.OPENHANDS_SDK,
    claude_code.READER,
    codex.READER,
    openclaw.READER,
    gemini_cli.READER,
    cli_agents.COPILOT,
    cli_agents.QWEN,
    *frameworks.READERS,
    markdown.SPECSTORY,
    markdown.AIDER,
    atif.READER,
    inspect_ai.READER,
    langfuse.READER,
    langsmith.READER,
    otel.OTEL,
    letta.READER,
    gateway.READER,
    chat_logs.OPENAI,
    chat_logs.ANTHROPIC,
    chat_logs.SHAREGPT,
    webshop.TEXT,
    webshop.HUMAN,
    scienceworld.HISTORY,
    scienceworld.RECORDING,
    labelled.REFLEXION,
    labelled.FIREACT,
    labelled.PLAIN,
    agent_data.READER,
    *handwritten.READERS,
    *shipped_readers(),
)

# Two claims closer than this are a tie: no reader's sureness is finer.
_TIE = 1e-6


@dataclass(frozen=True, slots=True)
class Claim:
    """How sure a reader is of a log, above 0 and up to 1."""

    reader: Reader
    sureness: float


def readers() -> tuple[Reader, ...]:
    """All readers, in the order in which they are listed to people."""
    return READERS


def reader_named(name: str) -> Reader:
    """The reader of a format, or the one that a TOML file declares (see `declared`).

    Raises:
        UsageError: There is no such format and no such file.
        ConfigurationError: The file declares no reader, or one under the name of another.
    """
    for reader in READERS:
        if reader.name == name:
            return reader
    if name.endswith(".toml") or Path(name).is_file():
        return _declared(Path(name))
    names = ", ".join(reader.name for reader in READERS)
    raise UsageError(
        f"unknown format {one_line(name, 60)}",
        hint=f"a TOML file that declares it, or one of {names}",
    )


def _declared(path: Path) -> Reader:
    reader = declared_reader(path)
    if any(reader.name == known.name for known in READERS):
        raise ConfigurationError(
            f"there is a format {reader.name} already",
            source=one_line(path.name, 200),
            position="name",
            hint="call yours something else",
        )
    return reader


def detect(log: Log) -> list[Claim]:
    """Every reader that claims a log, the surest first; empty if none does.

    Raises:
        TrajectoryError: The log cannot be opened.
    """
    return _claims(log.preview())


def _claims(preview: Preview) -> list[Claim]:
    claims = (Claim(reader, reader.claims(preview)) for reader in READERS)
    return sorted((claim for claim in claims if claim.sureness > 0), key=lambda c: -c.sureness)


def reader_of(log: Log) -> Reader:
    """The one reader that is surest of a log.

    Raises:
        LogFormatError: There is none, or more than one.
        TrajectoryError: The log cannot be opened.
    """
    if problem := log.problem:
        raise LogFormatError(problem, source=log.name)
    preview = log.preview()
    claims = _claims(preview)
    if not claims and not preview.records and preview.refusals:
        refusal, *others = preview.refusals
        where = ", ".join(filter(None, (each.position for each in others)))
        reason = f"{refusal.message}; nor can {where} be read" if where else refusal.message
        raise LogFormatError(reason, source=log.name, position=refusal.position, hint=refusal.hint)
    if not claims and preview.layout == "array" and not preview.records:
        raise LogFormatError("a list with no record in it", source=log.name)
    if not claims:
        likeness, remedy = likeness_of(preview, READERS)
        why = f"; {likeness}" if likeness else ""
        raise LogFormatError(f"no reader knows this format{why}", source=log.name, hint=remedy)
    tied = [claim.reader.name for claim in claims if claims[0].sureness - claim.sureness < _TIE]
    if len(tied) > 1:
        raise LogFormatError(
            f"could be {' or '.join(tied)}", source=log.name, hint=Remedy.NAME_FORMAT
        )
    return claims[0].reader
