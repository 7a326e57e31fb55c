"""What makes two workers on two cores quick, and every test patient on a busy machine."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

# No test asserts how long anything takes: on a busy machine an example may take its time.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Two processes of two threads each wait for one another, which burns time on busy cores.
# The libraries read this when they are first imported, here and in every program of a test.
os.environ.setdefault("OMP_NUM_THREADS", "1")

LONGEST = "test_readme.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes a minute, so that no worker ends with it alone."""
    items.sort(key=lambda item: item.path.name != LONGEST)


def pytest_collection_finish() -> None:
    """Let the collector of cycles look only at what tests make, not at every test there is."""
    gc.collect()
    gc.freeze()
