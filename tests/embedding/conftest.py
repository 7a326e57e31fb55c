from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.embedding.support import save_tiny_model


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model; do not write to it."""
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def copied(tiny_model: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Copies the tiny model to a folder of another name, free to be damaged."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(tiny_model, tmp_path / name))

    return copy
