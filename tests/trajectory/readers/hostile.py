"""Samples of every format with what makes careless code slow: long runs, and long logs.

Behind texts, keys and members' names stands everything that a reader looks for, each with a run
of blanks, digits or brackets after it; or a piece of a log stands there thousands of times.
Each log is then read, and the processor's time for it is bounded by that of a plain piece of work
beside it: machines differ, and one that is shared differs from minute to minute.

`python -m tests.trajectory.readers.hostile SEED` says what took too long; the processor's time
of all is limited too, for a pattern that never ends hears no signal.
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
from time import process_time
from typing import Any

import orjson

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.trajectory.readers import read_logs
from tests.trajectory.readers.agent_logs import SAMPLES as AGENTS
from tests.trajectory.readers.benchmark_samples import SAMPLES as BENCHMARKS

FILLS = (" ", "9", "[", "\t", "a", "<", "{", "`", "(", "#", "\\", "'", ">", "=", "-", "\u00b2")
LONG = 2_000  # characters of a run: what is cubic takes seconds, what is worse never ends
PLACES = 8  # texts of a log that get such a tail
MANY = 12_000  # times that a piece stands in a log: what is quadratic takes seconds
MOST_BYTES = 4_000_000  # of such a log
PIECE = 200_000  # turns of a loop that does nothing: the piece of work
MOST_PIECES = 800  # that a log may take as long as; the slowest takes half of it
TRIES = 3  # of which the quickest counts
IN_ALL = 900  # seconds
_SOUGHT = (
    *("", "<os>", "<command-name>", "<command-args>", "<command-message>", "<system-reminder>"),
    *(
        "<tool-use ",
        'data-tool-type="',
        "<summary>",
        "<think>",
        "<details>",
        "<environment_context>",
    ),
    *("```bash\n", "```", "<function=", "data:image/png;base64,", "attachment://", "- - ", "/ask"),
    *("Action:", "\nAction 1:", "Thought:", "\nObservation: ", "\n> think:", "Your task is to:"),
    *(
        "Instruction:",
        "Instruction: [SEP]",
        "Here is the task:",
        "my problem is:",
        "STATUS:",
        "####",
    ),
    *(
        "Question:",
        "ISSUE:\n",
        "<pr_description>",
        "Input: Successfully parsed input into ",
        "//a@",
    ),
    *(
        "### ",
        "_**User**_",
        "Your score (min 0.0, max 1.0):",
        "-= Welcome to ",
        "{",
        "[",
        '"',
        "\\",
    ),
)


def logs(seed: int) -> Iterator[tuple[str, bytes]]:
    """Each sample, made hostile, under a name that says how."""
    chance = random.Random(seed)
    fill = FILLS[seed % len(FILLS)]
    tail = "".join(f"{sought}{fill * LONG}" for sought in _SOUGHT)
    samples = {f"{name} {file}": data for name, found in AGENTS.items() for file, data in found}
    samples |= {name: sample.data for name, sample in BENCHMARKS.items()}
    for number, (name, data) in enumerate(samples.items()):
        if data.startswith(b"PK"):
            yield f"{name}: a member named by {fill!r}", _with_member(data, fill * LONG)
            continue
        yield f"{name}: runs of {fill!r}", _with_tails(chance, data, tail)
        if number % 3 == seed % 3:
            yield f"{name}: a piece many times", _with_repeats(chance, data)


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


def _with_repeats(chance: random.Random, data: bytes) -> bytes:
    """Some items of a list, or some lines, as often as makes a log long."""
    lines = data.split(b"\n")
    try:
        value = orjson.loads(data)
    except ValueError:
        at = chance.randrange(len(lines))
        piece = lines[at : at + chance.choice((1, 2, 3))]
        times = min(MANY // len(piece), MOST_BYTES // (1 + sum(map(len, piece))))
        return b"\n".join([*lines[:at], *piece * times, *lines[at:]])
    if found := [holder for holder in _lists(value) if holder]:
        holder = chance.choice(found)
        at = chance.randrange(len(holder))
        items = holder[at : at + 2]
        holder += items * min(MANY // 2, MOST_BYTES // len(orjson.dumps(items)))
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


def _quickest(path: Path) -> float:
    """How many pieces of work a log takes as long as; it is read again only if those are many."""
    took = _pieces(path)
    for _ in range(TRIES - 1):
        if took <= MOST_PIECES:
            break
        took = min(took, _pieces(path))
    return took


def _pieces(path: Path) -> float:
    begun = process_time()
    with suppress(DeltaMemError):
        for _ in read_logs([path]):
            pass
    took = process_time() - begun
    begun = process_time()
    for _ in range(PIECE):
        pass
    return took / (process_time() - begun)


def main(seed: int) -> int:
    """Read them all.

    Returns:
        The exit code: 0 if nothing broke or took too long.
    """
    resource.setrlimit(resource.RLIMIT_CPU, (IN_ALL, IN_ALL))
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log")
        for name, data in logs(seed):
            print(name, file=sys.stderr, flush=True)  # noqa: T201 — or nobody knows where it ended
            path.write_bytes(data)
            if (took := _quickest(path)) > MOST_PIECES:
                print(f"{name}: {took:.0f} pieces", flush=True)  # noqa: T201 — a program of its own
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
