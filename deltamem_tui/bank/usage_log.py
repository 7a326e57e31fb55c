"""`usage.jsonl`: what models were paid for this bank, one line an answer, written as it comes.

It is the bill and not the bank: no commit counts its lines, no digest covers it, and it is
appended to without the bank's lock. It goes wherever the journal goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from deltamem_tui.bank.disk import files

FILE_NAME = "usage.jsonl"
_LINE_LIMIT = 64 * 1024


def append(folder: Path, record: Mapping[str, Any]) -> None:
    """Write one line. When this returns, it is on the disk."""
    files.append_line(folder / FILE_NAME, orjson.dumps(record))


def records(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the lines of a bank's folder or archive. What is not a record is passed over."""
    path = folder / FILE_NAME
    for line in files.forwards(path, _LINE_LIMIT) if files.exists(path) else ():
        with suppress(orjson.JSONDecodeError):  # cut off when the power failed
            record = orjson.loads(line)
            if isinstance(record, dict):
                yield record
