"""Where ALFWorld's games lie: a folder of splits, as its own download has it or in an archive."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

from deltamem_tui import paths
from deltamem_tui.errors import StorageError, UsageError

SPLITS = {
    "dev": "valid_seen",
    "test": "valid_unseen",
    "valid_train": "valid_train",
    "train": "train",
}
"""Each split with the name of its folder."""

_INNER = ("", "alfworld_games", "json_2.1.1")
_HINT = (
    "`alfworld-download` fetches them; "
    f"or name their folder or archive by --games-from or {paths.GAMES_VARIABLE}"
)


def games_root(chosen: Path | None) -> Path:
    """The folder in which the folders of the splits lie.

    Args:
        chosen: A folder or an archive that was named. Without one it is the environment's
            `DELTAMEM_GAMES`, else the user's cache folder, else where ALFWorld's own download
            puts them.

    Raises:
        UsageError: There are no games.
        StorageError: The archive cannot be unpacked.
    """
    named = chosen or os.environ.get(paths.GAMES_VARIABLE)
    places = [Path(named).expanduser()] if named else _usual_places()
    for place in places:
        if root := _root_in(_unpacked(place) if place.is_file() else place):
            return root
    source = str(places[0]) if named else None
    raise UsageError("ALFWorld's games are not here", source=source, hint=_HINT)


def _usual_places() -> list[Path]:
    downloaded = os.environ.get("ALFWORLD_DATA", "~/.cache/alfworld")
    return [paths.games_folder(), Path(downloaded).expanduser()]


def _root_in(folder: Path) -> Path | None:
    roots = (folder / inner for inner in _INNER)
    return next(
        (root for root in roots if any((root / each).is_dir() for each in SPLITS.values())), None
    )


def _unpacked(archive: Path) -> Path:
    """The folder that an archive was unpacked to, once: another archive has another folder."""
    status = archive.stat()
    which = f"{archive.resolve()}|{status.st_size}|{status.st_mtime_ns}"
    folder = paths.games_folder() / hashlib.sha256(which.encode()).hexdigest()[:16]
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix="."))
        try:
            with tarfile.open(archive) as packed:
                packed.extractall(draft, filter="data")
            draft.rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except tarfile.TarError as error:
        raise UsageError(
            "this is not an archive of games", source=str(archive), hint=_HINT
        ) from error
    except OSError as error:
        if not folder.is_dir():  # else another process was quicker
            raise StorageError(
                f"the games cannot be unpacked: {error.strerror or error}", source=str(archive)
            ) from error
    return folder
