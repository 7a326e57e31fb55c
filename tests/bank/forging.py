"""Archives as a stranger could make them: the layout right or wrong, the contents too."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from deltamem_tui.bank import manifest
from deltamem_tui.bank import transfer as package
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.transfer import Member, Package
from deltamem_tui.memory.deltamem.definition import COLLECTIONS, METHOD
from tests.bank.support import learn_one
from tests.bank.support import manifest as described

Files = dict[str, bytes]


def small_bank(folder: Path, episodes: int = 6) -> Bank:
    """A bank with a few nodes in chains, counts, episodes and a journal."""
    bank = Bank.create(folder, replace(described(folder.name), origin="0123456789abcdef"))
    for number in range(episodes):
        learn_one(bank, number)
    return bank


def packed(bank: Bank, path: Path, **along: Any) -> Path:
    """The bank's archive, as `deltamem bank export` writes it."""
    package.pack(bank, **along).write(path)
    return path


def unpacked(archive: Path) -> Files:
    """All files of an archive, as any other program reads them."""
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def sealed(files: Mapping[str, bytes]) -> Package:
    """A package of any files whatever, with digests that are right: its maker meant it so."""
    folder_manifest = json.loads(files["bank.json"])
    later = {"parameters": "settings", "origin": "origin"}
    known = {later.get(key, key): value for key, value in folder_manifest.items()}
    before = manifest.Manifest(
        **{
            "method": METHOD.name,
            "collections": COLLECTIONS,
            **known,
            "digests": {},
            "frozen": True,
        }
    )
    return package.promising(before, _members(files))


def _members(files: Mapping[str, bytes]) -> list[Member]:
    return [Member(name, [data]) for name, data in files.items() if name != "bank.json"]


def with_old_digests(path: Path, files: Mapping[str, bytes]) -> Path:
    """An archive whose layout is right, with the manifest as it is given."""
    old = package.as_written(described("x"), files["bank.json"], _members(files))
    old.write(path, replace=True)
    return path


def forged(path: Path, files: Mapping[str, bytes]) -> Path:
    """An archive of any files whatever, laid out and digested as it should be."""
    sealed(files).write(path, replace=True)
    return path


def zipped(path: Path, files: Mapping[str, bytes], **options: Any) -> Path:
    """A zip file of any files whatever, as another program makes it."""
    with zipfile.ZipFile(path, "w", **options) as opened:
        for name, data in files.items():
            opened.writestr(name, data)
    return path


def everything(folder: Path) -> dict[str, bytes]:
    """All files below a folder, with what they hold; links by where they lead."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = str(path.readlink()).encode()
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def digest_of_file(path: Path) -> str:
    """What `sha256sum` says of a file, as a digest is pinned."""
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
