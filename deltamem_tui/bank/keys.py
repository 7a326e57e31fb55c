"""Ids as numbers: 16 hexadecimal digits are 64 bits, which arrays sort and join fast."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltamem_tui.bank.node import ID_LENGTH
from deltamem_tui.errors import BankCorruptError

Keys = NDArray[np.uint64]

_DIGITS = b"0123456789abcdef"
_NO_DIGIT = 255
_VALUES = np.full(256, _NO_DIGIT, dtype=np.uint8)
_VALUES[list(_DIGITS)] = np.arange(len(_DIGITS), dtype=np.uint8)


def key(text: str) -> np.uint64:
    """One id as a number."""
    return np.uint64(int(text, 16))


def keys(ids: NDArray[Any]) -> Keys:
    """Ids as numbers.

    Args:
        ids: bytes [n], 16 hexadecimal digits in small letters each.

    Raises:
        BankCorruptError: One is not.
    """
    if not len(ids):
        return np.zeros(0, dtype=np.uint64)
    digits = _VALUES[np.ascontiguousarray(ids).view(np.uint8).reshape(len(ids), ID_LENGTH)]
    if (digits == _NO_DIGIT).any():
        raise BankCorruptError(
            "an index names something that is not an id",
            hint="delete the bank's `.index.npy` files, and they are made again",
        )
    halves = np.ascontiguousarray(digits[:, ::2] << 4 | digits[:, 1::2])
    return halves.view(">u8").reshape(len(ids)).astype(np.uint64)


def places(ids: Keys, wanted: Keys) -> NDArray[np.int64]:
    """Where some ids stand among others; -1 for those that do not. int64 [wanted].

    Args:
        ids: Each once, in any order. uint64 [n].
        wanted: The ids that are looked for. uint64 [wanted].
    """
    if not len(ids):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(ids)
    found: NDArray[np.int64] = order[
        np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)
    ]
    return np.where(ids[found] == wanted, found, -1)


def texts(numbers: Keys) -> NDArray[Any]:
    """Numbers as ids: bytes [n]."""
    if not len(numbers):
        return np.zeros(0, dtype=f"S{ID_LENGTH}")
    octets = np.ascontiguousarray(numbers.astype(">u8")).view(np.uint8).reshape(-1, 8)
    digits = np.empty((len(octets), ID_LENGTH), dtype=np.uint8)
    letters = np.frombuffer(_DIGITS, dtype=np.uint8)
    digits[:, ::2], digits[:, 1::2] = letters[octets >> 4], letters[octets & 15]
    return digits.view(f"S{ID_LENGTH}").reshape(-1)
