"""How many tokens a text is, counted here: no network, no model."""

from __future__ import annotations

from deltamem_tui.llm.litellm_loader import litellm

# What a chat template adds to one message: its role and its ends.
MESSAGE_TOKENS = 8


def count_tokens(model: str, text: str) -> int:
    """The tokens of `text`, by the model's vocabulary if it is here, else by a common one."""
    return int(litellm().token_counter(model=model, text=text)) if text else 0
