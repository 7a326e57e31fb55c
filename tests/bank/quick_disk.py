"""A disk that need not be waited for."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """A killed process loses nothing that it wrote, so only a power cut could tell a missing sync.

    What is synced, and when, is still counted where a test counts effects.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield
