"""`deltamem serve`: banks for agents, over the Model Context Protocol."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import UsageError

Banks = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[BANK…]", help="Names or paths; all banks of the banks folder if not given."
    ),
]
Writable = Annotated[
    bool,
    typer.Option("--writable", help="Let agents import logs and note how episodes ended, too."),
]


def run(context: typer.Context, banks: Banks = None, writable: Writable = False) -> Result:
    """Serve banks to agents as an MCP server on stdin and stdout.

    Tools: recall, search, show, list_banks. Resources: deltamem://BANK/TREE/NODE, and the
    banks' skills as skill://. An agent's configuration names the command and its arguments.
    """
    from deltamem_tui.agents.served_banks import ServedBanks

    try:
        from deltamem_tui.agents.mcp import serve
    except ImportError as error:
        raise UsageError(
            "serving agents needs the package mcp",
            hint="install it with the extra `agents`: pip install 'deltamem-tui[agents]'",
        ) from error

    invocation = Invocation.of(context)
    named = tuple(invocation.bank(bank) for bank in banks or ())
    served = ServedBanks(invocation.banks_folder, named)
    if sys.stdin.isatty():
        invocation.output.note("waiting for an MCP client's messages on stdin; Ctrl+C ends it")
    serve(served, invocation.settings().prompt_folders(), writable=writable)
    return Result("serve", {"banks": list(served.places())})
