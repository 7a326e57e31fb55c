"""One record of an episode from two: with the words of both on how it ended.

Of each source one word is kept: one that knows the end before one that does not, then that of the
greater digest. The weightiest that knows it is the outcome, a person's before the log's and that
before a judge's; the others stand beside it. The receipts of both are kept. What else differs is
the longer record's, then that of the greater digest. Each is the greatest of a total order, so the
order of banks does not matter. One that was replaced by a longer record in any bank is in all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

_OUTCOME, _VERDICTS, _RECEIPTS = "outcome", "verdicts", "receipts"
_REPLACED = "replaced_by"
_SOURCES = ("judge", "stated", "user")
"""Who may say how an episode ended, the weightiest last."""


def united(one: bytes, other: bytes) -> bytes:
    """The line of an episode that two banks keep otherwise, without its end."""
    records = parsed(one), parsed(other)
    if gone := [record for record in records if _REPLACED in record]:
        return orjson.dumps(max(gone, key=_digest))
    words: dict[str, Mapping[str, Any]] = {}
    for record in records:
        for word in _words(record):
            source = _source(word)
            words[source] = max(words.get(source, word), word, key=_rank)
    longer: Mapping[str, Any] = max(records, key=_rest_rank)
    # Where records are alike but for these, which one is taken must not show.
    record = {name: longer[name] for name in longer if name not in (_VERDICTS, _RECEIPTS)}
    if words:
        first, *others = sorted(words.values(), key=_rank, reverse=True)
        record[_OUTCOME] = first
        kept = [each for each in others if _source(each) in _SOURCES]
        if kept:
            record[_VERDICTS] = kept
    if receipts := _receipts(records):
        record[_RECEIPTS] = receipts
    return orjson.dumps(record)


def parsed(line: bytes) -> dict[str, Any]:
    """The record of a line; empty if it is none."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def _receipts(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The receipts of all records, each once; of two with one id that of the greater digest."""
    found: dict[str, Mapping[str, Any]] = {}
    for record in records:
        given = record.get(_RECEIPTS)
        for each in given if isinstance(given, list) else ():
            if isinstance(each, dict):
                name = str(each.get("id"))
                found[name] = max(found.get(name, each), each, key=_digest)
    return [found[name] for name in sorted(found)]


def _words(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    verdicts = record.get(_VERDICTS)
    for each in (record.get(_OUTCOME), *(verdicts if isinstance(verdicts, list) else ())):
        if isinstance(each, dict):
            yield each


def _source(word: Mapping[str, Any]) -> str:
    source = word.get("source")
    return source if isinstance(source, str) else ""


def _rank(word: Mapping[str, Any]) -> tuple[bool, int, bytes]:
    source = _source(word)
    weight = _SOURCES.index(source) if source in _SOURCES else -1
    return word.get("success") is not None, weight, _digest(word)


def _rest_rank(record: Mapping[str, Any]) -> tuple[int, bytes]:
    rest = {
        name: value
        for name, value in record.items()
        if name not in (_OUTCOME, _VERDICTS, _RECEIPTS)
    }
    return len(orjson.dumps(rest)), _digest(rest)


def _digest(value: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(orjson.dumps(value)).digest()
