"""The response cache: an answer that was paid for once is not paid for again.

One small JSON file an answer, named by the digest of everything that could change it: model,
server, parameters, schema and messages. The prompt itself is not kept. A file appears whole, by
renaming, so any number of processes share the folder without locks; of two that write the same
answer, either one's file will do. A file that cannot be read counts as not there.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from deltamem_tui.errors import StorageError
from deltamem_tui.llm.reply import Reply
from deltamem_tui.paths import APPLICATION
from deltamem_tui.text import clean

FORMAT = 1
_LARGEST_FILE = 4_000_000
_NAME = re.compile(r"[0-9a-f]{64}\.json")
_SHELF = re.compile(r"[0-9a-f]{2}")


def default_folder() -> Path:
    """Where answers are kept unless somebody says otherwise. It may not exist yet."""
    import platformdirs

    return platformdirs.user_cache_path(APPLICATION, appauthor=False) / "answers"


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds.

    Attributes:
        folder: Where it lies.
        answers: How many answers.
        bytes: Their size.
    """

    folder: Path
    answers: int
    bytes: int


class ResponseCache:
    """Answers on disk."""

    def __init__(self, folder: Path | None = None) -> None:
        """Nothing is read or made yet.

        Args:
            folder: Where the answers lie; the user's cache folder if not given.
        """
        self.folder = folder or default_folder()

    @staticmethod
    def key(request: Mapping[str, Any]) -> str:
        """The digest of a request: 64 hexadecimal digits."""
        data = orjson.dumps([FORMAT, request], option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(data).hexdigest()

    def get(self, key: str) -> Reply | None:
        """The answer to a request; None if it was not answered before."""
        path = self._path(key)
        try:
            with path.open("rb") as file:
                data = file.read(_LARGEST_FILE + 1)
            return _reply(orjson.loads(data)) if len(data) <= _LARGEST_FILE else None
        except (OSError, ValueError, KeyError, TypeError):
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
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write(path, orjson.dumps(record) + b"\n")
        except OSError as error:
            raise StorageError(
                f"cannot keep an answer: {error.strerror}",
                source=str(self.folder),
                hint="free some space, or use `--no-cache`",
            ) from error

    def info(self) -> CacheInfo:
        """How much the cache holds."""
        sizes = [size for _, size in self._files()]
        return CacheInfo(self.folder, len(sizes), sum(sizes))

    def clear(self) -> CacheInfo:
        """Remove every answer, and nothing else that lies in the folder.

        Returns:
            What was removed.

        Raises:
            StorageError: The disk refused; some answers may be left.
        """
        removed, freed = 0, 0
        for path, size in list(self._files()):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StorageError(
                    f"cannot be removed: {error.strerror}", source=str(path)
                ) from error
            removed, freed = removed + 1, freed + size
        for shelf in self._shelves():
            with suppress(OSError):  # somebody put something there meanwhile
                shelf.rmdir()
        return CacheInfo(self.folder, removed, freed)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def _shelves(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return [path for path in self.folder.iterdir() if _SHELF.fullmatch(path.name)]

    def _files(self) -> Iterator[tuple[Path, int]]:
        for shelf in self._shelves():
            for path in shelf.iterdir():
                if _NAME.fullmatch(path.name):
                    with suppress(OSError):  # cleared by another process
                        yield path, path.stat().st_size


def _write(path: Path, data: bytes) -> None:
    """Write a file that appears whole or not at all, readable by its owner only."""
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".draft")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _reply(record: Any) -> Reply:
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
