"""Archives from somebody who means harm: refused, or shown as the data that they are."""

from __future__ import annotations

import io
import json
import os
import pickle
import resource
import stat
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deltamem_tui.bank import codec
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.disk import archive
from deltamem_tui.bank.disk.archive import MEMBERS
from deltamem_tui.bank.node import TREES
from deltamem_tui.bank.travel import installing
from deltamem_tui.bank.travel.installing import install, receive
from deltamem_tui.bank.tree_index import INDEX_TYPE
from deltamem_tui.errors import BankCorruptError, BankError, DeltaMemError
from tests.bank.forging import (
    Files,
    everything,
    forged,
    packed,
    sealed,
    small_bank,
    unpacked,
    zipped,
)
from tests.bank.support import DIMENSIONS, vector
from tests.places import ROOT


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of a sound archive."""
    folder = tmp_path_factory.mktemp("good")
    bank = small_bank(folder / "kitchen")
    return unpacked(packed(bank, folder / "a", with_episodes=True, with_journal=True))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where nothing but the archive lies, and something precious beside it."""
    (tmp_path / "precious").write_text("untouched")
    (tmp_path / "banks").mkdir()
    return tmp_path


def refused(source: Path, words: str, *, also_in_place: bool = True) -> None:
    """Neither installed nor tried out, in a few words; and nothing is touched."""
    root = source.parent
    before = everything(root)
    for attempt in (
        lambda: install(receive(source), root / "banks" / "kitchen"),
        lambda: installing.inspect(receive(source)),
    ):
        with pytest.raises(BankError) as caught:
            attempt()
        said = str(caught.value)
        assert words in said, said
        assert str(source) in said
        assert len(said) < 2000
        assert all(character.isprintable() for character in said), said
        assert everything(root) == before
    if also_in_place:
        with pytest.raises(DeltaMemError):
            walked(Bank.open(source))
    assert everything(root) == before


def walked(bank: Bank) -> None:
    """Look at everything that a reading command looks at."""
    for tree in bank.trees.values():
        for node in tree:
            tree.chain(node.id)
            tree.counts(node.id)
        assert tree.embeddings.shape[1] == bank.manifest.dimensions
    for episode in bank.episodes.ids():
        bank.episodes.state(episode)
        bank.episodes.record(episode)


# The outside


@pytest.mark.parametrize(
    "name",
    [
        "../precious",
        "../../etc/passwd",
        "/etc/passwd",
        "banks/../../precious",
        "C:\\windows\\system.ini",
        "sub/task.nodes.jsonl",
        "task.nodes.jsonl/",
        "./bank.json",
        "BANK.JSON",
        "bank.json ",
        ".lock",
        ".git/hooks/post-checkout",
        "evil.py",
        "task.embeddings.npy.3.next",
        "\x1b[31mred",
        "kitchen.deltamem",
    ],
)
def test_no_other_names(place: Path, good: Files, name: str) -> None:
    refused(zipped(place / "x.deltamem", {**good, name: b"x"}), "no file of a bank is called so")


def test_another_programs_zip_file_is_not_taken(place: Path, good: Files) -> None:
    refused(zipped(place / "x.deltamem", good), "not laid out")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFBLK, stat.S_IFDIR])
def test_no_links_pipes_devices_or_folders(place: Path, good: Files, kind: int) -> None:
    path = place / "x.deltamem"
    with zipfile.ZipFile(path, "w") as opened:
        for name, data in good.items():
            info = zipfile.ZipInfo(name)
            special = name == "task.nodes.jsonl"
            info.external_attr = ((kind if special else stat.S_IFREG) | 0o777) << 16
            opened.writestr(info, b"../precious" if special else data)
    refused(path, "not as a plain file")


def test_no_bomb_is_unpacked(place: Path, good: Files) -> None:
    bomb = {**good, "task.nodes.jsonl": bytes(200_000_000)}
    path = zipped(place / "x.deltamem", bomb, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 2_000_000
    with bounded_memory(more=100_000_000):
        refused(path, "compressed")


def test_no_bomb_in_a_bomb(place: Path, good: Files) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("bank.json", bytes(50_000_000))
    refused(forged(place / "x.deltamem", {**good, "task.nodes.jsonl": inner.getvalue()}), "task")
    (place / "x.deltamem").write_bytes(inner.getvalue())
    refused(place / "x.deltamem", "compressed")


@pytest.mark.parametrize("name", ["task.nodes.jsonl", "bank.json"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_nothing_stands_twice(place: Path, good: Files, name: str) -> None:
    path = place / "x.deltamem"
    with zipfile.ZipFile(path, "w") as opened:
        for each, data in good.items():
            opened.writestr(each, data)
            if each == name:
                opened.writestr(each, data.replace(b"kitchen", b"cellar!"))
    refused(path, "twice")


def test_no_second_manifest_behind_the_archive(place: Path, good: Files) -> None:
    path = forged(place / "x.deltamem", good)
    path.write_bytes(path.read_bytes() + path.read_bytes())
    refused(path, "not laid out")
    path.write_bytes(b"#!/bin/sh\n" + forged(place / "x.deltamem", good).read_bytes())
    refused(path, "not an archive")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (8, 0x0001, "encrypted"),
        (8, 0x0008, "not laid out"),  # sizes behind the data
        (8, 0x0800, "not laid out"),
        (10, 8, "compressed"),
        (10, 99, "compressed"),
        (6, 63, "not laid out"),
        (12, 1, "not laid out"),
        (34, 7, "not laid out"),
    ],
)
def test_no_odd_flags(place: Path, good: Files, field: int, value: int, words: str) -> None:
    path = forged(place / "x.deltamem", good)
    data = bytearray(path.read_bytes())
    at = data.find(archive.CENTRAL_SIGNATURE)
    struct.pack_into("<H", data, at + field, value)
    path.write_bytes(data)
    refused(path, words)


@pytest.mark.parametrize(("field", "width"), [(16, 4), (20, 4), (24, 4), (42, 4)])
@pytest.mark.parametrize("value", [0, 1, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF])
def test_list_and_headers_must_agree(
    place: Path, good: Files, field: int, width: int, value: int
) -> None:
    """Checksums, sizes and places that overlap, lie outside, or ask for more than 32 bits."""
    path = forged(place / "x.deltamem", good)
    whole = path.read_bytes()
    at = -1
    for _ in range(4):
        at = whole.find(archive.CENTRAL_SIGNATURE, at + 1)
        data = bytearray(whole)
        before = data[at + field : at + field + width]
        struct.pack_into("<L", data, at + field, value)
        if data[at + field : at + field + width] != before:
            path.write_bytes(data)
            refused(path, "")


@pytest.mark.parametrize("size", [2**32, 2**47, 2**63, 2**64 - 1])
def test_no_size_is_too_large_to_be_refused(place: Path, good: Files, size: int) -> None:
    path = forged(place / "x.deltamem", good)
    whole = bytearray(path.read_bytes())
    first = whole.find(archive.CENTRAL_SIGNATURE)
    struct.pack_into("<LL", whole, first + 20, archive.FULL, archive.FULL)
    struct.pack_into("<H", whole, first + 30, archive.LARGE_CENTRAL.size)
    end = first + archive.CENTRAL.size + len("bank.json")
    whole[end:end] = archive.LARGE_CENTRAL.pack(1, 24, size, size, 0)
    (length,) = struct.unpack_from("<L", whole, len(whole) - 10)
    struct.pack_into("<L", whole, len(whole) - 10, length + archive.LARGE_CENTRAL.size)
    path.write_bytes(whole)
    refused(path, "bytes, more than")


@pytest.mark.parametrize("field", range(4, 22, 2))
def test_the_end_of_the_archive_is_believed_in_nothing(
    place: Path, good: Files, field: int
) -> None:
    path = forged(place / "x.deltamem", good)
    whole = path.read_bytes()
    for value in (0, 1, 0xFFFF):
        data = bytearray(whole)
        struct.pack_into("<H", data, len(data) - 22 + field, value)
        if bytes(data) != whole:
            path.write_bytes(data)
            refused(path, "")


def test_cut_short_anywhere(place: Path, good: Files) -> None:
    path = forged(place / "x.deltamem", good)
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 1024), len(whole) - 1]:
        path.write_bytes(whole[:length])
        refused(path, "")


def test_one_byte_flipped_anywhere(place: Path) -> None:
    """Every single byte of a small archive, one bit each."""
    path = packed(small_bank(place / "kitchen", episodes=1), place / "x.deltamem")
    whole = path.read_bytes()
    assert installing.inspect(receive(path))
    before = everything(place)
    with path.open("r+b", buffering=0) as stream:
        for position, byte in enumerate(whole):
            os.pwrite(stream.fileno(), bytes([byte ^ 1 << position % 8]), position)
            with pytest.raises(BankError):
                installing.inspect(receive(path))
            os.pwrite(stream.fileno(), bytes([byte]), position)
    assert everything(place) == before


def test_one_byte_flipped_here_and_there(place: Path, good: Files) -> None:
    """A sample of an archive with episodes and journal, to be installed in earnest."""
    path = forged(place / "x.deltamem", good)
    whole = path.read_bytes()
    for position in np.random.default_rng(0).integers(0, len(whole), 100).tolist():
        data = bytearray(whole)
        data[position] ^= 1 << (position % 8)
        path.write_bytes(data)
        refused(path, "", also_in_place=False)


def test_an_archive_that_is_no_file(place: Path) -> None:
    os.mkfifo(place / "pipe.deltamem")
    with pytest.raises(BankError, match="not a plain file"):
        receive(place / "pipe.deltamem")
    (place / "loop.deltamem").symlink_to(place / "loop.deltamem")
    with pytest.raises(BankError):
        receive(place / "loop.deltamem")


@pytest.mark.parametrize("trick", ["link", "pipe", "folder", "name", "broken"])
def test_a_strangers_folder(place: Path, good: Files, trick: str) -> None:
    source = place / "source"
    source.mkdir()
    for name, data in good.items():
        (source / name).write_bytes(data)
    odd = source / "task.nodes.jsonl"
    odd.unlink()
    if trick == "link":
        odd.symlink_to(place / "precious")
    elif trick == "pipe":
        os.mkfifo(odd)
    elif trick == "folder":
        odd.mkdir()
    elif trick == "broken":
        odd.symlink_to(place / "nowhere")
    else:
        odd.write_bytes(good["task.nodes.jsonl"])
        (source / "run.sh").write_text("rm -rf ~")
    with pytest.raises(BankError, match=r"plain file|called so"):
        receive(source)
    assert list((place / "banks").iterdir()) == []


# Digests


def test_every_file_is_what_the_manifest_promises(place: Path, good: Files) -> None:
    for name in good:
        changed = {**good, name: good[name].replace(b"e", b"f", 1) + b"\n"}
        if name == "bank.json":
            changed[name] = good[name].replace(b'"generic"', b'"other"')
        path = _with_old_digests(place / "x.deltamem", changed)
        refused(path, "changed since", also_in_place=False)


def test_swapped_vectors_are_noticed(place: Path, good: Files) -> None:
    vectors = np.load(io.BytesIO(good["task.embeddings.npy"]))
    swapped = {**good, "task.embeddings.npy": npy(vectors[::-1])}
    refused(_with_old_digests(place / "x.deltamem", swapped), "changed since", also_in_place=False)


def test_nothing_is_missing_and_nothing_added(place: Path, good: Files) -> None:
    lean = {name: data for name, data in good.items() if not name.startswith("traj")}
    refused(_with_old_digests(place / "x.deltamem", lean), "is missing")
    del lean["journal.jsonl"]
    manifest = sealed(lean).manifest
    added = {**lean, "bank.json": _text_of(manifest), "trajectories.jsonl": b""}
    path = _with_old_digests(place / "x.deltamem", added)
    refused(path, "was not there", also_in_place=False)


def test_an_archive_is_always_frozen(place: Path, good: Files) -> None:
    text = json.loads(good["bank.json"])
    text |= {"frozen": False, "digests": {}}
    files = {**good, "bank.json": json.dumps(text).encode()}
    refused(_with_old_digests(place / "x.deltamem", files), "not frozen", also_in_place=False)


def _text_of(manifest: object) -> bytes:
    from deltamem_tui.bank.manifest import encode

    return encode(manifest)  # type: ignore[arg-type]


def _with_old_digests(path: Path, files: Files) -> Path:
    """An archive whose layout is right, with the manifest as it is given."""
    from deltamem_tui.bank.manifest import Manifest
    from deltamem_tui.bank.travel import parcel

    members = [
        parcel.member_of(name, [data]) for name, data in files.items() if name != "bank.json"
    ]
    seals = {member.name: parcel.seal(member) for member in members}
    described = Manifest("x", embedder={"dimensions": DIMENSIONS})
    parcel.as_written(described, files["bank.json"], members, seals).write(path, replace=True)
    return path


# What is inside, with digests that are right


def npy(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


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


def rows_of(files: Files) -> int:
    return len(np.load(io.BytesIO(files["task.embeddings.npy"])))


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


_PROGRAM = "__import__('os').system('touch pwned')"

FORGERIES: dict[str, tuple[Callable[[Files], None], str]] = {
    "pickled vectors": (
        with_array("task.embeddings.npy", lambda _: npy(np.array([Trap()], dtype=object))),
        "task.embeddings.npy",
    ),
    "pickle without a header": (
        with_array("task.embeddings.npy", lambda _: pickle.dumps(Trap())),
        "not an array",
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
        "format 2.0",
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
    "header that is a program": (
        with_array("task.embeddings.npy", lambda _: header(_PROGRAM)),
        "damaged",
    ),
    "header of many brackets": (
        with_array("task.embeddings.npy", lambda _: header("[" * 110)),
        "damaged",
    ),
    "wrong type": (
        with_array("task.embeddings.npy", lambda f: npy(np.ones((rows_of(f), DIMENSIONS)))),
        "instead of float32",
    ),
    "wrong width": (
        with_array(
            "task.embeddings.npy", lambda f: npy(np.ones((rows_of(f), 3), dtype=np.float32))
        ),
        "has shape",
    ),
    "wrong order": (
        with_array(
            "task.embeddings.npy",
            lambda f: npy(np.asfortranarray(np.ones((rows_of(f), DIMENSIONS), dtype=np.float32))),
        ),
        "row order",
    ),
    "fewer rows": (
        with_array("task.embeddings.npy", lambda _: npy(vector(0)[None])),
        "cut short",
    ),
    "not a number": (with_array("task.embeddings.npy", vectors_with(np.nan)), "length nan"),
    "infinite": (with_array("task.embeddings.npy", vectors_with(np.inf)), "length inf"),
    "huge vector": (with_array("task.embeddings.npy", vectors_with(3e38)), "length"),
    "vector of zeros": (with_array("task.embeddings.npy", vectors_with(0)), "length 0"),
    "cycle": (cycle, "parent"),
    "own parent": (own_parent, "parent"),
    "no parent": (changed_line(1, parent="f" * 16, kind="residual", depth=2), "parent"),
    "wrong depth": (changed_line(1, depth=9), ""),
    "id with a path": (changed_line(0, id="../../precious!!"), "is not an id"),
    "id with an escape": (changed_line(0, id="\x1b[31m0123456789a"), "is not an id"),
    "number that is true": (changed_line(0, revision=True), "revision"),
    "text that is a list": (changed_line(0, activation_condition=["x"]), "not text"),
    "deep JSON": (
        with_array("task.nodes.jsonl", lambda _: b"[" * 100_000 + b"]" * 100_000 + b"\n"),
        "task.nodes.jsonl",
    ),
    "lying index": (lying_index, "contradicts the lines"),
    "manifest of lists": (
        with_array("bank.json", described(b'"parameters": {}', b'"parameters": []')),
        "parameters",
    ),
    "no dimensions": (
        with_array("bank.json", described(b'"dimensions": 8', b'"dimensions": 0')),
        "dimensions",
    ),
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
    *("not a number", "infinite", "huge vector", "vector of zeros"),
    *("wrong depth", "dimensions without end"),
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


_TOO_DEEP = f"'depth' is not a number from 0 to {codec.DEPTH_LIMIT:,}"


def test_a_chain_without_end(place: Path) -> None:
    path = forged(place / "x.deltamem", long_chain(codec.DEPTH_LIMIT + 1))
    refused(path, _TOO_DEEP, also_in_place=False)
    tree = Bank.open(path).tree("task")
    with pytest.raises(BankCorruptError):
        tree.chain(f"{codec.DEPTH_LIMIT:016x}")


_BOUNDED = """
import resource, sys
from pathlib import Path
from deltamem_tui.bank.travel.installing import install, inspect, receive
from deltamem_tui.bank.upkeep.verify import verify
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
        _with_old_digests(path, files)
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


def bounded_memory(more: int) -> _Bounded:
    """Let this process take only so many bytes more than it has."""
    return _Bounded(more)


class _Bounded:
    def __init__(self, more: int) -> None:
        self._more = more

    def __enter__(self) -> None:
        self._before = resource.getrlimit(resource.RLIMIT_AS)
        statm = Path("/proc/self/statm")
        if statm.exists():
            used = int(statm.read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + self._more, self._before[1]))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_AS, self._before)


def test_what_is_refused_is_refused_for_what_was_changed(place: Path, good: Files) -> None:
    """The forger's own hand changes nothing: what is put together again unchanged is taken."""
    path = forged(place / "x.deltamem", good)
    bank, _ = install(receive(path), place / "banks" / "kitchen")
    walked(bank)
    walked(Bank.open(path))
    assert set(good) <= set(MEMBERS)
    assert all(len(bank.tree(name)) for name in TREES)
