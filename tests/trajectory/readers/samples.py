"""Logs of agents as files, and what is read from them."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import Notice
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.reading import read_logs

Json = dict[str, object]


CASES = Path(__file__).with_name("cases")


def first_logs() -> dict[str, tuple[str, bytes]]:
    """The first sample of every format: what its file is called, and the log."""
    found = {}
    for path in sorted(CASES.glob("*.jsonl")):
        case = orjson.loads(path.read_bytes().partition(b"\n")[0])
        found[path.stem] = (case["file"], content(case))
    return found


def content(case: dict[str, Any]) -> bytes:
    """The bytes of a sample's log; that of a database is the SQL that makes it."""
    if not case.get("file", "").endswith(".db"):
        return str(case["log"]).encode()
    with closing(sqlite3.connect(":memory:")) as store:
        store.executescript(case["log"])
        return store.serialize()


def records(name: str) -> list[Json]:
    """The records of a format's first sample."""
    file, log = first_logs()[name]
    return [orjson.loads(line) for line in (log.splitlines() if file.endswith("l") else [log])]


def claude(name: str, before: str | None, content: object, **extra: object) -> Json:
    """A line of Claude Code: of the user, if its name begins with `u`."""
    kind = "user" if name.startswith("u") else "assistant"
    message: Json = {"role": kind, "content": content}
    if kind == "assistant":
        message["id"] = extra.pop("message_id", f"msg_{name}")
    links: Json = {"uuid": name, "parentUuid": before, "sessionId": "s"}
    return {"type": kind, **links, "message": message, **extra}


def lines(*records: object) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def pretty(record: object) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_INDENT_2)


def archive(members: dict[str, object], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as file:
        for name, value in members.items():
            file.writestr(name, orjson.dumps(value))
    return packed.getvalue()


def readings(
    tmp_path: Path, content: bytes | str, name: str = "log.json", **options: Any
) -> list[Reading]:
    """What is read from a log of this content; the options are those of `read_logs`."""
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(map(plain, read_logs([path], **options)))


def plain(reading: Reading) -> Reading:
    """An episode with the texts of its steps alone."""
    if not isinstance(reading, Trajectory):
        return reading
    texts = (
        Step(each.action, each.observation, each.thought, each.reward) for each in reading.steps
    )
    return replace(reading, steps=tuple(texts))


def episode(tmp_path: Path, content: bytes, name: str = "log.json") -> Trajectory:
    (found,) = (each for each in readings(tmp_path, content, name) if not notices([each]))
    assert isinstance(found, Trajectory), str(found)
    return found


def only(found: Iterable[object]) -> Trajectory:
    """The one thing that was read, which is an episode."""
    (one,) = found
    assert isinstance(one, Trajectory), str(one)
    return one


def refusal(found: Iterable[object]) -> RecordError:
    """The one thing that was read, which is why there is no episode."""
    (one,) = found
    assert isinstance(one, RecordError), str(one)
    return one


def episodes(found: Iterable[Reading]) -> list[Trajectory]:
    return [item for item in map(plain, found) if isinstance(item, Trajectory)]


def refusals(found: Iterable[Reading]) -> list[RecordError]:
    return [item for item in found if isinstance(item, RecordError)]


def notices(found: Iterable[Reading]) -> list[Notice]:
    return [item for item in found if isinstance(item, Notice)]
