"""The script that builds a bank on several workers, with two of them here."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.banks import open_bank
from tests.places import ROOT

pytest.importorskip("distributed")
pytestmark = pytest.mark.thorough

LINES = gzip.decompress((ROOT / "docs" / "sample" / "alfworld.jsonl.gz").read_bytes()).splitlines()


def build(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = str(ROOT / "docs" / "build_in_shards.py")
    return subprocess.run(
        [sys.executable, script, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def write_shard(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def test_two_workers_build_one_bank(tmp_path: Path) -> None:
    write_shard(tmp_path / "one.jsonl", LINES[:4])
    write_shard(tmp_path / "two.jsonl", [*LINES[4:8], b'{"odd":1}'])
    done = build(tmp_path, "banks/both", "one.jsonl", "two.jsonl", "--domain", "alfworld")
    assert done.returncode == 3, done.stderr  # a record was left out, and is named
    assert "two.jsonl, line 5: " in done.stderr
    assert "8 episodes learnt in 2 shards, 0 wait" in done.stdout
    bank = open_bank(tmp_path / "banks" / "both")
    assert (len(bank.episodes), bank.manifest.domain) == (8, "alfworld")
    logs = [each["log"] for each in bank.manifest.provenance["merged"]]
    assert logs == ["one.jsonl", "two.jsonl"]
    assert verify(bank) == []
    assert [each.name for each in (tmp_path / "banks").iterdir()] == ["both"]


def test_one_log_is_one_shard(tmp_path: Path) -> None:
    write_shard(tmp_path / "one.jsonl", LINES[:2])
    done = build(tmp_path, "bank", "one.jsonl", "--domain", "alfworld", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert verify(open_bank(tmp_path / "bank")) == []
    assert "2 episodes learnt in 1 shards" in done.stdout


def test_a_shard_that_fails_leaves_no_bank(tmp_path: Path) -> None:
    write_shard(tmp_path / "one.jsonl", LINES[:1])
    done = build(tmp_path, "both", "one.jsonl", "nowhere.jsonl", "--workers", "1")
    assert done.returncode == 1
    assert "nowhere.jsonl: no such file" in done.stderr
    assert "1 of 2 shards failed; no bank was made" in done.stderr
    assert "Traceback" not in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["one.jsonl"]


def test_a_place_that_is_taken_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "thesis.txt").write_text("years of work")
    done = build(tmp_path, "both", "nowhere.jsonl")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "something is here already" in done.stderr
