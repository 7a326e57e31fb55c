"""No test waits for the disk."""

from tests.bank.quick_disk import no_waiting_for_the_disk

__all__ = ["no_waiting_for_the_disk"]
