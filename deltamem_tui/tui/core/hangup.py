"""What happens when the terminal goes away without a word.

A terminal that is closed tells its programs so by a signal, unless the browser was started apart
from it: by `setsid`, in a container that was left, or below a `nohup`, where the signal is ignored.
Textual then reads the end of input over and over, and takes a whole core for good.
"""

from __future__ import annotations

import os
import select
import signal
import sys

SECONDS_BETWEEN_LOOKS = 1.0


def end_without_terminal() -> None:
    """Ends the program, as that signal would have, if its terminal is not there any more."""
    if sys.__stdin__ is None or not hasattr(select, "poll"):
        return
    watched = select.poll()
    watched.register(sys.__stdin__.fileno(), 0)  # it tells of a hangup unasked
    if any(event & select.POLLHUP for _, event in watched.poll(0)):  # an error is not one
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup` hands down that it is ignored
        os.kill(os.getpid(), signal.SIGHUP)
