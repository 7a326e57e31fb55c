"""What is known about a model before it is asked: its window, its price, what it can be told.

All of it comes from the tables that litellm carries; nothing here touches the network.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deltamem_tui.errors import CredentialsError, ModelNotFoundError
from deltamem_tui.llm.cost import Price, Tier
from deltamem_tui.llm.litellm_loader import litellm
from deltamem_tui.text import one_line

AnswerFormat = Literal["schema", "object", "text"]

# For models that no table knows. Local servers are often started with less than a model can
# do; a prompt that does not fit is cut again when the server says so.
UNKNOWN_WINDOW = 32_000
_LONGEST_ANSWER = 8_192
# Of these a price of zero is the truth; of others it stands for one that the list does not know.
_OWN_MACHINE = frozenset(
    {"ollama", "ollama_chat", "lemonade", "hosted_vllm", "vllm", "lm_studio", "llamafile"}
)
_ABOVE = re.compile(r"(input|output)_cost_per_token_above_(\d+)k_tokens")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known about a model.

    Attributes:
        name: The name as litellm takes it, `provider/model`.
        provider: Who serves it.
        window: The tokens that prompt and answer may have together.
        answer_tokens: The most tokens an answer may have.
        answer_format: How the answer can be bound: to a JSON `schema`, to a JSON `object`, or
            only by asking (`text`).
        seed: Whether a seed can be given.
        price: What tokens cost; None if that is not known.
    """

    name: str
    provider: str
    window: int
    answer_tokens: int
    answer_format: AnswerFormat
    seed: bool
    price: Price | None

    @property
    def prompt_tokens(self) -> int:
        """The most tokens a prompt may have, so that the longest answer still fits."""
        return self.window - self.answer_tokens


def look_up(
    model: str,
    *,
    window: int | None = None,
    answer_tokens: int | None = None,
    price: Price | None = None,
) -> ModelInfo:
    """Look up `provider/model`, or a bare name that litellm knows.

    Its window and the most tokens of an answer, and its price, are the user's if given.

    Raises:
        ModelNotFoundError: No provider goes by this name.
    """
    provider = _provider(model)
    entry = _entry(model, provider)
    known = window or _whole(entry.get("max_input_tokens")) or _whole(entry.get("max_tokens"))
    room = known or UNKNOWN_WINDOW
    most = min(_LONGEST_ANSWER, _whole(entry.get("max_output_tokens")) or _LONGEST_ANSWER)
    supported = _parameters(model, provider)
    return ModelInfo(
        name=model,
        provider=provider,
        window=room,
        # A quarter of a small window is left for the answer, the rest for the episode.
        answer_tokens=answer_tokens or min(most, max(room // 4, 1)),
        answer_format=_answer_format(model, provider, supported),
        seed="seed" in supported,
        price=price or _price(entry, model),
    )


def count_tokens(model: str, text: str) -> int:
    """The tokens of `text`, by the model's vocabulary if it is here, else by a common one."""
    return int(litellm().token_counter(model=model, text=text)) if text else 0


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


def server_address(model: str) -> str | None:
    """What tells a model's server from others, by the environment and litellm; not to be called.

    Where several variables differ, all of them are in it, whichever of them is obeyed. None is
    the provider's own server.
    """
    library = litellm()
    _, provider, _, own = library.get_llm_provider(model)
    prefixes = [provider.upper().replace("-", "_")]
    if provider == "openai" or provider in library.openai_compatible_providers:
        prefixes.append("OPENAI")
    names = [f"{prefix}_{end}" for prefix in prefixes for end in ("BASE_URL", "API_BASE")]
    addresses = [own, *map(os.environ.get, names)]
    return " ".join(dict.fromkeys(each for each in addresses if each)) or None


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
    """The model's line in the price list: of this provider, or of none."""
    # Not asked through the library, which would ask servers.
    table = litellm().model_cost
    bare = model.removeprefix(f"{provider}/")
    for name in (model, f"{provider}/{bare}", bare):
        entry = table.get(name)
        if isinstance(entry, dict) and entry.get("litellm_provider") in (provider, None):
            return entry
    return {}


def _price(entry: Mapping[str, Any], name: str) -> Price | None:
    """The price by the list; None if it has none, or a hosted model's place holder of zeros."""
    prompt, completion = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if prompt is None or completion is None:
        return _price_by_ranges(entry.get("tiered_pricing"))
    price = Price(float(prompt), float(completion), _tiers(entry))
    if price == Price(0.0, 0.0) and not _is_free(str(entry.get("litellm_provider")), name):
        return None
    return price


def batch_price(info: ModelInfo) -> Price | None:
    """What tokens cost in a batch: by the list, or as ever if it says nothing of batches."""
    entry = _entry(info.name, info.provider)
    names = ("input_cost_per_token_batches", "output_cost_per_token_batches")
    prompt, completion = (entry.get(name) for name in names)
    if info.price is None or prompt is None or completion is None:
        return info.price
    return Price(float(prompt), float(completion))


def _is_free(provider: str, name: str) -> bool:
    """Whether a price of zero is meant: the model runs on one's own machine, or its name says."""
    return provider in _OWN_MACHINE or name.endswith(":free")


def _tiers(entry: Mapping[str, Any]) -> tuple[Tier, ...]:
    """The other prices of long prompts, which the list holds one to a key."""
    found: dict[int, dict[str, float]] = {}
    for key, value in entry.items():
        if (parts := _ABOVE.fullmatch(key)) and value is not None:
            found.setdefault(int(parts[2]) * 1_000, {})[parts[1]] = float(value)
    usual = {side: float(entry[f"{side}_cost_per_token"]) for side in ("input", "output")}
    rates = [(above, usual | found[above]) for above in sorted(found)]
    return tuple(Tier(above, rate["input"], rate["output"]) for above, rate in rates)


def _price_by_ranges(ranges: object) -> Price | None:
    """The price of a model that the list prices by ranges of the prompt's length only."""
    if not isinstance(ranges, list):
        return None
    try:
        first, *others = sorted(
            (
                Tier(
                    int(each["range"][0]),
                    float(each["input_cost_per_token"]),
                    float(each["output_cost_per_token"]),
                )
                for each in ranges
            ),
            key=lambda tier: tier.above,
        )
    except (KeyError, IndexError, TypeError, ValueError):
        return None
    return Price(first.prompt, first.completion, tuple(others))


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
