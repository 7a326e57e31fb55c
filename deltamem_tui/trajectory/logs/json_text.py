"""JSON as it is found: values cut out of a stream without parsing, then parsed one at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

import orjson

from deltamem_tui.errors import RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.record import DEFAULT_LIMITS, LogLimits, human_size
from deltamem_tui.trajectory.secrets.redaction import quoted

_OUTSIDE_STRING = re.compile(rb'["{}\[\]]')
_OPENING = re.compile(rb"[{\[]")
# What changes no depth: all but brackets, short strings whole. Longer ones are found faster.
_LEVEL = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]{0,100}+")*+')
_BEGINS = (b"{", b"[", b'"')
_BETWEEN_VALUES = b" \t\r\n,"
_SHOWN_JUNK = 1024  # more than is shown, or half a key would be taken for none
# The only ones that a parser makes, told apart faster by type than by `isinstance`.
_NESTING = frozenset({dict, list})


def parse_json(data: bytes, nesting: int = DEFAULT_LIMITS.nesting) -> object:
    """Parse one JSON value; NaN, lone surrogates and control characters as Python does."""
    try:
        value: object = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        value = _leniently_parsed(data, error, nesting)
    # Nearly all records have too few brackets to be deep.
    if data.count(b"[") + data.count(b"{") > nesting and _is_deeper(value, nesting):
        raise _too_deep(nesting)
    return value


def _leniently_parsed(data: bytes, strict_error: orjson.JSONDecodeError, nesting: int) -> object:
    if "depth limit" in strict_error.msg or "Recursion" in strict_error.msg:
        raise _too_deep(nesting) from strict_error
    try:
        value: object = json.loads(data.decode("utf-8"), strict=False)
    except UnicodeDecodeError as error:
        raise RecordError(
            f"not valid UTF-8 (byte {error.start + 1} of the record)", hint="save the log as UTF-8"
        ) from error
    except RecursionError as error:
        raise _too_deep(nesting) from error
    except ValueError as error:
        raise RecordError(_complaint(data, strict_error)) from error
    return value


def _is_deeper(value: object, nesting: int) -> bool:
    """Return True if more than `nesting` objects and arrays lie inside one another."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(nesting):
        if not level:
            break
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if type(inner) in _NESTING
        ]
    return bool(level)


def _too_deep(nesting: int) -> RecordError:
    return RecordError(f"JSON nested more than {nesting:,} deep")


def _complaint(data: bytes, error: orjson.JSONDecodeError) -> str:
    if error.pos >= len(data.rstrip()) - 1 and data.lstrip()[:1] in _BEGINS:
        return "JSON that ends in the middle of a value"
    return f"not JSON: {one_line(error.msg, 120)} (column {error.pos + 1} of the record)"


class Cut(NamedTuple):
    """One piece of a stream: a whole value, one that is refused, or the junk between values."""

    kind: Literal["value", "refused", "junk"]
    data: bytes = b""
    reason: str = ""


class ValueCutter:
    """Cuts chunks of bytes into objects and arrays, in bounded memory, by counting brackets."""

    def __init__(self, limits: LogLimits, *, in_array: bool) -> None:
        self._limits = limits
        self._base = 1 if in_array else 0
        self._depth = 0
        self._in_string = False
        self._skip_next = False
        self._begin = 0  # of what is being gathered, in the chunk at hand
        self._value = bytearray()
        self._refusal = ""
        self._junk = bytearray()
        self._junk_size = 0

    def feed(self, chunk: bytes) -> Iterator[Cut]:
        """Yield the pieces that end in this chunk."""
        at = 1 if self._skip_next and chunk else 0
        self._skip_next = self._skip_next and not chunk
        self._begin = 0
        while True:
            if self._in_string:
                at = self._end_of_string(chunk, at)
                if self._in_string:
                    break
            if self._depth and (level := _LEVEL.match(chunk, at)):
                at = level.end()
            # Between loose values a quotation mark is prose, not the start of a string.
            found = (_OUTSIDE_STRING if self._depth else _OPENING).search(chunk, at)
            if found is None:
                break
            at = found.end()
            token = found.group()
            if token == b'"':
                self._in_string = True
            elif token in (b"{", b"["):
                yield from self._open(chunk, found.start())
            else:
                yield from self._close(chunk, at)
        self._keep_rest(chunk)

    # Plain searches: a pattern would take ten times as long, and most of a log is strings.
    def _end_of_string(self, chunk: bytes, at: int) -> int:
        """Return the place behind the string at hand, which may end in a later chunk."""
        quote = chunk.find(b'"', at)
        while True:
            backslash = chunk.find(b"\\", at, len(chunk) if quote < 0 else quote)
            if backslash < 0:
                self._in_string = quote < 0
                return quote + 1
            # What it escapes is not an end, and may be the next chunk's first byte.
            at = backslash + 2
            self._skip_next = at > len(chunk)
            if 0 <= quote < at:
                quote = chunk.find(b'"', at)

    def finish(self) -> Iterator[Cut]:
        """Yield what is left when the stream has ended."""
        yield from self._take_junk()
        if self._depth > self._base:
            self._refuse("JSON that ends in the middle of a value")
            yield self._take_value()
        elif self._depth:
            yield Cut("junk", reason="the JSON array has no end; the file may be cut short")

    def _open(self, chunk: bytes, bracket: int) -> Iterator[Cut]:
        self._depth += 1
        inside = self._depth - self._base
        if inside <= 1:
            self._add_junk(chunk[self._begin : bracket])
            yield from self._take_junk()
            # The bracket that opens the array itself belongs to no value.
            self._begin = bracket if inside == 1 else bracket + 1
        elif inside > self._limits.nesting:
            self._refuse(_too_deep(self._limits.nesting).message)

    def _close(self, chunk: bytes, end: int) -> Iterator[Cut]:
        self._depth -= 1
        if self._depth == self._base:
            self._add_value(chunk[self._begin : end])
            self._begin = end
            yield self._take_value()
        elif self._depth < self._base:
            self._add_junk(chunk[self._begin : end - 1])
            self._begin = end

    def _keep_rest(self, chunk: bytes) -> None:
        if self._depth > self._base:
            self._add_value(chunk[self._begin :])
        else:
            self._add_junk(chunk[self._begin :])

    def _add_value(self, part: bytes) -> None:
        if self._refusal:
            return
        if len(self._value) + len(part) > self._limits.record_bytes:
            self._refuse(f"a record of more than {human_size(self._limits.record_bytes)}")
        else:
            self._value += part

    def _refuse(self, reason: str) -> None:
        self._refusal = self._refusal or reason
        self._value.clear()

    def _take_value(self) -> Cut:
        value, reason = bytes(self._value), self._refusal
        cut = Cut("refused", reason=reason) if reason else Cut("value", value)
        self._refusal = ""
        self._value.clear()
        return cut

    def _add_junk(self, part: bytes) -> None:
        if not self._junk:
            part = part.lstrip(_BETWEEN_VALUES)
        self._junk_size += len(part)
        self._junk += part[: max(_SHOWN_JUNK - len(self._junk), 0)]

    def _take_junk(self) -> Iterator[Cut]:
        shown = bytes(self._junk).rstrip(_BETWEEN_VALUES)
        if shown:
            yield Cut("junk", shown, junk_reason(shown, self._junk_size))
        self._junk.clear()
        self._junk_size = 0


def junk_reason(data: bytes, size: int) -> str:
    """Return the report of bytes that are not a JSON object or array."""
    shown = quoted(data.decode("utf-8", "replace"), 40)
    return f"{human_size(size)} that are not JSON objects were left out: {shown}"
