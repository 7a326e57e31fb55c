"""Domains by name: which one an episode has, and when two names mean the same one."""

from __future__ import annotations

GENERIC = "generic"
"""The domain of what is for no kind of environment in particular."""


def chosen(named: str, *, otherwise: str, given: str = "") -> str:
    """The domain of an episode; empty if it is not known.

    Args:
        named: The domain that its log names; blanks around it, and more than one within, go.
        otherwise: The domain that it has if its log names none.
        given: The domain that the user gives, whatever the log names.
    """
    return given or " ".join(named.split()) or otherwise


def key(domain: str) -> str:
    """What all spellings of a domain's name have in common: some logs write `ALFWorld`."""
    return domain.lower()
