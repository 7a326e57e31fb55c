"""`deltamem prompts`: list, show, check and export the prompts for models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from deltamem_tui import paths
from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import ConfigurationError, DeltaMemError, UsageError
from deltamem_tui.text import one_line

Action = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[list|show NAME|check [DIR]|export DIR [NAME…]]",
        help="List all prompts; show one; check yours; copy the shipped ones.",
    ),
]
Render = Annotated[
    str | None,
    typer.Option(
        "--render",
        metavar="BANK",
        help="show: filled in with an episode of a bank. Nothing is sent.",
    ),
]
Episode = Annotated[
    str | None,
    typer.Option(
        "--episode", metavar="ID", help="show --render: this episode, by the beginning of its id."
    ),
]
Replace = Annotated[bool, typer.Option("--replace", help="export: write over files that differ.")]

_SHIPPED = "shipped"


def run(
    context: typer.Context,
    action: Action = None,
    domain: options.Domain = None,
    prompts: options.Prompts = None,
    render: Render = None,
    episode: Episode = None,
    replace: Replace = False,
) -> Result:
    """List the prompts, show or check them, or hand them out to be edited.

    A prompt is a file DOMAIN/NAME.md. One in the folder that --prompts or the setting
    `prompts` names comes first, then one in your own folder of prompts, then the shipped one; a
    domain without its own takes the generic one. Only the files that you changed are needed.
    """
    invocation = Invocation.of(context)
    name, *arguments = action or ["list"]
    folders = invocation.settings(prompts=prompts).prompt_folders()
    if name == "list" and not arguments:
        return _listed(folders, domain)
    if name == "show" and len(arguments) == 1:
        if render is not None:
            return _rendered(invocation, render, arguments[0], domain, episode, folders)
        return _shown(folders, domain or "generic", arguments[0])
    if name == "check" and len(arguments) <= 1:
        return _checked(Path(arguments[0]) if arguments else None, folders)
    if name == "export" and arguments:
        return _exported(Path(arguments[0]).expanduser(), arguments[1:], domain, replace=replace)
    raise UsageError(
        f"cannot make sense of `prompts {one_line(' '.join(action or ()), 60)}`",
        hint="list, show NAME, check [DIR], or export DIR [NAME…]",
    )


def _listed(folders: tuple[Path, ...], domain: str | None) -> Result:
    from deltamem_tui.memory.prompts import library as prompts
    from deltamem_tui.trajectory.domains import GENERIC, key

    found = prompts.listing(folders)
    named = [where for where, _ in found] if domain is None else [domain]
    domains = {key(where): where for where in named}  # one of the spellings of each
    # Each domain has all prompts: those that it shares with all others are the generic ones.
    wanted = {
        (domains[each], name)
        for each in domains
        for home, name in found
        if key(home) in (each, GENERIC)
    }
    records: list[dict[str, Any]] = []
    errors: list[ConfigurationError] = []
    for where, name in sorted(wanted):
        try:
            prompt = prompts.find(where, name, folders)
            digest = prompts.digest(prompt, folders)
        except ConfigurationError as error:
            if str(error) not in map(str, errors):  # a broken generic one is every domain's
                errors.append(error)
            continue
        records.append(
            {
                "domain": where,
                "prompt": name,
                "file": f"{prompt.path.parent.name}/{prompt.path.name}",
                "purpose": prompt.purpose,
                "digest": digest,
                "from": _origin(prompt.path),
                "path": prompt.path,
            }
        )

    def view(page: Page) -> None:
        columns = ("domain", "prompt", "file", "purpose", "digest", "from")
        page.table(columns, [[record[column] for column in columns] for record in records])

    status = Result.verdict(len(records), errors)
    return Result("prompts", {"prompts": records}, tuple(errors), status, view=view)


def _origin(path: Path) -> str:
    """Return where a prompt file comes from: `shipped`, or the folder that it is in."""
    folder = path.parent.parent
    if folder.resolve() == paths.shipped_prompts_folder().resolve():
        return _SHIPPED
    return one_line(str(folder))


def _shown(folders: tuple[Path, ...], domain: str, name: str) -> Result:
    from deltamem_tui.memory.prompts import library as prompts

    prompt = prompts.find(domain, name, folders)
    text = prompts.file_text(prompt.path)
    included = [path for path in prompts.sources(prompt, folders) if path != prompt.path]
    data = {
        "domain": prompt.path.parent.name,
        "prompt": name,
        "digest": prompts.digest(prompt, folders),
        "from": _origin(prompt.path),
        "path": prompt.path,
        "includes": included,
        "text": text,
    }
    notes = [f"{one_line(str(prompt.path))}, {data['digest']}"]
    if included:
        notes.append(f"includes {', '.join(one_line(str(path)) for path in included)}")
    return Result("prompts", data, view=lambda page: page.text(text.rstrip("\n")), notes=notes)


def _rendered(
    invocation: Invocation,
    bank: str,
    name: str,
    domain: str | None,
    episode: str | None,
    folders: tuple[Path, ...],
) -> Result:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.runs.preview import preview

    opened = Bank.open(invocation.bank(bank))
    text = preview(opened, name, domain=domain, episode_id=episode, folders=folders)
    data = {"bank": opened.name, "prompt": name, "text": text}
    notes = ["nothing was sent; a model gets the episode cut to its window"]
    return Result("prompts", data, view=lambda page: page.text(text), notes=notes)


def _checked(folder: Path | None, folders: tuple[Path, ...]) -> Result:
    """Return the flaws of one folder's files, or of all files in use."""
    from deltamem_tui.memory.methods import prompt_uses
    from deltamem_tui.memory.prompts.check import files, flaws

    if folder is not None and not folder.is_dir():
        raise UsageError("there is no such folder", source=one_line(str(folder)))
    if folder is not None:
        folders = (folder, *(each for each in folders if each.resolve() != folder.resolve()))
    looked = [folder] if folder is not None else _apart(folders)
    uses = prompt_uses()
    found = {path: flaws(path, each, folders, uses) for each in looked for path in files(each)}
    errors = tuple(_as_finding(error) for each in found.values() for error in each)
    sound = sum(not each for each in found.values())
    data = {"checked": len(found), "sound": sound, "files": list(found)}
    notes = [f"{sound} of {len(found)} files are sound"]
    if not found:
        notes = ["no prompt files here: they are called DOMAIN/NAME.md"]
    return Result("prompts", data, errors, Result.verdict(sound, errors), notes=notes)


def _as_finding(flaw: ConfigurationError) -> DeltaMemError:
    """Return a flaw as what was looked for: not a wrong call, which has an exit code of its own."""
    return DeltaMemError(flaw.message, source=flaw.source, position=flaw.position, hint=flaw.hint)


def _apart(folders: Iterable[Path]) -> list[Path]:
    """Return each folder once, by the name it is looked up by: `--prompts` may be a usual one."""
    apart: dict[Path, Path] = {}
    for folder in folders:
        apart.setdefault(folder.resolve(), folder)
    return list(apart.values())


def _exported(folder: Path, names: list[str], domain: str | None, *, replace: bool) -> Result:
    from deltamem_tui.memory.prompts.library import export

    shipped = paths.shipped_prompts_folder()
    done = export(shipped, folder, names=names, domain=domain, replace=replace)
    notes = [f"wrote {len(done.written)} files"]
    if done.same:
        notes[0] += f"; {len(done.same)} were there already"
    notes.append(
        f"they count with `--prompts {one_line(str(folder))}`, or `prompts = …` in deltamem.toml; "
        "delete those that you leave as they are"
    )
    return Result("prompts", {"written": done.written, "same": done.same}, notes=notes)
