"""The pictures of the browser's page are what the program draws of the bank that is shipped."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest

from deltamem_tui import paths

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    """The script that draws them."""
    found = importlib.util.spec_from_file_location(
        "draw_picture", ROOT / "docs" / "draw_picture.py"
    )
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["draw_picture"] = module
    found.loader.exec_module(module)
    return module


@pytest.mark.thorough
def test_the_pictures_are_as_drawn(
    drawing: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the recall of the shipped bank, which needs its embedding model."""
    monkeypatch.setattr(paths, "shipped_folder", lambda name: ROOT / name)
    monkeypatch.setenv("HOME", str(tmp_path))
    learnt, drawn = tmp_path / "household", tmp_path / "drawn"
    drawn.mkdir()
    drawing.learn_sample(learnt)
    shipped = (ROOT / "memory_banks" / drawing.BANK, drawing.SHIPPED[:-1])
    sessions = (None, drawing.SESSIONS, tmp_path / "none")
    for bank, views, *folder in (
        (None, drawing.START),
        shipped,
        sessions,
        (learnt, drawing.LEARNT),
    ):
        if folder:
            drawing.place_sessions(tmp_path)
        asyncio.run(drawing.draw_screens(drawn, bank, views, *folder))
        for view in views:
            name = f"{view.name}.svg"
            assert (drawn / name).read_bytes() == (PICTURES / name).read_bytes(), name


def test_every_picture_is_drawn_shown_and_sound(drawing: ModuleType) -> None:
    page = (ROOT / "docs" / "browser.md").read_text(encoding="utf-8")
    views = (*drawing.START, *drawing.SHIPPED, *drawing.SESSIONS, *drawing.LEARNT)
    names = {view.name for view in views}
    assert {file.stem for file in PICTURES.iterdir()} == names
    shown = set(re.findall(r"pictures/(\w+)\.svg", page))
    assert shown == names
    for name in names:
        ET.parse(PICTURES / f"{name}.svg")
