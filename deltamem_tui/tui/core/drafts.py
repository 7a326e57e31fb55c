"""Texts that a person wrote and that could not be saved: kept until they are.

They lie in the user's state folder from the moment they were written, so that neither closing
the bank nor a crash takes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

import orjson

from deltamem_tui.tui.core.state import state_file, write_quietly

Place = tuple[str, str]
"""A tree and the id of a node: what a text is of."""


class Drafts:
    """The texts of one bank that could not be saved, or not yet.

    Args:
        bank: The bank.
    """

    def __init__(self, bank: Path) -> None:
        self._file = drafts_file(bank)
        self._mine: dict[str, str] = {}  # for when the folder cannot be written

    def of(self, place: Place) -> str | None:
        """The text that was written for a node, if there is one."""
        return self._all().get("/".join(place))

    def keep(self, place: Place, text: str) -> None:
        """Keep a text until it is saved, or its author discards it."""
        self._mine["/".join(place)] = text
        self._write(self._all())

    def drop(self, place: Place) -> None:
        """Let a text go."""
        self._mine.pop("/".join(place), None)
        left = self._all()
        if left.pop("/".join(place), None) is not None:
            self._write(left)

    def _all(self) -> dict[str, str]:
        """The texts, also those of another browser. A file that cannot be read holds none."""
        try:
            record = orjson.loads(self._file.read_bytes())
        except (OSError, ValueError):
            record = {}
        texts = record.items() if isinstance(record, dict) else ()
        return {name: text for name, text in texts if isinstance(text, str)} | self._mine

    def _write(self, texts: Mapping[str, str]) -> None:
        if texts:
            write_quietly(self._file, orjson.dumps(texts))
            return
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)


def drafts_file(bank: Path) -> Path:
    """Where the texts of the bank in a folder are kept."""
    return state_file(bank).with_suffix(".drafts.json")
