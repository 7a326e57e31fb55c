"""A bank from elsewhere, checked and put among the banks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument, flag, option
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import UsageError
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.memory.skills.install import SkillBook

_SHOWN = 10

Source = Annotated[
    Path,
    argument("FILE|FOLDER", "An archive of `deltamem bank export`, or a folder of Agent Skills."),
]
Name = Annotated[
    str | None, option("--name", "NAME", "What to call it here; as it is called if not given.")
]
Digest = Annotated[
    str | None, option("--digest", "sha256:…", "Refuse any other archive than this one.")
]
Replace = Annotated[bool, flag("--replace", "Put it in the place of the bank of this name.")]
Unfreeze = Annotated[bool, flag("--unfreeze", "Leave it writable.")]


def install(
    context: typer.Context,
    source: Source,
    *,
    name: Name = None,
    digest: Digest = None,
    replace: Replace = False,
    unfreeze: Unfreeze = False,
    embedder: options.Embedder = None,
    dry_run: options.DryRun = False,
) -> Result:
    """Check a bank from elsewhere and put it among the banks, frozen.

    Sizes, names, digests, every line, vector and tree are checked before anything is placed.
    Nothing in it is run, and nothing is fetched for it. Only a folder of Agent Skills has no
    vectors: its nodes are embedded here, by --embedder or by the model that the folder names,
    which is loaded, and downloaded if needed.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.transfer import installing
    from deltamem_tui.memory.reports.transfer import view_install

    invocation = Invocation.of(context)
    source = source.expanduser()
    if _is_skills(source):
        if digest:
            raise UsageError("--digest is for archives and banks")
        return _install_skills(
            invocation,
            source,
            name=name,
            embedder=embedder,
            replace=replace,
            frozen=not unfreeze,
            dry_run=dry_run,
        )
    if embedder:
        raise UsageError(
            "a bank has vectors of its own, so --embedder is not used",
            hint="`deltamem bank reembed` gives an installed bank those of another",
        )
    pinned = installing.checked_digest(digest)
    with invocation.output.progress("installing"):
        delivery = installing.receive(source)
        path = invocation.bank_to_install(name, delivery.manifest.name, replace=replace)
        if dry_run:
            found = installing.inspect(delivery, pinned=pinned)
            bank = Bank.open(delivery.source)
        else:
            bank, found = installing.install(
                delivery, path, pinned=pinned, replacing=replace, frozen=not unfreeze
            )
    view = view_install(delivery, bank, path, found, pinned=pinned is not None, dry_run=dry_run)
    notes: list[object] = ["sound; nothing was written"]
    if not dry_run:
        notes = [f"{path.name} is installed" + (", and frozen" if bank.frozen else ""), *view.notes]
    return Result("install", view.record, view=lambda page: page.facts(view.facts), notes=notes)


def _is_skills(source: Path) -> bool:
    """Return whether a path is a folder of skills, and not a bank."""
    from deltamem_tui.bank import manifest
    from deltamem_tui.bank.disk import files
    from deltamem_tui.memory.skills.install import is_skills_folder

    with files.storage_errors(source):
        return (
            source.is_dir()
            and not (source / manifest.FILE_NAME).exists()
            and is_skills_folder(source)
        )


def _install_skills(
    invocation: Invocation,
    source: Path,
    *,
    name: str | None,
    embedder: str | None,
    replace: bool,
    frozen: bool,
    dry_run: bool,
) -> Result:
    """Make a bank of a folder of skills, which may name the bank and its embedder."""
    from deltamem_tui.embedding.load import load
    from deltamem_tui.memory.reports.transfer import node_facts
    from deltamem_tui.memory.skills.install import embedder_name, install_skills, read_skills
    from deltamem_tui.memory.skills.layout import method_of_skills

    book = read_skills(source)
    said = book.facts.get("name")
    own_name = said if isinstance(said, str) and said else source.resolve().name
    path = invocation.bank_to_install(name, own_name, replace=replace)
    own = embedder_name(book) if book.facts else None
    model = embedder or own or invocation.configuration.embedder
    sizes = {name: len(nodes) for name, nodes in book.nodes.items()}
    if not dry_run:
        with invocation.output.progress("embedding", sum(sizes.values())) as advance:
            install_skills(
                book,
                path,
                embedder=load(model),
                replacing=replace,
                frozen=frozen,
                advance=advance,
            )
    method = method_of_skills(book.facts.get("method")).name
    data: dict[str, Any] = {
        "bank": path.name,
        "path": path,
        "embedder": model,
        "method": method,
        **{f"{name}_nodes": size for name, size in sizes.items()},
        "changed": list(book.changed),
        "missing": list(book.missing),
        "left": [str(each) for each in book.left],
        "frozen": frozen,
        "dry_run": dry_run,
    }

    def view(page: Page) -> None:
        shown = {key: data[key] for key in ("bank", "method", "embedder")}
        page.facts({**shown, **node_facts(method, sizes), "folder": str(path)})

    notes = _skills_notes(book)
    if dry_run:
        return Result("install", data, view=view, notes=[*notes, "sound; nothing was written"])
    notes.append(f"{path.name} is installed" + (", and frozen" if frozen else ""))
    notes.append("counts start at 0: a folder of skills has none")
    return Result("install", data, view=view, notes=notes)


def _skills_notes(book: SkillBook) -> list[str]:
    notes = [one_line(str(each), 300) for each in book.left[:_SHOWN]]
    if len(book.left) > _SHOWN:
        notes.append(f"{len(book.left) - _SHOWN:,} more are left out; --json lists them")
    if book.missing:
        shown = ", ".join(book.missing[:_SHOWN]) + (", …" if len(book.missing) > _SHOWN else "")
        missing = counted(len(book.missing), "node")
        notes.append(f"{missing} of the bank in no file here, so left out: {shown}")
    if book.changed:
        notes.append(f"{counted(len(book.changed), 'node')} changed since the folder was written")
    return notes
