"""`deltamem export`: a bank as one file, or as what other programs read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.forms import FORMS, Replacing, checked_name
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import BankError, BankExistsError, DeltaMemError, UsageError
from deltamem_tui.paths import ARCHIVE_SUFFIX, is_archive, is_bank_folder
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.transfer.export import Leak, Outgoing

_ARCHIVE = "archive"
_FORM_NAMES = (_ARCHIVE, *FORMS)

Out = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--out",
        metavar="PATH",
        help=f"Where to write; ./<bank>{ARCHIVE_SUFFIX} if not given.",
    ),
]
As = Annotated[str, typer.Option("--as", metavar="|".join(_FORM_NAMES), help="What to write.")]
Episodes = Annotated[
    bool, typer.Option("--episodes", help="Take the episodes along that it was learnt from.")
]
Journal = Annotated[bool, typer.Option("--journal", help="Take its history along.")]
Builder = Annotated[
    str, typer.Option("--builder", metavar="WHO", help="Who built it, to be told where it arrives.")
]
Replace = Annotated[bool, typer.Option("--replace", help="Write over an export that is there.")]
DiscardChanges = Annotated[
    bool,
    typer.Option(
        "--discard-changes", help="With --replace, write over skills that were changed since, too."
    ),
]
AllowSecrets = Annotated[
    bool, typer.Option("--allow-secrets", help="Write although secrets were found in it.")
]


def run(
    context: typer.Context,
    bank: options.Bank,
    *,
    out: Out = None,
    form: As = _ARCHIVE,
    episodes: Episodes = False,
    journal: Journal = False,
    builder: Builder = "",
    replace: Replace = False,
    discard_changes: DiscardChanges = False,
    allow_secrets: AllowSecrets = False,
) -> Result:
    """Write a bank into one file: frozen, with digests, looked through for secrets.

    The same state of a bank gives the same bytes. What it learnt goes along always, what it
    learnt from only if asked for. The digest that is printed can be given to
    `deltamem install --digest` where the file arrives. `--as` writes what other programs read
    instead: a folder of Agent Skills, a markdown document, or JSON Lines.
    """
    if form not in _FORM_NAMES:
        raise UsageError(
            f"a bank cannot be written as {one_line(form, 40)!r}", hint=" or ".join(_FORM_NAMES)
        )
    if form != _ARCHIVE and (episodes or journal or builder):
        raise UsageError("--episodes, --journal and --builder are for archives", hint="leave --as")
    if discard_changes and not (form == "skills" and replace):
        raise UsageError("--discard-changes goes with --as skills --replace")
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.transfer import export

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.bank(bank))
    _require_elsewhere(out or Path())
    with invocation.output.progress("exporting"):
        if form != _ARCHIVE:
            leaks = export.leaks(opened)
            if leaks and not allow_secrets:
                return _kept_here(opened, leaks)
            return _in_form(
                opened, form, out, leaks, Replacing(allowed=replace, changed=discard_changes)
            )
        ready = export.prepare(
            opened, with_episodes=episodes, with_journal=journal, builder=one_line(builder, 200)
        )
        if ready.leaks and not allow_secrets:
            return _kept_here(opened, ready.leaks)
        path = _path(out, opened.name, ARCHIVE_SUFFIX)
        _require_export(path)
        digest = ready.package.write(path, replace=replace)
    return _written(path, digest, ready)


def _require_elsewhere(out: Path) -> None:
    """See that nothing is written among the files of a bank."""
    for place in (out.expanduser(), out.expanduser().parent):
        if is_bank_folder(place):
            raise UsageError(
                f"{one_line(str(place), 200)} is a bank's folder",
                hint="name another place with -o",
            )


def _require_export(path: Path) -> None:
    """See that a file which is to be written over is an export, and not somebody's work."""
    if path.is_file() and not is_archive(path):
        raise BankExistsError(
            "something is here that no export wrote",
            source=str(path),
            hint="choose another name, or move it away first",
        )


def _path(out: Path | None, name: str, ending: str) -> Path:
    """Where to write: what was named, or a path called like the bank."""
    own = Path(name).name + ending
    if out is None:
        return Path(own)
    out = out.expanduser()
    return out / own if ending.startswith(".") and out.is_dir() else out


def _in_form(
    bank: Bank, form: str, out: Path | None, leaks: Sequence[Leak], replacing: Replacing
) -> Result:
    chosen = FORMS[form]
    told = chosen.write(bank, checked_name(form, _path(out, bank.name, chosen.ending)), replacing)
    data = {"bank": bank.name, "form": form, **told, "secrets": leaks}

    def view(page: Page) -> None:
        page.facts({name: str(fact) for name, fact in told.items()})

    return Result("export", data, view=view, notes=[chosen.note, *_allowed(leaks)])


def _kept_here(bank: Bank, leaks: Sequence[Leak]) -> Result:
    """The bank stays where it is, because of the secrets in it."""
    return Result("export", {"bank": bank.name, "secrets": leaks}, _errors(leaks), "error")


def _errors(leaks: Sequence[Leak]) -> tuple[DeltaMemError, ...]:
    found = [_error(leak) for leak in leaks]
    last = BankError(
        f"{counted(len(found), 'secret')} would leave with the bank, so nothing was written",
        hint="take them out in `deltamem browse`, or write them along with --allow-secrets",
    )
    return (*found, last)


def _error(leak: Leak) -> BankError:
    return BankError(f"holds a secret: {leak.kind}", source=leak.place, position=_where(leak))


def _where(leak: Leak) -> str:
    return f"{one_line(leak.record, 40)} {one_line(leak.field, 60)}".strip()


def _written(path: Path, digest: str, outgoing: Outgoing) -> Result:
    layout = outgoing.package.layout
    data: dict[str, Any] = {
        "bank": outgoing.package.manifest.name,
        "file": path,
        "digest": digest,
        "bytes": layout.size,
        "members": {entry.name: entry.size for entry in layout.entries},
        "contents": outgoing.contents,
        "secrets": outgoing.leaks,
    }

    def view(page: Page) -> None:
        page.facts({"file": str(path), "digest": digest, "bytes": layout.size})

    notes = [f"install it with `deltamem install {one_line(str(path))} --digest {digest}`"]
    return Result("export", data, view=view, notes=[*notes, *_allowed(outgoing.leaks)])


def _allowed(leaks: Sequence[Leak]) -> list[str]:
    return [f"{counted(len(leaks), 'secret')} left with it, as you allowed"] if leaks else []
