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
    from deltamem_tui.bank import bank as bank_module


def _complete_bank(incomplete: str) -> list[tuple[str, str]]:
    """Return the banks whose names begin with what was typed, for the shell's completion."""
    try:
        places = paths.find_banks(paths.banks_folder())
    except DeltaMemError:
        return []  # a shell cannot show errors while it completes
    return [(place.name, str(place.path)) for place in places if place.name.startswith(incomplete)]


Bank = Annotated[
    str,
    typer.Argument(
        metavar="BANK",
        help="A bank's name in the banks folder, or a path.",
        autocompletion=_complete_bank,
    ),
]
MaybeBank = Annotated[
    str | None,
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
"""A bank that is to be made: `invocation.new_bank(bank)` is its path."""

Domain = Annotated[
    str | None,
    typer.Option("--domain", metavar="NAME", help="The kind of environment: coding, support, …"),
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
ApiBase = Annotated[
    str | None,
    typer.Option("--api-base", metavar="URL", help="The address of your own server."),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost", metavar="USD", min=0.0, help="Stop before more than this would be spent."
    ),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Ask again what was asked before, and keep no answer.")
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.1,
        max=86_400.0,
        help="How long to wait for each answer; 120 if not given.",
    ),
]
Concurrency = Annotated[
    int,
    typer.Option("--concurrency", metavar="N", min=1, max=256, help="At most N calls at once."),
]
Prompts = Annotated[
    str | None,
    typer.Option("--prompts", metavar="DIR", help="A folder whose prompts come before all others."),
]
"""`invocation.settings(prompts=prompts).prompt_folders()` is where prompts are looked up."""

Admit = Annotated[
    str | None,
    typer.Option(
        "--admit",
        metavar="none|all|coarse|stated|strict|coarse-then-strict",
        help="Whose word admits an episode: the log's and yours (strict), the log's alone "
        "(stated), a judge's alone, even against theirs (coarse), or any (all; "
        "coarse-then-strict); the bank's parameter `admission` if not given.",
    ),
]
"""`memory.policies.admission.policy_named(admit)` reads it."""

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

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done; write nothing.")]

TreeChoice = Annotated[
    str | None, typer.Option("--tree", metavar="task|env|…", help="Only one of the bank's trees.")
]
"""`tree_name(bank, tree)` and `tree_names(bank, tree)` read it."""

NodeId = Annotated[
    str, typer.Argument(metavar="NODE", help="A node's id, or enough of its beginning.")
]


def tree_name(bank: bank_module.Bank, choice: str | None) -> str | None:
    """Return the tree that was chosen, if one was.

    Raises:
        UsageError: The bank has no such tree.
    """
    if choice is None:
        return None
    for name in bank.trees:
        if name == choice:
            return name
    names = list(bank.trees)
    raise UsageError(f"there is no tree {one_line(choice, 40)!r}", hint=" or ".join(names))


def tree_names(bank: bank_module.Bank, choice: str | None) -> tuple[str, ...]:
    """Return the trees that were chosen: all of the bank's, unless one was named.

    Raises:
        UsageError: The bank has no such tree.
    """
    name = tree_name(bank, choice)
    return tuple(bank.trees) if name is None else (name,)


Extractor = Annotated[
    str | None,
    typer.Option(
        "--extractor", metavar="rules", help="Distil by rules, at no cost, instead of by a model."
    ),
]
"""`extractors.chosen_extractor` makes it, or the model's."""
