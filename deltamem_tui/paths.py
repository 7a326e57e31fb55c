"""Find banks, prompts and settings.

All of it is in the user's own folders, in the package, or named by the user. Nothing is taken
from the working folder, which may be anybody's: agents are handed what is found here.

Everything here is about names and places. Whether a bank is sound, the bank package decides;
here a folder with a manifest counts as one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deltamem_tui.errors import (
    BankCorruptError,
    BankExistsError,
    BankNotFoundError,
    ConfigurationError,
    Remedy,
    StorageError,
    UsageError,
)
from deltamem_tui.text import one_line

APPLICATION = "deltamem"
BANKS_VARIABLE = "DELTAMEM_BANKS"
SETTINGS_VARIABLE = "DELTAMEM_CONFIG"
GAMES_VARIABLE = "DELTAMEM_GAMES"
HELPER_VARIABLE = "DELTAMEM_NO_HELPER"
MANIFEST = "bank.json"
ARCHIVE_SUFFIX = ".deltamem"
SETTINGS_FILE = "deltamem.toml"
CONTEST_PLAN = "plan.json"

_LINES = ("task.nodes.jsonl", "env.nodes.jsonl")
_LONGEST_NAME = 100
# Letters and digits of any script, so that people can use their own; nothing that a shell,
# an archive or a file system could read as more than a name.
_NAME = re.compile(r"[^\W_][\w.-]*")


@dataclass(frozen=True, slots=True)
class BankPlace:
    """A bank's name, and its folder or archive; `shipped` if it is the package's, read only."""

    name: str
    path: Path
    shipped: bool = False


def expanded(path: str | Path, source: str | None = None) -> Path:
    """Return a path, which `source` names, with the home folder in place of `~`.

    Raises:
        ConfigurationError: It is that of a user whom the system does not know.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        what = f"there is no such user: {one_line(str(path), 200)!r}"
        raise ConfigurationError(what, source=source, hint="write the path in full") from error


def banks_folder(chosen: str | Path | None = None) -> Path:
    """Return the folder in which banks are looked up by name. It may not exist yet.

    It is the one that was `chosen`, else the environment's `DELTAMEM_BANKS`, else in the user's
    data folder.
    """
    named = chosen or os.environ.get(BANKS_VARIABLE)
    return expanded(named) if named else user_folder("data") / "memory_banks"


def prompt_folders() -> tuple[Path, ...]:
    """Return the folders that hold `<domain>/<prompt>.md`: the user's, then the package's."""
    places = (user_folder("config") / "prompts", shipped_folder("prompts"))
    return tuple(place for place in places if place.is_dir())


def state_folder() -> Path:
    """Return the folder in which hooks keep their state. It may not exist yet."""
    return user_folder("state") / "agents"


def settings_file() -> Path | None:
    """Return the settings file: the one `DELTAMEM_CONFIG` names, else the user's if it exists."""
    if named := os.environ.get(SETTINGS_VARIABLE):
        return expanded(named)
    own = user_folder("config") / SETTINGS_FILE
    return own if own.is_file() else None


def find_banks(folder: Path) -> tuple[BankPlace, ...]:
    """Return all banks of `folder` and of the package, sorted by name.

    A bank of the folder hides one of the same name that came with the package.

    Raises:
        StorageError: The folder cannot be read.
        UsageError: It is a file.
    """
    packaged = shipped_folder("memory_banks")
    shipped = {place.name: place for place in _banks_in(packaged, shipped=True)}
    own = {place.name: place for place in _banks_in(folder, shipped=False)}
    return tuple(place for _, place in sorted((shipped | own).items()))


def find_bank(bank: str, folder: Path) -> Path:
    """Find the folder or archive of an existing bank.

    `bank` is a name, looked up in `folder` and then among the banks of the package; or a path,
    which is anything with a separator in it, and an archive's name, which ends in `.deltamem`.

    Raises:
        UsageError: `bank` is neither a possible name nor a path.
        BankNotFoundError: There is no such bank; names similar ones and where it looked.
        BankCorruptError: A folder of this name holds all of a bank but its manifest.
    """
    if _is_path(bank):
        path = expanded(bank)
        if is_bank(path) or _is_file(path):
            return path
        _require_manifest(path)
        raise BankNotFoundError(
            f"there is no bank here: a bank is a folder with a {MANIFEST}, or its archive",
            source=one_line(bank, 200),
            hint=Remedy.LIST_BANKS,
        )
    name = check_name(bank)
    candidates = [folder / name, shipped_folder("memory_banks") / name]
    if name.endswith(ARCHIVE_SUFFIX):
        candidates.append(Path(name))
    for path in candidates:
        if is_bank(path):
            return path
        _require_manifest(path)
    from difflib import get_close_matches

    known = [place.name for place in find_banks(folder)]
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    raise BankNotFoundError(
        f"no bank is called {name!r} in {one_line(str(folder))} or in the package",
        hint=f"did you mean {' or '.join(near)}?" if near else Remedy.LIST_BANKS,
    )


def new_bank_path(bank: str, folder: Path) -> Path:
    """Return the path of a bank that is to be made, by name in `folder` or by path.

    Raises:
        UsageError: The name is not one a bank can have.
        BankExistsError: Something lies there already.
        StorageError: The file system can hold no such path, or does not let us look.
    """
    path = expanded(bank) if _is_path(bank) else folder / bank
    check_name(path.name if _is_path(bank) else bank)
    try:
        is_empty = path.is_dir() and not any(path.iterdir())
        taken = path.is_symlink() or (path.exists() and not is_empty)
    except OSError as error:
        raise StorageError(
            f"no bank can be here: {error.strerror}", source=one_line(str(path), 200)
        ) from error
    if taken:
        raise BankExistsError(
            "something is here already",
            source=one_line(str(path)),
            hint="choose another name, or move it away first",
        )
    return path


def check_name(name: str, what: str = "a bank") -> str:
    """Return `name` if a bank can have it, or a domain, whose prompts' folder is called so.

    Raises:
        UsageError: It is empty, too long, or has characters that are more than a name.
    """
    if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) and not name.endswith("."):
        return name
    raise UsageError(
        f"{one_line(name, 60)!r} cannot be the name of {what}",
        hint=f"up to {_LONGEST_NAME} letters, digits, '.', '_' and '-', a letter or digit first",
    )


def _require_manifest(path: Path) -> None:
    """Raise a `BankCorruptError` if `path` is a bank that lost its manifest."""
    if any(_is_file(path / lines) for lines in _LINES):
        raise BankCorruptError(
            f"its {MANIFEST} is missing",
            source=one_line(str(path), 200),
            hint="restore it from a copy of the bank",
        )


def _banks_in(folder: Path, *, shipped: bool) -> Iterator[BankPlace]:
    try:
        if folder.is_file():
            raise UsageError(
                "this is a file, not a folder of banks", source=one_line(str(folder), 200)
            )
        if not folder.is_dir():
            return
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise StorageError(
            f"cannot read the banks folder: {error.strerror}", source=one_line(str(folder), 200)
        ) from error
    for entry in entries:
        if _NAME.fullmatch(entry.name) and is_bank(entry):
            yield BankPlace(entry.name, entry, shipped)


def is_shipped(path: Path, folder: Path) -> bool:
    """Return whether a bank came with the package and is to be read only.

    It belongs to everybody who uses the package, and goes when that is renewed; unless its
    folder is the banks folder in use, as in a checkout.
    """
    shipped = shipped_folder("memory_banks").resolve()
    return shipped in path.resolve().parents and folder.resolve() != shipped


def is_bank(path: Path) -> bool:
    """Return whether a path is a bank's folder or archive."""
    archive = path.suffix == ARCHIVE_SUFFIX and _is_file(path)
    return archive or is_bank_folder(path)


def is_bank_folder(path: Path) -> bool:
    """Return whether a folder has a bank's manifest."""
    return _is_file(path / MANIFEST)


def is_archive(path: Path) -> bool:
    """Return whether a file begins as an archive does."""
    try:
        with path.open("rb") as stream:
            return stream.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long for the file system, or with a NUL in it
        return False


def _is_path(bank: str) -> bool:
    separators = {"/", os.sep, os.altsep or os.sep}
    return bank in {".", "..", "~"} or any(separator in bank for separator in separators)


def user_folder(kind: str) -> Path:
    """Return the program's folder among the user's `data`, `config`, `state` or `cache`."""
    import platformdirs

    return Path(getattr(platformdirs, f"user_{kind}_dir")(APPLICATION, appauthor=False))


def shipped_folder(name: str) -> Path:
    """Return a folder that comes with the package: in the wheel, or of the checkout."""
    package = Path(__file__).parent
    installed = package / "shipped"
    return (installed if installed.is_dir() else package.parent) / name
