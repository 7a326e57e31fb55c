"""The numbers of a bank: saving those that a person tried out, and what proposed ones rest on."""

from __future__ import annotations

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.memory.deltamem.settings import Parameters, change, changed
from deltamem_tui.tui.models.what_if import NUMBERS


def grounds_of(bank: Bank) -> object:
    """What proposed thresholds rest on: they are worth nothing once this is another.

    It is what the trees hold, vectors included; counters and parameters may change.
    """
    return bank.manifest.embedder, *(bank.tree(name).snapshot.extent for name in COLLECTIONS)


def save_numbers(bank: Bank, typed: Parameters, shown: Parameters) -> str:
    """Change the numbers that were typed over, and leave the others to whoever wrote them last.

    Args:
        bank: The bank.
        typed: The numbers as a person left them.
        shown: The numbers as they were shown at first.

    Returns:
        What was saved, as a sentence.

    Raises:
        BankFrozenError: The bank is frozen.
        ConfigurationError: A number is outside its range.
    """

    def taken_over(numbers: Parameters) -> Parameters:
        for tree in COLLECTIONS:
            pairs = {each: getattr(typed[tree], each) for each in NUMBERS}
            mine = {key: to for key, to in pairs.items() if to != getattr(shown[tree], key)}
            numbers = changed(numbers, tree, **mine)
        return numbers

    numbers = change(bank, "recall lab", taken_over)
    said = "; ".join(
        f"{tree} threshold {numbers[tree].tau_base:g}, "
        f"failure penalty {numbers[tree].failure_penalty:g}"
        for tree in COLLECTIONS
    )
    return f"saved: {said}"
