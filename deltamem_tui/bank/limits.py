"""How much of a stranger's bank is taken in before it is refused, in one place."""

from __future__ import annotations

from dataclasses import dataclass

_MEGABYTE = 1024 * 1024
GIGABYTE = 1024 * _MEGABYTE


@dataclass(frozen=True, slots=True)
class Limits:
    """What a bank that comes from elsewhere may take.

    Attributes:
        members: Files.
        manifest: Bytes of `bank.json`.
        total: Bytes of all files together.
    """

    members: int = 32
    manifest: int = 4 * _MEGABYTE
    total: int = 8 * GIGABYTE


LIMITS = Limits()
"""What is taken in unless somebody says otherwise."""
