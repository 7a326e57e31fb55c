"""Waste: what was asked and came to nothing, told to the journal all the same.

Questions are sent ahead of their turn, runs are stopped, servers go away. Whoever reads the
journal finds every call that was paid for: with the lesson it taught, with the refusal it ended
in, or here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.writers.extraction import Call

EVENT = "waste"


def tell_waste(bank: Bank, calls: Sequence[Call], on_their_way: int = 0) -> None:
    """Write calls that came to nothing into the journal, if there are any.

    Args:
        bank: The bank that they were made for.
        calls: The calls whose answers came.
        on_their_way: How many more had no answer when nobody waited any longer. What they take
            is not known; their answers are not lost if they come before the program ends.

    Raises:
        BankError: The bank cannot be written.
    """
    if calls or on_their_way:
        with bank.writing() as batch:
            batch.log(EVENT, waste_record(calls, on_their_way))


def waste_record(calls: Sequence[Call], on_their_way: int) -> dict[str, Any]:
    """What the journal tells of calls that came to nothing, without what is empty."""
    record: dict[str, Any] = {
        "calls": [call.record() for call in calls] or None,
        "on_their_way": on_their_way or None,
    }
    return {key: value for key, value in record.items() if value is not None}
