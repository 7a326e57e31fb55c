"""Logs of agents as files, and what is read from them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path

import orjson

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.notice import Notice
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.readers.reader import Reading

Json = dict[str, object]


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


def readings(tmp_path: Path, content: bytes, name: str = "log.json") -> list[Reading]:
    path = tmp_path / name
    path.write_bytes(content)
    return list(read_logs([path]))


def episode(tmp_path: Path, content: bytes, name: str = "log.json") -> Trajectory:
    (found,) = (each for each in readings(tmp_path, content, name) if not notices([each]))
    assert isinstance(found, Trajectory), str(found)
    return found


def episodes(found: Iterable[Reading]) -> list[Trajectory]:
    return [item for item in found if isinstance(item, Trajectory)]


def refusals(found: Iterable[Reading]) -> list[RecordError]:
    return [item for item in found if isinstance(item, RecordError)]


def notices(found: Iterable[Reading]) -> list[Notice]:
    return [item for item in found if isinstance(item, Notice)]
