"""Archives from somebody who means harm, by their layout: refused in a few words."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from deltamem_tui.bank import transfer as installing
from deltamem_tui.bank.transfer import receive
from deltamem_tui.errors import BankError
from tests.bank.forging import Files, everything, forged, packed, small_bank, zipped
from tests.bank.hostile import bounded_memory, refused
from tests.effort import in_turn


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
    refused(zipped(place / "x.deltamem", {**good, name: b"x"}), "unexpected file")


def test_another_programs_zip_file_is_not_taken(place: Path, good: Files) -> None:
    refused(zipped(place / "x.deltamem", good), "not laid out")
    others = {name: data for name, data in good.items() if name != "bank.json"}
    refused(zipped(place / "y.deltamem", others), "does not begin with 'bank.json'")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFBLK, stat.S_IFDIR])
def test_no_links_pipes_devices_or_folders(place: Path, good: Files, kind: int) -> None:
    path = place / "x.deltamem"
    with zipfile.ZipFile(path, "w") as opened:
        for name, data in good.items():
            info = zipfile.ZipInfo(name)
            special = name == "task.nodes.jsonl"
            info.external_attr = ((kind if special else stat.S_IFREG) | 0o777) << 16
            opened.writestr(info, b"../precious" if special else data)
    refused(path, "not laid out")


def test_no_bomb_is_unpacked(place: Path, good: Files) -> None:
    bomb = {**good, "task.nodes.jsonl": bytes(200_000_000)}
    path = zipped(place / "x.deltamem", bomb, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 2_000_000
    with bounded_memory(more=100_000_000):
        refused(path, "not laid out")


@pytest.mark.parametrize("name", ["task.nodes.jsonl", "bank.json"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_nothing_stands_twice(place: Path, good: Files, name: str) -> None:
    path = place / "x.deltamem"
    with zipfile.ZipFile(path, "w") as opened:
        for each, data in good.items():
            opened.writestr(each, data)
            if each == name:
                opened.writestr(each, data.replace(b"kitchen", b"cellar!"))
    refused(path, f"holds {name!r} twice")


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
        at = whole.find(b"PK\x01\x02", at + 1)
        data = bytearray(whole)
        before = data[at + field : at + field + width]
        struct.pack_into("<L", data, at + field, value)
        if data[at + field : at + field + width] != before:
            path.write_bytes(data)
            refused(path, "")


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
    """The bytes of a small archive, one bit each: on a thorough run every single one."""
    path = packed(small_bank(place / "kitchen", episodes=1), place / "x.deltamem")
    whole = path.read_bytes()
    assert installing.inspect(receive(path))
    before = everything(place)
    with path.open("r+b", buffering=0) as stream:
        for number in in_turn(len(whole), apart=4):
            position, byte = number - 1, whole[number - 1]
            os.pwrite(stream.fileno(), bytes([byte ^ 1 << position % 8]), position)
            with pytest.raises(BankError):
                installing.inspect(receive(path))
            os.pwrite(stream.fileno(), bytes([byte]), position)
    assert everything(place) == before
