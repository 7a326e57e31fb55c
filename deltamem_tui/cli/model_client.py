"""A language model as the command line names it, and what asking it took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Cell
from deltamem_tui.errors import UsageError
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from deltamem_tui.llm.client import Client
    from deltamem_tui.llm.cost import Usage


def model_client(
    invocation: Invocation,
    model: str | None,
    *,
    api_base: str | None = None,
    max_cost: float | None = None,
    no_cache: bool = False,
    rehearsed: bool = False,
    timeout: float | None = None,
) -> Client:
    """The client for a model. No call is made.

    Args:
        invocation: Knows the settings, for when no model is named.
        model: What `--model` says.
        api_base: The address of a server other than the provider's own.
        max_cost: US dollars that are never passed; None for no limit.
        no_cache: Whether to neither look up nor keep answers.
        rehearsed: Whether this is a dry run, in which nothing can be sent.
        timeout: Seconds to wait for each answer; as long as `Server` says if not given.

    Raises:
        UsageError: No model is named, or the address is none.
        BudgetError: A limit on cost is set, and nobody knows the model's price.
        ModelNotFoundError: No provider goes by this name.
        CredentialsError: The environment holds no key for the provider.
    """
    from deltamem_tui.llm.open_client import open_client

    chosen = invocation.settings(model=model).model
    if not chosen or not chosen.strip():
        raise UsageError(
            "no model was named",
            hint="`--model NAME` as litellm knows it, or `model = …` in deltamem.toml",
        )
    return open_client(
        chosen,
        tell=invocation.output.note,
        address=api_base,
        timeout=timeout,
        max_cost=max_cost,
        cached=not no_cache,
        asks=not rehearsed,
    )


def usage_record(usage: Usage) -> dict[str, Any]:
    """What was asked and what it took, for the JSON document; an unknown cost is null."""
    from dataclasses import asdict

    return asdict(usage)


def usage_facts(usage: Usage) -> dict[str, Cell]:
    """The same for a person. A cost that nobody knows is said to be unknown, not zero."""
    return {
        "calls": usage.calls,
        "answers from the cache": usage.cached,
        "prompt tokens": usage.prompt_tokens,
        "answer tokens": usage.completion_tokens,
        "cost": "unknown" if usage.cost is None else f"${usage.cost:.4f}",
    }


def recovery_notes(usage: Usage) -> list[str]:
    """What to say of calls that killed runs had paid for and that the journal tells of only now."""
    return [f"{_untold(usage)}; the journal tells of them now"] if usage.calls > 0 else []


def untold_notes(usage: Usage) -> list[str]:
    """The same as long as nobody has written to the bank since."""
    if usage.calls <= 0:
        return []
    return [f"{_untold(usage)}; the next run with a model adds them to what is told here"]


def _untold(usage: Usage) -> str:
    """What runs had paid for that could not tell it, being killed or finding the bank frozen."""
    return (
        f"an earlier run ended before the journal could tell of {counted(usage.calls, 'answer')} "
        f"that it had paid for ({bill(usage)})"
    )


def bill(usage: Usage) -> str:
    """Tokens and cost in a few words."""
    tokens = usage.prompt_tokens + usage.completion_tokens
    return f"{tokens:,} tokens, {dollars(usage)}"


def dollars(usage: Usage) -> str:
    """A cost for a person. One that nobody knows is not zero."""
    return "cost unknown" if usage.cost is None else f"${usage.cost:.4f}"
