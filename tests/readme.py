"""The README's blocks, run as a reader pastes them: one shell, one block after another."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.places import ROOT

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "=== block"


def blocks(language: str = "") -> list[str]:
    """Return the blocks of a language, or of all, in the README's order."""
    found = _BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
    return [block for kind, block in found if not language or kind == language]


def languages() -> set[str]:
    """Return the languages of the README's blocks."""
    return {kind for kind, _ in _BLOCK.findall((ROOT / "README.md").read_text("utf-8"))}


def run_blocks(
    shell_blocks: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> list[str]:
    """Run blocks in one shell, which stops at the first command that fails.

    Returns:
        The output of each block.
    """
    marked = (f"echo '{_MARK}'\n{block}" for block in shell_blocks)
    done = run(["sh", "-euc", "\n".join(marked)], folder, environment)
    return done.split(f"{_MARK}\n")[1:]


def run(program: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Run a program that is to succeed, and return what it printed."""
    done = subprocess.run(
        program, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def check_outputs(outputs: Sequence[str]) -> None:
    """Assert what a reader is promised of the blocks after the install line."""
    first, _, recalled, looked, *_ = outputs
    assert "scienceworld" in first
    assert "### Skill" in first
    assert "### Where to look" in first
    assert "TZ=UTC pytest tests/test_dates.py" in recalled
    assert "Deploy the release to staging" in looked
    assert "from-skills" in outputs[-1]
