"""Peak memory of an import, of a log against one that is many times as long.

Each import is a process of its own, and its peak is the system's own count, libraries
included. `python -m benchmarks.import_memory` measures at 200 MB and 2 GB, which takes some
minutes and 5 GB of disk; `importing` measures the same at a tenth of that and less.

The logs are of formats whose records stand alone. Where the records of a session belong
together, as the spans of traces do, they are held up to `LogLimits.session_bytes`, so the peak
grows up to there.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from time import perf_counter

import orjson

from benchmarks import goals
from benchmarks.goals import Goal
from benchmarks.samples import sample, varied
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import to_line

MB = 1_000_000
FULL = (200 * MB, 2000 * MB)
SMALL = (10 * MB, 100 * MB)
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # of the system's count, in bytes


def run(sizes: tuple[int, int] = FULL) -> str:
    """Measure, and state the result against the goal."""
    found = {name: peaks(name, sizes) for name in LINES}
    stated = [
        Goal(f"{name}_peak_ratio", peak[1] / peak[0], "at most", 1.5)
        for name, (peak, _) in found.items()
    ]
    measured = {
        name: {"sizes_mb": [size / MB for size in sizes], "peaks_mb": peak, "mb_s": speed}
        for name, (peak, speed) in found.items()
    }
    return goals.line("import_memory", stated, measured)


def peaks(name: str, sizes: tuple[int, int]) -> tuple[list[float], list[float]]:
    """Peak memory in megabytes and megabytes a second, at each size of log.

    Args:
        name: How the log is written: a key of `LINES`.
        sizes: The sizes in bytes.
    """
    found = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="deltamem-import-memory-") as folder:
            log = Path(folder, "log.jsonl")
            write_log(log, LINES[name], size)
            command = [sys.executable, "-m", "benchmarks.import_memory", "--probe", str(log)]
            finished = subprocess.run(command, check=True, capture_output=True)
            found.append(orjson.loads(finished.stdout))
    return [each["peak"] / MB for each in found], [each["mb_s"] for each in found]


def write_log(path: Path, line: Callable[[Trajectory], bytes], size: int) -> None:
    """Write a log of at least `size` bytes, all of whose episodes are different."""
    written = 0
    with path.open("wb") as stream:
        for trajectory in varied(sample()):
            if written >= size:
                break
            written += stream.write(line(trajectory))


def chat_line(trajectory: Trajectory) -> bytes:
    """Return an episode as a chat with tool calls, with its reward beside the messages."""
    return orjson.dumps(
        {"messages": list(_messages(trajectory)), "reward": trajectory.outcome.reward},
        option=orjson.OPT_APPEND_NEWLINE,
    )


def _messages(trajectory: Trajectory) -> Iterator[dict[str, object]]:
    yield {"role": "system", "content": trajectory.environment}
    yield {"role": "user", "content": trajectory.task}
    for number, step in zip(count(), trajectory.steps, strict=False):
        arguments = orjson.dumps({"command": step.action}).decode()
        call = {"id": f"c{number}", "function": {"name": "act", "arguments": arguments}}
        yield {"role": "assistant", "content": step.thought or None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"c{number}", "content": step.observation}


LINES: dict[str, Callable[[Trajectory], bytes]] = {"native": to_line, "openai_chat": chat_line}


def _probe(log: Path) -> dict[str, float]:
    """Import a log into a new bank beside it; the peak memory of this process, and its speed."""
    from deltamem_tui.memory.banks import create_bank
    from deltamem_tui.memory.episodes.importer import take_in
    from deltamem_tui.trajectory.readers.reading import read_logs

    bank = create_bank(log.parent / "bank", embedder="hashing")
    started = perf_counter()
    intake = take_in(bank, read_logs([log]), listed=False)
    seconds = perf_counter() - started
    if intake.rejected or not intake.episodes:
        raise RuntimeError(f"{intake.episodes} episodes and {len(intake.rejected)} rejected")
    return {"peak": peak(), "mb_s": log.stat().st_size / MB / seconds}


def peak() -> int:
    """Return the peak memory of this process in bytes.

    Linux hands the peak of whoever started a process down to it in its usage, so there it is
    read where each program's own is kept.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (each for each in status.read_text().splitlines() if each.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT


if __name__ == "__main__":
    if sys.argv[1:2] == ["--probe"]:
        print(orjson.dumps(_probe(Path(sys.argv[2]))).decode())
    else:
        print(run())
