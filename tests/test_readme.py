"""Every command and code block of the README runs, in order, in a folder of its own.

The commands are typed as they stand, to a shell. Those of `warm` find the libraries loaded; the
blocks that follow them and the tests of the wheel start the installed program cold.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llm.hosted import hosted
from tests.places import ROOT
from tests.warm import warm_programs

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(match[1], match[2]) for match in BLOCK.finditer((ROOT / "README.md").read_text())]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader of the README stands in, as far as its blocks look at it."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("docs", "prompts"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A reader's: with user folders of its own, and a key for a model that answers."""
    programs = str(Path(sys.executable).parent)
    with hosted(tmp_path_factory.mktemp("cache")) as (_, variables):
        yield {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "XDG_DATA_HOME": str(tmp_path_factory.mktemp("data")),
            "XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("config")),
            **variables,
        }


@pytest.fixture(scope="module")
def warm(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The same reader's, of whose `deltamem` the libraries are loaded already."""
    with warm_programs(tmp_path_factory.mktemp("warm"), environment) as programs:
        yield {**environment, "PATH": f"{programs}{os.pathsep}{environment['PATH']}"}


def run(program: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        program, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{program}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def commands(block: str) -> list[str]:
    whole = block.replace("\\\n", " ")
    lines = (line.partition("#")[0].strip() for line in whole.splitlines())
    return [line for line in lines if line]


def test_there_is_no_block_that_is_not_run() -> None:
    assert {language for language, _ in BLOCKS} == {"sh", "json", "python"}
    made = [line for language, block in BLOCKS if language == "sh" for line in commands(block)]
    assert [line for line in made if not line.startswith("deltamem ")] == ["make demo", "make test"]


def test_the_commands(checkout: Path, warm: dict[str, str]) -> None:
    said = {}
    for language, block in BLOCKS:
        for line in commands(block) if language == "sh" else ():
            if line.startswith("deltamem "):
                said[line] = run(["sh", "-c", line], checkout, warm)
    assert "frozen\tyes" in run(["deltamem", "info", "household"], checkout, warm)
    (context,) = (said[line] for line in said if line.startswith("deltamem recall scienceworld"))
    assert "### Skill" in context
    assert "### Where to look" in context


def test_the_json_block(checkout: Path, environment: dict[str, str]) -> None:
    (block,) = (block for language, block in BLOCKS if language == "json")
    (checkout / "own.jsonl").write_text(block)
    run(["deltamem", "init", "own", "--embedder", "hashing"], checkout, environment)
    taken = json.loads(
        run(["deltamem", "import", "own", "own.jsonl", "--json"], checkout, environment)
    )
    assert (taken["status"], taken["data"]["imported"]) == ("success", 1)
    told = run(["deltamem", "info", "own", "--json"], checkout, environment)
    assert json.loads(told)["data"]["without_outcome"] == 0


def test_the_python_block(checkout: Path, environment: dict[str, str]) -> None:
    (block,) = (block for language, block in BLOCKS if language == "python")
    run([sys.executable, "-c", block], checkout, environment)
    context = run([sys.executable, "-c", block], checkout, environment)
    assert "### Skill" in context
    assert "### Base knowledge" in context
    assert len([line for line in block.splitlines() if line.strip()]) <= 12


def test_make_test_runs_the_tests() -> None:
    printed = run(["make", "--dry-run", "test"], ROOT, dict(os.environ))
    assert "/pytest" in printed


def test_the_demo(checkout: Path, warm: dict[str, str]) -> None:
    printed = run(["sh", "docs/demo.sh"], checkout, warm)
    wanted = ("imported\t179", "task tree (", "### Skill", "<past_experience>", "browse lab")
    assert [part for part in wanted if part not in printed] == []
    assert "docs/demo.sh" in run(["make", "--dry-run", "demo"], ROOT, dict(os.environ))
