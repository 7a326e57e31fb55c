"""A language model as the command line names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.errors import UsageError

if TYPE_CHECKING:
    from deltamem_tui.llm.client import Client


def model_client(
    invocation: Invocation,
    model: str | None,
    *,
    api_base: str | None = None,
    max_cost: float | None = None,
    no_cache: bool = False,
    dry_run: bool = False,
    timeout: float | None = None,
) -> Client:
    """The client for a model. No call is made.

    Args:
        invocation: Has the settings, which may name the model.
        model: The value of `--model`.
        api_base: The address of a server other than the provider's own.
        max_cost: US dollars that are never passed; None for no limit.
        no_cache: Whether to neither look up nor keep answers.
        dry_run: Whether this is a dry run, in which nothing can be sent.
        timeout: Seconds to wait for each answer; the default of `Server` if None.

    Raises:
        UsageError: No model is named, or the address is not one.
        BudgetError: A limit on cost is set, and the model's price is not known.
        ModelNotFoundError: No provider has this name.
        CredentialsError: The environment holds no key for the provider.
    """
    from deltamem_tui.llm.client import open_client

    chosen = invocation.settings(model=model).model
    if not chosen or not chosen.strip():
        raise UsageError(
            "no model was named",
            hint="`--model NAME` as litellm knows it, or `model = …` in deltamem.toml",
        )
    return open_client(
        chosen,
        notify=invocation.output.note,
        address=api_base,
        timeout=timeout,
        max_cost=max_cost,
        cached=not no_cache,
        asks=not dry_run,
    )
