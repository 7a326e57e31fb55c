"""The embedder protocol: text in, unit vectors out; the prefixes that models want, fingerprints.

Retrieval models are trained with words before a question and before a passage, and score worse
without them. A model that declares its own prompts is believed; for the families that document
theirs only in prose, the table below holds them.

A fingerprint tells whether two embedders are the same model, by what they make of one sentence.
A digest would differ with the processor and the number of threads, which change the last bits, so
it is a sketch that is compared with a tolerance: 16 sums of the vector's components under fixed
random signs, whose distance is on average that of the vectors (Johnson and Lindenstrauss).
Measured for all-MiniLM-L6-v2, from its own vector: another batch 1e-6, half precision 0.001 to
0.011, 8-bit weights (`minilm`) 0.016; but weights with 1 % of noise 0.03, another prefix 0.2 and
more, another pooling 1.0, unrelated models about 1.4.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from deltamem_tui.errors import EmbedderMismatchError, EmbedderUnavailableError, VectorError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Weighting = Literal["none", "document-frequency"]
Role = Literal["query", "passage"]


@dataclass(frozen=True, slots=True)
class EmbedderCard:
    """A bank's record of its embedder; no other is used with it.

    Attributes:
        model: What loads it again: a model id, a model's folder, `minilm` or `hashing`.
        query_prefix: Put before a question (`query: ` in the E5 family).
        passage_prefix: Put before an activation condition (`passage: ` in the E5 family).
        weighting: How recall weights dimensions. `document-frequency`: each by the square
            root of the number of the tree's rows that hold it.
        fingerprint: Sketch of a probe sentence's vector (`fingerprint`).
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
    passages = (prompts.get(key) for key in ("document", "passage", "corpus"))
    own = Prefixes(prompts.get("query") or "", next(filter(None, passages), ""))
    if own != Prefixes():
        return own
    parts = PurePath(name).parts
    # A folder of the hub's cache ends in a revision; there the name is two folders up.
    title = parts[-3] if len(parts) > 2 and parts[-2] == "snapshots" else "".join(parts[-1:])
    title = title.rpartition("--")[2].lower().replace("_", "-")
    return next((known for family, known in _FAMILIES if family.search(title)), Prefixes())


PROBE = "Heat the apple in the microwave, then put it on the table by the window of room 3."
"""The sentence every embedder is asked for, as a passage."""

TOLERANCE = 0.02
"""The largest distance between two unit vectors of the probe that counts as the same model."""

_SUMS = 16
_SCALE = 1024  # Steps per unit; a sum of a unit vector is rarely beyond ±5, and 16 bits reach ±32.
_LAYOUT = struct.Struct(f">{_SUMS}h")


def fingerprint(vector: NDArray[np.float32]) -> str:
    """Return the sketch of `PROBE`'s vector, float32 [dimensions], as 64 hexadecimal digits."""
    import numpy as np

    width = vector.shape[0]
    noise = hashlib.shake_256(b"deltamem fingerprint 1").digest((_SUMS * width + 7) // 8)
    bits = np.unpackbits(np.frombuffer(noise, dtype=np.uint8), count=_SUMS * width)
    signs = bits.reshape(_SUMS, width).astype(np.float64) * 2.0 - 1.0
    sums = np.clip(np.rint(signs @ vector.astype(np.float64) * _SCALE), -32768, 32767)
    return _LAYOUT.pack(*(int(value) for value in sums)).hex()


def distance(left: str, right: str) -> float:
    """Estimate the distance between the vectors of two fingerprints, in [0, 2].

    Infinite if either text is not a fingerprint: what cannot be compared is not the same.
    """
    try:
        one, other = (_LAYOUT.unpack(bytes.fromhex(each)) for each in (left, right))
    except (ValueError, struct.error):
        return math.inf
    return math.dist(one, other) / math.sqrt(_SUMS) / _SCALE


def require_same(remembered: EmbedderCard, present: EmbedderCard) -> None:
    """Refuse an embedder that is not the one a bank was built with.

    The names may differ (a model id and a folder of the same weights); vectors, prefixes
    and weighting may not.

    Raises:
        EmbedderMismatchError: Width, prefixes, weighting or fingerprint differ.
    """
    differences = [
        f"{name} {there!r} there, {here!r} here"
        for name in ("dimensions", "query_prefix", "passage_prefix", "weighting")
        if (there := getattr(remembered, name)) != (here := getattr(present, name))
    ]
    apart = distance(remembered.fingerprint, present.fingerprint)
    if apart > TOLERANCE:
        limit = f"at most {TOLERANCE} is allowed"
        differences.append(f"their fingerprints are {apart:.2f} apart, {limit}")
    if differences:
        model = one_line(present.model, 80)
        raise EmbedderMismatchError(
            f"the bank was embedded by another model than {model}: {differences[0]}",
            source=one_line(remembered.model, 80),
            hint="load the model the bank was built with, or give the bank new vectors with "
            "`deltamem bank reembed`",
        )


LENGTH_TOLERANCE = 1e-3
"""The largest float error of a unit vector's length; half precision stays within."""

_DAMAGED = "the model or its weights are damaged: install it again or use another embedder"
_WORDLESS = "write it in other words, or use another embedder"


def unit_rows(
    vectors: NDArray[Any], *, rows: int, dimensions: int, source: str
) -> NDArray[np.float32]:
    """Check what a model returned for `rows` texts and give it back as exact unit rows.

    Returns:
        float32 [rows, dimensions], C-contiguous. The small deviations of length that float error
        leaves are divided out.

    Raises:
        VectorError: The shape is another one, or a row is not finite, has no length or
            another one than 1. The error names the embedder, `source`.
    """
    import numpy as np

    if vectors.shape != (rows, dimensions):
        reason = f"expected vectors of shape {(rows, dimensions)}, got {vectors.shape}"
        raise VectorError(reason, source=source)
    exact = vectors.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    for broken, message, hint in (
        (~np.isfinite(lengths), "the vector is not finite", _DAMAGED),
        (lengths == 0.0, "the text has no word that the model knows", _WORDLESS),
        (np.abs(lengths - 1.0) > LENGTH_TOLERANCE, "the vector is not of unit length", _DAMAGED),
    ):
        if broken.any():
            place = f"text {int(broken.argmax()) + 1} of {rows}"
            raise VectorError(message, source=source, position=place, hint=hint)
    return np.ascontiguousarray(exact / lengths[:, None], dtype=np.float32)


def no_rows(dimensions: int) -> NDArray[np.float32]:
    """Return the embedding of no text: float32 [0, dimensions]."""
    import numpy as np

    return np.empty((0, dimensions), dtype=np.float32)
