"""The program as a script meets it: words in, an exit code and one JSON document out."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.cli import app

USER_FOLDERS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME")
VARIABLES = ("BANKS", "CONFIG", "MODEL", "EMBEDDER", "DOMAIN", "PROMPTS")


@dataclass(frozen=True)
class Answer:
    """What a command came to.

    Attributes:
        code: Its exit code.
        document: What it printed.
    """

    code: int
    document: dict[str, Any]

    @property
    def data(self) -> Any:
        """The data of a command that did all it should."""
        assert self.code == 0, self.document["errors"]
        return self.document["data"]


def deltamem(*arguments: object) -> Answer:
    """Run one command in this process, with `--json`."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = app.run([*map(str, arguments), "--json"])
    assert err.getvalue() == ""
    return Answer(int(code), json.loads(out.getvalue()))


@contextmanager
def own_folders(folder: Path) -> Iterator[Path]:
    """Work in `folder`, with its `memory_banks` and with user folders in it.

    Yields:
        The folder of the banks.
    """
    banks = folder / "memory_banks"
    banks.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in VARIABLES:
            patch.delenv(f"DELTAMEM_{name}", raising=False)
        for name in USER_FOLDERS:
            patch.setenv(name, str(folder / "user" / name.lower()))
        patch.setenv("DELTAMEM_BANKS", "memory_banks")
        yield banks
