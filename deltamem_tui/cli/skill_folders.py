"""`deltamem install` of a folder of Agent Skills, whoever wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.memory.skills.reading import SkillBook


_SHOWN = 10


def is_one(source: Path) -> bool:
    """Whether a path is a folder of skills, and no bank."""
    from deltamem_tui.bank import manifest
    from deltamem_tui.bank.disk import files
    from deltamem_tui.memory.skills.reading import is_skills_folder

    with files.storage_errors(source):
        return (
            source.is_dir()
            and not (source / manifest.FILE_NAME).exists()
            and is_skills_folder(source)
        )


def install(
    invocation: Invocation,
    source: Path,
    *,
    name: str | None,
    embedder: str | None,
    replace: bool,
    frozen: bool,
    dry_run: bool,
) -> Result:
    """Make a bank of a folder of skills.

    Args:
        invocation: The call of the program.
        source: The folder.
        name: What to call the bank; None if as the folder says.
        embedder: What embeds the nodes; None for what the folder says.
        replace: Whether a bank of this name may go.
        frozen: Whether the bank is frozen.
        dry_run: Whether nothing is written.
    """
    from deltamem_tui.embedding.load import load
    from deltamem_tui.memory.skills.installing import embedder_name, install_skills
    from deltamem_tui.memory.skills.reading import read_skills

    book = read_skills(source)
    path = invocation.bank_to_install(name, _own_name(book, source), replace=replace)
    own = embedder_name(book) if book.facts else None
    model = embedder or own or invocation.configuration.embedder
    nodes = sum(len(nodes) for nodes in book.nodes.values())
    if not dry_run:
        with invocation.output.progress("embedding", nodes) as advance:
            install_skills(
                book,
                path,
                embedder=load(model),
                replacing=replace,
                frozen=frozen,
                advance=advance,
            )
    return _result(book, path, model, frozen=frozen, dry_run=dry_run)


def _own_name(book: SkillBook, source: Path) -> str:
    name = book.facts.get("name")
    return name if isinstance(name, str) and name else source.resolve().name


def _result(book: SkillBook, path: Path, model: str, *, frozen: bool, dry_run: bool) -> Result:
    data: dict[str, Any] = {
        "bank": path.name,
        "path": path,
        "embedder": model,
        "task_nodes": len(book.nodes["task"]),
        "env_nodes": len(book.nodes["env"]),
        "changed": list(book.changed),
        "adopted": list(book.adopted),
        "missing": list(book.missing),
        "left": [str(each) for each in book.left],
        "frozen": frozen,
        "dry_run": dry_run,
    }

    def view(page: Page) -> None:
        shown = ("bank", "embedder", "task_nodes", "env_nodes")
        page.facts({key: data[key] for key in shown} | {"folder": str(path)})

    return Result("install", data, view=view, notes=_notes(book, path, data))


def _notes(book: SkillBook, path: Path, data: dict[str, Any]) -> list[str]:
    notes = [one_line(str(each), 300) for each in book.left[:_SHOWN]]
    if len(book.left) > _SHOWN:
        notes.append(f"{len(book.left) - _SHOWN:,} more are left out; --json lists them")
    if book.missing:
        shown = ", ".join(book.missing[:_SHOWN]) + (", …" if len(book.missing) > _SHOWN else "")
        missing = counted(len(book.missing), "node")
        notes.append(f"{missing} of the bank in no file here, so not taken in: {shown}")
    if book.changed:
        notes.append(f"{counted(len(book.changed), 'node')} changed since the folder was written")
    if book.adopted:
        skills = counted(len(book.adopted), "skill")
        notes.append(f"{skills} from elsewhere, added to the roots")
    if data["dry_run"]:
        return [*notes, "sound; nothing was written"]
    notes.append(f"{path.name} is installed" + (", and frozen" if data["frozen"] else ""))
    notes.append("counts start anew: a folder of skills carries none")
    return notes
