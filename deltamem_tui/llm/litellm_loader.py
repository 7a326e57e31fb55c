"""litellm, loaded once, late and quiet.

This is the only module that imports it. Loading takes seconds, so it happens at the first
question about a model and never before.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from functools import cache
from typing import Any

# litellm reads these when it is first imported. Its price list is the one that came with it,
# not one from the network; and the `.env` of whatever folder we stand in stays unread, since
# it could name another server for our keys to be sent to.
_SETTINGS = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}

_loading = threading.Lock()


def litellm() -> Any:
    """The library's module: no telemetry, no advice on stdout, no log, no downloads."""
    with _loading:
        return _load()


@cache
def _load() -> Any:
    os.environ.update(_SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm as library

        # Its models are finished at first use, with advice to its developers; so use one now.
        library.ModelResponse()
    library.telemetry = False
    library.suppress_debug_info = True
    # Its tokenizers for some families come from the network; without them it counts by tiktoken,
    # whose vocabularies it carries.
    library.disable_hf_tokenizer_download = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return library
