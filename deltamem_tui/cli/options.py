"""Arguments and options that several commands have, declared once.

An option that falls back to a setting is None when it was not given:
`invocation.settings(embedder=embedder).embedder` is then the value that counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui import paths
from deltamem_tui.errors import DeltaMemError, UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank import bank as bank_module


def option(name: str, metavar: Any, text: str, **limits: Any) -> Any:
    """Declare an option that takes a value."""
    return typer.Option(name, metavar=metavar, help=text, **limits)


def flag(name: str, text: str) -> Any:
    """Declare an option without a value."""
    return typer.Option(name, help=text)


def argument(metavar: str, text: str, **more: Any) -> Any:
    """Declare an argument."""
    return typer.Argument(metavar=metavar, help=text, **more)


def _complete_bank(incomplete: str) -> list[tuple[str, str]]:
    """Return the banks whose names begin with what was typed, for the shell's completion."""
    try:
        places = paths.find_banks(paths.banks_folder())
    except DeltaMemError:
        return []  # a shell cannot show errors while it completes
    return [(place.name, str(place.path)) for place in places if place.name.startswith(incomplete)]


_BANK = argument(
    "BANK", "A bank's name in the banks folder, or a path.", autocompletion=_complete_bank
)
Bank = Annotated[str, _BANK]
MaybeBank = Annotated[str | None, _BANK]
"""An existing bank: `invocation.bank(bank)` finds its folder."""

NewBank = Annotated[str, argument("BANK", "The new bank's name in the banks folder, or a path.")]
"""A bank that is to be made: `invocation.new_bank(bank)` is its path."""

Domain = Annotated[str | None, option("--domain", "NAME", "The kind of environment: coding, …")]
EMBEDDER = option("--embedder", "NAME", "minilm, hashing, or a sentence-transformers model.")
Embedder = Annotated[str | None, EMBEDDER]
Concurrency = Annotated[
    int, option("--concurrency", "N", "At most N calls at once.", min=1, max=256)
]
Prompts = Annotated[str | None, option("--prompts", "DIR", "Prompts in here override all others.")]
Admit = Annotated[
    str | None,
    option(
        "--admit",
        "none|all|coarse|stated|strict|coarse-then-strict",
        "Whose outcomes are learnt from: see docs/credit.md; the bank's `admission` if not given.",
    ),
]
Format = Annotated[
    str | None,
    option("--format", "NAME|FILE.toml", "A format, or a file that declares one; else by content."),
]
DryRun = Annotated[bool, flag("--dry-run", "Show what would be done; write nothing.")]

TreeChoice = Annotated[str | None, option("--tree", "task|env|…", "Only one of the bank's trees.")]
NodeId = Annotated[str, argument("NODE", "A node's id, or enough of its beginning.")]


def tree_name(bank: bank_module.Bank, choice: str | None) -> str | None:
    """Return the tree that was chosen, if one was."""
    if choice is not None and choice not in bank.trees:
        what = f"there is no tree {one_line(choice, 40)!r}"
        raise UsageError(what, hint=" or ".join(bank.trees))
    return choice


Extractor = Annotated[str | None, option("--extractor", "rules", "Learn by rules, free of charge.")]
Sure = Annotated[bool, flag("--yes", "Do not ask first.")]
Limit = Annotated[int | None, option("--limit", "N", "At most N episodes.", min=1)]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options of all commands that ask a model."""

    model: Annotated[str | None, option("--model", "NAME", "Such as openai/gpt-4o-mini.")] = None
    api_base: Annotated[
        str | None, option("--api-base", "URL", "URL of your own model server.")
    ] = None
    max_cost: Annotated[
        float | None, option("--max-cost", "USD", "Stop before spending more.", min=0.0)
    ] = None
    no_cache: Annotated[bool, flag("--no-cache", "Ask everything again; store no answers.")] = False
    prompts: Prompts = None
    timeout: Annotated[
        float | None, option("--timeout", "SECONDS", "For each answer.", min=0.1, max=86_400.0)
    ] = None
    window: Annotated[
        int | None, option("--window", "N", "The tokens of the model's window.", min=1)
    ] = None
    answer_tokens: Annotated[
        int | None, option("--answer-tokens", "N", "Most tokens of an answer.", min=1)
    ] = None
    price: Annotated[
        str | None, option("--price", "IN/OUT", "USD for a million tokens sent/received.")
    ] = None
    dry_run: DryRun = False
