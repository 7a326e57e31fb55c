"""Merging banks as the method sees it: one embedder, one domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.merge import MergePlan, merge_into, merge_to
from deltamem_tui.bank.verify import require_sound
from deltamem_tui.embedding.protocol import require_same
from deltamem_tui.errors import EmbedderMismatchError, UsageError
from deltamem_tui.memory.vectors.search import card_of
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import GENERIC, domain_key


@dataclass(frozen=True, slots=True)
class Merge:
    """The result of a merge, done or planned; `bank` is None if nothing was to be written."""

    plan: MergePlan
    bank: Bank | None
    changed: bool


def merge(
    banks: Sequence[Bank],
    output: Path | None = None,
    *,
    across_domains: bool = False,
    dry_run: bool = False,
) -> Merge:
    """Merge at least two banks into a new one at `output`, or into the first of them.

    Frozen ones will do, but for one that is written.

    Raises:
        EmbedderMismatchError: Two banks have different embedders.
        BankExistsError: Something is at `output` already.
        BankCorruptError: A bank is not sound.
        BankError: The tree would be too deep.
        UsageError: Fewer than two banks, or of different domains without `across_domains`.
    """
    if len(banks) < 2:
        raise UsageError(
            "a merge needs at least two banks", hint="name the others behind the first"
        )
    for other in banks[1:]:
        try:
            require_same(card_of(other), card_of(banks[0]))
        except EmbedderMismatchError as error:
            error.source = one_line(str(other.path))
            raise
    domains = dict.fromkeys(domain_key(bank.manifest.domain) for bank in banks)
    named = [one_line(each) for each in domains if each not in ("", GENERIC)]
    if len(named) > 1 and not across_domains:
        raise UsageError(
            f"these banks are of different domains: {', '.join(named)}",
            hint="--across-domains merges them all the same, under the first bank's domain",
        )

    if output is None:
        banks[0].require_writable()
        made = MergePlan(banks) if dry_run else merge_into(banks[0], partial(MergePlan, banks))
        bank, changed = banks[0], not made.empty
    else:
        if banks[0].archived:
            require_sound(banks[0])  # it is copied as it is
        made = MergePlan(banks)
        bank, changed = (banks[0] if dry_run else merge_to(output, made)), True
    if dry_run:
        made.check()  # what would be refused then is refused now
    return Merge(made, None if dry_run else bank, changed)
