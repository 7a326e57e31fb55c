"""The formats of `bank.json`: what is written today, and what was before.

A bank of format 1 names neither its method nor its collections, as all banks were alike then.
Whoever reads is given what it says under the keys of the present format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from deltamem_tui.bank import collection
from deltamem_tui.bank.collection import DEPTH_LIMIT, Collection
from deltamem_tui.errors import BankCorruptError, BankFormatError
from deltamem_tui.text import one_line

FORMAT = 2

METHOD_1 = "deltamem"
_TREE_1 = Collection(
    fields=("activation_condition", "execution_procedure", "termination_condition"),
    key="activation_condition",
    depth=DEPTH_LIMIT,
)
COLLECTIONS_1: Mapping[str, Collection] = {"task": _TREE_1, "env": _TREE_1}
_NAMES_1 = {"settings": "parameters"}
_LACKING_1 = ("method", "collections")


def read(text: bytes, source: str) -> dict[str, Any]:
    """What a manifest says, whatever its format, with `collections` as it declares them.

    Args:
        text: The manifest.
        source: Its file, for the error.

    Raises:
        BankFormatError: It is of a format that is not known.
        BankCorruptError: It is not a manifest.
    """
    try:
        record = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise corrupt(source, f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise corrupt(source, "not a JSON object")
    found = record.get("format")
    if type(found) is not int or found not in (1, FORMAT):
        raise BankFormatError(
            f"bank format {str(found)[:40]!r} is not known, only 1 and {FORMAT}",
            source=source,
            hint="a newer version of deltamem may read it",
        )
    if found == 1:
        record |= {new: record[old] for new, old in _NAMES_1.items() if old in record}
        return {**record, "method": METHOD_1, "collections": COLLECTIONS_1}
    try:
        return {**record, "collections": collection.parse(record.get("collections"))}
    except ValueError as error:
        raise corrupt(source, f"'collections': {one_line(str(error), 200)}") from error


def write(number: int, record: Mapping[str, Any]) -> bytes:
    """A manifest's text: indented, for people and for `git diff`.

    Args:
        number: Its format.
        record: What it says, under the keys of the present format.
    """
    if number == 1:
        record = {
            _NAMES_1.get(key, key): value for key, value in record.items() if key not in _LACKING_1
        }
    else:
        record = {**record, "collections": collection.to_record(record["collections"])}
    text = {"format": number, **record}
    return orjson.dumps(text, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def corrupt(source: str, message: str) -> BankCorruptError:
    """The error for a manifest that breaks the format's rules."""
    return BankCorruptError(message, source=source, hint="restore the file from a copy")
