"""What people are told of an intake beside its numbers, in the same words wherever they ask."""

from __future__ import annotations

from deltamem_tui.memory.episodes.import_report import Intake
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.reasons import ReasonTally

_SHOWN_DOMAINS = 3
_DOMAIN_WIDTH = 40
_REASON_WIDTH = 160


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


def told_reasons(reasons: ReasonTally, most: int) -> list[str]:
    """Why outcomes are unknown: a word for each reason, the most frequent first.

    Args:
        reasons: The reasons.
        most: How many are told, at most; the episodes with others are counted.
    """
    told = reasons.listed.most_common(most)
    words = [
        f"{counted(count, 'outcome is', 'outcomes are')} unknown: {one_line(why, _REASON_WIDTH)}"
        for why, count in told
    ]
    if more := reasons.total - sum(count for _, count in told):
        words.append(
            f"{counted(more, 'more outcome is', 'more outcomes are')} unknown, for other reasons"
        )
    return words


def told_unsaid(intake: Intake) -> str:
    """The word about episodes that came without an outcome, so that nothing is learnt, if any."""
    if not intake.unsaid:
        return ""
    return f"{counted(intake.unsaid, 'episode waits', 'episodes wait')} without an outcome"


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
