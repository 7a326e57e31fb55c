"""All log formats, and which of them a log has: the one that was named, or the surest reader's.

A new format is a TOML file in `formats`, or a module beside this one and two lines here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from deltamem_tui.errors import ConfigurationError, LogFormatError, Remedy, UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.outcome_file import ID_KEYS
from deltamem_tui.trajectory.outcome_keys import FLAG_KEYS, REWARD_KEYS
from deltamem_tui.trajectory.readers import (
    agent_data,
    alfworld,
    chat_logs,
    claude_code,
    cli_agents,
    codex,
    gateway,
    gemini_cli,
    handwritten,
    inspect_ai,
    labelled,
    letta,
    markdown,
    native,
    openclaw,
    openhands,
    scienceworld,
    swe_agent,
    trace_formats,
    webshop,
)
from deltamem_tui.trajectory.readers.declared import declared_reader, shipped_readers
from deltamem_tui.trajectory.readers.reader import Reader
from deltamem_tui.trajectory.readers.shapes import as_list, as_mapping

_RESULTS = "it looks like results of episodes"
_SCREEN = "it looks like what a screen showed, and not like an agent's own log"
_SETTINGS = "it looks like a configuration, in which no agent does anything"
_SETTING_LENGTH = 200  # what is longer is a text, and no setting

_REPORT_KEYS = frozenset({"resolved_ids", "unresolved_ids", "resolved_instances"})
_SCREEN_LINE = re.compile(r"^\s*[─-╿▀-▟]|\x1b\[[0-9;]*[HJf]|^Script started on ")
_SETTING_LINE = re.compile(r"^\s*(?:[\w.-]+\s*[:=]|\[[\w.\" -]+\]\s*$|[#;])")
# Words of descriptions that are not keys.
_WORD = re.compile(r"[A-Za-z_]{3,}")
_NO_KEYS = frozenset(
    {"action", "also", "and", "beside", "blocks", "flat", "inside", "json", "jsonl", "name"}
    | {"messages", "object", "objects", "one", "outcome", "runs", "side", "text", "type", "with"}
)


def likeness_of(preview: Preview, readers: Iterable[Reader]) -> tuple[str, Remedy]:
    """Return what a log that no reader claims looks like, if anything, and a remedy."""
    if preview.layout == "text":
        likeness = _of_text(preview.head)
    else:
        likeness = _of_records(preview.records, readers) if preview.records else ""
    return likeness, Remedy.GIVE_RESULTS if likeness == _RESULTS else Remedy.DECLARE_FORMAT


def _of_text(head: str) -> str:
    lines = [line for line in head.splitlines() if line.strip()]
    for mark, what in ((_SCREEN_LINE, _SCREEN), (_SETTING_LINE, _SETTINGS)):
        if sum(mark.search(line) is not None for line in lines) > len(lines) / 2:
            return what
    return _SCREEN if _SCREEN_LINE.match(head) else ""


def _of_records(records: tuple[object, ...], readers: Iterable[Reader]) -> str:
    if _are_results(records):
        return _RESULTS
    if {"version", "width", "height"} <= as_mapping(records[0]).keys():  # as asciinema records it
        return _SCREEN
    keys = set().union(*map(_keys, records))
    nearest = max(readers, key=lambda reader: _nearness(reader, keys))
    if _nearness(nearest, keys) >= 0.5:
        missed = ", ".join(f"`{key}`" for key in _described(nearest) if key not in keys)
        return f"it is most like {nearest.name}, {f'without {missed}' if missed else 'but differs'}"
    return _SETTINGS if len(records) == 1 and _are_settings(records[0]) else ""


def _are_results(records: Iterable[object]) -> bool:
    """Return True if records tell how episodes ended, and nothing of what was done in them."""
    for record in map(as_mapping, records):
        said = [*record.values()]
        verdicts = record.keys() & {*FLAG_KEYS, *REWARD_KEYS}
        is_row = bool(verdicts and record.keys() & {*ID_KEYS}) and not _has_rows(record)
        is_report = not record.keys().isdisjoint(_REPORT_KEYS)
        are_flags = all(isinstance(value, bool) for value in said)
        are_rows = all(as_mapping(value).keys() & {*FLAG_KEYS, *REWARD_KEYS} for value in said)
        if not said or not (is_row or is_report or are_flags or are_rows):
            return False
        if any(map(_has_rows, said)):
            return False
    return True


def _keys(record: object) -> set[object]:
    """Return the keys of a record, and of what it holds."""
    found: set[object] = set(as_mapping(record))
    for value in as_mapping(record).values():
        found.update(*(as_mapping(each) for each in (value, *as_list(value)[:2])))
    return found


def _has_rows(record: object) -> bool:
    """Return True if there is a list of objects somewhere in a record, as all logs have one."""
    inner = record if isinstance(record, list) else [*as_mapping(record).values()]
    if isinstance(record, list) and any(isinstance(each, dict) for each in inner):
        return True
    return any(_has_rows(value) for value in inner if isinstance(value, dict | list))


def _are_settings(value: object) -> bool:
    """Return True if an object holds nothing but names, numbers, and lists of them."""
    inner = [*value.values()] if isinstance(value, dict) else as_list(value)
    if isinstance(value, str):
        return len(value) <= _SETTING_LENGTH
    return not _has_rows(value) and all(map(_are_settings, inner))


def _described(reader: Reader) -> Iterator[str]:
    """Yield the keys that a reader's description names, behind its colon."""
    words = _WORD.findall(reader.description.partition(": ")[2])
    return (word for word in dict.fromkeys(words) if word not in _NO_KEYS)


def _nearness(reader: Reader, keys: set[object]) -> float:
    """Return the share of the keys that a reader's description names; one alone says nothing."""
    named = [*_described(reader)]
    found = sum(key in keys for key in named)
    return found / len(named) if found > 1 else 0.0


READERS: tuple[Reader, ...] = (
    native.READER,
    *alfworld.READERS,
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
    markdown.SPECSTORY,
    markdown.AIDER,
    inspect_ai.READER,
    *trace_formats.READERS,
    letta.READER,
    gateway.READER,
    chat_logs.OPENAI,
    chat_logs.ANTHROPIC,
    chat_logs.SHAREGPT,
    *webshop.READERS,
    *scienceworld.READERS,
    *labelled.READERS,
    *agent_data.READERS,
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
    """Return all readers, in the order in which they are listed to people."""
    return READERS


def reader_named(name: str) -> Reader:
    """Return the reader of a format, or the one that a TOML file declares (see `declared`).

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
    """Return every reader that claims a log, the surest first; empty if none does.

    Raises:
        TrajectoryError: The log cannot be opened.
    """
    return _claims(log.preview())


def _claims(preview: Preview) -> list[Claim]:
    claims = (Claim(reader, reader.claims(preview)) for reader in READERS)
    return sorted((claim for claim in claims if claim.sureness > 0), key=lambda c: -c.sureness)


def reader_of(log: Log) -> Reader:
    """Return the one reader that is surest of a log.

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
