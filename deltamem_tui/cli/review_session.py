"""Reviewing episodes at a terminal: one is shown, one key is its verdict, each is a commit.

Whatever ends the session, every verdict that was given stays, and the next session goes on with
the rest: the queue is made of what the bank says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from deltamem_tui.cli.page import Page
from deltamem_tui.memory.episodes.outcomes import (
    give_outcome,
    known_episode,
    overturned_by,
    verdicts_on,
)
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.review import node_titles, review_of, verdict_text, why
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.trajectory.model import Trajectory

KEYS = "s success · f failure · c cannot tell · n next · p previous · q quit"
_VERDICTS = {"s": True, "f": False, "c": None}
_END = {True: "success", False: "failure", None: "cannot tell"}
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
        self._items = self.review.items
        self._at = 0
        self._given: set[str] = set()

    def run(self) -> int:
        """Show episodes until none is left or the person leaves.

        Returns:
            How many have a verdict by this session.
        """
        try:
            while self._at < len(self._items):
                self._show()
                if not self._act(self._key().lower()):
                    break
        except (KeyboardInterrupt, EOFError):
            pass
        self.review = review_of(self._bank, self._seed)
        return len(self._given)

    def _act(self, key: str) -> bool:
        """Do what a key says; return true to go on."""
        if key in _VERDICTS:
            self._judge(key)
        elif key in ("n", " "):
            self._at += 1
        elif key == "p":
            self._at = max(self._at - 1, 0)
        return key != "q"

    def _show(self) -> None:
        item, page = self._items[self._at], self._page
        episode = known_episode(self._bank, item.episode)
        page.text("")
        page.text(f"{self._at + 1} of {len(self._items)} · {item.episode}", style="bold")
        if not self._blind:
            page.item("", why(item))
        facts = {"kind": item.kind, "task": one_line(episode.task, 1000)}
        if scene := scene_of(episode).strip():
            facts["scene"] = one_line(scene, _SCENE)
        page.facts(facts)
        self._steps(episode)
        if not self._blind:
            self._verdicts(episode)
            for title in node_titles(self._bank, item):
                page.item("  ", title)
        shown = len(self.review.facts[item.episode].shown)
        state = "learnt" if self.review.facts[item.episode].learnt else "waits to be learnt"
        page.text(f"{state} · was shown {counted(shown, 'node')}")
        page.item("", KEYS, style="dim")

    def _steps(self, episode: Trajectory) -> None:
        """Show the last steps, since an episode ends there."""
        first = max(len(episode.steps) - _STEPS, 0)
        if first:
            self._page.text(f"  … {counted(first, 'step')} before")
        for number, step in enumerate(episode.steps[first:], first + 1):
            self._page.item(f"  {number} ", one_line(step.action, _TEXT))
            if step.observation:
                self._page.item("    → ", one_line(step.observation, _TEXT))

    def _verdicts(self, episode: Trajectory) -> None:
        for verdict in verdicts_on(episode):
            self._page.item("  ", verdict_text(verdict), style="bold")

    def _judge(self, key: str) -> None:
        episode, success = self._items[self._at].episode, _VERDICTS[key]
        found = overturned_by(self._bank, [episode], success=success)
        if found and found.episodes:
            self._page.text(f"{_END[success]} overturns it: {found.text}")
            self._page.text(f"{key} again does it, any other key does not", style="dim")
            if self._key().lower() != key:
                return
        known = give_outcome(self._bank, episode, success=success)
        self._given.add(episode)
        self._at += 1
        self._page.text(_END[success])
        if self._blind:
            self._verdicts(known)
        if found:
            self._read_again()

    def _read_again(self) -> None:
        """Let the rest of the queue be what the bank says now."""
        self.review = review_of(self._bank, self._seed)
        seen = self._items[: self._at]
        known = {each.episode for each in seen}
        self._items = seen + [each for each in self.review.items if each.episode not in known]
