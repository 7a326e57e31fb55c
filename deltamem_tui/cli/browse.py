"""`deltamem browse` without a terminal, or as a web page.

With a terminal the program opens the browser before the command line is read: the two faces
do not know each other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import UsageError
from deltamem_tui.paths import results_named

_HOST = "127.0.0.1"
_PORT = 8642

OptionalBank = Annotated[
    str | None,
    typer.Argument(
        metavar="[BANK]",
        help="A bank's name in the banks folder, or a path; a .json file is a finished replay, "
        "the folder that deltamem evaluate kept is its run.",
    ),
]
Web = Annotated[
    bool,
    typer.Option("--web", help="Serve it as a page for a web browser, until Ctrl+C."),
]
Host = Annotated[
    str | None,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help=f"With --web: where to listen. Only this machine reaches it unless you say [{_HOST}]",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port", metavar="N", min=0, max=65535, help=f"With --web: 0 takes a free one [{_PORT}]"
    ),
]


def run(
    context: typer.Context,
    bank: OptionalBank = None,
    web: Web = False,
    host: Host = None,
    port: Port = None,
) -> Result:
    """Look at banks in the terminal, ask them, and put them right."""
    invocation = Invocation.of(context)
    path = None if bank is None else _named(invocation, bank)
    if web:
        return _serve(invocation, None if path is None else str(path.resolve()), host, port)
    if host is not None or port is not None:
        raise UsageError("--host and --port go with --web")
    notes = ["the browser needs a terminal; `deltamem browse --web` serves it as a page"]
    return Result("browse", {"help": context.find_root().get_help()}, notes=notes)


def _named(invocation: Invocation, word: str) -> Path:
    """What a word names: a bank, a replay's file, or an evaluation's folder."""
    return results_named(word) or invocation.bank(word)


def _serve(invocation: Invocation, bank: str | None, host: str | None, port: int | None) -> Result:
    from deltamem_tui.cli.web_server import is_loopback, program, serve

    folder = str(invocation.banks_folder.resolve())
    command = program(["--banks", folder, "browse", *([bank] if bank else [])])
    address = _HOST if host is None else host
    if not is_loopback(address):
        invocation.output.note(
            f"anyone who reaches {address} can read and change these banks: there is no password",
            style="yellow",
        )
    urls: list[str] = []

    def ready(url: str) -> None:
        urls.append(url)
        invocation.output.note(f"DeltaMem is at {url} until you press Ctrl+C")

    serve(command, address, _PORT if port is None else port, ready)
    return Result("browse", {"url": urls[0] if urls else None})
