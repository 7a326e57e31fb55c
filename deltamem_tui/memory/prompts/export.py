"""Handing out the shipped prompts, to be edited: each file is then the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deltamem_tui.errors import Remedy, StorageError, UsageError
from deltamem_tui.memory.prompts.file import SUFFIX
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.domains import key


@dataclass(frozen=True, slots=True)
class PromptExport:
    """What an export of prompts wrote.

    Attributes:
        same: Files that were there already with the same text.
    """

    written: tuple[Path, ...]
    same: tuple[Path, ...]


def export(
    shipped: Path,
    folder: Path,
    *,
    names: Sequence[str] = (),
    domain: str | None = None,
    replace: bool = False,
) -> PromptExport:
    """Copy prompts into a folder. None is written if one would replace a file that differs.

    All prompts and fragments are copied if no `names` are given, and those of all domains if no
    `domain` is.

    Raises:
        UsageError: There are no such prompts, or a file that differs is there.
        StorageError: The disk refused; some files may have been written.
    """
    chosen = [
        path
        for path in sorted(shipped.glob(f"*/*{SUFFIX}"))
        if (domain is None or key(path.parent.name) == key(domain))
        and (not names or path.stem in names)
    ]
    missing = sorted(set(names) - {path.stem for path in chosen})
    if missing or not chosen:
        what = f"no prompt {one_line(missing[0], 60)!r}" if missing else "no prompts"
        where = f" of {one_line(domain, 60)}" if domain else ""
        raise UsageError(f"{what}{where} to export", hint="`deltamem prompts list` names all")
    targets = {path: folder / path.relative_to(shipped) for path in chosen}
    try:
        return _copied(targets, replace=replace)
    except OSError as error:
        raise StorageError(
            f"cannot be written: {error.strerror}", source=one_line(str(error.filename or folder))
        ) from error


def _copied(targets: dict[Path, Path], *, replace: bool) -> PromptExport:
    written, same = [], []
    for path, target in targets.items():
        if target.is_file() and target.read_bytes() == path.read_bytes():
            same.append(target)
        elif (target.exists() or target.is_symlink()) and not replace:
            raise UsageError(
                "is there already with another text; nothing was written",
                source=one_line(str(target)),
                hint=Remedy.REPLACE,
            )
        else:
            written.append((path, target))
    for path, target in written:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    return PromptExport(tuple(target for _, target in written), tuple(same))
