"""The domain that a bank's episodes are expected to have, and those that they do have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from deltamem_tui.bank.bank import Bank
from deltamem_tui.trajectory.domains import GENERIC, key

LISTED_DOMAINS = 100
"""How many domains are counted apart: the first. A log may name another for every episode."""


def domain_of(bank: Bank) -> str:
    """The domain of episodes whose logs name none; empty for a generic bank."""
    domain = bank.manifest.domain
    return "" if key(domain) == GENERIC else domain


@dataclass(slots=True)
class DomainTally:
    """The domains of some episodes.

    Attributes:
        usual: The domain that they are expected to have; empty if there is none.
        listed: How many episodes each of the first `LISTED_DOMAINS` has, by the spelling that
            came first.
        total: How many name a domain, listed or not.
        of_others: How many of these are of another domain than the usual one.
    """

    usual: str = ""
    listed: Counter[str] = field(default_factory=Counter)
    total: int = 0
    of_others: int = 0
    _spellings: dict[str, str] = field(default_factory=dict)

    def add(self, domain: str) -> None:
        """Count one more episode."""
        if not domain:
            return
        self.total += 1
        self.of_others += self.is_other(domain)
        folded = key(domain)
        if folded in self._spellings or len(self.listed) < LISTED_DOMAINS:
            self.listed[self._spellings.setdefault(folded, domain)] += 1

    @property
    def others(self) -> list[str]:
        """The domains other than the usual one, as far as they are listed."""
        return [domain for domain in self.listed if self.is_other(domain)]

    def is_other(self, domain: str) -> bool:
        """Whether a domain is another one than the usual."""
        return bool(self.usual) and key(domain) != key(self.usual)
