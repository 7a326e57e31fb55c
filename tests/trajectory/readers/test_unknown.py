"""What a refusal says of a file that no reader knows."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from deltamem_tui.errors import LogFormatError, Remedy
from tests.trajectory.readers.samples import lines, readings


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"instance_id": "a", "resolved": True}]),
        json.dumps({"rows": [{"x": 1}, {"x": 2}]}),
        "Dear diary,\ntoday nothing happened.\n",
    ],
)
def test_it_says_what_to_do(tmp_path: Path, text: str) -> None:
    with pytest.raises(LogFormatError, match="no reader knows this format") as refused:
        readings(tmp_path, text, "log")
    assert refused.value.hint is Remedy.DECLARE_FORMAT


def test_if_a_third_of_a_log_does_not_fit_another_format_is_named(tmp_path: Path) -> None:
    row = {"role": "user", "content": "look"}
    log = [row] * 3 + [{**row, "type": "session_meta", "payload": {}}] * 5
    told = readings(tmp_path, lines(*log), "log", format="codex")
    words = "probably another format: chat, because it looks like chats"
    assert words in str(told[-1])
    more = lines(*log, *log[-1:] * 2)
    assert words not in str(readings(tmp_path, more, "log", format="codex")[-1])


def test_the_work_of_refusing_does_not_grow_with_keys(tmp_path: Path) -> None:
    """Calls are counted, not seconds."""

    def calls(keys: int) -> int:
        count = 0

        def one_more(*_: object) -> None:
            nonlocal count
            count += 1

        wide = {f"key{number}": number for number in range(keys)}
        text = json.dumps({**wide, "in": wide, "items": [*range(keys)]})
        sys.setprofile(one_more)
        try:
            with pytest.raises(LogFormatError):
                readings(tmp_path, text, "log")
        finally:
            sys.setprofile(None)
        return count

    assert calls(8_000) < 1.2 * calls(2_000)
