"""Several words on how one episode ended: each source's is kept, and the weightiest counts.

The outcome of an episode is the word that counts: a person's before the log's, and that before a
judge's. The others stand beside it as `Trajectory.verdicts`, one a source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from deltamem_tui.trajectory.model import Outcome, OutcomeSource, Trajectory
from deltamem_tui.trajectory.receipt import together

_WEIGHTS: Mapping[OutcomeSource, int] = {"unknown": 0, "judge": 1, "stated": 2, "user": 3}


def words_on(episode: Trajectory) -> tuple[Outcome, ...]:
    """All words on how an episode ended, the one that counts first."""
    return tuple(each for each in (episode.outcome, *episode.verdicts) if each.source != "unknown")


def with_word(episode: Trajectory, word: Outcome) -> Trajectory:
    """The episode with one more word on it; of one source the last is kept.

    What a source says without a success, such as a bare reward, counts for less than
    any that has one.
    """
    words = _by_source((*reversed(words_on(episode)), word))
    ranked = sorted(words, key=lambda each: (each.known, _WEIGHTS[each.source]), reverse=True)
    first = ranked[0] if ranked else Outcome()
    return episode.with_facts(outcome=first, verdicts=tuple(ranked[1:]))


def with_words_of(episode: Trajectory, other: Trajectory) -> Trajectory:
    """The episode with its own outcome, and beside it the words on another record of it."""
    words = _by_source((*reversed(words_on(other)), *reversed(words_on(episode))))
    kept = tuple(each for each in words if each.source != episode.outcome.source)
    return episode if kept == episode.verdicts else episode.with_facts(verdicts=kept)


def with_facts_of(episode: Trajectory, other: Trajectory) -> Trajectory:
    """The same, with the receipts of both records."""
    found = with_words_of(episode, other)
    receipts = together((*other.receipts, *episode.receipts))
    return found if receipts == found.receipts else found.with_facts(receipts=receipts)


def weighed(episode: Trajectory) -> Trajectory:
    """The episode with the weightiest word as its outcome, if a judge's is that now.

    It was learnt by a judge's word although others know better (admission `coarse`).
    """
    judged = episode.outcome.source == "judge"
    return with_word(episode, episode.outcome) if judged else episode


def without_word(episode: Trajectory, mine: Outcome | None, before: Outcome) -> Trajectory:
    """The episode without a person's last word.

    Args:
        episode: The episode with that word.
        mine: What the person had said earlier, if that did not count.
        before: The outcome that counted, and does so again.
    """
    gone = {"user", before.source}
    kept = [each for each in words_on(episode) if each.source not in gone]
    return episode.with_facts(
        outcome=before, verdicts=tuple(_by_source([*([mine] if mine else []), *kept]))
    )


def _by_source(words: Iterable[Outcome]) -> list[Outcome]:
    """The last word of each source, the weightiest first."""
    last = {each.source: each for each in words if each.source != "unknown"}
    return sorted(last.values(), key=lambda each: _WEIGHTS[each.source], reverse=True)
