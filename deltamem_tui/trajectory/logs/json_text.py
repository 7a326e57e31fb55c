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

_WITHIN_VALUE = re.compile(rb'"(?>(?:[^"\\]++|\\(?:.|\Z))*)(?:"|\Z)|[{}\[\]]', re.DOTALL)
_OPENING = re.compile(rb"[{\[]")
_QUOTE = ord('"')
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
    # Between loose values a quotation mark is prose, not the start of a string.
    while found := (_WITHIN_VALUE if depth else _OPENING).search(data, at):
        at = found.end()
        if (sign := data[found.start()]) != _QUOTE:
            opens = sign in b"{["
            depth += 1 if opens else -1
            yield at, opens, depth


def _junk(part: bytes) -> Iterator[Cut]:
    if junk := part.strip(_BETWEEN_VALUES):
        shown = junk[:_SHOWN_JUNK].rstrip(_BETWEEN_VALUES)
        yield Cut("junk", shown, junk_reason(shown, len(junk)))


def junk_reason(data: bytes, size: int) -> str:
    """Return the report of bytes that are not a JSON object or array."""
    shown = quoted(data.decode("utf-8", "replace"), 40)
    return f"{human_size(size)} that are not JSON objects were left out: {shown}"
