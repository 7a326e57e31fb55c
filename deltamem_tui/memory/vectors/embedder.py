"""A bank's embedder: what the bank remembers of it, and the loaded one that fits.

A bank's vectors mean nothing to another model, so every question and every new node goes
through here.
"""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.load import load_for
from deltamem_tui.embedding.protocol import Embedder, EmbedderCard, Weighting
from deltamem_tui.errors import BankCorruptError, wrong_argument


def embedder_of(bank: Bank, given: Embedder | None = None) -> Embedder:
    """The bank's embedder: the given one if it is, else loaded.

    Raises:
        EmbedderUnavailableError: It cannot be loaded.
        EmbedderMismatchError: The given or loaded one is not the bank's.
        UsageError: The given one is no embedder.
    """
    if given is not None and not isinstance(given, Embedder):
        raise wrong_argument("embedder", "an Embedder", given)
    return load_for(card_of(bank), given)


def weighting_of(bank: Bank) -> Weighting:
    """How the bank's embedder has its dimensions weighted."""
    return card_of(bank).weighting


def card_of(bank: Bank) -> EmbedderCard:
    """What the bank remembers of its embedder.

    Raises:
        BankCorruptError: The manifest does not say it.
    """
    record = bank.manifest.embedder
    expected = {field.name: field for field in fields(EmbedderCard)}
    text = [name for name in expected if name != "dimensions"]
    known = set(record) <= set(expected) and {"model", "dimensions"} <= set(record)
    sound = known and all(isinstance(record.get(name, ""), str) for name in text)
    if not sound or record.get("weighting", "none") not in get_args(Weighting):
        raise BankCorruptError(
            "'embedder' does not describe an embedder", source=str(bank.path / "bank.json")
        )
    return EmbedderCard(**record)
