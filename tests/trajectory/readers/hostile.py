"""Samples of every format with what makes careless code slow: long runs, and long logs.

Behind texts, keys and members' names stands everything that a reader looks for, each with a run
of blanks, digits or brackets after it; or a piece of a log stands there thousands of times.
Each log is then read; where a piece is repeated, the functions called for it are counted.

`python -m tests.trajectory.readers.hostile SEED` says which made too much work; a pattern that
never ends hears no signal, so the process has a limit.
"""

from __future__ import annotations

import io
import random
import resource
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.trajectory.readers.reading import read_logs
from tests.trajectory.readers.samples import first_logs

FILLS = (" ", "9", "[", "\t", "a", "<", "{", "`", "(", "#", "\\", "'", ">", "=", "-", "\u00b2")
LONG = 2_000  # characters of a run: what is cubic takes seconds, what is worse never ends
PLACES = 8  # texts of a log that get such a tail
MANY = 2_000  # times that a piece stands in a log, and then twice as often
MOST_BYTES = 1_000_000  # of such a log
MOST_TIMES = 2.2  # the calls for a log of twice the length; what is quadratic makes four times
HANGS = 900  # seconds of the processor: thirty times what all takes
_JOINED = (
    "|<os>|<command-name>|<command-args>|<command-message>|<system-reminder>|<tool-use |"
    'data-tool-type="|<summary>|<think>|<details>|<environment_context>|```bash\n|```|'
    "<function=|data:image/png;base64,|attachment://|- - |/ask|Action:|\nAction 1:|Thought:|"
    "\nObservation: |\n> think:|Your task is to:|Instruction:|Instruction: [SEP]|"
    "Here is the task:|my problem is:|STATUS:|####|Question:|ISSUE:\n|<pr_description>|"
    "Input: Successfully parsed input into |//a@|### |_**User**_|"
    'Your score (min 0.0, max 1.0):|-= Welcome to |{|[|"|\\'
)
_SOUGHT = _JOINED.split("|")


def logs(seed: int) -> Iterator[tuple[str, bytes]]:
    """Each sample, with long runs in it, under a name that says how."""
    chance = random.Random(seed)
    fill = FILLS[seed % len(FILLS)]
    tail = "".join(f"{sought}{fill * LONG}" for sought in _SOUGHT)
    for name, data in _samples().items():
        if data.startswith(b"PK"):
            yield f"{name}: a member named by {fill!r}", _with_member(data, fill * LONG)
        else:
            yield f"{name}: runs of {fill!r}", _with_tails(chance, data, tail)


def long_logs(seed: int) -> Iterator[tuple[str, bytes, bytes]]:
    """Samples with a piece many times, and with the same piece twice as often."""
    for number, (name, data) in enumerate(_samples().items()):
        if number % 3 == seed % 3 and not data.startswith(b"PK"):
            half, whole = (
                _with_repeats(random.Random(f"{seed} {name}"), data, times) for times in (1, 2)
            )
            yield name, half, whole


def _samples() -> dict[str, bytes]:
    return {f"{name} {file}": data for name, (file, data) in first_logs().items()}


def _with_tails(chance: random.Random, data: bytes, tail: str) -> bytes:
    """A log with a tail behind some of its texts, each JSON value or line a text by itself."""
    try:
        return orjson.dumps(_in_value(chance, orjson.loads(data), tail))
    except ValueError:
        lines = data.split(b"\n")
    for at in chance.sample(range(len(lines)), min(PLACES, len(lines))):
        try:
            lines[at] = orjson.dumps(_in_value(chance, orjson.loads(lines[at]), tail))
        except ValueError:
            lines[at] += tail.encode()
    return b"\n".join(lines)


def _in_value(chance: random.Random, value: object, tail: str) -> object:
    """The same JSON value with a tail behind some of its texts, and behind a key."""
    texts = [(holder, key) for holder, key in _texts(value) if len(holder[key]) > 6]
    for holder, key in chance.sample(texts, min(PLACES, len(texts))):
        holder[key] += tail
    if texts and isinstance((holder := chance.choice(texts)[0]), dict):
        holder[f"llm.input_messages.{tail[:LONG]}"] = tail
    return value


def _texts(value: object) -> Iterator[tuple[Any, Any]]:
    """The texts in a value, each as what holds it and under which key or index."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict | list):
            pairs = holder.items() if isinstance(holder, dict) else enumerate(holder)
            for key, inner in pairs:
                if isinstance(inner, str):
                    yield holder, key
                waiting.append(inner)


def _with_repeats(chance: random.Random, data: bytes, times: int) -> bytes:
    """Some items of a list, or some lines, many times or a multiple of that."""
    lines = data.split(b"\n")
    try:
        value = orjson.loads(data)
    except ValueError:
        at = chance.randrange(len(lines))
        piece = lines[at : at + chance.choice((1, 2, 3))]
        many = min(MANY // len(piece), MOST_BYTES // (1 + sum(map(len, piece))))
        return b"\n".join([*lines[:at], *piece * many * times, *lines[at:]])
    if found := [holder for holder in _lists(value) if holder]:
        holder = chance.choice(found)
        at = chance.randrange(len(holder))
        items = holder[at : at + 2]
        holder += items * min(MANY // 2, MOST_BYTES // len(orjson.dumps(items))) * times
    return orjson.dumps(value)


def _lists(value: object) -> Iterator[list[object]]:
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, list):
            yield inner
            waiting += inner
        elif isinstance(inner, dict):
            waiting += inner.values()


def _with_member(data: bytes, run: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        name = f"samples/1{run}".encode()[:60_000].decode("utf-8", "ignore")
        new.writestr(f"{name}2.json", old.read(old.namelist()[-1]))
    return packed.getvalue()


def read(path: Path, data: bytes) -> None:
    """Read a log, or refuse it."""
    path.write_bytes(data)
    with suppress(DeltaMemError):
        for _ in read_logs([path]):
            pass


def calls_reading(path: Path, data: bytes) -> int:
    """Count the functions that are called to read a log: machines differ, counts do not."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        read(path, data)
    finally:
        sys.setprofile(None)
    return calls


def main(seed: int) -> int:
    """Read them all.

    Returns:
        The exit code: 0 if nothing broke or made too much work.
    """
    resource.setrlimit(resource.RLIMIT_CPU, (HANGS, HANGS))
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log")
        for name, data in logs(seed):
            print(name, file=sys.stderr, flush=True)  # noqa: T201 — or nobody knows where it ended
            read(path, data)
        for name, half, whole in long_logs(seed):
            print(name, file=sys.stderr, flush=True)  # noqa: T201
            short, long = calls_reading(path, half), calls_reading(path, whole)
            if long > MOST_TIMES * short:
                print(f"{name}: {short:,} calls, {long:,} for twice as much", flush=True)  # noqa: T201
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
