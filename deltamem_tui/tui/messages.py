"""What workers tell screens. A worker never touches a widget: it posts one of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.memory.deltamem.settings import Parameters
    from deltamem_tui.memory.method import Proposal
    from deltamem_tui.tui.arrivals import Asked
    from deltamem_tui.tui.background import Progress
    from deltamem_tui.tui.models.arrangement import EpisodeArrangement, NodeArrangement
    from deltamem_tui.tui.models.banks import BankLine
    from deltamem_tui.tui.models.episodes import EpisodeBook
    from deltamem_tui.tui.models.family import Family
    from deltamem_tui.tui.models.questions import Answer
    from deltamem_tui.tui.models.statistics import Overview


@dataclass(frozen=True, slots=True)
class Again:
    """Lets a person ask once more for what came to nothing, and not for what was done.

    Attributes:
        ask: Told why it came to nothing, and whether the person sits and waits for it still.
        forget: Told that it was done.
    """

    ask: Callable[[DeltaMemError, bool], None]
    forget: Callable[[], None]


@dataclass
class Failed(Message):
    """Work ended with an error that is meant for people.

    Attributes:
        name: What was being done.
        error: The error.
        again: Lets the person ask for it once more, if there is a way.
        asked: Where it was asked for.
    """

    name: str
    error: DeltaMemError
    again: Again | None = None
    asked: Asked | None = None


@dataclass
class Broken(Message):
    """Long work ended with an error that nobody expected: a defect, which ends the program.

    Attributes:
        name: What was being done.
        error: The error.
    """

    name: str
    error: Exception


@dataclass
class BanksFound(Message):
    """The banks folder was looked through."""

    folder: Path
    banks: Sequence[BankLine]


@dataclass
class BankRead(Message):
    """A bank was opened, or read again because it changed.

    Attributes:
        bank: A handle that shows one commit.
        stamp: What its files looked like before it was read.
    """

    bank: Bank
    stamp: tuple[int, ...]


@dataclass
class Changed(Message):
    """Something was written to a bank.

    Attributes:
        path: The bank.
        summary: What was done, as a sentence.
        node: The node to look at now, if there is one.
        asked: Where it was asked for; who went on is not taken back to the node.
    """

    path: Path
    summary: str
    node: tuple[str, str] | None = None
    asked: Asked | None = None


@dataclass
class Told(Message):
    """Work that wrote nothing ended.

    Attributes:
        summary: What was found, as a sentence.
        warning: Whether it is bad news.
    """

    summary: str
    warning: bool = False


@dataclass
class Planned(Message):
    """Work found out what it would do, and asks before it is done.

    Attributes:
        name: What the doing is called.
        question: Whether it shall be done.
        sections: What would be done.
        then: Does it.
        can_stop: Whether the doing ends when it is asked to.
        called: What is shown here: a plan, an estimate.
        asked: Where it was asked for; it comes up by itself only there.
        later: The question for who opens it elsewhere, if it has to say more there.
        again: Lets the person ask for it once more, if the doing fails.
        declined: What is so if it shall not be done, where that does not go without saying.
    """

    name: str
    question: str
    sections: Sequence[Section]
    then: Callable[[Progress], Message]
    can_stop: bool = False
    called: str = "plan"
    asked: Asked | None = None
    later: str = ""
    again: Again | None = None
    declined: str = ""


@dataclass
class WorkAdvanced(Message):
    """Long work goes on.

    Attributes:
        name: What is being done.
        done: How much of it is done.
        total: How much there is; None if nobody knows.
        note: What else is worth knowing, such as the cost so far.
        can_stop: Whether the work ends when it is asked to.
        stopping: Whether it was asked to.
        began: When it began, in seconds of the monotonic clock.
    """

    name: str
    done: int
    total: int | None
    note: str = ""
    can_stop: bool = False
    stopping: bool = False
    began: float = 0.0

    def can_replace(self, message: Message) -> bool:
        """Only the last state matters."""
        return isinstance(message, WorkAdvanced)


@dataclass
class WorkEnded(Message):
    """Long work ended, well or not; what it has to say comes in a message of its own."""

    name: str


@dataclass
class Arranged(Message):
    """The outlines of a bank were filtered and sorted."""

    arrangement: NodeArrangement
    parameters: Parameters
    families: Mapping[str, Family]


@dataclass
class SubtreeRead(Message):
    """A node that shall be deleted, with all below it, and where that was asked for."""

    tree: str
    nodes: Sequence[Node]
    asked: Asked


@dataclass
class Answered(Message):
    """The trees answered a question."""

    answer: Answer


@dataclass
class EpisodesRead(Message):
    """The episodes of a bank were read, filtered and sorted.

    Attributes:
        arrangement: Filter and order.
        whole: All of them.
        book: Those that are shown.
    """

    arrangement: EpisodeArrangement
    whole: EpisodeBook
    book: EpisodeBook


@dataclass
class Counted(Message):
    """A bank was counted."""

    overview: Overview


@dataclass
class Proposed(Message):
    """Every episode of a bank was asked for its scores.

    Attributes:
        path: The bank.
        proposals: What its scores suggest.
        grounds: What they rest on, as `jobs.numbers.grounds_of` tells.
    """

    path: Path
    proposals: Sequence[Proposal]
    grounds: object
