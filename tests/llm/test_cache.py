from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.errors import StorageError
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.call import Reply

REPLY = Reply("blue", "stop", 12, 3, 0.25)
KEY = ResponseCache.key({"model": "m", "messages": ["Which colour?"]})


def test_a_new_cache_is_empty_and_then_holds_what_was_put(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "new")
    assert cache.get(KEY) is None
    cache.put(KEY, "m", REPLY)
    assert cache.get(KEY) == REPLY
    (path,) = tmp_path.rglob("*.json")
    assert cache.size() == (1, path.stat().st_size)
    for each in (path, path.parent):  # only the owner reads
        assert each.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"format": 2, "text": "x"}',
        b'{"format": 1, "text": "x"}',
        b"\x80\x04pickle",
        b" " * 4_000_001,
        b'{"format":1,"text":"x","finish":"stop","prompt_tokens":[],"completion_tokens":1,"cost":null}',
    ],
)
def test_a_damaged_file_counts_as_not_there(tmp_path: Path, data: bytes) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(KEY, "m", REPLY)
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(data)
    assert cache.get(KEY) is None
    cache.put(KEY, "m", REPLY)
    assert cache.get(KEY) == REPLY


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StorageError, match="No space left"):
        ResponseCache(tmp_path).put(KEY, "m", REPLY)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
