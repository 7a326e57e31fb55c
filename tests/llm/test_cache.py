from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.errors import StorageError
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.call import Reply
from deltamem_tui.text import clean

REPLY = Reply("blue", "stop", 12, 3, 0.25)
KEY = ResponseCache.key({"model": "m", "messages": ["Which colour?"]})


def test_a_new_cache_is_empty_and_then_holds_what_was_put(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "new")
    assert cache.get(KEY) is None
    cache.put(KEY, "m", REPLY)
    assert cache.get(KEY) == REPLY
    (path,) = tmp_path.rglob("*.json")
    assert (cache.info().answers, cache.info().bytes) == (1, path.stat().st_size)
    for each in (path, path.parent):  # only the owner reads
        assert each.stat().st_mode & 0o077 == 0


@given(st.text().map(clean), st.none() | st.floats(0, 1e6))
def test_any_reply_comes_back(text: str, cost: float | None) -> None:
    with TemporaryDirectory() as folder:
        cache = ResponseCache(Path(folder))
        reply = Reply(text, "length", 1, 2, cost)
        cache.put(KEY, "m", reply)
        assert cache.get(KEY) == reply


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


def test_clearing_removes_answers_and_nothing_else(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(KEY, "m", REPLY)
    stray = tmp_path / KEY[:2] / "notes.txt"
    stray.write_text("mine")
    (tmp_path / "letter.json").write_text("{}")
    size = cache.info().bytes
    removed = cache.clear()
    assert (removed.answers, removed.bytes) == (1, size)
    assert cache.info().answers == 0
    assert stray.read_text() == "mine"
    assert (tmp_path / "letter.json").exists()
    assert ResponseCache(tmp_path / "nowhere").clear().answers == 0


def three_answers(folder: Path) -> ResponseCache:
    """One answer of `m`, given long ago, and two of `n`."""
    cache = ResponseCache(folder)
    keys = [ResponseCache.key({"question": number}) for number in range(3)]
    for key, model in zip(keys, "mnn", strict=True):
        cache.put(key, model, REPLY)
    os.utime(folder / keys[0][:2] / f"{keys[0]}.json", (1000, 1000))
    return cache


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StorageError, match="No space left"):
        ResponseCache(tmp_path).put(KEY, "m", REPLY)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def _write_and_read(folder: str, texts: list[str]) -> bool:
    cache = ResponseCache(Path(folder))
    whole = set(texts)
    for round_ in range(60):
        cache.put(KEY, "m", Reply(texts[round_ % len(texts)], "stop", 1, 1, None))
        read = cache.get(KEY)
        if read is None or read.text not in whole:
            return False
    return True


def test_processes_share_a_folder(tmp_path: Path) -> None:
    texts = [letter * 50_000 for letter in "abc"]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        sound = pool.starmap(_write_and_read, [(str(tmp_path), texts)] * 2)
    assert sound == [True, True]


def test_answers_are_counted_by_model_and_removed_by_age(tmp_path: Path) -> None:
    cache = three_answers(tmp_path)
    info = cache.info()
    assert (info.models, info.answers) == ({"m": 1, "n": 2}, 3)
    assert info.bytes > cache.info(before=2000).bytes > 0
    assert cache.clear(before=2000).models == {"m": 1}
    next(tmp_path.rglob("*.json")).write_bytes(b"[]")
    assert cache.info().models == {"": 1, "n": 1}
    assert cache.clear().answers == 2
    assert cache.info().answers == 0
