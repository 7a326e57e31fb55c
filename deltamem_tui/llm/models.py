"""Model facts known before anything is asked: provider, window, price, supported parameters.

They come from the tables that litellm carries; nothing here touches the network. This is the only
module that imports litellm, which takes seconds, so it is loaded at the first question.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from deltamem_tui.config import NOTHING_STATED, StatedNumbers
from deltamem_tui.errors import LanguageModelError
from deltamem_tui.llm.cost import Price
from deltamem_tui.text import one_line

AnswerFormat = Literal["schema", "object", "text"]

# litellm reads these when it is first imported. Its price list is the one that came with it,
# and the `.env` of the current folder stays unread: it could send our keys to another server.
_SETTINGS = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
# Of a model that is not listed; a prompt that does not fit is cut again when the server says so.
UNKNOWN_WINDOW = 32_000
_LONGEST_ANSWER = 8_192
# Of these a price of zero is the truth; of others it stands for one that the list does not know.
_OWN_MACHINE = frozenset(
    {"ollama", "ollama_chat", "lemonade", "hosted_vllm", "vllm", "lm_studio", "llamafile"}
)

_loading = threading.Lock()


def litellm() -> Any:
    """Return litellm's module: no telemetry, no advice on stdout, no log, no downloads."""
    with _loading:  # two threads would import it twice
        return _load()


@cache
def _load() -> Any:
    os.environ.update(_SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm as library

        # Its models are finished at first use, with advice to its developers; use one now.
        library.ModelResponse()
    library.telemetry = False
    library.suppress_debug_info = True
    # Some of its tokenizers come from the network; without them it counts by tiktoken.
    library.disable_hf_tokenizer_download = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return library


@dataclass(frozen=True, slots=True)
class ListedPrice:
    """The price of a model by litellm's list: tiers for long prompts, tokens of its cache."""

    model: str

    def of(self, prompt: int, completion: int, read: int = 0, kept: int = 0) -> float:
        """Return the cost of so many tokens in US dollars, some `read` from its cache or `kept`."""
        cache = {"cache_read_input_tokens": read, "cache_creation_input_tokens": kept}
        return float(sum(litellm().cost_per_token(self.model, prompt, completion, **cache)))


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Known facts of a model; its name is the one that litellm takes, `provider/model`.

    Attributes:
        window: The tokens that prompt and answer may have together.
        answer_tokens: The most tokens an answer may have.
        answer_format: What the answer can be bound to: a JSON schema, any object, or nothing.
        marks_cache: Whether its provider has to be told up to where a prompt may be cached.
        price: What tokens cost; None if that is not known.
    """

    name: str
    provider: str
    window: int
    answer_tokens: int
    answer_format: AnswerFormat
    marks_cache: bool
    price: Price | ListedPrice | None

    @property
    def prompt_tokens(self) -> int:
        """The most tokens a prompt may have so that the longest answer still fits."""
        return self.window - self.answer_tokens

    def cost(self, prompt_tokens: int, completion_tokens: int, *cache: int) -> float | None:
        """Return the cost of so many tokens, as `ListedPrice.of`; None if no price is known."""
        return self.price.of(prompt_tokens, completion_tokens, *cache) if self.price else None


def look_up(model: str, stated: StatedNumbers = NOTHING_STATED) -> ModelInfo:
    """Look up `provider/model`, or a bare name that litellm knows; what is `stated` comes first.

    Raises:
        LanguageModelError: No provider goes by this name.
    """
    library, provider = litellm(), ""
    with suppress(library.exceptions.BadRequestError):
        provider = str(library.get_llm_provider(model)[1] or "")
    if not provider:
        raise LanguageModelError(
            f"no provider has a model called {one_line(model, 80)!r}",
            hint="write provider/model, such as openai/NAME, also for a server of your own",
        )
    entry = _entry(model, provider)
    window = _whole(entry.get("max_input_tokens")) or _whole(entry.get("max_tokens"))
    window = stated.window or window or UNKNOWN_WINDOW
    most = min(_LONGEST_ANSWER, _whole(entry.get("max_output_tokens")) or _LONGEST_ANSWER)
    supported = library.get_supported_openai_params(model, custom_llm_provider=provider) or ()
    return ModelInfo(
        name=model,
        provider=provider,
        window=window,
        # A quarter of a small window is left for the answer, the rest for the episode.
        answer_tokens=stated.answer_tokens or min(most, max(window // 4, 1)),
        # Servers that know less refuse the schema, and are then asked for less.
        answer_format="schema" if "response_format" in supported else "text",
        marks_cache="claude" in model and library.utils.supports_prompt_caching(model),
        price=Price(*stated.price) if stated.price else _price(entry, model),
    )


def count_tokens(model: str, text: str) -> int:
    """Count the tokens of `text` by the model's vocabulary if it is here, else by a common one."""
    return int(litellm().token_counter(model=model, text=text)) if text else 0


def server_address(model: str) -> str | None:
    """Return what tells a model's server from others, by the environment; never called.

    Where several variables differ, all of them are in it. None is the provider's own server.
    """
    _, provider, _, own = litellm().get_llm_provider(model)
    prefixes = (provider.upper().replace("-", "_"), "OPENAI")
    names = [f"{prefix}_{end}" for prefix in prefixes for end in ("BASE_URL", "API_BASE")]
    addresses = [own, *map(os.environ.get, names)]
    return " ".join(dict.fromkeys(filter(None, addresses))) or None


def batch_price(info: ModelInfo) -> Price | ListedPrice | None:
    """Return what tokens cost in a batch: by the list, or as usual if it does not say."""
    entry = _entry(info.name, info.provider)
    names = ("input_cost_per_token_batches", "output_cost_per_token_batches")
    prompt, completion = (entry.get(name) for name in names)
    if not isinstance(info.price, ListedPrice) or prompt is None or completion is None:
        return info.price
    return Price(float(prompt), float(completion))


def _entry(model: str, provider: str) -> Mapping[str, Any]:
    """Return the model's line in the price list: of this provider, or of none."""
    table = litellm().model_cost  # not asked through the library, which would ask servers
    bare = model.removeprefix(f"{provider}/")
    for name in (model, f"{provider}/{bare}", bare):
        entry = table.get(name)
        if isinstance(entry, dict) and entry.get("litellm_provider") in (provider, None):
            return entry
    return {}


def _price(entry: Mapping[str, Any], name: str) -> ListedPrice | None:
    """Return the listed price; None if there is none, or a hosted model's placeholder of zeros."""
    is_free = entry.get("litellm_provider") in _OWN_MACHINE or name.endswith(":free")
    price = ListedPrice(name)
    with suppress(Exception):  # a plain Exception is all that litellm raises
        if "input_cost_per_token" in entry or "tiered_pricing" in entry:
            return price if is_free or price.of(1_000, 1_000) > 0 else None
    return None


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and value > 0 else None
