"""Questions to a bank that the user keeps, to ask them again once the bank has changed.

They lie in the user's state folder, not in the bank: what a person wants answered is not
experience.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from deltamem_tui.tui.core.state import state_file, write_quietly
from deltamem_tui.tui.models.kept_answers import KeptQuestion
from deltamem_tui.typed import decoded

_SIZE_LIMIT = 5_000_000


class KeptQuestions:
    """The questions that are kept for a bank.

    Args:
        bank: The bank.
    """

    def __init__(self, bank: Path) -> None:
        self._file = questions_file(bank)

    def all(self) -> dict[str, KeptQuestion]:
        """The questions by their names, also those of another browser.

        A file that cannot be read holds none.
        """
        try:
            text = self._file.read_bytes()
            if len(text) > _SIZE_LIMIT:
                return {}
            return decoded(text, dict[str, KeptQuestion])
        except (OSError, msgspec.DecodeError):
            return {}

    def keep(self, name: str, question: KeptQuestion) -> bool:
        """Keeps a question, in place of the one of this name. Returns whether it could be."""
        kept = {**self.all(), name: question}
        self._write(kept)
        return self.all() == kept

    def drop(self, name: str) -> None:
        """Lets a question go."""
        self._write({each: kept for each, kept in self.all().items() if each != name})

    def _write(self, kept: Mapping[str, KeptQuestion]) -> None:
        write_quietly(self._file, msgspec.json.encode(kept))


def questions_file(bank: Path) -> Path:
    """Where the questions that are kept for the bank in a folder lie."""
    return state_file(bank).with_suffix(".questions.json")
