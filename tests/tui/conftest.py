import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from deltamem_tui import paths
from tests.tui.quiet import asked_of_the_loop
from tests.tui.support import small_bank


@pytest.fixture(scope="session", autouse=True)
def quick_to_see_that_all_is_done() -> Iterator[None]:
    """The pilot goes on as soon as all is done."""
    with asked_of_the_loop():
        yield


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """State, data, settings and banks of the person at the machine stay out of it."""
    real, banks = paths.shipped_folder, tmp_path / "shipped"
    monkeypatch.setattr(
        paths, "shipped_folder", lambda name: banks if name == "memory_banks" else real(name)
    )
    for name in ("STATE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TZ", "UTC")


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    small_bank(folder / "kitchen")
    return folder


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    """A banks folder with one small bank, `kitchen`, to be written at will."""
    return Path(shutil.copytree(model_folder, tmp_path / "banks"))
