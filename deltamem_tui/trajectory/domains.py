"""Domains by name: which one an episode has, and when two names mean the same one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line

GENERIC = "generic"
"""The domain of what is for no kind of environment in particular."""

KNOWN: Mapping[str, str] = {
    "alfworld": "household tasks in text",
    "scienceworld": "school science in text",
    "webshop": "shopping on a website",
    GENERIC: "anything else",
}
"""The domains that the program has words for, rules, prompts and numbers, and what each is."""


def chosen(named: str, *, otherwise: str, given: str = "") -> str:
    """The domain that the user gave, else the one its log names, else `otherwise`."""
    return given or " ".join(named.split()) or otherwise


def key(domain: str) -> str:
    """What all spellings of a domain's name have in common: some logs write `ALFWorld`."""
    return domain.lower()


def domain_named(domain: str, known: Collection[str] = KNOWN) -> str:
    """A domain as a person types it, if it is not a known one, misspelt.

    A known one has its usual name, however it is spelt. Any other name is taken: a domain of
    one's own has one's own prompts.

    Raises:
        UsageError: It is almost the name of a known domain.
    """
    if key(domain) in known:
        return key(domain)
    near = get_close_matches(key(domain), known, n=1, cutoff=0.8)
    if not near:
        return domain
    raise UsageError(
        f"there is no domain {one_line(domain, 40)!r}",
        hint=f"did you mean {near[0]}? Those that are known are {', '.join(known)}",
    )
