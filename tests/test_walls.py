"""The walls between the rooms stand, and each would be missed."""

import os
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


@pytest.mark.parametrize(
    ("room", "forbidden"),
    [
        ("bank", "deltamem_tui.embedding"),
        ("bank/disk", "deltamem_tui.bank.commits"),
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
        ("memory/writers/model", "deltamem_tui.memory.writers.rules"),
        ("memory/writers/rules", "deltamem_tui.memory.deltamem"),
        ("memory/vectors", "deltamem_tui.memory.method"),
        ("bank", "torch"),
        ("cli", "sentence_transformers"),
    ],
)
def test_a_breach_is_noticed(copy: Path, room: str, forbidden: str) -> None:
    place = copy / "deltamem_tui" / room
    file = place / "breach.py" if place.is_dir() else place.with_suffix(".py")
    before = file.read_text() if file.exists() else None
    file.write_text((before or "") + f"\nimport {forbidden}\n")
    try:
        done = lint(copy)
    finally:
        file.unlink() if before is None else file.write_text(before)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"-> {forbidden}" in done.stdout


def test_a_module_without_a_place_is_noticed(copy: Path) -> None:
    stray = copy / "deltamem_tui/helpers.py"
    stray.write_text('"""Belongs nowhere."""\n')
    try:
        done = lint(copy)
    finally:
        stray.unlink()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "helpers" in done.stdout
