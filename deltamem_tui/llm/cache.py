"""The response cache: an answer that was paid for once is not paid for again.

One small JSON file an answer, named by the digest of everything that could change it: model,
server, parameters, schema and messages. The prompt itself is not kept. A file appears whole, by
renaming, so any number of processes share the folder without locks. A file that cannot be read
counts as not there. Beside the answers, `asked/` holds the questions of batches that have none.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from deltamem_tui.errors import Remedy, StorageError
from deltamem_tui.llm.call import Reply
from deltamem_tui.paths import APPLICATION
from deltamem_tui.text import clean, one_line

FORMAT = 1
ASKED = "asked"
_LARGEST_FILE = 4_000_000
_NAME = re.compile(r"[0-9a-f]{64}\.json")
_DRAFT = re.compile(r"\..*\.draft")
# Seconds after which a draft was left by a write that was killed.
_ABANDONED = 3_600.0


def default_folder() -> Path:
    """Return where answers are kept by default. It may not exist yet."""
    import platformdirs

    return platformdirs.user_cache_path(APPLICATION, appauthor=False) / "answers"


@dataclass(frozen=True, slots=True)
class Holding:
    """A number of answers and their size in bytes."""

    answers: int = 0
    bytes: int = 0

    def __add__(self, other: Holding) -> Holding:
        return Holding(self.answers + other.answers, self.bytes + other.bytes)


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """The answers of a cache by model, and its drafts: unanswered questions, killed writes.

    Answers under an empty name cannot be read.
    """

    folder: Path
    models: Mapping[str, Holding]
    drafts: Holding = Holding()

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return sum(each.answers for each in self.models.values())

    @property
    def bytes(self) -> int:
        """Their size."""
        return sum(each.bytes for each in self.models.values())


class ResponseCache:
    """Answers on disk."""

    def __init__(self, folder: Path | None = None) -> None:
        """Take the user's cache folder if none is given. Nothing is read or made yet."""
        self.folder = folder or default_folder()

    @staticmethod
    def key(request: Mapping[str, Any]) -> str:
        """Return the digest of a request: 64 hexadecimal digits."""
        data = orjson.dumps([FORMAT, request], option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(data).hexdigest()

    def get(self, key: str) -> Reply | None:
        """Return the answer to a request; None if it was not answered before."""
        record = read_record(self._path(key))
        try:
            return _reply(record) if record else None
        except (ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, model: str, reply: Reply) -> None:
        """Keep an answer.

        Raises:
            StorageError: The disk refused. The answer is as good as before.
        """
        record = {
            "format": FORMAT,
            "model": model,
            "text": reply.text,
            "finish": reply.finish,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "cost": reply.cost,
        }
        try:
            write_record(self._path(key), record)
        except OSError as error:
            raise StorageError(
                f"cannot keep an answer: {error.strerror}",
                source=str(self.folder),
                hint=Remedy.KEEP_NO_ANSWERS,
            ) from error

    def info(self, model: str | None = None, before: float | None = None) -> CacheInfo:
        """Summarise the answers of one model or all, given before a moment (seconds since 1970).

        Raises:
            StorageError: The disk refused.
        """
        return self._summary(list(self._files(model, before)))

    def clear(self, model: str | None = None, before: float | None = None) -> CacheInfo:
        """Remove answers, chosen as by `info`, and nothing else; returns what was removed.

        Raises:
            StorageError: The disk refused; some answers may be left.
        """
        files = list(self._files(model, before))
        for path, _, _ in files:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StorageError(
                    f"cannot be removed: {error.strerror}", source=str(path)
                ) from error
        for folder in {path.parent for path, _, _ in files}:
            with suppress(OSError):  # it is not empty
                folder.rmdir()
        return self._summary(files)

    def _summary(self, files: list[tuple[Path, str | None, int]]) -> CacheInfo:
        models: dict[str, Holding] = {}
        drafts = Holding()
        for _, model, size in files:
            if model is None:
                drafts += Holding(1, size)
            else:
                models[model] = models.get(model, Holding()) + Holding(1, size)
        return CacheInfo(self.folder, dict(sorted(models.items())), drafts)

    def _files(
        self, model: str | None, before: float | None
    ) -> Iterator[tuple[Path, str | None, int]]:
        """Yield the files that are meant, each with its model and size; a draft belongs to no
        model.
        """
        latest = time.time() - _ABANDONED
        for path in sorted(self.folder.glob("*/*")) + sorted(self.folder.glob(f"{ASKED}/*/*")):
            is_draft = _DRAFT.fullmatch(path.name) is not None
            is_question = ASKED in path.relative_to(self.folder).parts
            if not is_draft and not _NAME.fullmatch(path.name):
                continue
            try:
                status = path.stat()
            except OSError:  # finished or cleared by another process
                continue
            if before is not None and status.st_mtime >= before:
                continue
            if is_draft or is_question:
                if model is None and (is_question or status.st_mtime < latest):
                    yield path, None, status.st_size
            elif (found := _model(path)) == model or model is None:
                yield path, found, status.st_size

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def _model(path: Path) -> str:
    """Return the model that gave an answer; empty if the file cannot be read."""
    record = read_record(path)
    return one_line(str(record["model"]), 200) if record and "model" in record else ""


def read_record(path: Path) -> dict[str, Any] | None:
    """Return what a small file holds; None if it is not there or cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
        found = orjson.loads(data) if len(data) <= _LARGEST_FILE else None
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a file that appears whole or not at all, readable by its owner only.

    Raises:
        OSError: The disk refused.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".draft")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps(record) + b"\n")
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _reply(record: Mapping[str, Any]) -> Reply:
    if record["format"] != FORMAT:
        raise ValueError("another format")
    cost = record["cost"]
    return Reply(
        text=clean(str(record["text"])),
        finish=clean(str(record["finish"])),
        prompt_tokens=int(record["prompt_tokens"]),
        completion_tokens=int(record["completion_tokens"]),
        cost=None if cost is None else float(cost),
    )
