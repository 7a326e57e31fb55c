"""What lift says to people: shares with their intervals, and how little they prove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltamem_tui.memory.credit.intervals import Difference, Share, difference
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from deltamem_tui.memory.lift import BankLift


def share_text(share: Share) -> str:
    """`3 of 5: 0.60 (0.23 to 0.88)`; empty of nothing."""
    if share.mean is None:
        return ""
    low, high = share.interval
    counts = f"{share.successes:,} of {share.judged:,}"
    return f"{counts}: {share.mean:.2f} ({low:.2f} to {high:.2f})"


def difference_text(pair: tuple[Share, Share]) -> str:
    """What memory adds in one kind of task; empty if one side has no episode."""
    found = difference(*pair)
    return _signed(found) if found else ""


def _signed(found: Difference) -> str:
    return f"{found.value:+.2f} ({found.low:+.2f} to {found.high:+.2f})"


def overall_text(found: BankLift) -> str:
    """What memory adds over all kinds that have both, and whether its interval is clear of zero."""
    overall = found.overall
    if overall is None:
        return "no kind of task has judged episodes both with memory and without"
    more = "more" if overall.value > 0 else "less"
    clear = f"those with memory succeeded {more} often"
    said = clear if overall.is_clear else "too few to tell them apart"
    return f"within kinds, success with memory less that without: {_signed(overall)}; {said}"


def notes_of(found: BankLift) -> list[object]:
    """What a person has to know to read the numbers."""
    notes: list[object] = []
    if found.without_receipt == found.episodes:
        return ["no episode says what it was shown; see `recall --receipt` and `import --receipts`"]
    notes.append(overall_text(found))
    if found.nodes:
        harmful, helpful = found.looking("harmful"), found.looking("helpful")
        notes.append(
            f"{counted(harmful, 'node looks', 'nodes look')} harmful and {helpful:,} helpful, of "
            f"{len(found.nodes):,}; by chance alone up to about {found.by_chance:.1f} would on "
            "each side"
        )
    left_out = {
        "without a receipt": found.without_receipt,
        "without a verdict": found.without_verdict,
    }
    if any(left_out.values()):
        named = ", ".join(f"{count:,} {why}" for why, count in left_out.items() if count)
        notes.append(f"of {counted(found.episodes, 'episode')} left out: {named}")
    notes.append(
        "none were drawn by lot: an episode that was shown nothing is often the first of its kind, "
        "and a node is shown where tasks are like its own"
    )
    return notes
