"""The episodes of a bank, each parsed when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import starmap
from typing import Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.memory.episodes.outcomes import verdicts_on
from deltamem_tui.memory.episodes.stored_episodes import nodes_by_episode
from deltamem_tui.memory.filters import EPISODE_ORDERS, EpisodeOrder, EpisodeTable, Filter
from deltamem_tui.memory.review import ReviewItem, review_queue, verdict_text
from deltamem_tui.memory.statistics import history
from deltamem_tui.text import counted, one_line
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory, scene_of
from deltamem_tui.trajectory.readers.native import from_record
from deltamem_tui.tui.models.outline import Arrangement
from deltamem_tui.tui.models.sections import Section

NodePlaces = Sequence[tuple[str, str]]

ListOrder = EpisodeOrder | Literal["doubtful"]
LIST_ORDERS: tuple[ListOrder, ...] = ("import", "doubtful", *EPISODE_ORDERS[1:])
"""By `doubtful` those come first that most need a person's verdict."""

EpisodeArrangement = Arrangement[ListOrder]
ALL_EPISODES: EpisodeArrangement = Arrangement("", Filter(), "import")


class EpisodeBook:
    """Episodes of a bank at one commit: all of them in order of import, or as they are arranged."""

    def __init__(
        self, bank: Bank, nodes: Mapping[str, NodePlaces], refusals: Mapping[str, str]
    ) -> None:
        self.bank = bank
        self._table = EpisodeTable(bank, nodes, refusals)
        self.ids = self._table.episode_ids
        self._nodes = nodes
        self._refusals = refusals
        self.doubts: Mapping[str, ReviewItem] = {}

    @classmethod
    def read(cls, bank: Bank) -> EpisodeBook:
        """Read which episodes there are, which nodes they gave, and why some gave none."""
        refusals = {each.trajectory: each.reason for each in history(bank).refused}
        return cls(bank, nodes_by_episode(bank), refusals)

    def arranged(self, arrangement: EpisodeArrangement, stopped: Callable[[], bool]) -> EpisodeBook:
        """Return the episodes that a filter lets through, in the order that is wanted."""
        book, order = copy(self), arrangement.order
        usual: EpisodeOrder = "outcome" if order == "doubtful" else order
        numbers = self._table.chosen(arrangement.wanted, usual, stopped)
        book.ids = [self._table.episode_ids[number] for number in numbers]
        if order == "doubtful":
            book.doubts = {each.episode: each for each in review_queue(self.bank)}
            places = {name: place for place, name in enumerate(book.doubts)}
            book.ids.sort(key=lambda each: places.get(each, len(places)))
        return book

    def __len__(self) -> int:
        return len(self.ids)

    def trajectory(self, number: int) -> Trajectory:
        """Return an episode."""
        record = self.bank.episodes.record(self.ids[number])
        return from_record(record or {})

    def nodes(self, number: int) -> NodePlaces:
        """Return the living nodes that an episode gave, as (tree, id)."""
        return self._nodes.get(self.ids[number], ())

    def refusal(self, number: int) -> str:
        """Return why an episode that waits could not be learnt; empty if it was not tried."""
        return self._refusals.get(self.ids[number], "")

    def state(self, number: int) -> str:
        """Return what became of an episode, in a word or two."""
        if self.bank.episodes.state(self.ids[number]) == EpisodeState.LEARNT:
            return counted(len(self.nodes(number)), "node")
        return "refused" if self.refusal(number) else "waits"

    def why_doubtful(self, number: int) -> str:
        """Return why an episode needs a verdict; empty if that was not asked for."""
        item = self.doubts.get(self.ids[number])
        return item.why if item else ""


def episode_sections(trajectory: Trajectory, refusal: str = "", doubt: str = "") -> list[Section]:
    """Return an episode: what it is, why it is doubtful or could not be learnt, then its steps."""
    source = trajectory.source
    place = " ".join(part for part in (source.file, source.position, source.format) if part)
    sections = [
        Section(f"Episode {trajectory.id}", f"{outcome_facts(trajectory.outcome)} · {place}"),
        Section("Why it is doubtful", doubt, warning=True),
        Section("Could not be learnt; it still waits", refusal, warning=True),
        Section("Task", trajectory.task),
    ]
    if len(verdicts := verdicts_on(trajectory)) > 1:
        sections.append(Section("Who says how it ended", "\n".join(map(verdict_text, verdicts))))
    sections.append(Section("Scene", scene_of(trajectory)))
    sections = [each for each in sections if each.body.strip()]
    return sections + list(starmap(_step_section, enumerate(trajectory.steps, start=1)))


def outcome_facts(outcome: Outcome) -> str:
    """Return how an episode ended: who says so, with which reward, and why."""
    ended = {True: "success", False: "failure", None: "outcome unknown"}[outcome.success]
    facts = [ended if outcome.source == "unknown" else f"{ended} (source: {outcome.source})"]
    if outcome.reward is not None:
        facts.append(f"reward {outcome.reward:g}")
    if outcome.reason:
        facts.append(one_line(outcome.reason, 500))
    return " · ".join(facts)


def _step_section(number: int, step: Step) -> Section:
    parts = (
        f"({step.thought})" if step.thought else "",
        f"→ {step.observation}" if step.observation else "",
        f"reward {step.reward:g}" if step.reward is not None else "",
    )
    return Section(f"{number}  {one_line(step.action, 300)}", "\n".join(filter(None, parts)))
