"""What people are told of an intake beside its numbers, in the same words wherever they ask."""

from __future__ import annotations

from deltamem_tui.memory.episodes.receipts import Intake
from deltamem_tui.text import counted, one_line

_SHOWN_DOMAINS = 3
_DOMAIN_WIDTH = 40


def told_domains(intake: Intake) -> str:
    """The word about episodes of other domains than the bank's (was it the right bank?), if any."""
    domains = intake.domains
    if not domains.of_others:
        return ""
    others = domains.others  # not all of them, and none if very many others came first
    names = ", ".join(one_line(name, _DOMAIN_WIDTH) for name in others[:_SHOWN_DOMAINS])
    more = ", …" if len(others) > _SHOWN_DOMAINS else ""
    which = counted(domains.of_others, "episode is", "episodes are")
    bank = f"while the bank is of {one_line(domains.usual, _DOMAIN_WIDTH)}"
    return f"{which} of {names}{more}, {bank}"


def told_notices(intake: Intake, most: int, *, listing: str = "") -> list[str]:
    """The words about what readers left out by design.

    Args:
        intake: What became of the logs.
        most: How many are told word for word, at most; the others are counted.
        listing: Where those can be read that were kept, if they can.
    """
    words = [str(told) for told in intake.notices[:most]]
    more = intake.noticed - len(words)
    if not more:
        return words
    kept = len(intake.notices) - len(words)
    where = f": see {listing}" if kept == more else f", of which {listing} lists {kept:,}"
    count = f"more was left out so in {counted(more, 'place')}"
    return [*words, count + (where if listing else "")]
