"""Logs of one format with a part of another in them: the part is told, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trajectory.readers.log_files import Json, episodes, lines, readings, refusals
from tests.trajectory.readers.test_mixed_sessions import LISTS, WRITERS
from tests.trajectory.readers.test_traps import LOGS

FOREIGN: dict[str, list[Json]] = {
    **{name: write("other", "two") for name, write in WRITERS.items()},
    "openhands-sdk": LISTS["openhands-sdk"],
    "nothing known": [{"nonsense": 1}, {"type": "frobnicate", "id": "x"}],
}
OFTEN = 12  # what is looked at to tell the format is of one


def records(name: str) -> list[object]:
    """The records of a format's first sample; none if it is not JSON."""
    _, data = LOGS[name][0]
    for texts in ([data], data.splitlines()):
        try:
            found = [json.loads(text) for text in texts if text.strip()]
        except ValueError:
            continue
        return found[0] if isinstance(found[0], list) else found
    return []


def pairs() -> Iterator[tuple[str, str]]:
    for name in LOGS:
        for foreign in FOREIGN:
            if name != foreign and records(name):
                yield name, foreign


@pytest.mark.parametrize(("name", "foreign"), pairs())
def test_each_line_of_a_foreign_part_is_told(tmp_path: Path, name: str, foreign: str) -> None:
    own = records(name) * OFTEN
    alone = readings(tmp_path, lines(*own))
    assert {each.source.format for each in episodes(alone)} == {name}
    mixed = readings(tmp_path, lines(*own, *FOREIGN[foreign]))
    assert episodes(mixed) == episodes(alone)
    new = refusals(mixed)[len(refusals(alone)) :]
    assert list(dict.fromkeys(str(each.position).partition(",")[0] for each in new)) == [
        f"line {number}" for number in range(len(own) + 1, len(own) + len(FOREIGN[foreign]) + 1)
    ]


@pytest.mark.parametrize("name", WRITERS)
def test_a_part_that_is_small_does_not_hide_what_the_log_is(tmp_path: Path, name: str) -> None:
    other = "openclaw" if name == "codex" else "codex"
    own = WRITERS[name]("a", "one") * 2
    found = readings(tmp_path, lines(WRITERS[other]("b", "two")[0], *own))
    assert {each.source.format for each in episodes(found)} == {name}
    (told,) = refusals(found)
    assert told.position == "line 1"
    assert told.hint
    assert "split the log" in told.hint
