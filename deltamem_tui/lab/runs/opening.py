"""What a contestant begins with: an empty memory, one that learnt a log, or a bank that is given.

It is made once and noted once it is whole, so that a run that was killed goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.bank.transfer.copying import copy_bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.lab.contestants.bank_memory import BankMemory
from deltamem_tui.lab.contestants.baselines import GameOf, RawMemory, baseline
from deltamem_tui.lab.contestants.entrant import Entrant
from deltamem_tui.lab.contestants.memory import Memory, MemorySize
from deltamem_tui.lab.contestants.seen_games import HiddenGames, seen_games
from deltamem_tui.lab.runs.plan import EvaluationPlan
from deltamem_tui.lab.runs.run_files import read_object
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.methods import settings_of
from deltamem_tui.memory.policies.admission import as_admitted
from deltamem_tui.memory.replay.contestants import UNJUDGED
from deltamem_tui.memory.replay.episodes import judged_by_chance
from deltamem_tui.memory.views.history import history
from deltamem_tui.memory.writers.extraction import Extractor
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.trajectory.model import Trajectory

OPENING = "opening.json"
"""What a contestant began with, as `StartingPoint`, once it is whole."""


class StartingPoint(Struct, frozen=True, forbid_unknown_fields=True):
    """What a contestant began with.

    Attributes:
        seen: The tested games that its memory has learnt from, in the order in which they are
            played.
        unknown: How many episodes it comes from of which the game is not known.
        learnt: How many episodes it learnt from before the games that count.
        size: How much it held then.
        usage: What the memory's bank had paid to a model before this run.
    """

    seen: tuple[str, ...] = ()
    unknown: int = 0
    learnt: int = 0
    size: MemorySize = MemorySize()
    usage: Usage = Usage()


def pieces_before(plan: EvaluationPlan, entrant: Entrant, log: int) -> int:
    """How many episodes and games a contestant learns from before the games that count."""
    return log * (entrant.sort == "method") + len(plan.train) * entrant.trains


@dataclass(frozen=True, slots=True)
class MemoryMaker:
    """Makes contestants' memories.

    Attributes:
        embedder_for: The embedder of a bank that is given.
        log: The episodes that are learnt before the games.
        scratch: A folder for copies that go away when the run ends.
        between: Called before each episode that is learnt; what it raises ends the work.
        advance: Called for a contestant with how many episodes of the log it has learnt.
    """

    plan: EvaluationPlan
    embedder: Embedder
    embedder_for: Callable[[Bank], Embedder]
    writer: Writer | Extractor
    log: Sequence[Trajectory]
    game_of: GameOf
    scratch: Path
    between: Callable[[], object]
    advance: Callable[[Entrant, int], object]

    def memory(self, entrant: Entrant, folder: Path, earlier: Sequence[Trajectory]) -> Memory:
        """The memory of a contestant as it was left, or as it begins.

        Args:
            entrant: Whose.
            folder: The contestant's; a bank that is written lies in it.
            earlier: What an earlier run of the games taught it, for memories that are not on
                the disk.
        """
        files.make_folders(folder)
        if entrant.sort == "baseline":
            known = (*self.log, *earlier)
            return baseline(
                entrant.method,
                self.plan.domain,
                self.embedder,
                known,
                self.game_of,
                hides=self.plan.leave_one_out,
            )
        bank = self._bank(entrant, folder)
        embedder = self.embedder_for(bank) if entrant.sort == "bank" else self.embedder
        return BankMemory(bank, embedder, self.writer, partial(self._admitted, entrant, bank))

    def opening(
        self, entrant: Entrant, folder: Path, memory: Memory, train: Callable[[], None]
    ) -> StartingPoint:
        """What a memory begins with: it learns the log, then from the games of `train`.

        As far as it has not yet.
        """
        path = folder / OPENING
        noted = read_object(path, StartingPoint) if path.exists() else None
        before = Usage()
        if isinstance(memory, BankMemory):
            before = history(memory.bank).usage if entrant.sort == "bank" else Usage()
            for each in self.log if entrant.sort == "method" else ():
                if noted is None:
                    self.between()
                    memory.learn(each)
                self.advance(entrant, 1)
        if entrant.trains:
            train()
        if noted is not None:
            return noted
        found = self._looked_at(memory, before)
        files.replace(path, msgspec.json.encode(found))
        return found

    def _looked_at(self, memory: Memory, before: Usage) -> StartingPoint:
        games: set[str] = set()
        unknown, learnt = 0, memory.nodes
        if isinstance(memory, BankMemory):
            known = seen_games(memory.bank, self.game_of)
            games, unknown, learnt = {*known.episodes}, known.unknown, known.learnt
        elif isinstance(memory, RawMemory):
            games, unknown = {*memory.games}, memory.games.count("")
        seen = tuple(each.name for each in self.plan.games if each.name in games)
        return StartingPoint(seen, unknown, learnt, memory.size(), before)

    def hiding(self, memory: Memory, folder: Path) -> Memory:
        """The memory, hiding what it learnt from the game that is played, if the plan says so."""
        if self.plan.leave_one_out and isinstance(memory, BankMemory):
            seen = seen_games(memory.bank, self.game_of)
            memory.hidden = HiddenGames(memory.bank, seen, self.scratch / folder.name)
        return memory

    def _bank(self, entrant: Entrant, folder: Path) -> Bank:
        path = folder / "bank"
        if entrant.sort == "bank" and not self.plan.learns:
            return Bank.open(entrant.bank)
        if path.exists():
            return Bank.open(path)
        if entrant.sort == "bank":
            return copy_bank(Bank.open(entrant.bank), path, history=True)
        return create_bank(
            path,
            embedder=self.embedder,
            domain=self.plan.domain,
            method=entrant.method,
            parameters=entrant.settings(self.plan.domain),
        )

    def _admitted(self, entrant: Entrant, bank: Bank, episode: Trajectory) -> Trajectory | None:
        if self.plan.judge_error is not None:
            episode = judged_by_chance(episode, self.plan.judge_error, self.plan.seed)
        if entrant.sort == "method" or entrant.admission == UNJUDGED:
            return entrant.contestant.admitted(episode)
        return as_admitted(settings_of(bank).admission, episode)
