"""The built wheel, alone in an empty environment: everything it ships is there and works."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.places import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_prompts_and_banks_are_in_the_wheel(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for bank in ("alfworld", "scienceworld"):
        assert f"deltamem_tui/shipped/memory_banks/{bank}/task.embeddings.npy" in names
    assert "deltamem_tui/shipped/prompts/generic/memory_header.md" in names
    assert "deltamem_tui/py.typed" in names
    assert not [name for name in names if name.endswith((".lock", ".pyc"))]


def test_recall_from_the_shipped_bank_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    """The requirements come from this environment, so that nothing is fetched."""
    venv.create(tmp_path / "empty", with_pip=False)
    python = tmp_path / "empty" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-index", "--no-deps", str(wheel)], check=True)
    here = next(Path(path) for path in sys.path if path.endswith("site-packages"))
    program = (
        "import sys, deltamem_tui\n"
        "assert deltamem_tui.__file__.startswith(sys.prefix), deltamem_tui.__file__\n"
        f"sys.path.append({str(here)!r})\n"
        "from deltamem_tui.cli.app import run\n"
        "task = 'Your task is to find an animal. First, focus on the thing. '\n"
        "task += 'Then, move it to the red box in the kitchen.'\n"
        "sys.exit(run(['recall', 'scienceworld', task]))\n"
    )
    environment = {
        **os.environ,
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    done = subprocess.run(
        [str(python), "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "### Skill" in done.stdout
