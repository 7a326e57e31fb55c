"""`deltamem export`: a bank as one file, or as what other programs read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import BankError, BankExistsError, DeltaMemError, UsageError
from deltamem_tui.paths import ARCHIVE_SUFFIX, is_archive, is_bank_folder
from deltamem_tui.text import counted, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.transfer.export import Leak, PreparedExport


@dataclass(frozen=True, slots=True)
class Replacement:
    """True if an earlier export may be written over, and even files changed in it since."""

    allowed: bool = False
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A form in which a bank can be written.

    Attributes:
        ending: What the name of the file or folder ends with.
        note: What to do with it, for a person.
        write: Writes a bank to a path, and returns what was written.
    """

    ending: str
    note: str
    write: Callable[[Bank, Path, Replacement], dict[str, Any]]


def _skills(bank: Bank, path: Path, replacing: Replacement) -> dict[str, Any]:
    from deltamem_tui.memory.skills.export import write_skills

    written = write_skills(bank, path, replace=replacing.allowed, discard_changes=replacing.changed)
    return asdict(written) | {"folder": path}


def _markdown(bank: Bank, path: Path, replacing: Replacement) -> dict[str, Any]:
    from deltamem_tui.memory.transfer.plain import write_markdown

    write_markdown(bank, path, replace=replacing.allowed)
    return {"file": path, "nodes": _nodes(bank)}


def _jsonl(bank: Bank, path: Path, replacing: Replacement) -> dict[str, Any]:
    from deltamem_tui.memory.transfer.plain import write_jsonl

    write_jsonl(bank, path, replace=replacing.allowed)
    return {"file": path, "nodes": _nodes(bank)}


def _atif(bank: Bank, path: Path, replacing: Replacement) -> dict[str, Any]:
    from deltamem_tui.memory.episodes.stored_episodes import episodes
    from deltamem_tui.memory.transfer.atif import write_atif

    count = write_atif(path, episodes(bank), replace=replacing.allowed)
    return {"file": path, "episodes": count}


def _nodes(bank: Bank) -> int:
    return sum(map(len, bank.trees.values()))


_EPISODES = "atif"
FORMS: Mapping[str, Form] = {
    "skills": Form(
        "-skills",
        "put the folders where your agent looks for skills; `deltamem install` reads them back",
        _skills,
    ),
    "markdown": Form(".md", "a document to read; it cannot be installed again", _markdown),
    "jsonl": Form(".jsonl", "a node a line, with its chain; it cannot be installed again", _jsonl),
    _EPISODES: Form(
        ".atif.jsonl",
        "the episodes that it was learnt from, in the format that agents exchange",
        _atif,
    ),
}

_ENDINGS = {"archive": ARCHIVE_SUFFIX, "markdown": ".md", "jsonl": ".jsonl"}


def _checked_name(form: str, path: Path) -> Path:
    """Return a path to write a form to, unless its name ends as that of another form."""
    for other, ending in _ENDINGS.items():
        is_own = other == form or (form == _EPISODES and other == "jsonl")
        if not is_own and path.name.endswith(ending):
            raise UsageError(
                f"{one_line(path.name, 80)} has the ending of {other}, not of {form}",
                hint=f"end it with {FORMS[form].ending}, or leave --as {form}",
            )
    return path


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
    bool, typer.Option("--episodes", help="Include the episodes that it was learnt from.")
]
Journal = Annotated[bool, typer.Option("--journal", help="Include its history.")]
Builder = Annotated[
    str, typer.Option("--builder", metavar="WHO", help="Who built it; shown where it is installed.")
]
Replace = Annotated[bool, typer.Option("--replace", help="Write over an export that is there.")]
DiscardChanges = Annotated[
    bool,
    typer.Option(
        "--discard-changes", help="With --replace, also write over skills that were changed since."
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
    """Write a bank into one file: frozen, with digests, searched for secrets.

    The same state of a bank gives the same bytes. What it learnt goes along always, what it
    learnt from only if asked for. The digest that is printed can be given to
    `deltamem install --digest` where the file arrives. `--as` writes what other programs read
    instead: a folder of Agent Skills, a markdown document, JSON Lines, or its episodes as ATIF.
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
            leaks = export.leaks(opened, with_episodes=form == _EPISODES)
            if leaks and not allow_secrets:
                return _kept_here(opened, leaks)
            return _in_form(
                opened, form, out, leaks, Replacement(allowed=replace, changed=discard_changes)
            )
        ready = export.prepare(
            opened, with_episodes=episodes, with_journal=journal, builder=one_line(builder, 200)
        )
        if ready.leaks and not allow_secrets:
            return _kept_here(opened, ready.leaks)
        path = _path(out, opened.name, ARCHIVE_SUFFIX)
        _require_export(path)
        digest = ready.package.write(path, replace=replace)
    return _result(path, digest, ready)


def _require_elsewhere(out: Path) -> None:
    """Check that nothing is written among the files of a bank."""
    for place in (out.expanduser(), out.expanduser().parent):
        if is_bank_folder(place):
            raise UsageError(
                f"{one_line(str(place), 200)} is a bank's folder",
                hint="name another place with -o",
            )


def _require_export(path: Path) -> None:
    """Check that a file to be written over is an export."""
    if path.is_file() and not is_archive(path):
        raise BankExistsError(
            "the file here is not an export",
            source=str(path),
            hint="choose another name, or move it away first",
        )


def _path(out: Path | None, name: str, ending: str) -> Path:
    """Return where to write: what was named, or a path called like the bank."""
    own = Path(name).name + ending
    if out is None:
        return Path(own)
    out = out.expanduser()
    return out / own if ending.startswith(".") and out.is_dir() else out


def _in_form(
    bank: Bank, form: str, out: Path | None, leaks: Sequence[Leak], replacing: Replacement
) -> Result:
    chosen = FORMS[form]
    path = _checked_name(form, _path(out, bank.name, chosen.ending))
    written = chosen.write(bank, path, replacing)
    data = {"bank": bank.name, "form": form, **written, "secrets": leaks}

    def view(page: Page) -> None:
        page.facts({name: str(fact) for name, fact in written.items()})

    return Result("export", data, view=view, notes=[chosen.note, *_allowed(leaks)])


def _kept_here(bank: Bank, leaks: Sequence[Leak]) -> Result:
    """Return the bank stays where it is, because of the secrets in it."""
    return Result("export", {"bank": bank.name, "secrets": leaks}, _errors(leaks), "error")


def _errors(leaks: Sequence[Leak]) -> tuple[DeltaMemError, ...]:
    from deltamem_tui.memory.reports.transfer import leak_position

    found = [
        BankError(f"holds a secret: {leak.kind}", source=leak.place, position=leak_position(leak))
        for leak in leaks
    ]
    last = BankError(
        f"{counted(len(found), 'secret')} would leave with the bank, so nothing was written",
        hint="remove them in `deltamem browse`, or write them with --allow-secrets",
    )
    return (*found, last)


def _result(path: Path, digest: str, outgoing: PreparedExport) -> Result:
    from deltamem_tui.memory.reports.transfer import view_export

    record = view_export(outgoing).record
    data = {"bank": outgoing.package.manifest.name, "file": path, "digest": digest, **record}

    def view(page: Page) -> None:
        page.facts({"file": str(path), "digest": digest, "bytes": record["bytes"]})

    notes = [f"install it with `deltamem install {one_line(str(path))} --digest {digest}`"]
    return Result("export", data, view=view, notes=[*notes, *_allowed(outgoing.leaks)])


def _allowed(leaks: Sequence[Leak]) -> list[str]:
    return (
        [f"{counted(len(leaks), 'secret')} left with it, as --allow-secrets permits"]
        if leaks
        else []
    )
