"""`deltamem hook`: what the entries in an agent's settings call."""

from __future__ import annotations

from typing import Annotated

import typer

from deltamem_tui.cli.result import Result

Agent = Annotated[
    str, typer.Argument(metavar="AGENT", help="claude-code, codex, gemini or openhands.")
]
Event = Annotated[str, typer.Argument(metavar="EVENT", help="prompt, failure, resume or end.")]
BankName = Annotated[str, typer.Option("--bank", metavar="BANK", help="The bank that is asked.")]
Budget = Annotated[
    int, typer.Option("--budget", metavar="N", help="The most tokens that are handed over.")
]


def run(
    context: typer.Context,  # noqa: ARG001 - a command's first parameter
    agent: Agent,
    event: Event,
    bank: BankName,
    budget: Budget = 1500,
) -> Result | int:
    """Answer an agent's hook: its event is read from stdin, as `hooks install` arranges.

    Whatever fails, it exits with 0 and leaves a line in the hooks' own log.
    """
    from deltamem_tui.agents.hooks import run as answer

    return answer([agent, event, "--bank", bank, "--budget", str(budget)])
