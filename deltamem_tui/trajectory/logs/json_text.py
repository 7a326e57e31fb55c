"""JSON as it is found: values cut out of bytes without parsing, then parsed one at a time."""

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
_BACKSLASH = ord("\\")
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
    """One piece of some bytes: a whole value, one that is refused, or the junk between values."""

    kind: Literal["value", "refused", "junk"]
    data: bytes = b""
    reason: str = ""


def cut_json(data: bytes, limits: LogLimits, *, in_array: bool) -> Iterator[Cut]:
    """Yield the objects and arrays in some bytes, of one array or loose, by counting brackets."""
    base = 1 if in_array else 0
    begin, inside = 0, -base
    refusal = ""
    for at, opens, depth in _brackets(data):
        inside = depth - base
        if opens and inside > limits.nesting:
            refusal = _too_deep(limits.nesting).message
        elif opens and inside <= 1:
            yield from _junk(data[begin : at - 1])
            begin = at - inside  # the bracket that opens the array itself belongs to no value
        elif not opens and inside == 0:
            if at - begin > limits.record_bytes:
                refusal = f"a record of more than {human_size(limits.record_bytes)}"
            yield Cut("refused", reason=refusal) if refusal else Cut("value", data[begin:at])
            begin, refusal = at, ""
        elif not opens and inside < 0:
            yield from _junk(data[begin : at - 1])
            begin = at
    if inside > 0:
        yield Cut("refused", reason=refusal or "JSON that ends in the middle of a value")
        return
    yield from _junk(data[begin:])
    if in_array and inside == 0:
        yield Cut("junk", reason="the JSON array has no end; the file may be cut short")


def _brackets(data: bytes) -> Iterator[tuple[int, bool, int]]:
    """Yield the place behind each bracket that counts, whether it opens, and the depth there."""
    depth = at = 0
    while True:
        if depth and (level := _LEVEL.match(data, at)):
            at = level.end()
        # Between loose values a quotation mark is prose, not the start of a string.
        found = (_OUTSIDE_STRING if depth else _OPENING).search(data, at)
        if found is None:
            return
        at = found.end()
        if found[0] == b'"':
            at = _string_end(data, at)
        else:
            opens = found[0] in (b"{", b"[")
            depth += 1 if opens else -1
            yield at, opens, depth


# Plain searches: a pattern would take ten times as long, and most of a log is strings.
def _string_end(data: bytes, at: int) -> int:
    """Return the place behind the string whose text begins at `at`."""
    while (quote := data.find(b'"', at)) >= 0:
        first = quote
        while first > at and data[first - 1] == _BACKSLASH:
            first -= 1
        if (quote - first) % 2 == 0:
            return quote + 1
        at = quote + 1
    return len(data)


def _junk(part: bytes) -> Iterator[Cut]:
    if junk := part.strip(_BETWEEN_VALUES):
        shown = junk[:_SHOWN_JUNK].rstrip(_BETWEEN_VALUES)
        yield Cut("junk", shown, junk_reason(shown, len(junk)))


def junk_reason(data: bytes, size: int) -> str:
    """Return the report of bytes that are not a JSON object or array."""
    shown = quoted(data.decode("utf-8", "replace"), 40)
    return f"{human_size(size)} that are not JSON objects were left out: {shown}"
