"""What is known about a model before it is asked: its window, its price, what it can be told.

All of it comes from the tables that litellm carries; nothing here touches the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deltamem_tui.errors import CredentialsError, ModelNotFoundError
from deltamem_tui.llm.cost import Price
from deltamem_tui.llm.library import litellm
from deltamem_tui.text import one_line

AnswerFormat = Literal["schema", "object", "text"]

# For models that no table knows. Local servers are often started with less than a model can
# do; a prompt that does not fit is cut again when the server says so.
UNKNOWN_WINDOW = 32_000
_LONGEST_ANSWER = 8_192


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What is known about a model.

    Attributes:
        name: The name as litellm takes it, `provider/model`.
        provider: Who serves it.
        window: The tokens that prompt and answer may have together.
        window_known: Whether a table or the user says so; if not, it is a cautious guess.
        answer_tokens: The most tokens an answer may have.
        answer_format: How the answer can be bound: to a JSON `schema`, to a JSON `object`, or
            only by asking (`text`).
        seed: Whether a seed can be given.
        price: What tokens cost; None if that is not known.
    """

    name: str
    provider: str
    window: int
    window_known: bool
    answer_tokens: int
    answer_format: AnswerFormat
    seed: bool
    price: Price | None

    @property
    def prompt_tokens(self) -> int:
        """The most tokens a prompt may have, so that the longest answer still fits."""
        return self.window - self.answer_tokens


def card(
    model: str,
    *,
    window: int | None = None,
    answer_tokens: int | None = None,
    price: Price | None = None,
) -> ModelCard:
    """Look a model up.

    Args:
        model: `provider/model`, or a bare name that litellm knows.
        window: Its window in tokens, where the user knows better.
        answer_tokens: The most tokens an answer may have, where the user wants another limit.
        price: Its price, where the user knows better.

    Raises:
        ModelNotFoundError: No provider goes by this name.
    """
    provider = _provider(model)
    entry = _entry(model, provider)
    known = window or _whole(entry.get("max_input_tokens")) or _whole(entry.get("max_tokens"))
    room = known or UNKNOWN_WINDOW
    most = min(_LONGEST_ANSWER, _whole(entry.get("max_output_tokens")) or _LONGEST_ANSWER)
    supported = _parameters(model, provider)
    return ModelCard(
        name=model,
        provider=provider,
        window=room,
        window_known=known is not None,
        # A quarter of a small window is left for the answer, the rest for the episode.
        answer_tokens=answer_tokens or min(most, max(room // 4, 1)),
        answer_format=_answer_format(model, provider, supported),
        seed="seed" in supported,
        price=price or _price(entry),
    )


def check_credentials(model: str) -> None:
    """Make sure that the environment holds a key for the model's provider, without a call.

    Raises:
        CredentialsError: It does not; names the variable.
    """
    found = litellm().validate_environment(model)
    # Other variables have other ways round them: a default address, a profile, a machine's role.
    missing = [str(name) for name in found.get("missing_keys") or () if name.endswith("_API_KEY")]
    if missing and not found.get("keys_in_environment"):
        raise CredentialsError(
            f"there is no key for {one_line(model, 80)}", hint=f"set {' and '.join(missing)}"
        )


def _provider(model: str) -> str:
    library = litellm()
    try:
        _, provider, _, _ = library.get_llm_provider(model)
    except library.exceptions.BadRequestError:
        pass
    else:
        if provider:
            return str(provider)
    raise ModelNotFoundError(
        f"no provider has a model called {one_line(model, 80)!r}",
        hint="write `provider/model`, such as openai/NAME, or openai/NAME with the address of "
        "your own server",
    )


def _entry(model: str, provider: str) -> Mapping[str, Any]:
    """The model's line in the price list. Not asked through the library, which would ask servers.

    A name that says another provider than its line does is another model.
    """
    table = litellm().model_cost
    bare = model.removeprefix(f"{provider}/")
    for name in (model, f"{provider}/{bare}", bare):
        entry = table.get(name)
        if isinstance(entry, dict) and entry.get("litellm_provider") in (provider, None):
            return entry
    return {}


def _price(entry: Mapping[str, Any]) -> Price | None:
    prompt, completion = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if prompt is None or completion is None:
        return None
    return Price(float(prompt), float(completion))


def _parameters(model: str, provider: str) -> frozenset[str]:
    found = litellm().get_supported_openai_params(model, custom_llm_provider=provider)
    return frozenset(found or ())


def _answer_format(model: str, provider: str, supported: frozenset[str]) -> AnswerFormat:
    if "response_format" not in supported:
        return "text"
    # For a model of a local server that no table knows, litellm would ask the server.
    local = provider.startswith("ollama")
    return "schema" if not local and litellm().supports_response_schema(model) else "object"


def _whole(value: object) -> int | None:
    if isinstance(value, (int, float)) and value > 0:
        return int(value)
    return None
