"""A small bank that needs no model, and the program as its users meet it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui import paths
from deltamem_tui.cli import app
from deltamem_tui.cli.commands import renewed
from tests.places import PROMPTS

SCENE = "You are in a kitchen. You see a fridge 1, a microwave 1 and a table 1."


def record(task: str, *steps: tuple[str, str], success: bool | None = True) -> dict[str, Any]:
    found: dict[str, Any] = {
        "task": task,
        "environment": SCENE,
        "steps": [{"action": action, "observation": answer} for action, answer in steps],
    }
    if success is not None:
        found["outcome"] = {"success": success, "reward": float(success), "source": "stated"}
    return found


def heat(thing: str, *, success: bool | None = True) -> dict[str, Any]:
    return record(
        f"Your task is to: heat some {thing} and put it on the table.",
        ("go to fridge 1", f"The fridge 1 is closed. On it you see a {thing} 1."),
        (f"take {thing} 1 from fridge 1", f"You pick up the {thing} 1 from the fridge 1."),
        (f"heat {thing} 1 with microwave 1", f"You heat the {thing} 1 using the microwave 1."),
        (f"put {thing} 1 in/on table 1", f"You put the {thing} 1 in/on the table 1."),
        success=success,
    )


SWEEP = record(
    "Your task is to: sweep the floor of the hall with a broom.",
    ("go to hall", "You see a broom."),
    ("use broom on floor", "Nothing happens."),
    success=False,
)
RECORDS = [heat("apple"), heat("egg"), SWEEP, heat("potato", success=None)]

# Enough episodes of three kinds for a threshold to be proposed.
ENOUGH = [
    *(heat(thing) for thing in ("bread", "cup", "mug", "plate", "tomato")),
    *(
        record(f"Your task is to: {task} with a {tool}.", (f"use {tool}", "Done."))
        for task in ("sweep the floor of the hall", "paint the wall of the garden house")
        for tool in ("brush", "mop", "rag", "sponge")
    ),
]


def write_log(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


@dataclass(frozen=True)
class Answer:
    """What the program said."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        loaded = json.loads(self.out)
        assert isinstance(loaded, dict)
        assert list(loaded) == ["command", "status", "data", "errors"]
        assert self.err == ""
        return loaded

    @property
    def data(self) -> Any:
        return self.document["data"]

    @property
    def error(self) -> str:
        """The one line that went wrong."""
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        assert "defect of this program" not in self.err
        return self.err.removeprefix("error: ").rstrip("\n")


@dataclass(frozen=True)
class Program:
    """`deltamem` in a folder of the test's own; commands may be called by their verb alone."""

    folder: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Answer:
        self.capture.readouterr()
        code = app.run(renewed(arguments)[0])
        said = self.capture.readouterr()
        return Answer(code, said.out, said.err)

    def json(self, *arguments: str) -> Answer:
        return self(*arguments, "--json")

    @property
    def bank(self) -> Path:
        return self.folder / "memory_banks" / "kitchen"

    def log(self, *records: dict[str, Any]) -> str:
        return str(write_log(self.folder / "log.jsonl", records or RECORDS))


def settle_in(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """A working folder, user folder and package of the test's own, with the real prompts."""
    package = folder / "package"
    package.mkdir(exist_ok=True)
    if not (package / "prompts").exists():
        (package / "prompts").symlink_to(PROMPTS)
    patch.chdir(folder)
    patch.setenv(paths.BANKS_VARIABLE, "memory_banks")
    patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    real = paths.user_folder
    patch.setattr(
        paths, "user_folder", lambda kind: real(kind) if kind == "cache" else folder / "user"
    )
    patch.setattr(paths, "shipped_folder", lambda name: package / name)


def state_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a bank but its lock, with the time it was last written."""
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.iterdir()
        if path.is_file() and path.name != ".lock"
    }
