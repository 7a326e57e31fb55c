"""No test waits for the disk, and each has the program with a bank that has learnt a little."""

import shutil
from pathlib import Path

import pytest

from deltamem_tui.cli import app
from tests.bank.quick_disk import no_waiting_for_the_disk
from tests.cli.support import RECORDS, Program, settle_in, write_log
from tests.llm.fixtures import running, server

__all__ = ["no_waiting_for_the_disk", "running", "server"]


@pytest.fixture(scope="session")
def learnt(tmp_path_factory: pytest.TempPathFactory, no_waiting_for_the_disk: None) -> Path:
    """A bank `kitchen` that learnt three episodes; a fourth waits for an outcome."""
    folder = tmp_path_factory.mktemp("learnt")
    with pytest.MonkeyPatch.context() as patch:
        settle_in(folder, patch)
        (folder / "memory_banks").mkdir()
        log = write_log(folder / "log.jsonl", RECORDS)
        calls = (
            ("init", "kitchen", "--embedder", "hashing", "--description", "hot food"),
            ("parameters", "kitchen", "task.tau_base=0.5", "env.tau_base=0.5", "task.k_cons=1"),
            ("import", "kitchen", str(log)),
            ("extract", "kitchen", "--extractor", "rules"),
        )
        for call in calls:
            assert app.run(call) == 0
    return folder / "memory_banks" / "kitchen"


@pytest.fixture
def empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    """The program in a folder without banks."""
    settle_in(tmp_path, monkeypatch)
    (tmp_path / "memory_banks").mkdir()
    return Program(tmp_path, capsys)


@pytest.fixture
def program(empty: Program, learnt: Path) -> Program:
    """The program with a copy of the bank `kitchen`."""
    shutil.copytree(learnt, empty.bank)
    return empty
