"""What Ctrl+C and a system that asks the program to end do during long work."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from deltamem_tui.cli.invocation import interruptible


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Whatever a test leaves, the next begins with what there was."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_the_first_asks_and_the_second_does_not_wait(asked: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible() as interruption:  # noqa: PT012
        assert not interruption()
        signal.raise_signal(asked)
        assert interruption()
        signal.raise_signal(asked)


def test_behind_the_block_ctrl_c_is_over_and_the_system_is_still_heard() -> None:
    at_end = signal.getsignal(signal.SIGTERM)
    with interruptible() as interruption:
        signal.raise_signal(signal.SIGTERM)
    assert interruption()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    # A process that went on ignoring it could not be ended, nor could those that it starts.
    assert signal.getsignal(signal.SIGTERM) == at_end


def test_undisturbed_work_leaves_everything_as_it_was() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with interruptible() as interruption:
        assert signal.getsignal(signal.SIGINT) != before[0]
    assert not interruption()
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
