"""Importing a native log, against parsing the same file with orjson; and every reader's speed.

The import is whole: detection, cleaning, redaction, ids, and a bank on disk. The log is the
sample episodes that come with the project, often enough to be worth measuring, each time
with another task so that none is a duplicate.

Every reader is timed: on the samples that lie beside the project, or on the sample episodes
written out in its format, or else on the small sample of its tests, over and over, which is
slow going, because next to nothing stands in each. Last comes peak memory (`import_memory`).
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from time import process_time

import orjson

from benchmarks import goals, import_memory
from benchmarks.goals import Goal
from benchmarks.samples import BESIDE, sample, varied, written_log
from benchmarks.timing import in_turns
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import TrajectoryError
from deltamem_tui.memory.banks import create_bank
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.sources import find_logs
from deltamem_tui.trajectory.readers.native import to_line
from deltamem_tui.trajectory.readers.reader import Reader
from deltamem_tui.trajectory.readers.reading import read_log, read_logs
from deltamem_tui.trajectory.readers.registry import READERS, reader_of

EPISODES = 3000
ROUNDS = 3
WRITTEN_BYTES = 2_000_000  # of each log that is written here
SMALLEST = 2000  # bytes; below, a file says more about the clock than about its reader
_MB = 1_000_000


def run() -> str:
    """Measure both in turns, then each reader on its samples, then memory."""
    with tempfile.TemporaryDirectory(prefix="deltamem-importing-") as name:
        folder = Path(name)
        log = _native_log(folder / "episodes.jsonl")
        size = log.stat().st_size
        # An import is what is measured, not the making of a bank.
        empty, *banks = [_bank(folder / f"bank-{number}") for number in range(ROUNDS + 2)]

        def import_all(number: int) -> None:
            intake = take_in(banks[number], read_logs([log]), listed=False)
            if intake.count("imported") != EPISODES:
                raise RuntimeError(f"{intake.count('imported')} of {EPISODES} came in")

        def look_only(_: int) -> None:
            take_in(empty, read_logs([log]), dry_run=True, listed=False)

        def parse_all(_: int) -> None:
            with log.open("rb") as stream:
                for line in stream:
                    orjson.loads(line)

        ways = {"import": import_all, "dry_run": look_only, "orjson": parse_all}
        timings = in_turns(ways, ROUNDS)
        speeds = _reader_speeds(folder)
    peaks, _ = import_memory.peaks("native", import_memory.SMALL)
    stated = [
        Goal("import_to_orjson", timings.ratio("import", "orjson"), "at most", 4.0),
        Goal("peak_memory_ratio", peaks[1] / peaks[0], "at most", 1.5),
        Goal("slowest_reader_mb_s", min(speeds.values()), "at least", 5.0),
    ]
    parse_speed = size / _MB / min(timings.seconds["orjson"])
    measured = {
        "bytes": size,
        "episodes": EPISODES,
        "import_mb_s": size / _MB / min(timings.seconds["import"]),
        "dry_run_to_orjson": timings.ratio("dry_run", "orjson"),
        **timings.milliseconds(),
        "peaks_mb": dict(
            zip((f"{each // _MB}_mb" for each in import_memory.SMALL), peaks, strict=True)
        ),
        "readers": {
            name: {"mb_s": speed, "to_orjson": parse_speed / speed}
            for name, speed in sorted(speeds.items(), key=lambda item: item[1])
        },
    }
    return goals.line("importing", stated, measured)


def _bank(path: Path) -> Bank:
    return create_bank(path, embedder="hashing")


def _native_log(path: Path) -> Path:
    with path.open("wb") as stream:
        stream.writelines(map(to_line, islice(varied(sample()), EPISODES)))
    return path


def _reader_speeds(folder: Path) -> dict[str, float]:
    """Megabytes a second of every reader, over the logs that it is the reader of.

    Those that lie beside the project, or, of formats that none is of there, logs that are
    written here.
    """
    sizes: dict[str, int] = defaultdict(int)
    seconds: dict[str, float] = defaultdict(float)
    for log, reader in _logs_beside():
        sizes[reader.name] += log.path.stat().st_size
        seconds[reader.name] += min(_seconds(log, reader) for _ in range(ROUNDS))
    for reader in READERS:
        if reader.name not in sizes and (log_written := written_log(reader.name, WRITTEN_BYTES)):
            path = folder / "written"
            path.write_bytes(log_written)
            sizes[reader.name] = path.stat().st_size
            log = Log(path.name, path)
            seconds[reader.name] = min(_seconds(log, reader) for _ in range(ROUNDS))
    return {name: size / _MB / seconds[name] for name, size in sizes.items()}


def _logs_beside() -> Iterator[tuple[Log, Reader]]:
    for found in find_logs([BESIDE]) if BESIDE.is_dir() else ():
        if found.log.path.stat().st_size < SMALLEST:
            continue
        with suppress(TrajectoryError):  # no log, or of no format
            yield found.log, reader_of(found.log)


def _seconds(log: Log, reader: Reader) -> float:
    """Return the processor's time: to read is the work of one thread, whoever else is at work."""
    started = process_time()
    for _ in read_log(log, reader):
        pass
    return process_time() - started
