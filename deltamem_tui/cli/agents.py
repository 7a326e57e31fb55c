"""Commands for agents: the MCP server, and our entries in the settings of agents."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import argument, flag, option
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.agents.settings import FileChange


def serve(
    invocation: Invocation,
    banks: Annotated[
        list[str] | None, argument("[BANK]...", "Names or paths; all if none.")
    ] = None,
) -> Result:
    """Serve banks to agents as an MCP server on stdin and stdout.

    Tools: recall, search, show, list_banks. An agent's configuration names the command and its
    arguments.
    """
    from deltamem_tui.agents.served_banks import ServedBanks

    try:
        from deltamem_tui.agents.mcp import server_over
    except ImportError as error:
        raise UsageError(
            "serving agents needs the package mcp",
            hint="install it with the extra `agents`: pip install 'deltamem-tui[agents]'",
        ) from error

    named = tuple(invocation.bank(bank) for bank in banks or ())
    served = ServedBanks(invocation.banks_folder, named)
    if sys.stdin.isatty():
        invocation.output.note("waiting for an MCP client's messages on stdin; Ctrl+C ends it")
    server_over(served, invocation.settings().prompt_folders()).run("stdio")
    return Result("serve", {"banks": list(served.places())})


_TIME = len("2026-01-01 12:00 ")  # which begins each line of our log

Agent = Annotated[
    str,
    argument("AGENT", "claude-code, codex, gemini, qwen, openhands, copilot, cursor or opencode."),
]
Project = Annotated[bool, flag("--project", "Use the settings of the project here, not your own.")]


def install(
    invocation: Invocation,
    agent: Agent,
    bank: Annotated[str, option("--bank", "BANK", "The bank to ask.")],
    project: Project = False,
    budget: Annotated[
        int, option("--budget", "N", "The most tokens handed over at once.", min=50)
    ] = 1500,
    learn: Annotated[
        str | None,
        option("--learn", "rules|USD", "Learn at each session's end: by rules, or by your model."),
    ] = None,
    dry_run: options.DryRun = False,
) -> Result:
    """Have an agent read a bank before it acts, and queue its sessions for import.

    Writes exactly its own entries into the agent's settings; `deltamem agent remove` takes them
    out again. With --learn, a session that ended is learnt in the background: by rules, or by the
    model of the configuration for at most so many USD.
    """
    from deltamem_tui.agents import settings
    from deltamem_tui.errors import BankFrozenError

    path, protocol = invocation.bank(bank), settings.protocol_of(agent)
    how, notes = _way_of_learning(invocation, learn)
    if project and not protocol.in_projects:
        reason = f"{protocol.name} reads no hooks of a project"
        raise UsageError(reason, hint="leave out --project: they go into your own settings")
    try:
        invocation.open(bank, write=True)
    except BankFrozenError as error:
        if how:
            raise
        notes = [f"sessions will wait, since they cannot be imported here: {error}"]
    # Settings of a project are shared: its bank is found there by name, as the program is.
    name = bank if project else str(path.resolve())
    notes += [protocol.trust] if protocol.trust else []
    changes = settings.planned(
        protocol, _folder(project), name, budget, portable=project, learn=how
    )
    if changes and not dry_run and not how:
        notes.append("work on, then `deltamem import --queued` takes in the sessions that ended")
    return _changed("install", protocol.name, changes, notes, dry_run=dry_run)


def _way_of_learning(invocation: Invocation, given: str | None) -> tuple[str, list[str]]:
    """Return `rules`, or the most USD that a model may take for a session's end, and a note on it.

    The model is one that can be asked within its limit.
    """
    how = (given or "").strip().lower()
    if how in ("", "rules"):
        return how, []
    from deltamem_tui.cli.models import chosen_model, model_client

    most = float(how) if re.fullmatch(r"\d*\.?\d+", how) else 0.0
    if not most:
        hint = "`rules`, or the most USD that your configuration's model may take, as 0.05"
        raise UsageError("--learn is not understood", hint=hint)
    model = chosen_model(invocation, None, "`model = …` in deltamem.toml; or learn by `rules`")
    model_client(invocation, options.ModelOptions(max_cost=most, dry_run=True))
    return how, [f"each session's end may cost ${how}, asked of {one_line(model, 80)}"]


def remove(agent: Agent, project: Project = False, dry_run: options.DryRun = False) -> Result:
    """Remove the entries that `agent install` wrote; other settings stay."""
    from deltamem_tui.agents import settings

    protocol = settings.protocol_of(agent)
    changes = settings.removal(protocol, _folder(project))
    return _changed("remove", protocol.name, changes, [], dry_run=dry_run)


def status(
    agent: Annotated[str | None, argument("AGENT", "Only this one; all if not given.")] = None,
    project: Project = False,
) -> Result:
    """Show which agents read which banks, when a hook last ran, and how many sessions wait."""
    from datetime import UTC, datetime

    from deltamem_tui import paths
    from deltamem_tui.agents import settings
    from deltamem_tui.agents.protocols import PROTOCOLS
    from deltamem_tui.agents.sessions import StateFolder

    folder = _folder(project)
    state = StateFolder(paths.state_folder())
    agents: dict[str, Any] = {}
    notes: list[str] = []
    for protocol in [settings.protocol_of(agent)] if agent else PROTOCOLS.values():
        entries = settings.installed(protocol, folder)
        ran = state.last_run(protocol.name)
        agents[protocol.name] = {
            "settings": str(folder / protocol.settings),
            "events": sorted(entries),
            "missing": sorted({each.name for each in protocol.handlers.values()} - {*entries}),
            "banks": sorted({settings.option_of(each, "--bank") for each in entries.values()}),
            "learns": sorted(
                filter(None, (settings.option_of(e, "--learn") for e in entries.values()))
            ),
            "last_run": ran and datetime.fromtimestamp(ran, UTC).isoformat(timespec="seconds"),
        }
        if not all(map(settings.program_of, entries.values())):
            again = f"`deltamem agent install {protocol.name}`"
            notes.append(f"{protocol.name}: the program of its hooks is gone; repeat {again}")
        if entries and ran is None and protocol.trust:
            notes.append(f"{protocol.name}: no hook ran yet; {protocol.trust}")
    waiting = state.waiting()
    log = state.folder / "hook.log"
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    if last := _last_failure(lines):
        notes.append(f"the last failure: {last} ({log} has all)")
    data = {"agents": agents, "state": str(state.folder), "waiting": waiting, "last_failure": last}

    def view(page: Page) -> None:
        rows = []
        for name, each in agents.items():
            events, ran = ", ".join(each["events"]) or "none", each["last_run"] or "never"
            learns = ", ".join(each["learns"]).replace("rules", "by rules") or "no"
            rows.append((name, events, ", ".join(each["banks"]), learns, ran))
        page.table(("agent", "events", "bank", "learns (USD per session)", "last run"), rows)
        page.facts({"waiting sessions": waiting, "state": str(state.folder)})

    notes += ["`deltamem import --queued` takes the waiting sessions in"] if waiting else []
    return Result("hooks", data, view=view, notes=notes)


def _last_failure(lines: Sequence[str]) -> str | None:
    """Return the last line of our log on what failed, if it has not worked since."""
    from deltamem_tui.agents.hooks import WORKED

    found: list[str] = []
    for line in lines:
        what = line[_TIME:].removesuffix(WORKED)
        if line.endswith(WORKED):
            found = [each for each in found if not each[_TIME:].startswith(f"{what}: ")]
        else:
            found.append(line)
    return one_line(found[-1], 300) if found else None


def _folder(project: bool) -> Path:
    return Path() if project else Path.home()


def _changed(
    verb: str, agent: str, planned: Sequence[FileChange], notes: list[str], *, dry_run: bool
) -> Result:
    """Make the changes that are planned, unless in a dry run."""
    files = []
    for each in planned:
        if not dry_run:
            each.apply()
        change = "changed" if each.after is not None else "removed"
        before, after = ((text or "").splitlines() for text in (each.before, each.after))
        diff = "\n".join(unified_diff(before, after, lineterm="", n=1))
        kind = "made" if each.before is None else change
        files.append({"path": str(each.path), "change": kind, "diff": diff})
    data = {"verb": verb, "agent": agent, "dry_run": dry_run, "files": files}

    def view(page: Page) -> None:
        for each in files:
            would = "would be " if dry_run else ""
            page.text(f"{would}{each['change']} {each['path']}", style="bold")
            if dry_run:
                page.text(each["diff"])

    return Result("hooks", data, view=view, notes=notes if files else [*notes, "nothing to change"])
