"""Which domain an episode has: the one that the user gives, else its log's own, else its bank's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from deltamem_tui.bank.bank import Bank
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.reader import Reading
from deltamem_tui.trajectory.readers.written import Written

GENERIC = "generic"
"""The domain of a bank that is for no kind of environment in particular."""


def domain_of(bank: Bank) -> str:
    """The domain that a bank's episodes have if their logs name none; a generic one is none."""
    domain = bank.manifest.domain
    return "" if domain == GENERIC else domain


def in_domain(
    readings: Iterator[Reading | Written], otherwise: str, *, given: str = ""
) -> Iterator[Reading | Written]:
    """The readings, each episode with its domain.

    Args:
        readings: What readers give. An episode that is written out already has its domain.
        otherwise: The domain of those whose logs name none, as `domain_of` tells it.
        given: The domain that the user gives all of them; empty if none is given.
    """
    for reading in readings:
        if isinstance(reading, Trajectory):
            chosen = given or reading.domain or otherwise
            yield reading if chosen == reading.domain else replace(reading, domain=chosen)
        else:
            yield reading
