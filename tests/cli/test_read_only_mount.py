"""Banks that lie where nobody can write: mounted read-only, as a shared disk or a disc is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.transfer.export import prepare
from tests.cli.support import Program

MOUNTED = """
set -eu
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
if touch "$1/probe" 2>/dev/null; then exit 77; fi
shift
exec "$@"
"""


@pytest.fixture
def mounted(program: Program) -> Path:
    """A folder with a bank that is frozen, one that is not, and an archive."""
    if not shutil.which("unshare"):
        pytest.skip("needs unshare")
    log = program.log()
    assert program("import", "kitchen", log).code == 0
    assert program("extract", "kitchen", "--extractor", "rules").code == 0
    folder = program.folder / "mounted"
    free = Path(shutil.copytree(program.bank, folder / "free"))
    shutil.copytree(free, folder / "frozen")
    Bank.open(folder / "frozen").freeze()
    prepare(Bank.open(free)).package.write(folder / "packed.deltamem")
    return folder


def on_the_mount(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program while the folder is mounted read-only, for it alone."""
    program = [sys.executable, "-m", "deltamem_tui", *arguments]
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", MOUNTED, "sh", str(folder), *program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or "unshare:" in done.stderr or "mount:" in done.stderr:
        pytest.skip("needs the right to mount")
    return done


@pytest.mark.parametrize("bank", ["free", "frozen", "packed.deltamem"])
def test_a_bank_on_it_is_read_as_any_other(mounted: Path, bank: str) -> None:
    task = "heat some apple and put it on the table"
    recalled = on_the_mount(mounted, "recall", str(mounted / bank), task)
    assert (recalled.returncode, recalled.stderr) == (0, "")
    assert "past_experience" in recalled.stdout
    verified = on_the_mount(mounted, "bank", "verify", str(mounted / bank))
    assert verified.returncode == 0
    assert "is sound" in verified.stderr


def test_writing_there_is_refused_in_one_line(mounted: Path) -> None:
    log = mounted.parent / "log.jsonl"
    for call in (
        ("import", str(mounted / "free"), str(log)),
        ("bank", "freeze", str(mounted / "free")),
    ):
        refused = on_the_mount(mounted, *call)
        assert refused.returncode == 1
        assert refused.stderr.count("\n") == 1
        assert refused.stderr.startswith("error: ")
