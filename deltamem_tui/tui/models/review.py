"""The review queue as the browser shows it."""

from __future__ import annotations

from dataclasses import dataclass

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes.outcomes import known_episode, verdicts_on
from deltamem_tui.memory.review import (
    Review,
    error_notes,
    node_titles,
    review_of,
    verdict_text,
    why,
)
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.tui.models.episodes import episode_sections
from deltamem_tui.tui.models.sections import Section

_LAST_STEPS = 4
"""Shown before all steps: an episode's end is what its verdict is about."""


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """What the list says of an episode.

    Attributes:
        task: Its goal on one line.
        why: Why it is to be reviewed; empty if that is hidden.
        state: Whether it was learnt.
    """

    task: str
    why: str
    state: str


class ReviewBook:
    """The episodes to be reviewed in a bank at one commit.

    Attributes:
        bank: The bank.
        review: The queue.
        ids: The episodes' ids, the most urgent first.
    """

    def __init__(self, bank: Bank, review: Review) -> None:
        self.bank = bank
        self.review = review
        self.ids = [each.episode for each in review.items]

    @classmethod
    def read(cls, bank: Bank) -> ReviewBook:
        """Work out the queue."""
        return cls(bank, review_of(bank))

    def __len__(self) -> int:
        return len(self.ids)

    def trajectory(self, number: int) -> Trajectory:
        """An episode.

        Raises:
            BankCorruptError: Its record cannot be read.
        """
        return known_episode(self.bank, self.ids[number])

    def line(self, number: int, *, blind: bool) -> ReviewLine:
        """What the list says of an episode."""
        item = self.review.items[number]
        learnt = self.review.facts[item.episode].learnt
        task = one_line(self.trajectory(number).task[:2000], 300)
        return ReviewLine(task, "" if blind else why(item), "learnt" if learnt else "waits")

    def sections(self, number: int, *, blind: bool, read_key: str | None) -> list[Section]:
        """Why an episode is here and what is said of it, then what happened.

        If `blind`, neither why nor what log and judge say: only what one can see oneself.
        """
        item, episode = self.review.items[number], self.trajectory(number)
        shown = counted(len(self.review.facts[item.episode].shown), "node")
        facts = f"{item.kind} · was shown {shown}"
        first = Section(f"Episode {item.episode}", facts)
        _, task, *rest = episode_sections(episode, read_key=read_key)
        last = [f"{each.action}\n→ {each.observation}" for each in episode.steps[-_LAST_STEPS:]]
        rest = [task, Section("How it ended", "\n".join(last)), *rest]
        if blind:
            return [first, *rest]
        words = "\n".join(map(verdict_text, verdicts_on(episode))) or "nothing says how it ended"
        reasons = "\n".join((why(item), *node_titles(self.bank, item)))
        return [first, Section("Why it is here", reasons), Section("Verdicts so far", words), *rest]

    @property
    def summary(self) -> str:
        """How many there are, and how often the judge was wrong."""
        left = f"{counted(len(self), 'episode')} to review"
        return " · ".join([left, *map(str, error_notes(self.review)[:1])])
