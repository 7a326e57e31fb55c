"""No test waits for the disk."""

from tests.bank.disk import no_waiting_for_the_disk

__all__ = ["no_waiting_for_the_disk"]
