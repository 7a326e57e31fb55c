"""Arguments and options that several commands have, declared once.

An option that falls back to a setting is None when it was not given:
`invocation.settings(embedder=embedder).embedder` is then the value that counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui import paths
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.node import TreeName
    from deltamem_tui.memory.extraction import Extractor as MemoryExtractor


def _complete_bank(incomplete: str) -> list[tuple[str, str]]:
    """The banks whose names begin with what was typed, for the shell's completion."""
    try:
        places = paths.find_banks(paths.banks_folder())
    except DeltaMemError:
        return []  # a shell that completes is no place for errors
    return [(place.name, str(place.path)) for place in places if place.name.startswith(incomplete)]


Bank = Annotated[
    str,
    typer.Argument(
        metavar="BANK",
        help="A bank's name in the banks folder, or a path.",
        autocompletion=_complete_bank,
    ),
]
"""An existing bank: `invocation.bank(bank)` finds its folder."""

NewBank = Annotated[
    str, typer.Argument(metavar="BANK", help="The new bank's name in the banks folder, or a path.")
]
"""A bank that is to be made: `invocation.new_bank(bank)` says where."""

Domain = Annotated[
    str | None,
    typer.Option(
        "--domain", metavar="NAME", help="The kind of environment: alfworld, scienceworld, …"
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="What turns text into vectors: minilm, hashing, or a sentence-transformers model.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="The language model, as litellm names it."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME|FILE.toml",
        help="How to read the logs: a name of `deltamem formats`, or a file that declares a "
        "format; by content if not given.",
    ),
]
"""`reader_named(format)` finds it."""

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done, and write nothing.")
]

TreeChoice = Annotated[
    str | None, typer.Option("--tree", metavar="task|env", help="Only one of the two trees.")
]
"""`tree_name(tree)` and `tree_names(tree)` read it."""

NodeId = Annotated[
    str, typer.Argument(metavar="NODE", help="A node's id, or enough of its beginning.")
]


def tree_name(choice: str | None) -> TreeName | None:
    """The tree that was chosen, if one was.

    Raises:
        UsageError: There is no such tree.
    """
    if choice is None:
        return None
    if choice == "task":
        return "task"
    if choice == "env":
        return "env"
    raise UsageError(f"there is no tree {one_line(choice, 40)!r}", hint="task or env")


def tree_names(choice: str | None) -> tuple[TreeName, ...]:
    """The trees that were chosen: both, unless one was named.

    Raises:
        UsageError: There is no such tree.
    """
    name = tree_name(choice)
    return ("task", "env") if name is None else (name,)


Extractor = Annotated[
    str | None,
    typer.Option("--extractor", metavar="NAME", help="What distils the episodes: rules."),
]
"""`extractor_named(extractor)` makes it."""


def extractor_named(name: str | None) -> MemoryExtractor:
    """The extractor that was chosen.

    Raises:
        UsageError: None was chosen, or there is none of this name.
    """
    if name != "rules":
        wrong = "no extractor was named" if name is None else f"no extractor {one_line(name, 40)!r}"
        raise UsageError(wrong, hint="`--extractor rules` needs no model")
    from deltamem_tui.memory.rules import RulesExtractor

    return RulesExtractor()
