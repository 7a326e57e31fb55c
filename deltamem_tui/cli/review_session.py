"""Reviewing episodes at a terminal: one is shown, one key is its verdict, each is a commit.

Whatever ends the session, every verdict that was given stays, and the next session goes on with
the rest: the queue is made of what the bank says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from deltamem_tui.cli.page import Page
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.credit.review_queue import ReviewItem
from deltamem_tui.memory.episodes.outcomes import (
    give_outcome,
    known_episode,
    take_back_outcome,
)
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.episodes.verdicts import words_on
from deltamem_tui.memory.reports.review import (
    node_titles,
    second_look_text,
    touched_text,
    why,
    word_text,
)
from deltamem_tui.memory.review import review_of
from deltamem_tui.memory.second_looks import look_again, take_back_look
from deltamem_tui.memory.verdict_effects import touched
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.trajectory.model import Trajectory

KEYS = "s success · f failure · c cannot tell · n next · u undo · q quit"
_VERDICTS = {"s": True, "f": False, "c": None}
_END = {True: "success", False: "failure", None: "cannot tell"}
_DONE = "the queue is done; u takes the last verdict back, any other key ends"
_STEPS = 8
_SCENE, _TEXT = 400, 200


class ReviewSession:
    """One person's way through the queue.

    Args:
        bank: The bank, which is written.
        seed: What the random sample is drawn by.
        blind: Whether what log and judge say is shown only after the verdict.
        page: Where episodes are shown.
        key: Waits for a key; raises `KeyboardInterrupt` or `EOFError` to end.

    Attributes:
        review: The queue and what is known, as it was read last.
    """

    def __init__(
        self, bank: Bank, seed: int, page: Page, key: Callable[[], str], *, blind: bool
    ) -> None:
        self._bank, self._seed, self._page, self._key = bank, seed, page, key
        self._blind = blind
        self.review = review_of(bank, seed)
        self._items = self._queue()
        self._at = 0
        self._given: list[tuple[int, str]] = []

    def _queue(self) -> list[ReviewItem]:
        """What is to be reviewed, and behind it what comes back."""
        again = [ReviewItem(each, self._kind(each), ()) for each in self.review.second.due]
        return [*self.review.items, *again]

    def _kind(self, episode: str) -> str:
        return self.review.facts[episode].kind

    def _is_second(self, item: ReviewItem) -> bool:
        """Whether it comes back, and so without what was said of it."""
        return not item.reasons

    def run(self) -> int:
        """Show episodes until none is left or the person leaves.

        Returns:
            How many have a verdict by this session.
        """
        try:
            while self._at < len(self._items) or self._given:
                self._show()
                if not self._act(self._key().lower()):
                    break
        except (KeyboardInterrupt, EOFError):
            pass
        self.review = review_of(self._bank, self._seed)
        return len(self._given)

    def _act(self, key: str) -> bool:
        """Do what a key says; whether to go on."""
        if key == "u":
            self._undo()
            return True
        if self._at == len(self._items):
            return False
        if key in _VERDICTS:
            self._judge(key)
        elif key in ("n", " "):
            self._at += 1
        return key != "q"

    def _show(self) -> None:
        if self._at == len(self._items):
            self._page.text(_DONE)
            return
        item, page = self._items[self._at], self._page
        episode = known_episode(self._bank, item.episode)
        page.text("")
        page.text(f"{self._at + 1} of {len(self._items)} · {item.episode}", style="bold")
        blind = self._blind or self._is_second(item)
        if not blind:
            page.item("", why(item))
        facts = {"kind": item.kind, "task": one_line(episode.task, 1000)}
        if scene := scene_of(episode).strip():
            facts["scene"] = one_line(scene, _SCENE)
        page.facts(facts)
        self._steps(episode)
        if not blind:
            self._words(episode)
            for title in node_titles(self._bank, item):
                page.item("  ", title)
        shown = len(self.review.facts[item.episode].shown)
        state = "learnt" if self.review.facts[item.episode].learnt else "waits to be learnt"
        page.text(f"{state} · was shown {counted(shown, 'node')}")
        page.item("", KEYS, style="dim")

    def _steps(self, episode: Trajectory) -> None:
        """The last steps, since an episode ends there."""
        first = max(len(episode.steps) - _STEPS, 0)
        if first:
            self._page.text(f"  … {counted(first, 'step')} before")
        for number, step in enumerate(episode.steps[first:], first + 1):
            self._page.item(f"  {number} ", one_line(step.action, _TEXT))
            if step.observation:
                self._page.item("    → ", one_line(step.observation, _TEXT))

    def _words(self, episode: Trajectory) -> None:
        for word in words_on(episode):
            self._page.item("  ", word_text(word), style="bold")

    def _judge(self, key: str) -> None:
        item, success = self._items[self._at], _VERDICTS[key]
        if self._is_second(item):
            look = look_again(self._bank, item.episode, success=success)
            self._given.append((self._at, item.episode))
            self._at += 1
            self._page.text(f"{_END[success]}, {second_look_text(look)}; u takes it back")
            return
        episode = known_episode(self._bank, item.episode)
        found = None if success is None else touched(self._bank, self.review, episode, success)
        if found is not None and found.overturns:
            self._page.text(f"{_END[success]} overturns it: {touched_text(found) or 'no node'}")
            self._page.text(f"{key} again does it, any other key does not", style="dim")
            if self._key().lower() != key:
                return
        known = give_outcome(self._bank, item.episode, success=success)
        self._given.append((self._at, item.episode))
        self._at += 1
        self._page.text(f"{_END[success]}; u takes it back")
        if self._blind:
            self._words(known)
        if found is not None and found.overturns:
            self._join(self._at)

    def _undo(self) -> None:
        if not self._given:
            self._page.text("no verdict of this session is left to undo")
            return
        at, episode = self._given.pop()
        take_back = take_back_look if self._is_second(self._items[at]) else take_back_outcome
        try:
            take_back(self._bank, episode)
        except TrajectoryError as error:  # someone else wrote meanwhile
            self._page.text(str(error))
        else:
            self._at = at
            self._join(at + 1)

    def _join(self, first: int) -> None:
        """Read the bank anew: from place `first` on the queue is what it says now."""
        self.review = review_of(self._bank, self._seed)
        seen = self._items[:first]
        known = {each.episode for each in seen}
        self._items = seen + [each for each in self._queue() if each.episode not in known]
