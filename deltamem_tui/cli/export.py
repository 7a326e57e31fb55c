"""A bank as one file, or as what other programs read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import flag, option
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import BankError, BankExistsError, DeltaMemError, UsageError
from deltamem_tui.paths import ARCHIVE_SUFFIX, is_archive, is_bank_folder
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.transfer.export import Leak

_ENDINGS = {
    "archive": ARCHIVE_SUFFIX,
    "skills": "-skills",
    "markdown": ".md",
    "jsonl": ".jsonl",
    "atif": ".atif.jsonl",
    "agents-md": ".md",
}
"""The forms that a bank is written in, and how their names end."""

_NOTES = {
    "skills": "put the folders where your agent looks for skills; `deltamem bank install` reads "
    "them back",
    "markdown": "a document to read; it cannot be installed again",
    "jsonl": "a node a line, with its chain; it cannot be installed again",
    "atif": "the episodes that it was learnt from, in the format that agents exchange",
    "agents-md": "what every task of the bank needs; agents read such a file by themselves",
}
_AGENTS_FILE = "AGENTS.md"

Out = Annotated[
    Path | None,
    typer.Option("-o", "--out", metavar="PATH", help="Where to write; here, if not given."),
]
As = Annotated[str, option("--as", "|".join(_ENDINGS), "What to write.")]
Episodes = Annotated[bool, flag("--episodes", "Include the episodes that it was learnt from.")]
Journal = Annotated[bool, flag("--journal", "Include its history.")]
Builder = Annotated[str, option("--builder", "WHO", "Who built it; shown where it is installed.")]
Replace = Annotated[bool, flag("--replace", "Write over an export that is there.")]
DiscardChanges = Annotated[
    bool,
    flag("--discard-changes", "With --replace, also write over skills that were changed since."),
]
AllowSecrets = Annotated[bool, flag("--allow-secrets", "Write although secrets were found in it.")]


def export(
    context: typer.Context,
    bank: options.Bank,
    *,
    out: Out = None,
    form: As = "archive",
    episodes: Episodes = False,
    journal: Journal = False,
    builder: Builder = "",
    replace: Replace = False,
    discard_changes: DiscardChanges = False,
    allow_secrets: AllowSecrets = False,
) -> Result:
    """Write a bank into one file: frozen, with digests, scanned for secrets.

    The same state of a bank gives the same bytes. The nodes always go along, the episodes only if
    asked for. The digest that is printed can be given to `deltamem bank install --digest` where
    the file arrives. `--as` writes what other programs read instead: a folder of Agent Skills, a
    markdown document, JSON Lines, its episodes as ATIF, or AGENTS.md.
    """
    if form not in _ENDINGS:
        raise UsageError(
            f"a bank cannot be written as {one_line(form, 40)!r}", hint=" or ".join(_ENDINGS)
        )
    is_archived = form == "archive"
    if not is_archived and (episodes or journal or builder):
        raise UsageError("--episodes, --journal and --builder are for archives", hint="leave --as")
    if discard_changes and not (form == "skills" and replace):
        raise UsageError("--discard-changes goes with --as skills --replace")
    from deltamem_tui.memory.reports.transfer import view_export
    from deltamem_tui.memory.transfer import export

    invocation = Invocation.of(context)
    opened = invocation.open(bank)
    path = _checked_path(out, opened.name, form)
    with invocation.output.progress("exporting"):
        if not is_archived:
            leaks = export.leaks(opened, with_episodes=form == "atif")
            if leaks and not allow_secrets:
                return _withheld(opened, leaks)
            written = _write(opened, form, path, replace=replace, discard_changes=discard_changes)
            data = {"bank": opened.name, "form": form, **written, "secrets": leaks}
            facts = {name: str(fact) for name, fact in written.items()}
            return _exported(data, facts, _NOTES[form], leaks)
        ready = export.prepare(
            opened, with_episodes=episodes, with_journal=journal, builder=one_line(builder, 200)
        )
        if ready.leaks and not allow_secrets:
            return _withheld(opened, ready.leaks)
        if path.is_file() and not is_archive(path):
            hint = "choose another name, or move it away first"
            raise BankExistsError("the file here is not an export", source=str(path), hint=hint)
        digest = ready.package.write(path, replace=replace)
    record = view_export(ready).record
    data = {"bank": ready.package.manifest.name, "file": path, "digest": digest, **record}
    note = f"install it with `deltamem bank install {one_line(str(path))} --digest {digest}`"
    facts = {"file": str(path), "digest": digest, "bytes": record["bytes"]}
    return _exported(data, facts, note, ready.leaks)


def _checked_path(out: Path | None, name: str, form: str) -> Path:
    """Return where to write: what was named, or a path called like the bank."""
    named = (out or Path()).expanduser()
    for place in (named, named.parent):
        if is_bank_folder(place):
            source = one_line(str(place), 200)
            raise UsageError(f"{source} is a bank's folder", hint="name another place with -o")
    ending = _ENDINGS[form]
    path = Path(Path(name).name + ending) if out is None else named
    if form == "agents-md":
        return named / _AGENTS_FILE if out is None or named.is_dir() else named
    if out is not None and ending.startswith(".") and named.is_dir():
        path = named / (Path(name).name + ending)
    for other in ("archive", "markdown", "jsonl"):
        is_own = other == form or (form, other) == ("atif", "jsonl")
        if not is_own and path.name.endswith(_ENDINGS[other]) and form != "archive":
            raise UsageError(
                f"{one_line(path.name, 80)} has the ending of {other}, not of {form}",
                hint=f"end it with {ending}, or leave --as {form}",
            )
    return path


def _write(
    bank: Bank, form: str, path: Path, *, replace: bool, discard_changes: bool
) -> dict[str, Any]:
    """Write a bank in another form than an archive; return what was written."""
    from deltamem_tui.memory.episodes.stored_episodes import episodes
    from deltamem_tui.memory.skills.export import write_skills
    from deltamem_tui.memory.transfer.atif import write_atif
    from deltamem_tui.memory.transfer.plain import write_agents_md, write_jsonl, write_markdown

    if form == "skills":
        skills = write_skills(bank, path, replace=replace, discard_changes=discard_changes)
        return asdict(skills) | {"folder": path}
    if form == "atif":
        return {"file": path, "episodes": write_atif(path, episodes(bank), replace=replace)}
    if form == "agents-md":
        write_agents_md(bank, path, replace=replace)
        return {"file": path}
    (write_jsonl if form == "jsonl" else write_markdown)(bank, path, replace=replace)
    return {"file": path, "nodes": sum(map(len, bank.trees.values()))}


def _withheld(bank: Bank, leaks: Sequence[Leak]) -> Result:
    """Return that nothing was written, because of the secrets in it."""
    from deltamem_tui.memory.reports.transfer import leak_position

    found: list[DeltaMemError] = [
        BankError(f"holds a secret: {leak.kind}", source=leak.place, position=leak_position(leak))
        for leak in leaks
    ]
    last = BankError(
        f"{counted(len(found), 'secret')} would leave with the bank, so nothing was written",
        hint="remove them in `deltamem browse`, or write them with --allow-secrets",
    )
    return Result("export", {"bank": bank.name, "secrets": leaks}, [*found, last], "error")


def _exported(
    data: dict[str, Any], facts: Mapping[str, Any], note: str, leaks: Sequence[Leak]
) -> Result:
    notes = [note]
    if leaks:
        notes.append(f"{counted(len(leaks), 'secret')} left with it, as --allow-secrets permits")

    def view(page: Page) -> None:
        page.facts(facts)

    return Result("export", data, view=view, notes=notes)
