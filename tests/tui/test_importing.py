"""Episodes imported in the browser: what is told of them, and what is asked before."""

from __future__ import annotations

from pathlib import Path

import orjson
from msgspec.structs import replace

from tests.tui.support import (
    Person,
    browse,
    trajectory,
)


def write_log(file: Path, count: int) -> Path:
    episodes = [
        trajectory(f"put egg {number} in the sink", success=True) for number in range(count)
    ]
    file.write_bytes(b"".join(orjson.dumps(each.record()) + b"\n" for each in episodes))
    return file


def test_import_from_a_log(folder: Path, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", 4)

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write("~nouser/log")
        assert "there is no such user" in person.screen
        await person.press(*["backspace"] * 11)
        await person.write(str(log))
        await person.press("enter")
        assert person.said[-1] == "imported 4 episodes (read as native)"
        assert "7 episodes · 6 waiting" in person.screen
        await person.press("i")
        await person.write(str(log))
        await person.press("enter")
        assert person.said[-1] == ("imported 0 episodes (read as native), 4 known already")

    browse(folder, story, "kitchen")


def test_episodes_of_another_domain_are_told_before_they_are_imported(
    folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    told = [
        replace(trajectory(f"wash pan {domain}", success=True), domain=domain)
        for domain in ("alfworld", "", "scienceworld")
    ]
    log.write_bytes(b"".join(orjson.dumps(each.record()) + b"\n" for each in told))

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        assert "! from scienceworld; the bank's domain is alfworld" in person.screen
        await person.press("enter")
        assert person.said[-1].startswith("imported 3 episodes")

    browse(folder, story, "kitchen")
