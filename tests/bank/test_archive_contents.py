"""Archives whose digests are right and whose contents mean harm: refused, or shown as data."""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deltamem_tui.bank.manifest import encode
from deltamem_tui.bank.tree import INDEX_TYPE
from tests.bank.forging import Files, forged, sealed, with_old_digests
from tests.bank.hostile import npy, refused
from tests.bank.support import DIMENSIONS
from tests.places import ROOT


class Trap:
    """Unpickled, it runs what it says."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch pwned",)


def header(text: str, version: bytes = b"\x01\x00") -> bytes:
    body = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(body)) + body


def lines_of(files: Files, name: str = "task.nodes.jsonl") -> list[dict[str, object]]:
    return [json.loads(line) for line in files[name].splitlines()]


def as_lines(records: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def changed_line(row: int, **fields: object) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        records = lines_of(files)
        records[row] |= fields
        files["task.nodes.jsonl"] = as_lines(records)
        del files["task.index.npy"], files["journal.jsonl"]

    return change


def cycle(files: Files) -> None:
    records = lines_of(files)
    one, two = (records[row] for row in (1, 2))
    one |= {"parent": two["id"], "kind": "residual", "depth": 3}
    two |= {"parent": one["id"], "kind": "residual", "depth": 2}
    files["task.nodes.jsonl"] = as_lines(records)
    del files["task.index.npy"], files["journal.jsonl"]


def own_parent(files: Files) -> None:
    node_id = lines_of(files)[1]["id"]
    changed_line(1, parent=node_id, depth=2, kind="residual")(files)


def with_array(name: str, data: Callable[[Files], bytes]) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        files[name] = data(files)

    return change


def vectors_with(value: float) -> Callable[[Files], bytes]:
    def make(files: Files) -> bytes:
        vectors = np.load(io.BytesIO(files["task.embeddings.npy"]))
        vectors[1] = value
        return npy(vectors)

    return make


def lying_index(files: Files) -> None:
    """An index in which two nodes are each other's parents."""
    index = np.load(io.BytesIO(files["task.index.npy"]))
    index["parent"][1], index["parent"][2] = 2, 1
    files["task.index.npy"] = npy(index)


def described(before: bytes, after: bytes) -> Callable[[Files], bytes]:
    return lambda files: files["bank.json"].replace(before, after)


FORGERIES: dict[str, tuple[Callable[[Files], None], str]] = {
    "pickled vectors": (
        with_array("task.embeddings.npy", lambda _: npy(np.array([Trap()], dtype=object))),
        "task.embeddings.npy",
    ),
    "pickled counts": (
        with_array("task.counts.npy", lambda _: npy(np.array([Trap()], dtype=object))),
        "task.counts.npy",
    ),
    "header of 4 GB": (
        with_array(
            "task.embeddings.npy",
            lambda _: b"\x93NUMPY\x02\x00" + struct.pack("<L", 2**32 - 1) + b" " * 200,
        ),
        "not an array of float32",
    ),
    "shape of exabytes": (
        with_array(
            "task.embeddings.npy",
            lambda _: header(
                f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({10**17}, {DIMENSIONS}), }}"
            ),
        ),
        "cut short",
    ),
    "not a number": (with_array("task.embeddings.npy", vectors_with(np.nan)), "length nan"),
    "cycle": (cycle, "parent"),
    "own parent": (own_parent, "parent"),
    "no parent": (changed_line(1, parent="f" * 16, kind="residual", depth=2), "parent"),
    "wrong depth": (changed_line(1, depth=9), ""),
    "id with a path": (changed_line(0, id="../../precious!!"), "is not an id"),
    "deep JSON": (
        with_array("task.nodes.jsonl", lambda _: b"[" * 100_000 + b"]" * 100_000 + b"\n"),
        "task.nodes.jsonl",
    ),
    "lying index": (lying_index, "contradicts the lines"),
    "dimensions without end": (
        with_array(
            "bank.json", described(b'"dimensions": 8', b'"dimensions": 999999')
        ),
        "",
    ),
}  # fmt: skip


# Whoever only reads in place neither compares a node with its parent nor measures its vector.
# (A recall looks whether its scores are finite.)
_NOT_LOOKED_AT = {
    *("not a number", "wrong depth", "dimensions without end"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_contents_that_break_the_format(
    place: Path, good: Files, forgery: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, words = FORGERIES[forgery]
    monkeypatch.chdir(place)
    files = dict(good)
    change(files)
    path = forged(place / "x.deltamem", files)
    refused(path, words, also_in_place=forgery not in _NOT_LOOKED_AT)
    assert not (place / "pwned").exists()


def long_chain(length: int) -> Files:
    """A chain of so many nodes, each below the one before, with an index that knows it."""
    lines = [
        b'{"id":"%016x","parent":%b,"kind":"%b","label":"success","depth":%d,'
        b'"activation_condition":"a","execution_procedure":"b","termination_condition":"",'
        b'"consolidated":false,"revision":0,'
        b'"origin":{"trajectory":"","outcome_source":"","extractor":""}}\n'
        % (
            row,
            b'"%016x"' % (row - 1) if row else b"null",
            b"residual" if row else b"root",
            row + 1,
        )
        for row in range(length)
    ]
    rows = np.arange(length)
    sizes = np.array([len(line) for line in lines])
    index = np.zeros(length, dtype=INDEX_TYPE)
    index["id"] = [line[7:23] for line in lines]
    index["offset"] = np.cumsum(sizes) - sizes
    index["first"], index["parent"], index["depth"] = rows, rows - 1, rows + 1
    index["residual"] = rows > 0
    vectors = np.zeros((length, 2), dtype=np.float32)
    vectors[:, 0] = 1
    described = {
        "format": 1,
        "name": "deep",
        "description": "",
        "domain": "generic",
        "embedder": {"model": "test", "dimensions": 2},
        "parameters": {},
        "provenance": {},
        "frozen": True,
        "digests": {},
    }
    return {
        "bank.json": json.dumps(described).encode(),
        "task.nodes.jsonl": b"".join(lines),
        "task.embeddings.npy": npy(vectors),
        "task.counts.npy": npy(np.zeros((length, 3), dtype=np.uint32)),
        "task.index.npy": npy(index),
    }


_BOUNDED = """
import resource, sys
from pathlib import Path
from deltamem_tui.bank.transfer import install, inspect, receive
from deltamem_tui.bank.verify import verify
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import DeltaMemError
import numpy.linalg
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit = used + int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
source = Path(sys.argv[1])
def walk():
    for tree in Bank.open(source).trees.values():
        tree.embeddings.max(initial=0)
        for node in tree:
            last = node.id
        tree.chain(last)
for attempt in (lambda: install(receive(source), source.parent / "banks" / "x"),
                lambda: inspect(receive(source)), walk):
    try:
        attempt()
    except DeltaMemError as error:
        print("refused", type(error).__name__)
    else:
        print("taken")
"""


@pytest.mark.one_in(3)
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("kind", ["chain", "one line", "header", "many lines", "manifest", "lists"])
def test_memory_and_time_stay_bounded(place: Path, good: Files, kind: str) -> None:
    """In a process that may map the archive, and else take little more than it has.

    The chain has a million nodes, and all but the first ten thousand of its lines are flaws.
    """
    files = dict(good)
    if kind == "chain":
        files = long_chain(1_000_000)
    elif kind == "one line":
        files["task.nodes.jsonl"] = b"x" * 60_000_000
    elif kind == "lists":
        end = files["journal.jsonl"].rindex(b'"detail":{') + len(b'"detail":{')
        lists = b'"x":[' + b",".join([b"[]"] * 10_000_000) + b"],"
        rest = files["journal.jsonl"][end:]
        files["journal.jsonl"] = files["journal.jsonl"][:end] + lists + rest
    elif kind == "many lines":
        files["task.nodes.jsonl"] = b"\n" * 3_000_000
    elif kind == "manifest":
        files["bank.json"] = b" " * 10_000_000 + files["bank.json"]
    else:
        FORGERIES["shape of exabytes"][0](files)
    # A line of the journal is read whole, from the end backwards; as objects it would be 700 MB.
    more = 500_000_000 if kind == "lists" else 300_000_000
    path = place / "x.deltamem"
    if kind == "manifest":
        with_old_digests(path, files)
    else:
        forged(path, files)
    answer = subprocess.run(
        [sys.executable, "-c", _BOUNDED, str(path), str(path.stat().st_size + more)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert answer.stderr == "", answer.stderr
    assert [line.split()[0] for line in answer.stdout.splitlines()] == ["refused"] * 3
    assert list((place / "banks").iterdir()) == []


def test_every_file_is_what_the_manifest_promises(place: Path, good: Files) -> None:
    for name in good:
        changed = {**good, name: good[name].replace(b"e", b"f", 1) + b"\n"}
        if name == "bank.json":
            changed[name] = good[name].replace(b'"generic"', b'"other"')
        path = with_old_digests(place / "x.deltamem", changed)
        refused(path, "changed since", also_in_place=False)


def test_swapped_vectors_are_noticed(place: Path, good: Files) -> None:
    vectors = np.load(io.BytesIO(good["task.embeddings.npy"]))
    swapped = {**good, "task.embeddings.npy": npy(vectors[::-1])}
    refused(with_old_digests(place / "x.deltamem", swapped), "changed since", also_in_place=False)


def test_nothing_is_missing_and_nothing_added(place: Path, good: Files) -> None:
    lean = {name: data for name, data in good.items() if not name.startswith("traj")}
    refused(with_old_digests(place / "x.deltamem", lean), "is missing")
    del lean["journal.jsonl"]
    manifest = sealed(lean).manifest
    added = {**lean, "bank.json": encode(manifest), "trajectories.jsonl": b""}
    path = with_old_digests(place / "x.deltamem", added)
    refused(path, "was not there", also_in_place=False)


def test_an_archive_is_always_frozen(place: Path, good: Files) -> None:
    text = json.loads(good["bank.json"])
    text |= {"frozen": False, "digests": {}}
    files = {**good, "bank.json": json.dumps(text).encode()}
    refused(with_old_digests(place / "x.deltamem", files), "not frozen", also_in_place=False)
