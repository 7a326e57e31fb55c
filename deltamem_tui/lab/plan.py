"""The plan of a contest, and its folder: `plan.json`, a folder a contestant, `result.json`.

A contestant's folder has `start.json` (what its memory began with), `results.jsonl` (a line for
each finished game or question), `episodes.jsonl` (those in which something was done, in the
project's own format, with receipts), and its bank if it learns.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct, field

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import files
from deltamem_tui.errors import TrajectoryError, UsageError
from deltamem_tui.lab.contestants import Contestant, MemorySize
from deltamem_tui.lab.environment import Count, Dollars, GameInfo
from deltamem_tui.llm.cost import Usage
from deltamem_tui.paths import CONTEST_PLAN
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import from_record, to_line
from deltamem_tui.typed import decoder_of

Protocol = Literal["online", "frozen", "unfrozen"]

RESULT, START, RESULTS, EPISODES = "result.json", "start.json", "results.jsonl", "episodes.jsonl"
LOG = "log"
"""The environment of a contest over a log, in which no agent acts."""

_MOST_BYTES = 256 * 2**20
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

StructT = TypeVar("StructT", bound=Struct)
T = TypeVar("T")


class ContestPlan(Struct, frozen=True):
    """All that a contest's result depends on.

    Attributes:
        environment: Its name, or `log`; `own` is a digest of the user's file that defines it.
        games: The games, or the questions of a log, in the order in which they are played.
        agent: Tells it from others that may play otherwise; empty for a log.
        vectors: A digest of the embedder, as `learnt_from` is of the episodes that are learnt
            before, and `banks` of the banks that are given.
        writer: Tells it from others whose answers may differ.
        judge_error: How often the simulated judge is wrong; None without one.
    """

    environment: str
    split: str
    games: tuple[GameInfo, ...]
    contestants: tuple[Contestant, ...]
    protocol: Protocol
    domain: str
    embedder: str
    seed: int = 0
    limit: int = 0
    agent: str = ""
    vectors: str = ""
    writer: str = "rules"
    learnt_from: str = ""
    banks: tuple[str, ...] = ()
    judge_error: float | None = None
    own: str = ""
    version: str = field(default_factory=lambda: version("deltamem-tui"))

    @property
    def digest(self) -> str:
        """32 hexadecimal digits of the plan."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:32]

    @property
    def learns(self) -> bool:
        """True if memories learn from the games that count."""
        return self.protocol in ("online", "unfrozen")

    @property
    def folders(self) -> list[str]:
        """The name of each contestant's folder: its number, and its name in plain characters."""
        plain = ("".join(c if c.isalnum() else "-" for c in e.name) for e in self.contestants)
        return [f"{number:02}-{name}"[:60].rstrip("-") for number, name in enumerate(plain, 1)]

    def check(self) -> None:
        """Check that its parts go together."""
        sorts = {each.sort for each in self.contestants if each.method != "nothing"}
        begins = bool(self.learnt_from)
        if not self.games:
            raise UsageError("there is nothing to play", hint="choose another --split or log")
        if self.protocol == "online" and ("bank" in sorts or begins):
            hint = "`--protocol unfrozen` goes on learning from what there is"
            raise UsageError('protocol "online" begins with empty memories', hint=hint)
        if self.protocol in ("frozen", "unfrozen") and sorts - {"bank"} and not begins:
            raise UsageError(
                f'protocol "{self.protocol}" needs memories that have learnt',
                hint="name a --bank, or give methods a log by --learn-from",
            )
        coarse = any(each.admission == "coarse" for each in self.contestants)
        if coarse and self.judge_error is None and self.environment != LOG:
            hint = "`--judge-error .2` simulates a judge"
            raise UsageError('no game has a judge\'s verdict; "coarse" would admit none', hint=hint)


class TrialResult(Struct, frozen=True, omit_defaults=True):
    """One game, or one question of a log: measures by name, and the memory's text."""

    game: str
    kind: str
    measures: Mapping[str, float]
    memory: str = ""
    success: bool = False
    calls: Count = 0
    tokens: Count = 0
    cost: Dollars | None = 0.0


class ModelCost(Struct, frozen=True):
    """The cost of a model: questions, tokens both ways, US dollars (None if unknown)."""

    calls: Count = 0
    tokens: Count = 0
    cost: Dollars | None = 0.0


class StartPoint(Struct, frozen=True):
    """The beginning of a contestant's memory.

    Attributes:
        learnt: Episodes that it had learnt; `unknown` of them do not name their game.
        seen: How many of the games that count it had learnt from.
        usage: What its bank had paid to a model before.
    """

    learnt: Count = 0
    seen: Count = 0
    unknown: Count = 0
    size: MemorySize = MemorySize()
    usage: Usage = Usage()


class ContestantFolder:
    """One contestant's folder, as it is. Nothing is written before `keep` or `mend`.

    Attributes:
        results: What is finished, by game.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results = path / RESULTS
        self.results = {each.game: each for each in _lines(self._results, TrialResult)}

    def mend(self) -> None:
        """Cut a line off that was not finished when the contest was killed."""
        files.make_folders(self.path)
        for path in (self._results, self.path / EPISODES):
            if path.exists():
                files.truncate(path, sum(len(line) + 1 for line in _whole_lines(path)))

    def keep(self, result: TrialResult, episode: Trajectory) -> None:
        """Keep a result, and before it its episode, if anything was done in it."""
        if episode.steps:
            files.append_line(self.path / EPISODES, to_line(episode)[:-1])
        files.append_line(self._results, msgspec.json.encode(result))
        self.results[result.game] = result

    @property
    def start(self) -> StartPoint | None:
        """Return the beginning of its memory; None if that is not ready yet."""
        path = self.path / START
        return read_json(path, StartPoint) if path.exists() else None

    def begin(self, start: StartPoint) -> None:
        """Keep what its memory began with."""
        files.replace(self.path / START, msgspec.json.encode(start))

    def episodes(self) -> list[Trajectory]:
        """Return the episodes of finished games, in the order in which they were played."""
        path, found = self.path / EPISODES, {}
        for number, line in enumerate(_lines(path, dict[str, object]), 1):
            try:
                episode = from_record(line)
            except TrajectoryError as error:
                raise damaged(path, error.message, f"line {number}") from error
            if (game := episode.metadata.get("game")) is None:
                raise damaged(path, "an episode does not name its game", f"line {number}")
            if game in self.results:
                found[game] = episode
        return list(found.values())


def keep_plan(folder: Path, plan: ContestPlan) -> None:
    """Keep in a contest's folder what is played there, if that is nothing else."""
    path, source = folder / CONTEST_PLAN, one_line(str(folder), 200)
    other = "choose another --out"
    if path.exists():
        if read_json(path, ContestPlan) != plan:
            hint = f"{other}, or give the same options as before"
            raise UsageError("another contest is kept here", source=source, hint=hint)
        return
    if folder.is_file() or (folder.is_dir() and any(e.name[0] != "." for e in folder.iterdir())):
        raise UsageError("something else is here", source=source, hint=other)
    files.make_folders(folder)
    files.replace(path, msgspec.json.format(msgspec.json.encode(plan)))


def drawn(games: Sequence[GameInfo], count: int | None, seed: int) -> list[GameInfo]:
    """Draw so many games, evenly from all kinds, in their order; all of them if None."""
    if count is None or count >= len(games):
        return list(games)
    chance = random.Random(seed)  # noqa: S311 - a seed is wanted
    waiting: dict[str, list[int]] = {}
    for at, game in enumerate(games):
        waiting.setdefault(game.kind, []).append(at)
    for each in waiting.values():
        chance.shuffle(each)
    chosen: list[int] = []
    while len(chosen) < count:
        for each in waiting.values():
            chosen += each[:1]
            del each[:1]
    return [games[at] for at in sorted(chosen[:count])]


def digest_of_episodes(episodes: Iterable[Trajectory]) -> str:
    """Return 32 hexadecimal digits of some episodes, in their order; empty for none."""
    lines = b"".join(map(to_line, episodes))
    return hashlib.sha256(lines).hexdigest()[:32] if lines else ""


def digest_of_bank(bank: Bank) -> str:
    """Return 32 hexadecimal digits of a bank's nodes and counts."""
    digest = hashlib.sha256(repr((bank.manifest.method, bank.manifest.settings)).encode())
    for name in sorted(bank.snapshots):
        digest.update(bytes(bank.snapshots[name].text))
        digest.update(bank.snapshots[name].counters.tobytes())
    return digest.hexdigest()[:32]


def read_json(path: Path, kind: type[StructT]) -> StructT:
    """Read a file of JSON."""
    try:
        return decoder_of(kind).decode(_data(path))
    except _UNREADABLE as error:
        raise damaged(path, str(error)) from error


def damaged(path: Path, reason: str, position: str | None = None) -> UsageError:
    """Return the error of a file that is not as the contest left it."""
    return UsageError(
        f"not a contest's file: {one_line(reason, 120)}",
        source=one_line(str(path), 200),
        position=position,
        hint="put it back, or remove the contest's folder to play it again",
    )


def _lines(path: Path, kind: type[T]) -> Iterator[T]:
    """Yield the whole lines of a file of JSON lines; none if it is missing."""
    decoder = decoder_of(kind)
    for number, line in enumerate(_whole_lines(path) if path.exists() else [], 1):
        try:
            yield decoder.decode(line)
        except _UNREADABLE as error:
            raise damaged(path, str(error), f"line {number}") from error


def _whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file without a last one that was cut off, or lost with the power."""
    lines = _data(path).split(b"\n")[:-1]
    try:
        msgspec.json.decode(lines[-1] if lines else b"{}")
    except _UNREADABLE:
        return lines[:-1]
    return lines


def _data(path: Path) -> bytes:
    with files.storage_errors(path):
        if path.stat().st_size > _MOST_BYTES:
            raise damaged(path, "it is too large")
        return path.read_bytes()
