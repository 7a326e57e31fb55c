"""The client for a model that a person named: checked as far as that is possible unasked."""

from __future__ import annotations

from collections.abc import Callable

from deltamem_tui.errors import BudgetError, UsageError
from deltamem_tui.llm.cache import ResponseCache
from deltamem_tui.llm.call import Server
from deltamem_tui.llm.client import Client
from deltamem_tui.llm.cost import Budget, NoBudget
from deltamem_tui.llm.secrets import without_secrets
from deltamem_tui.text import one_line


def open_client(
    model: str,
    *,
    tell: Callable[[str], object],
    address: str | None = None,
    timeout: float | None = None,
    max_cost: float | None = None,
    cached: bool = True,
    asks: bool = True,
) -> Client:
    """The client for a model. No call is made.

    Args:
        model: Its name as litellm takes it.
        tell: Says a line to a person.
        address: A server other than the provider's own.
        timeout: Seconds to wait for each answer; as long as `Server` says if not given.
        max_cost: US dollars that are never passed; None for no limit.
        cached: Whether to look answers up and to keep them.
        asks: Whether anything shall be sent; a rehearsal needs no key.

    Raises:
        UsageError: The address is none.
        BudgetError: A limit on cost is set, and nobody knows the model's price.
        ModelNotFoundError: No provider goes by this name.
        CredentialsError: The environment holds no key for the provider.
    """
    address = checked_address(address)
    client = Client(
        model,
        server=Server(address) if timeout is None else Server(address, timeout=timeout),
        cache=ResponseCache() if cached else None,
        budget=Budget(max_cost) if asks else NoBudget(),
        tell=tell,
        asks=asks,
    )
    if max_cost is not None and client.card.price is None:
        raise BudgetError(
            f"the price of {one_line(model, 80)} is not known, so no limit on cost can be kept",
            hint="set no limit on cost for this model",
        )
    return client


def checked_address(address: str | None) -> str | None:
    """Give the address of a server back if it is one.

    Raises:
        UsageError: It is none.
    """
    if address is None or address.startswith(("http://", "https://")):
        return address
    raise UsageError(
        f"{one_line(without_secrets(address), 80)!r} is no address of a server",
        hint="such as http://localhost:8000/v1",
    )
