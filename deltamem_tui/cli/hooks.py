"""`deltamem hooks`: our entries in the settings of agents."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import UsageError

if TYPE_CHECKING:
    from deltamem_tui.agents.settings import FileChange

Verb = Annotated[
    Literal["install", "remove", "status"],
    typer.Argument(metavar="install|remove|status", help="What is to be done."),
]
Agent = Annotated[
    str | None,
    typer.Argument(metavar="[AGENT]", help="claude-code, codex, gemini or openhands."),
]
BankName = Annotated[
    str | None, typer.Option("--bank", metavar="BANK", help="The bank that the hooks ask.")
]
Project = Annotated[
    bool,
    typer.Option("--project", help="The settings of the project here, not those of the user."),
]
Budget = Annotated[
    int,
    typer.Option("--budget", metavar="N", min=50, help="The most tokens handed over at once."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, and write nothing.")
]


def run(
    context: typer.Context,
    verb: Verb,
    agent: Agent = None,
    bank: BankName = None,
    project: Project = False,
    budget: Budget = 1500,
    dry_run: DryRun = False,
) -> Result:
    """Let an agent be told what a bank knows, and send its sessions home.

    Writes exactly its own entries into the agent's settings, and takes them out to the byte.
    """
    from deltamem_tui.agents import settings

    folder = Path() if project else Path.home()
    if verb == "status":
        return _status(folder, agent)
    if agent is None:
        raise UsageError("the agent is missing", hint="claude-code, codex, gemini or openhands")
    protocol = settings.protocol_of(agent)
    notes: list[str] = []
    if verb == "remove":
        changes = settings.removal(protocol, folder)
    else:
        if bank is None:
            raise UsageError("the bank is missing", hint="name it with --bank")
        # Settings of a project are shared: its bank is found there by name, as the program is.
        path = Invocation.of(context).bank(bank)
        notes += _notes_on(context, bank)
        name = bank if project else str(path.resolve())
        changes = settings.planned(protocol, folder, name, budget, portable=project)
    changes = [each for each in changes if each.changes]
    if not dry_run:
        for each in changes:
            each.apply()
    return _changed(verb, protocol.name, changes, notes, dry_run=dry_run)


def _notes_on(context: typer.Context, bank: str) -> list[str]:
    """Return whether sessions can come home to a bank."""
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.errors import BankFrozenError

    try:
        Bank.open(Invocation.of(context).writable_bank(bank)).require_writable()
    except BankFrozenError as error:
        return [f"sessions will wait, since they cannot be imported here: {error}"]
    return []


def _status(folder: Path, agent: str | None) -> Result:
    from deltamem_tui import paths
    from deltamem_tui.agents import settings
    from deltamem_tui.agents.hooks import PROTOCOLS
    from deltamem_tui.agents.sessions import StateFolder

    chosen = [settings.protocol_of(agent)] if agent else PROTOCOLS.values()
    agents: dict[str, Any] = {}
    for protocol in chosen:
        entries = settings.installed(protocol, folder)
        banks = sorted({settings.bank_of(each) for each in entries.values()})
        agents[protocol.name] = {
            "settings": str(folder / protocol.settings),
            "events": sorted(entries),
            "missing": sorted({each.name for each in protocol.handlers.values()} - {*entries}),
            "banks": banks,
        }
    state = StateFolder(paths.state_folder())
    data = {"agents": agents, "state": str(state.folder), "waiting": state.waiting()}

    def view(page: Page) -> None:
        rows = [
            (name, ", ".join(found["events"]) or "none", ", ".join(found["banks"]))
            for name, found in agents.items()
        ]
        page.table(("agent", "events", "bank"), rows, headed=True)
        page.facts({"waiting sessions": state.waiting(), "state": str(state.folder)})

    notes = ["`deltamem import --queued` takes the waiting sessions in"] if data["waiting"] else []
    return Result("hooks", data, view=view, notes=notes)


def _changed(
    verb: str, agent: str, changes: list[FileChange], notes: list[str], *, dry_run: bool
) -> Result:
    files = [
        {"path": str(each.path), "change": _kind(each), "diff": _diff(each)} for each in changes
    ]
    data = {"verb": verb, "agent": agent, "dry_run": dry_run, "files": files}

    def view(page: Page) -> None:
        for each in files:
            page.text(f"{each['change']} {each['path']}", style="bold")
            if dry_run:
                page.text(each["diff"])

    notes = notes if files else [*notes, "nothing is to be changed"]
    return Result("hooks", data, view=view, notes=notes)


def _kind(change: FileChange) -> str:
    if change.before is None:
        return "made"
    return "removed" if change.after is None else "changed"


def _diff(change: FileChange) -> str:
    before, after = ((text or "").splitlines() for text in (change.before, change.after))
    return "\n".join(unified_diff(before, after, lineterm="", n=1))
