"""What an agent would be told; or, one at a time, why there is nothing of it yet."""

from __future__ import annotations

from textual.content import Content

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.text import count_tokens, counted
from deltamem_tui.tui.models.recall_lab import NOTHING_RECALLED, LabAnswer, near_misses
from deltamem_tui.tui.models.sections import Section
from deltamem_tui.tui.widgets.text_pane import TextPane


class ContextPane(TextPane):
    """The context of an answer in the lab."""

    def on_mount(self) -> None:
        """Says what it is."""
        self.border_title = "context"

    def explain(self, words: str) -> None:
        """Says what can be asked."""
        self.border_title = "context"
        self.show([Section("", words, quiet=True)])

    def asking(self) -> None:
        """Says that another answer is on its way."""
        self.border_title = "context · asking …"

    def waiting(self) -> None:
        """Says what the first answer waits for."""
        words = "The embedding model is being loaded. The answer comes once it is there."
        self.show([Section("", words, quiet=True)])

    def failed(self, error: DeltaMemError) -> None:
        """Says why there is no answer."""
        self.border_title = "context"
        self.show([Section("No answer", str(error), warning=True)])

    def answered(self, bank: Bank, given: LabAnswer) -> None:
        """Shows the context; where nothing is recalled, the nodes that came nearest."""
        context = given.found.context if given.found else ""
        self.border_title = Content(f"context · {counted(count_tokens(context), 'token')}")
        nearest = [] if context else near_misses(bank, given)
        self.show([Section("", context or NOTHING_RECALLED), *nearest])
