"""Feed broken logs to every reader for some minutes: no crash, no hang, no flood.

Samples are mutated as bytes and as JSON (values of other kinds, moved, repeated, nested), put
together with pieces of others, and wrapped. Each is then detected, read as what it seems to
be and as what it is not, redacted and written out. What counts as a find: an error that is
not the project's own, more than `--seconds` for one log, or memory out of all proportion.
Finds are kept in a folder, one a place in the code.

`python -m benchmarks.fuzzing --minutes 10`
"""

from __future__ import annotations

import argparse
import faulthandler
import gzip
import random
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from types import FrameType

import orjson

from benchmarks.import_memory import peak
from benchmarks.samples import BESIDE
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.logs.sources import find_logs
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.native import to_line
from deltamem_tui.trajectory.readers.reading import read_log, read_logs
from deltamem_tui.trajectory.readers.registry import READERS, detect
from deltamem_tui.trajectory.validation import redact

LARGEST = 200_000  # bytes of a sample: long ones show nothing that short ones do not
_PIECE = 5000  # bytes; or a log would grow beyond all measure, piece by piece
LIMITS = LogLimits(record_bytes=4_000_000, expansion_free_bytes=8_000_000)
_MOST_MEMORY = 600_000_000  # bytes beyond what the process began with
_Holder = dict[str, object] | list[object]
_ODD_VALUES: tuple[object, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1e308,
        10**18,
        "",
        " ",
        "0",
        "null",
        "\x1b[31m",
        "\ud7ff日本",
        "{}",
    ),
    *([], {}, [[]], [{}], {"": ""}, [None], "[1, {", "a" * 5000, [0] * 300, {"role": "user"}),
    *(" " * 5000, "9" * 5000, "<os>" + " " * 4000, "[" * 5000, "`" * 5000),
    *("<command-args>" * 2000, "<summary>" * 2000),
    *({"content": None}, {"type": "text", "text": 3}, "> a\nb\n> c\n", "Action: x\nObservation:"),
)
_ODD_BYTES = (
    *(
        b"",
        b"\n",
        b"\r",
        b"\x00",
        b"\xff",
        b"\xc3",
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
    ),
    *(b"\xef\xbb\xbf", b"\x1f\x8b", b"PK\x03\x04", b"NaN", b"1e999", b"\\ud800", b"null", b"#####"),
    *(b"{" * 3000, b"[" * 3000, b"\n" * 3000, b'{"a":' * 1200, b"\\" * 999, b"=" * 2000),
    *(b"sk-" + b"a1" * 30, b"password=", b"://a:b@c", b"eyJ" * 200, b"-----BEGIN PRIVATE KEY-----"),
)


class HangError(Exception):
    """A log took too long."""


def main() -> int:
    """Fuzz for as long as is asked.

    Returns:
        The exit code: 0 without finds.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzzing", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seconds", type=int, default=10, help="the most that one log may take")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--finds", type=Path, default=Path(tempfile.gettempdir(), "deltamem-finds"))
    options = parser.parse_args()
    seed = random.randrange(2**32) if options.seed is None else options.seed
    chance = random.Random(seed)
    corpus = samples()
    finds: dict[str, int] = {}
    count = 0
    began = floor = peak()
    end = monotonic() + 60 * options.minutes
    print(f"seed {seed}, {len(corpus)} samples", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="deltamem-fuzzing-") as folder:
        path = Path(folder, "log")
        while monotonic() < end:
            count += 1
            data = broken(chance, corpus)
            path.write_bytes(data)
            place = tried(chance, path, options.seconds)
            if not place and peak() - floor > _MOST_MEMORY:
                place, floor = "memory", peak()
            if place:
                finds[place] = finds.get(place, 0) + 1
                if finds[place] == 1:
                    _keep(options.finds, len(finds), data, place)
    grown = (peak() - began) / 1e6
    print(orjson.dumps({"seed": seed, "logs": count, "finds": finds, "grown_mb": grown}).decode())
    return 1 if finds else 0


def samples() -> list[bytes]:
    """Return the samples of the tests, and those that lie beside the project."""
    from tests.trajectory.readers.samples import first_logs

    found = [content for _, content in first_logs().values()]
    beside = [each.log.path for each in find_logs([BESIDE])] if BESIDE.is_dir() else []
    for path in beside:
        with path.open("rb") as stream:
            found.append(stream.read(LARGEST))
    return found


def broken(chance: random.Random, corpus: list[bytes]) -> bytes:
    """Return a sample that is no longer what it was."""
    data = chance.choice(corpus)
    ways: tuple[Callable[[bytes], bytes], ...] = (
        partial(_broken_json, chance),
        partial(_broken_json, chance),
        partial(_broken_bytes, chance),
        partial(_spliced, chance, chance.choice(corpus)),
    )
    for _ in range(chance.choice((1, 1, 2, 4))):
        data = chance.choice(ways)(data)
    return chance.choice((bytes, bytes, bytes, bytes, bytes, gzip.compress, _in_utf_16))(data)


def _in_utf_16(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode("utf-16")


def _broken_bytes(chance: random.Random, data: bytes) -> bytes:
    for _ in range(chance.choice((1, 3, 20))):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((0, 0, 1, 10, 1000)))
        data = data[:at] + chance.choice(_ODD_BYTES) + data[end:]
    return data


def _spliced(chance: random.Random, other: bytes, data: bytes) -> bytes:
    at, start = chance.randrange(len(data) + 1), chance.randrange(len(other) + 1)
    return data[:at] + other[start : start + chance.choice((50, 2000, LARGEST))]


def _broken_json(chance: random.Random, data: bytes) -> bytes:
    """Return a log of JSON with some values of other kinds; any other as `_broken_bytes` leaves
    it.
    """
    try:
        return _dumped(_mutated(chance, orjson.loads(data)))
    except ValueError:
        pass
    lines = data.splitlines(keepends=True)
    for _ in range(min(len(lines), chance.choice((1, 5, 50)))):
        number = chance.randrange(len(lines))
        try:
            lines[number] = _dumped(_mutated(chance, orjson.loads(lines[number]))) + b"\n"
        except ValueError:
            return _broken_bytes(chance, data)
    return b"".join(lines)


def _dumped(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError) as error:
        raise ValueError("nested too deep or too large a number") from error


def _mutated(chance: random.Random, value: object) -> object:
    """Return the same JSON value but for a few places in it."""
    for _ in range(chance.choice((1, 1, 2, 6))):
        holders = list(_holders(value))
        if not holders:
            return _odd_value(chance)
        # By way of JSON, as odd values are too: one that held itself would not end.
        other = _dumped(chance.choice(holders))
        piece = orjson.loads(other) if len(other) < _PIECE else _odd_value(chance)
        _change(chance, chance.choice(holders), piece)
    return value


def _odd_value(chance: random.Random) -> object:
    return orjson.loads(orjson.dumps(chance.choice(_ODD_VALUES)))


def _change(chance: random.Random, holder: _Holder, piece: object) -> None:
    """Take something out of an object or array, put it elsewhere, or put a piece into it."""
    way = chance.randrange(6)
    odd = chance.choice((piece, _odd_value(chance)))
    if isinstance(holder, list):
        at = chance.randrange(len(holder))
        if way == 0:
            holder.extend([odd] * chance.choice((1, 50)))
        elif way == 1:
            del holder[at]
        else:
            holder[at] = odd
        return
    key = chance.choice(list(holder))
    if way == 0:
        holder[key + chance.choice(("_", "s"))] = holder.pop(key)
    elif way == 1:
        del holder[key]
    else:
        holder[key] = odd


def _holders(value: object) -> Iterator[_Holder]:
    """Yield all objects and arrays in a value that hold something."""
    waiting = [value]
    while waiting:
        at_hand = waiting.pop()
        if isinstance(at_hand, dict | list) and at_hand:
            yield at_hand
            waiting += at_hand.values() if isinstance(at_hand, dict) else at_hand


def tried(chance: random.Random, path: Path, seconds: int) -> str:
    """Return where in the code a log breaks something; empty if it breaks nothing."""
    try:
        with _alarm(seconds):
            _read(chance, path)
    except (Exception, RecursionError) as error:  # noqa: BLE001 - whatever comes is what is sought
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {error}"[:300]
    return ""


def _read(chance: random.Random, path: Path) -> None:
    log = Log("log", path, LIMITS)
    try:
        claims = [claim.reader for claim in detect(log)]
        for _ in read_logs([path], limits=LIMITS):
            pass
    except DeltaMemError:
        claims = []
    for reader in {each.name: each for each in [*claims, *chance.sample(READERS, 5)]}.values():
        for reading in read_log(log, reader):
            if isinstance(reading, Trajectory):
                clean, _ = redact(reading, personal=True)
                to_line(clean)


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    def ring(_: int, __: FrameType | None) -> None:
        raise HangError(f"more than {seconds} seconds")

    # Time of this process only: that others keep the machine busy is not a finding.
    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    # No signal is heard inside a pattern's search. If one never ends, say where, and leave the log.
    faulthandler.dump_traceback_later(20 * seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _keep(folder: Path, number: int, data: bytes, place: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"find-{number:03}"
    path.write_bytes(data)
    print(f"{path}: {place}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
