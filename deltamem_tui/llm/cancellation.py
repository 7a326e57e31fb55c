"""The end of a question that nobody waits for any more."""

from __future__ import annotations

from deltamem_tui.errors import LanguageModelError


class GivenUpError(LanguageModelError):
    """Whoever asked has stopped, so the model was not asked, or not asked again."""

    def __init__(self) -> None:
        super().__init__(
            "the question was given up before it was answered",
            hint="what was learnt so far is kept; run again to go on",
        )
