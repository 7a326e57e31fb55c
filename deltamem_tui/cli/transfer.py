"""A bank as one file or as what other programs read, and a bank from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument, flag, option
from deltamem_tui.cli.result import Result, facts
from deltamem_tui.errors import BankError, BankExistsError, DeltaMemError, UsageError
from deltamem_tui.paths import ARCHIVE_SUFFIX, expanded, is_archive, is_bank_folder
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.transfer.export import Leak

_NOTES = {
    "skills": "put the folders where your agent looks for skills; `deltamem bank install` reads "
    "them back",
    "agents-md": "what every task of the bank needs; agents read such a file by themselves",
}


def export(
    invocation: Invocation,
    bank: options.Bank,
    *,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="PATH", help="Where to write.")
    ] = None,
    form: Annotated[
        Literal["archive", "skills", "agents-md"],
        flag("--as", "What to write."),
    ] = "archive",
    episodes: Annotated[bool, flag("--episodes", "Include the episodes.")] = False,
    journal: Annotated[
        bool, flag("--journal", "Include its history too; needs --episodes.")
    ] = False,
    builder: Annotated[str, option("--builder", "WHO", "Shown where it is installed.")] = "",
    replace: Annotated[bool, flag("--replace", "Replace what is there.")] = False,
    allow_secrets: Annotated[bool, flag("--allow-secrets", "Write in spite of secrets.")] = False,
) -> Result:
    """Write a bank into one file: frozen, with digests, scanned for secrets.

    The same state of a bank gives the same bytes. The nodes always go along, the episodes only if
    asked for. The digest that is printed can be given to `deltamem bank install --digest` where
    the file arrives. `--as` writes what other programs read instead: a folder of Agent Skills, or
    AGENTS.md.
    """
    if form != "archive" and (episodes or journal or builder):
        raise UsageError("--episodes, --journal and --builder are for archives", hint="leave --as")
    if form == "skills" and replace:
        raise UsageError("a folder of skills is not written over", hint="remove it first")
    from deltamem_tui.memory.transfer import export
    from deltamem_tui.memory.transfer.plain import write_agents_md
    from deltamem_tui.memory.transfer.skills import write_skills
    from deltamem_tui.memory.transfer.views import EPISODES_LEAVE, view_export

    opened = invocation.open(bank)
    path = _checked_path(out, opened.name, form)
    written: dict[str, Any] = {"file": path}
    with invocation.output.progress("exporting"):
        ready = export.prepare(
            opened, with_episodes=episodes, with_journal=journal, builder=one_line(builder, 200)
        )
        if ready.leaks and not allow_secrets:
            return _withheld(opened, ready.leaks)
        if form == "skills":
            written = write_skills(opened, path)
        elif form == "agents-md":
            write_agents_md(opened, path, replace=replace)
        elif path.is_file() and not is_archive(path):
            hint = "choose another name, or move it away first"
            raise BankExistsError("the file here is not an export", source=str(path), hint=hint)
        else:
            written["digest"] = ready.package.write(path, replace=replace)
    if form == "archive":
        data = {"bank": ready.package.manifest.name, **written, **view_export(ready).record}
        install = f"install it with `deltamem bank install {one_line(str(path))} --digest "
        notes = [f"{install}{written['digest']}`", *[EPISODES_LEAVE] * episodes]
        written["bytes"] = data["bytes"]
    else:
        data = {"bank": opened.name, "form": form, **written, "secrets": ready.leaks}
        notes = [_NOTES[form]]
    if ready.leaks:
        permitted = f"{counted(len(ready.leaks), 'secret')} left with it"
        notes.append(f"{permitted}, as --allow-secrets permits")
    return Result("export", data, view=facts(written), notes=notes)


def _checked_path(out: Path | None, name: str, form: str) -> Path:
    """Return where to write: what was named, or a path called like the bank."""
    named = expanded(out or Path())
    for place in (named, named.parent):
        if is_bank_folder(place):
            source = one_line(str(place), 200)
            raise UsageError(f"{source} is a bank's folder", hint="name another place with -o")
    own_name = "AGENTS.md"
    if form != "agents-md":
        own_name = Path(name).name + (ARCHIVE_SUFFIX if form == "archive" else "-skills")
    return named / own_name if out is None or (named.is_dir() and form != "skills") else named


def _withheld(bank: Bank, leaks: Sequence[Leak]) -> Result:
    """Return that nothing was written, because of the secrets in it."""
    from deltamem_tui.memory.transfer.views import leak_position

    found: list[DeltaMemError] = [
        BankError(f"holds a secret: {leak.kind}", source=leak.place, position=leak_position(leak))
        for leak in leaks
    ]
    last = BankError(
        f"{counted(len(found), 'secret')} would leave with the bank, so nothing was written",
        hint="remove them in `deltamem browse`, or write them with --allow-secrets",
    )
    return Result("export", {"bank": bank.name, "secrets": leaks}, [*found, last], "error")


def install(
    invocation: Invocation,
    source: Annotated[Path, argument("FILE|FOLDER", "An archive, a bank, or a folder of skills.")],
    *,
    name: Annotated[str | None, option("--name", "NAME", "What to call it here.")] = None,
    digest: Annotated[
        str | None, option("--digest", "sha256:…", "Refuse any other archive.")
    ] = None,
    replace: Annotated[bool, flag("--replace", "Replace the bank of this name.")] = False,
    unfreeze: Annotated[bool, flag("--unfreeze", "Leave it writable.")] = False,
    dry_run: options.DryRun = False,
) -> Result:
    """Check a bank from elsewhere and put it among the banks, frozen.

    Sizes, names, digests, every line, vector and tree are checked before anything is placed.
    Nothing in it is run, and nothing is fetched for it. Of a folder of Agent Skills, the bank that
    it was exported with is installed.
    """
    from deltamem_tui.bank import transfer as installing
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.transfer.skills import bank_of_skills
    from deltamem_tui.memory.transfer.views import view_install

    source = expanded(source)
    archive = bank_of_skills(source)
    pinned = installing.checked_digest(digest)
    with invocation.output.progress("installing"):
        delivery = installing.receive(archive or source)
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
    if archive:
        notes.append("its pages are not read: what was changed in them is not taken in")
    return Result("install", view.record, view=facts(view.facts), notes=notes)
