"""Domains by name: which one an episode has, and when two names mean the same one."""

from __future__ import annotations

GENERIC = "generic"
"""The domain of what is for no kind of environment in particular."""


def chosen(named: str, *, otherwise: str, given: str = "") -> str:
    """Return the domain that the user gave, else the one its log names, else `otherwise`."""
    return given or " ".join(named.split()) or otherwise


def key(domain: str) -> str:
    """Return what all spellings of a domain's name have in common: logs differ in capitals."""
    return domain.lower()
