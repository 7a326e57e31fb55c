"""An account: what one run was answered, and how far the journal tells of it.

Every answer is paid for. It is told with the lesson, the verdict or the fusion that it brought,
by the commit that keeps that; what no commit told by then came to nothing, and is told as waste.
Told is only what a commit that returned has told: if the bank takes none, the ledger stays, and
whoever works with the bank next tells what it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import BankError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.learn_result import usage_of
from deltamem_tui.memory.runs.ledger import Ledger, Payer
from deltamem_tui.memory.runs.waste import EVENT as WASTE
from deltamem_tui.memory.runs.waste import tell_waste
from deltamem_tui.memory.writers.extraction import Call


class Entry:
    """What was asked for one episode or chain, and what of that is told.

    Attributes:
        calls: The questions that no commit has told yet.
        told_usage: What those took that one has told.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.told_usage = Usage()

    def asked(self, call: Call | None) -> None:
        """Note a question that was put to a model; once, however often it comes up."""
        if call is not None and not any(call is other for other in self.calls):
            self.calls.append(call)

    def told(self, calls: Iterable[Call]) -> None:
        """Note that a commit has returned which tells of these questions."""
        for call in calls:
            if call in self.calls:
                self.calls.remove(call)
            self.told_usage += call.usage


class Account:
    """The account of one run. It is made for one thread, and closed at the end.

    Attributes:
        used: What the questions took that were told with what they brought.
    """

    def __init__(self, bank: Bank, payer: Payer | None) -> None:
        """Listen to the payer from now on.

        Args:
            bank: The bank that the answers are for.
            payer: Who pays for them; None if nobody is asked.
        """
        self._bank = bank
        self._ledger = Ledger(bank, payer) if payer else None
        self._wasted: list[Call] = []
        self.used = Usage()

    @contextmanager
    def telling(self, about: str) -> Iterator[Entry]:
        """Note what the next commit is about, and afterwards, what it told and what it did not.

        Args:
            about: An episode, or the last node of a chain.
        """
        if self._ledger:
            self._ledger.telling(about)
        entry = Entry()
        try:
            yield entry
        finally:
            self._told(entry.told_usage)
            self._wasted += entry.calls
            self.used += entry.told_usage

    def tell_waste(self, unused: Iterable[Call] = (), *, least: int = 1) -> None:
        """Tell of calls that came to nothing, as soon as there are enough to fill a line.

        Args:
            unused: More of them, that no entry knows.
            least: How many are enough.

        Raises:
            BankError: The bank cannot be written.
        """
        self._wasted += unused
        if len(self._wasted) >= least:
            self._tell_waste()

    def close(self, unused: Iterable[Call] = (), *, on_their_way: int = 0) -> None:
        """Tell of all that came to nothing, and listen no more.

        What is wrong with the bank was told by what ended the run.

        Args:
            unused: Calls that came to nothing and that no entry knows.
            on_their_way: How many calls have no answer and are not waited for any longer.
        """
        self._wasted += unused
        try:
            with suppress(BankError):
                self._tell_waste(on_their_way)
        finally:
            if self._ledger:
                self._ledger.close()

    def _tell_waste(self, on_their_way: int = 0) -> None:
        if self._ledger:
            self._ledger.telling(WASTE)
        tell_waste(self._bank, self._wasted, on_their_way)
        self._told(usage_of(self._wasted))
        self._wasted.clear()

    def _told(self, usage: Usage) -> None:
        if self._ledger:
            self._ledger.told(usage)
