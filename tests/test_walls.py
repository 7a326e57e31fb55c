"""The walls between the rooms stand, and each would be missed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

LINTER = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"}
    return subprocess.run(
        LINTER, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with its contracts, in a folder where it may be broken."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(
        ROOT / "deltamem_tui", folder / "deltamem_tui", ignore=shutil.ignore_patterns("__pycache__")
    )
    return folder


def test_the_walls_stand(copy: Path) -> None:
    done = lint(copy)
    assert done.returncode == 0, done.stdout + done.stderr


BREACHES = (
    ("bank", "deltamem_tui.embedding"),
    ("bank/disk", "deltamem_tui.bank.journal"),
    ("trajectory", "deltamem_tui.bank"),
    ("llm", "deltamem_tui.memory"),
    ("embedding", "deltamem_tui.llm"),
    ("memory", "deltamem_tui.cli"),
    ("cli", "deltamem_tui.tui"),
    ("tui", "deltamem_tui.cli"),
    ("paths", "deltamem_tui.bank"),
    ("text", "deltamem_tui.paths"),
    ("config", "rich"),
    ("bank", "textual"),
    ("memory", "typer"),
    ("memory", "litellm"),
    ("memory/deltamem", "deltamem_tui.memory.engine"),
    ("memory/writers/model", "deltamem_tui.memory.deltamem"),
    ("memory/vectors", "deltamem_tui.memory.method"),
    ("bank", "torch"),
    ("cli", "sentence_transformers"),
)
"""A room, and what nothing in it may import."""


@pytest.fixture(scope="module")
def broken(copy: Path) -> str:
    """What is said of the package with all breaches in it: each is told apart by its own line."""
    before: dict[Path, str | None] = {}
    for room, forbidden in BREACHES:
        place = copy / "deltamem_tui" / room
        file = place / "breach.py" if place.is_dir() else place.with_suffix(".py")
        before.setdefault(file, file.read_text() if file.exists() else None)
        with file.open("a") as module:
            module.write(f"\nimport {forbidden}\n")
    done = lint(copy)
    for file, text in before.items():
        file.unlink() if text is None else file.write_text(text)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("room", "forbidden"), BREACHES)
def test_a_breach_is_noticed(broken: str, room: str, forbidden: str) -> None:
    module = f"deltamem_tui.{room.replace('/', '.')}"
    assert re.search(rf"\b{module}(\.breach)? -> {forbidden} \(", broken), broken


def test_a_module_without_a_place_is_noticed(copy: Path) -> None:
    stray = copy / "deltamem_tui/helpers.py"
    stray.write_text('"""Belongs nowhere."""\n')
    try:
        done = lint(copy)
    finally:
        stray.unlink()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "helpers" in done.stdout
