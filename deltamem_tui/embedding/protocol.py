"""The embedder protocol: text in, unit vectors out; and the prefixes that models want.

Retrieval models are trained with words before a question and before a passage, and score worse
without them. A model that declares its own prompts is believed; for the families that document
theirs only in prose, the table below holds them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from deltamem_tui.errors import EmbedderUnavailableError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Weighting = Literal["none", "document-frequency"]


@dataclass(frozen=True, slots=True)
class EmbedderCard:
    """A bank's record of its embedder; no other is used with it.

    Attributes:
        model: What loads it again: a model id, a model's folder, `minilm` or `hashing`.
        dimensions: The width of its vectors.
        query_prefix: Put before a question (`query: ` in the E5 family).
        passage_prefix: Put before an activation condition (`passage: ` in the E5 family).
        weighting: How recall weights dimensions. `document-frequency`: each by the square
            root of the number of the tree's rows that hold it.
        fingerprint: Sketch of a probe sentence's vector, compared with a tolerance that
            other machines stay within and other models do not (`fingerprint`).
    """

    model: str
    dimensions: int
    query_prefix: str = ""
    passage_prefix: str = ""
    weighting: Weighting = "none"
    fingerprint: str = ""


@runtime_checkable
class Embedder(Protocol):
    """Turns text into unit vectors."""

    @property
    def card(self) -> EmbedderCard:
        """A bank's record of this embedder."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed activation conditions: float32 [texts, dimensions], rows of unit length.

        Raises:
            VectorError: A vector is not finite or has the wrong width.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions, task goals or scenes, likewise."""
        ...


def unavailable(name: str, message: str) -> EmbedderUnavailableError:
    """Return an error about the model `name` that says what to use instead."""
    return EmbedderUnavailableError(
        message,
        source=one_line(name, 120),
        hint="choose `minilm`, which comes with the program, or `hashing`, which needs no model",
    )


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Words put before each question, and before each activation condition."""

    query: str = ""
    passage: str = ""


# Instruction-tuned models are told the task at hand in one English sentence.
_INSTRUCTION = (
    "Instruct: Given the task or the scene of an agent, retrieve the past experience that applies\n"
    "Query: "
)
_SEARCHING = "Represent this sentence for searching relevant passages: "
_SEARCHING_CHINESE = "为这个句子生成表示以用于检索相关文章："

# The first pattern found in the model's name decides.
_FAMILIES: tuple[tuple[re.Pattern[str], Prefixes], ...] = (
    (re.compile(r"\be5-.*instruct"), Prefixes(_INSTRUCTION)),
    (re.compile(r"\be5\b"), Prefixes("query: ", "passage: ")),
    (re.compile(r"\bbge-(small|base|large)-en\b"), Prefixes(_SEARCHING)),
    (re.compile(r"\bbge-(small|base|large)-zh\b"), Prefixes(_SEARCHING_CHINESE)),
    (re.compile(r"\bmxbai-embed-(large|2d-large)\b"), Prefixes(_SEARCHING)),
    (re.compile(r"\barctic-embed-.*v2\b"), Prefixes("query: ")),
    (re.compile(r"\barctic-embed\b"), Prefixes(_SEARCHING)),
    (re.compile(r"\bnomic-embed-text\b"), Prefixes("search_query: ", "search_document: ")),
)


def prefixes_for(name: str, prompts: Mapping[str, str]) -> Prefixes:
    """Return a model's prefixes: its own if it declares any, else its family's, else none."""
    passage = next(
        (prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), ""
    )
    own = Prefixes(prompts.get("query") or "", passage)
    if own != Prefixes():
        return own
    title = _title(name)
    return next((known for family, known in _FAMILIES if family.search(title)), Prefixes())


def _title(name: str) -> str:
    """Return the last part of a model's id or folder, in lower case."""
    parts = PurePath(name).parts
    # A folder of the hub's cache ends in a revision; there the name is two folders up.
    named = parts[-3] if len(parts) > 2 and parts[-2] == "snapshots" else "".join(parts[-1:])
    return named.rpartition("--")[2].lower().replace("_", "-")
