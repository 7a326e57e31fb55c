"""`deltamem install`: take in a bank that comes from elsewhere."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.transfer.installing import Delivery

Source = Annotated[
    Path,
    typer.Argument(
        metavar="FILE|FOLDER",
        help="An archive of `deltamem export`, a bank, or a folder of Agent Skills.",
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name", metavar="NAME", help="What to call it here; as it is called if not given."
    ),
]
Digest = Annotated[
    str | None,
    typer.Option("--digest", metavar="sha256:…", help="Refuse any other archive than this one."),
]
Replace = Annotated[
    bool, typer.Option("--replace", help="Put it in the place of the bank of this name.")
]
Unfreeze = Annotated[bool, typer.Option("--unfreeze", help="Let it be written from now on.")]
Gigabytes = Annotated[
    float | None,
    typer.Option("--max-gigabytes", metavar="N", help="How large it may be.", min=0.001),
]


def run(
    context: typer.Context,
    source: Source,
    *,
    name: Name = None,
    digest: Digest = None,
    replace: Replace = False,
    unfreeze: Unfreeze = False,
    max_gigabytes: Gigabytes = None,
    embedder: options.Embedder = None,
    dry_run: options.DryRun = False,
) -> Result:
    """Check a bank from elsewhere, whoever made it, and put it among the banks, frozen.

    Sizes, names, digests, every line, vector and tree are checked before anything is placed.
    Nothing in it is run, and nothing is fetched for it. Only a folder of Agent Skills has no
    vectors: its nodes are embedded here, by --embedder or by the model that the folder names,
    which is loaded, and downloaded where it is not at hand.
    """
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.limits import GIGABYTE, LIMITS, Limits
    from deltamem_tui.bank.transfer import installing
    from deltamem_tui.cli import skill_folders

    invocation = Invocation.of(context)
    source = source.expanduser()
    if skill_folders.is_one(source):
        if digest or max_gigabytes:
            raise UsageError("--digest and --max-gigabytes are for archives and banks")
        return skill_folders.install(
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
            "a bank brings its vectors along, so no embedder is asked",
            hint="`deltamem reembed` gives an installed bank those of another",
        )
    pinned = installing.checked_digest(digest)
    if max_gigabytes is not None and not isfinite(max_gigabytes):
        raise UsageError(f"--max-gigabytes cannot be {max_gigabytes}", hint="a number, such as 20")
    total = LIMITS.total if max_gigabytes is None else int(max_gigabytes * GIGABYTE)
    with invocation.output.progress("installing"):
        delivery = installing.receive(source, Limits(total=total))
        path = invocation.bank_to_install(name, delivery.name, replace=replace)
        if dry_run:
            found = installing.inspect(delivery, pinned=pinned)
            bank = Bank.open(delivery.source)
        else:
            bank, found = installing.install(
                delivery, path, pinned=pinned, replacing=replace, frozen=not unfreeze
            )
    return _result(delivery, bank, path, found, dry_run=dry_run, pinned=pinned is not None)


def _result(
    delivery: Delivery, bank: Bank, path: Path, digest: str, *, dry_run: bool, pinned: bool
) -> Result:
    about = _about(delivery, bank)
    data = {
        **about,
        "bank": path.name,
        "path": path,
        "digest": digest,
        "pinned": pinned,
        "frozen": bank.frozen,
        "dry_run": dry_run,
        "provenance": delivery.manifest.provenance,
    }

    def view(page: Page) -> None:
        page.facts({"bank": path.name, "folder": str(path), **about, "digest": digest})

    if dry_run:
        return Result("install", data, view=view, notes=["sound; nothing was written"])
    notes = [f"{path.name} is installed" + (", and frozen" if bank.frozen else "")]
    if not delivery.sealed:
        notes.append("the folder was not frozen, so nothing says what its files should have been")
    elif not pinned:
        notes.append("nobody vouched for it: --digest would prove that it is the one you mean")
    return Result("install", data, view=view, notes=notes)


def _about(delivery: Delivery, bank: Bank) -> dict[str, Any]:
    """Who built the bank, with what, from how much, and what is in it; None where unknown."""
    from deltamem_tui.bank.commits import journal

    manifest = delivery.manifest
    contents = manifest.provenance.get("contents")
    contents = contents if isinstance(contents, dict) else {}
    return {
        "description": _text(manifest.description),
        "domain": _text(manifest.domain),
        "builder": _text(manifest.provenance.get("builder")),
        "extractors": _text(contents.get("extractors")),
        "models": _text(contents.get("models")),
        "embedder": _text(manifest.embedder.get("model")),
        "learnt_from": _text(contents.get("episodes", manifest.provenance.get("episodes"))),
        "task_nodes": len(bank.tree("task")),
        "env_nodes": len(bank.tree("env")),
        "episodes": len(bank.episodes),
        "journal": any(member.name == journal.FILE_NAME for member in delivery.members),
        "bytes": delivery.size,
    }


def _text(value: Any) -> str | None:
    """What a stranger wrote, short and on one line; None if it is nothing."""
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return one_line(str(value), 200) if value not in (None, "") else None
