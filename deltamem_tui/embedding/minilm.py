"""all-MiniLM-L6-v2 in numpy, on 8-bit weights that come with the package.

sentence-transformers and torch take half a gigabyte and seconds to load; a BERT of six layers is
a page of numpy. `docs/build_minilm.py` makes the weights out of the published ones: each 32
numbers of a matrix's row are int8 under one float16 scale. Vectors have a cosine of 0.999 and
more with those of the published weights, so banks made with either understand each other.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, groupby
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from deltamem_tui.embedding.protocol import unavailable
from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deltamem_tui.embedding.protocol import Role

WEIGHTS = "model.safetensors"
GROUP = 32
"""Numbers of a row that share a scale."""
WINDOW = 256
"""Tokens of a text that are used; the first and the last are the model's own."""
POSITIONS = "embeddings.positions"
"""The numbers added for a token's position, float32."""

_LAYERS = 6
_HEADS = 12
_DIMENSIONS = 384
_LONGEST = 32 * WINDOW  # characters: the rest is cut before it is tokenized
_TOKENS_AT_ONCE = 512
_GELU_ROWS = 32  # whose numbers stay in a core's cache
_EPSILON = 1e-12
_WORDS = "embeddings.word_embeddings.weight"
_KINDS = {"F32": "<f4", "F16": "<f2", "I8": "i1"}


class MiniLM:
    """The model, under the name that errors give it."""

    def __init__(self, name: str, folder: Path) -> None:
        from tokenizers import Tokenizer

        self.name = name
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(WINDOW)
        packed = arrays((folder / WEIGHTS).read_bytes())
        # Few of the words occur in a text: their rows alone stay packed.
        self._words, self._scales = packed.pop(_WORDS), packed.pop(f"{_WORDS}.scales")
        self._weights = {
            key: _unpacked(weight, packed[f"{key}.scales"]) if weight.dtype == np.int8 else weight
            for key, weight in packed.items()
            if not key.endswith(".scales")
        }
        self._bulk = Lock()

    def encode(self, texts: Sequence[str], *, role: Role, prefix: str) -> NDArray[np.float32]:  # noqa: ARG002
        """Run the model; see `SentenceModel`. It has one way for both roles."""
        vectors = np.empty((len(texts), _DIMENSIONS), dtype=np.float32)

        def run(rows: list[int]) -> None:
            vectors[rows] = self._forward([tokens[row] for row in rows])

        try:
            inputs = [prefix + clean(text[:_LONGEST]) for text in texts]
            tokens: list[list[int]] = [self._tokenizer.encode(each).ids for each in inputs]
            batches = list(_batches(tokens))
            if len(batches) == 1:
                run(batches[0])
            else:
                self._run_all(run, batches)
        except Exception as error:
            reason = f"the model failed: {one_line(str(error), 160)}"
            raise unavailable(self.name, reason) from error
        return vectors

    def _run_all(self, run: Callable[[list[int]], None], batches: Sequence[list[int]]) -> None:
        """Run many batches, each on one core: threads of the matrix library would wait and spin."""
        from threadpoolctl import threadpool_limits

        with (
            self._bulk,  # the limit is the process's: two threads would restore each other's
            threadpool_limits(1, "blas"),
            ThreadPoolExecutor(_cores(), thread_name_prefix="minilm") as pool,
        ):
            list(pool.map(run, batches))

    def _forward(self, texts: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the vectors of texts, lists of tokens, shorter ones first: float32 [texts, 384].

        The tokens of all texts are rows of one matrix, unpadded; attention works text by text.
        """
        lengths = [len(text) for text in texts]
        words = np.concatenate(texts)
        states = _unpacked(self._words[words], self._scales[words])
        places = np.concatenate([np.arange(length) for length in lengths])
        states += self._weights[POSITIONS][places]
        states = self._normalised(states, "embeddings")
        for number in range(_LAYERS):
            layer = f"encoder.layer.{number}"
            attended = self._attention(states, layer, lengths)
            attended = self._dense(attended, f"{layer}.attention.output.dense")
            states = self._normalised(states + attended, f"{layer}.attention.output")
            inner = _gelu(self._dense(states, f"{layer}.intermediate.dense"))
            inner = self._dense(inner, f"{layer}.output.dense")
            states = self._normalised(states + inner, f"{layer}.output")
        groups = _alike(states, lengths)
        means = [same.reshape(-1, length, _DIMENSIONS).mean(axis=1) for same, length in groups]
        pooled = np.concatenate(means)
        norms = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.asarray(pooled / np.maximum(norms, _EPSILON), dtype=np.float32)

    def _attention(
        self, states: NDArray[np.float32], layer: str, lengths: Sequence[int]
    ) -> NDArray[np.float32]:
        names = (f"{layer}.attention.self.{part}" for part in ("query", "key", "value"))
        parts = np.stack([self._dense(states, name) for name in names], axis=1)
        return np.concatenate([_attended(same, length) for same, length in _alike(parts, lengths)])

    def _dense(self, states: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        rows: NDArray[np.float32] = states @ self._weights[f"{name}.weight"].T
        rows += self._weights[f"{name}.bias"]
        return rows

    def _normalised(self, states: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        centred: NDArray[np.float32] = states - states.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        centred /= np.sqrt(variance + _EPSILON)
        centred *= self._weights[f"{name}.LayerNorm.weight"]
        centred += self._weights[f"{name}.LayerNorm.bias"]
        return centred


def open_minilm(folder: Path, *, name: str) -> MiniLM:
    """Load the model from its folder.

    Raises:
        EmbedderUnavailableError: Its files cannot be read.
    """
    try:
        return MiniLM(name, folder)
    except Exception as error:
        reason = one_line(str(error), 160)
        raise unavailable(name, f"the model cannot be loaded: {reason}") from error


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def packaged_folder() -> Path:
    """Return the folder of the weights that come with the package."""
    return Path(__file__).parent / "weights"


def arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the numbers in a safetensors file by name, without copying them."""
    start = 8 + int.from_bytes(data[:8], "little")
    header = msgspec.json.decode(data[8:start])
    return {
        name: np.frombuffer(
            data,
            dtype=_KINDS[about["dtype"]],
            count=math.prod(about["shape"]),
            offset=start + about["data_offsets"][0],
        ).reshape(about["shape"])
        for name, about in header.items()
        if about.get("dtype") in _KINDS
    }


def _unpacked(codes: NDArray[np.int8], scales: NDArray[np.float16]) -> NDArray[np.float32]:
    groups = codes.reshape(len(codes), -1, GROUP)
    numbers: NDArray[np.float32] = np.multiply(groups, scales[:, :, None], dtype=np.float32)
    return numbers.reshape(codes.shape)


def _batches(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Group the numbers of texts that are run together, the shortest first."""
    batch: list[int] = []
    size = 0
    for row in sorted(range(len(tokens)), key=lambda row: len(tokens[row])):
        if batch and size + len(tokens[row]) > _TOKENS_AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += len(tokens[row])
    if batch:
        yield batch


def _alike(
    rows: NDArray[np.float32], lengths: Sequence[int]
) -> Iterator[tuple[NDArray[np.float32], int]]:
    """Group the rows of neighbouring texts of one length; yield them with the length."""
    groups = [(length, len(list(same))) for length, same in groupby(lengths)]
    ends = list(accumulate(length * count for length, count in groups))
    for (length, count), end in zip(groups, ends, strict=True):
        yield rows[end - length * count : end], length


def _attended(parts: NDArray[np.float32], length: int) -> NDArray[np.float32]:
    """Apply attention to texts of one length.

    `parts` are queries, keys and values, float32 [tokens, 3, 384]; the result is [tokens, 384].
    """
    heads = parts.reshape(-1, length, 3, _HEADS, _DIMENSIONS // _HEADS)
    query, key, value = heads.transpose(2, 0, 3, 1, 4)
    scores = query @ key.swapaxes(2, 3)
    scores *= 1 / math.sqrt(query.shape[-1])
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    attended: NDArray[np.float32] = scores @ value
    return attended.swapaxes(1, 2).reshape(-1, _DIMENSIONS)


def _gelu(states: NDArray[np.float32]) -> NDArray[np.float32]:
    """Replace x by x·Φ(x), which is max(x, 0) − |x|/2·erfc(|x|/√2)."""
    for start in range(0, len(states), _GELU_ROWS):
        piece = states[start : start + _GELU_ROWS]
        size = np.abs(piece)
        np.maximum(piece, 0, out=piece)
        piece -= _half_tail(size)
    return states


def _half_tail(size: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return x/2·erfc(x/√2) for x ≥ 0, to 1.5e-7: Abramowitz and Stegun, 7.1.26."""
    t = size * np.float32(0.3275911 * math.sqrt(0.5))
    t += 1
    np.reciprocal(t, out=t)
    tail = t * np.float32(1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += np.float32(coefficient)
        tail *= t
    np.square(size, out=t)
    t *= np.float32(-0.5)
    tail *= np.exp(t, out=t)
    tail *= size
    tail *= np.float32(0.5)
    return tail
