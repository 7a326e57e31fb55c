"""A replay: the same log in order through several contestants.

Each contestant in each order is a piece of work by itself, and its recording a file that appears
whole. So a replay that was killed goes on with the pieces that are missing and ends in the same
result; once it is finished, its files are removed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

import msgspec

from deltamem_tui.bank.disk import files, temp_files
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.replay.alignment import alignments, misaligned
from deltamem_tui.memory.replay.contest import ReplayTools, record
from deltamem_tui.memory.replay.contestants import Contestant, never_forgetting
from deltamem_tui.memory.replay.episodes import (
    Order,
    Truth,
    in_order,
    judge_errors,
    judge_word,
    judged_by_chance,
    kinds_of,
    strict_word,
)
from deltamem_tui.memory.replay.measures import Replayed
from deltamem_tui.memory.replay.recording import Recording
from deltamem_tui.memory.replay.result import ContestantResult, ContestEntry, ReplayResult, results
from deltamem_tui.memory.vectors.embedder import EmbeddingCache
from deltamem_tui.paths import APPLICATION
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import to_line
from deltamem_tui.typed import decoded

_MEMORY, _ROOM = Path("/dev/shm"), 4 * 2**30  # noqa: S108 - the banks lie in folders of their own
UNKNOWN_END = "neither log nor person says how it ended"


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """What is replayed to whom.

    Attributes:
        judge_error: How often the simulated judge is wrong; None for the judge of the log.
        kind_field: The field of the episodes' metadata that has the kind of their task.
        writer_key: What tells this writer from others whose answers may differ.
    """

    contestants: Sequence[Contestant]
    orders: Sequence[Order] = ("recorded",)
    judge_error: float | None = None
    seed: int = 0
    kind_field: str = "task_type"
    writer_key: str = "rules"


def default_folder() -> Path:
    """Where recordings of unfinished replays are kept by default. It may not exist yet."""
    import platformdirs

    return platformdirs.user_cache_path(APPLICATION, appauthor=False) / "replays"


def replay(
    episodes: Sequence[Trajectory],
    plan: ReplayPlan,
    tools: ReplayTools,
    *,
    folder: Path | None = None,
    excluded: Mapping[str, int] | None = None,
    between: Callable[[Contestant, Order, int], object] = lambda *_: None,
) -> ReplayResult:
    """Replay episodes to all contestants, and measure what each kept and recalled.

    Args:
        episodes: In the order of the log, each once.
        plan: To whom, and in what orders; one that changes nothing is left out.
        tools: What all contestants share.
        folder: Where recordings of unfinished replays are kept.
        excluded: How many records of the log do not count as episodes, by the reason.
        between: Called before so many episodes, each by itself but for those of a recording that
            an earlier run left; what it raises ends the work.

    Raises:
        UsageError: Nothing is to be replayed, or a judge is to admit who never judged.
        LanguageModelError: The model cannot be asked at all.
        StorageError: The disk refused.
    """
    known = replayable(episodes, plan)
    kinds = kinds_of(known, plan.kind_field)
    work = (folder or default_folder()) / _digest(plan, known, tools)
    files.make_folders(work)
    tools = replace(tools, embedder=EmbeddingCache(tools.embedder))
    found: list[ContestantResult] = []
    for order, ordered in distinct_orders(known, kinds, plan):
        recordings = {}
        for each in plan.contestants:
            go = partial(between, each, order)
            recordings[each] = _recording(work, order, each, ordered, tools, go)
        found += _measured(order, ordered, kinds, recordings)
    shutil.rmtree(work, ignore_errors=True)
    unknown = {UNKNOWN_END: len(episodes) - len(known)}
    return ReplayResult(
        episodes=len(known),
        excluded={why: count for why, count in {**(excluded or {}), **unknown}.items() if count},
        kinds=len({*kinds.values()} - {""}),
        judge=judge_errors(known),
        seed=plan.seed,
        domain=tools.domain,
        embedder=tools.embedder.card.model,
        writer=tools.writer.name,
        contestants=tuple(found),
    )


def replayable(episodes: Sequence[Trajectory], plan: ReplayPlan) -> list[Trajectory]:
    """The episodes of which log or person say how they ended, with the judge's words of a plan.

    Raises:
        UsageError: There is none, or a judge is to admit who never judged.
    """
    known = [each for each in episodes if strict_word(each)]
    if plan.judge_error is not None:
        known = [judged_by_chance(each, plan.judge_error, plan.seed) for each in known]
    _check(plan, known)
    return known


def distinct_orders(
    episodes: Sequence[Trajectory], kinds: Mapping[str, str], plan: ReplayPlan
) -> list[tuple[Order, list[Trajectory]]]:
    """The orders of a plan with their episodes, without those that repeat one before them."""
    found: list[tuple[Order, list[Trajectory]]] = []
    for order in dict.fromkeys(plan.orders):
        ordered = in_order(episodes, kinds, order, plan.seed)
        if ordered not in [each for _, each in found]:
            found.append((order, ordered))
    return found


def _check(plan: ReplayPlan, known: Sequence[Trajectory]) -> None:
    if not known:
        raise UsageError(
            "there is no episode of which log or person say how it ended",
            hint="a replay is measured by that; `deltamem import --outcome` can give it",
        )
    coarse = any(each.admission == "coarse" for each in plan.contestants)
    if coarse and not any(map(judge_word, known)):
        raise UsageError(
            "no judge said how any episode ended, so `coarse` would admit none",
            hint="`--judge-error .2` simulates one; or replay a bank after `deltamem judge --all`",
        )


def _digest(plan: ReplayPlan, known: Sequence[Trajectory], tools: ReplayTools) -> str:
    """What names a replay: all that its result depends on."""
    facts = (version("deltamem-tui"), plan, asdict(tools.embedder.card), tools.domain)
    digest = hashlib.sha256(msgspec.json.encode(facts))
    for each in known:
        digest.update(to_line(each))
    return digest.hexdigest()[:32]


def _recording(
    work: Path,
    order: Order,
    contestant: Contestant,
    ordered: Sequence[Trajectory],
    tools: ReplayTools,
    between: Callable[[int], object],
) -> Recording:
    """What an earlier run recorded, or what is recorded now."""
    name = hashlib.sha256(msgspec.json.encode((order, contestant))).hexdigest()[:16]
    path = work / f"{name}.json"
    with suppress(OSError, msgspec.DecodeError):
        kept = decoded(path.read_bytes(), Recording)
        between(len(ordered))
        return kept
    with temp_files.beside(_scratch() / "deltamem-replay", _make_private) as folder:
        found = record(folder, contestant, ordered, tools, partial(between, 1))
    files.make_folders(work)
    files.replace(path, msgspec.json.encode(found))
    return found


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700)


def _scratch() -> Path:
    """Where a bank is made that is thrown away: in memory, where there is much and it is not said
    otherwise. Waiting for a disk takes half of the time elsewhere.

    What a killed replay left there is removed by the next one that makes a bank.
    """
    spacious = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM
    return _MEMORY if spacious and "TMPDIR" not in os.environ else Path(tempfile.gettempdir())


def _measured(
    order: Order,
    ordered: Sequence[Trajectory],
    kinds: Mapping[str, str],
    recordings: Mapping[Contestant, Recording],
) -> tuple[ContestantResult, ...]:
    words = [strict_word(each) for each in ordered]
    truth = Truth(
        [kinds[each.id] for each in ordered], [bool(word and word.success) for word in words]
    )
    alignment = alignments(ordered)
    replayed = {each: Replayed(found, truth) for each, found in recordings.items()}
    entries = []
    for each, found in replayed.items():
        twin = never_forgetting(each, [*replayed])
        beside = None if twin is None else replayed[twin]
        entries.append(ContestEntry(each, order, found, misaligned(found, alignment), beside))
    return results(entries)
