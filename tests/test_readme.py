"""The README and the demo, followed in a clone: everything runs, and nothing lands in git.

The commands find the libraries loaded; `tests/test_wheel.py` follows the README in an environment
that its own install line made.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llm.hosted import hosted
from tests.places import ROOT
from tests.readme import blocks, check_outputs, languages, run, run_blocks
from tests.warm import warm_programs


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone as a reader has it: what git would hold of this one, committed."""
    folder = tmp_path_factory.mktemp("clone")
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    files = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout
    for name in files.decode().split("\0")[:-1]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    identity = ["-c", "user.name=reader", "-c", "user.email=reader@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "clone"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A reader's home, and a key for a model that answers."""
    home = tmp_path_factory.mktemp("home")
    kept = {name: os.environ[name] for name in ("TMPDIR", "LANG") if name in os.environ}
    with hosted(home / "cache") as (_, variables):
        there = {**kept, "HOME": str(home), "PATH": os.environ["PATH"], **variables}
        with warm_programs(tmp_path_factory.mktemp("warm"), there) as programs:
            yield {**there, "PATH": f"{programs}{os.pathsep}{there['PATH']}"}


def changes(clone: Path) -> str:
    return run(["git", "status", "--porcelain"], clone, dict(os.environ))


def test_every_block_is_run() -> None:
    assert languages() == {"sh", "python"}
    assert len(blocks("sh")) > 5
    assert len(blocks("python")) == 1
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


def test_the_commands_in_a_clone(clone: Path, environment: dict[str, str]) -> None:
    install, *rest = blocks("sh")
    assert install == "pip install deltamem-tui\n"
    check_outputs(run_blocks(rest, clone, environment))
    assert changes(clone) == ""


def test_the_python_block(clone: Path, environment: dict[str, str]) -> None:
    (block,) = blocks("python")
    environment = {**environment, "PYTHONPATH": str(clone)}
    context = run([sys.executable, "-c", block], clone, environment)
    assert "make migrate ENV=staging" in context
    assert changes(clone) == ""


def test_the_demo_in_a_clone(clone: Path, environment: dict[str, str]) -> None:
    printed = run(["sh", "docs/demo.sh"], clone, environment)
    wanted = ("imported\t56", "task tree (", "### Skill", "<past_experience>", "browse lab")
    assert [part for part in wanted if part not in printed] == []
    assert changes(clone) == ""


def test_make_runs_the_demo_and_the_tests() -> None:
    assert "docs/demo.sh" in run(["make", "--dry-run", "demo"], ROOT, dict(os.environ))
    assert "/pytest" in run(["make", "--dry-run", "test"], ROOT, dict(os.environ))
