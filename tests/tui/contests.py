"""A contest to look at: six games, three contestants, one of them a bank."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from deltamem_tui.lab.contestants import contestants
from tests.lab.arcade import LOG, Arcade, plan, run


@cache
def _made() -> TemporaryDirectory[str]:
    folder = TemporaryDirectory(prefix="deltamem-run-")  # goes away with the process
    who = contestants(["nothing", "raw", "deltamem"], {})
    games = tuple(Arcade().games("test")[:6])
    run(Path(folder.name) / "run", plan("unfrozen", who, log=LOG, games=games), log=LOG)
    return folder


def finished_contest() -> Path:
    """The folder of a contest that nobody changes."""
    return Path(_made().name) / "run"


def copied_contest(path: Path) -> Path:
    """A contest of one's own."""
    return Path(shutil.copytree(finished_contest(), path))


def stopped(folder: Path) -> Path:
    """As if the contest had been killed: the second contestant has four games, the third none."""
    results = folder / "02-raw" / "results.jsonl"
    results.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:4]) + b'{"game')
    shutil.rmtree(folder / "03-deltamem")
    (folder / "result.json").unlink()
    return folder
