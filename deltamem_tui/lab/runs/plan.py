"""What a run plays, to whom, by what rules: all that its result depends on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.errors import UsageError
from deltamem_tui.lab.contestants.entrant import Entrant
from deltamem_tui.lab.environment import GameInfo
from deltamem_tui.lab.runs.games import GameOrder
from deltamem_tui.lab.runs.run_files import read_object
from deltamem_tui.paths import EVALUATION_PLAN
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import to_line

Protocol = Literal["none", "online", "frozen", "unfrozen"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
LEARNING: frozenset[Protocol] = frozenset({"online", "unfrozen"})
"""The protocols in which memories learn from the games that they are tested on."""


class EvaluationPlan(Struct, frozen=True):
    """What is played, and how.

    Attributes:
        environment: Its name, and `own` a digest of the file that defines it if it is the user's.
        split: The part that the games are from.
        games: In the order in which they are played.
        order: How that came about, with `seed`.
        limit: How many actions an agent has in a game.
        tries: How often a game is played at most, until it is solved.
        agent: What tells it from others that may play otherwise.
        protocol: What memories hold at the start, and whether they learn from these games.
        entrants: Who competes; the first is the one that the others are compared with.
        domain: That of the banks which are made.
        embedder: The model of the vectors, and `vectors` a digest of all that tells it from
            others.
        writer: What tells this writer from others whose answers may differ.
        train: The games that are played to learn from, before those that count.
        learnt_from: A digest of the episodes that are learnt before; empty without any.
        banks: A digest of the state of each bank that is given.
        judge_error: How often the simulated judge is wrong; None without one.
        leave_one_out: Whether what was learnt from a game is hidden while it is played.
        version: Of this program.
    """

    environment: str
    split: str
    games: tuple[GameInfo, ...]
    order: GameOrder
    seed: int
    limit: int
    tries: int
    agent: str
    protocol: Protocol
    entrants: tuple[Entrant, ...]
    domain: str
    embedder: str
    vectors: str = ""
    writer: str = "rules"
    train: tuple[GameInfo, ...] = ()
    learnt_from: str = ""
    banks: tuple[str, ...] = ()
    judge_error: float | None = None
    leave_one_out: bool = False
    own: str = ""
    version: str = msgspec.field(default_factory=lambda: version("deltamem-tui"))

    @property
    def digest(self) -> str:
        """32 hexadecimal digits of all that the result depends on."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:32]

    @property
    def learns(self) -> bool:
        """Whether memories learn from the games that count."""
        return self.protocol in LEARNING


def check(plan: EvaluationPlan) -> None:
    """See that the parts of a plan go together.

    Raises:
        UsageError: They do not.
    """
    sorts = {each.sort for each in plan.entrants if each.method != "nothing"}
    begins = bool(plan.train or plan.learnt_from)
    if not plan.games:
        raise UsageError("there is no game to play", hint="choose another --split")
    if plan.protocol == "none" and sorts:
        raise UsageError(
            "the protocol none has no memory",
            hint="leave --method and --bank out, or choose online",
        )
    if plan.protocol == "online" and ("bank" in sorts or begins):
        raise UsageError(
            "the protocol online begins with empty memories",
            hint="`--protocol unfrozen` goes on learning from what there is",
        )
    if plan.protocol in ("frozen", "unfrozen") and sorts - {"bank"} and not begins:
        raise UsageError(
            f"the protocol {plan.protocol} needs memories that have learnt",
            hint="name a --bank, or give methods a log by --learn-from or games by --train",
        )
    if plan.leave_one_out and plan.protocol != "frozen":
        raise UsageError("--leave-one-out goes with the protocol frozen")
    coarse = [each for each in plan.entrants if each.admission == "coarse"]
    if coarse and plan.judge_error is None:
        raise UsageError(
            "these games have no judge, so `coarse` would admit none",
            hint="`--judge-error .2` simulates a judge",
        )


def digest_of_episodes(episodes: Iterable[Trajectory]) -> str:
    """32 hexadecimal digits of some episodes, in their order; empty for none."""
    digest, some = hashlib.sha256(), False
    for each in episodes:
        digest.update(to_line(each))
        some = True
    return digest.hexdigest()[:32] if some else ""


def digest_of_bank(bank: Bank) -> str:
    """32 hexadecimal digits of the commit that a handle shows: of its nodes and its episodes."""
    digest = hashlib.sha256(repr((bank.manifest.method, bank.manifest.settings)).encode())
    for name in sorted(bank.snapshots):
        digest.update(bytes(bank.snapshots[name].text))
        digest.update(bank.snapshots[name].counters.tobytes())
    return digest.hexdigest()[:32]


def keep_plan(folder: Path, plan: EvaluationPlan) -> None:
    """Write down in a run's folder what is played there.

    Raises:
        UsageError: Something else is played there, or it is not a folder for a run.
        StorageError: The disk refused.
    """
    path, source = folder / EVALUATION_PLAN, one_line(str(folder), 200)
    if path.exists():
        if read_object(path, EvaluationPlan) != plan:
            raise UsageError(
                "another evaluation is kept here",
                source=source,
                hint="choose another --out, or give the same options as before",
            )
        return
    if folder.exists() and not folder.is_dir():
        raise UsageError("this is a file", source=source, hint="a run is kept in a folder")
    if folder.is_dir() and any(each.name[0] != "." for each in folder.iterdir()):
        raise UsageError(
            "the folder holds something else", source=source, hint="choose another --out"
        )
    files.make_folders(folder)
    files.replace(path, msgspec.json.format(msgspec.json.encode(plan)))


def folders_of(plan: EvaluationPlan) -> Sequence[str]:
    """The name of each contestant's folder: its number, and its name without odd characters."""
    plain = ("".join(c if c.isalnum() else "-" for c in each.name) for each in plan.entrants)
    return [f"{number:02}-{name}"[:60].rstrip("-") for number, name in enumerate(plain, 1)]
