"""The helper: one process that keeps banks and their model loaded between an agent's hooks.

It ends when it was not asked for some minutes. Who asks, and how: `asking.py`.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path

from deltamem_tui import paths
from deltamem_tui.agents import asking

IDLE_SECONDS = 600.0
_LONGEST = 16 * 1024 * 1024

Answer = Callable[[list[str], bytes, str], AbstractContextManager[str]]
"""What a hook prints: for its arguments, its input and its working folder."""


def start(bank: str) -> None:
    """Start a helper that begins with a bank; one more than there is ends at once."""
    if asking.place() and not os.environ.get(paths.HELPER_VARIABLE):
        detached(["hook", "helper", bank])


def detached(arguments: Sequence[str]) -> None:
    """Start this program as a process that outlives this one, and holds none of its pipes."""
    import subprocess

    with suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-P", "-m", "deltamem_tui", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd=Path.home(),
        )


def serve(answer: Answer, prepare: Callable[[], object], idle: float = IDLE_SECONDS) -> None:
    """Answer hooks until none came for `idle` seconds; do nothing if another helper does.

    Those that come while it prepares wait for it.
    """
    import filelock

    path = Path(asking.place())
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if not asking.is_ours(str(path.parent)):
        return
    lock = filelock.FileLock(path.with_suffix(".lock"), timeout=0)
    with suppress(filelock.Timeout), lock, closing(socket.socket(socket.AF_UNIX)) as door:
        path.unlink(missing_ok=True)
        door.bind(os.fspath(path))
        try:
            door.listen(16)
            door.settimeout(idle)
            with suppress(Exception):  # whoever asks is told why
                prepare()
            while path.exists():
                _answer_next(door, answer)
        except TimeoutError:
            pass
        finally:
            path.unlink(missing_ok=True)


def _answer_next(door: socket.socket, answer: Answer) -> None:
    link, _ = door.accept()
    with closing(link):
        link.settimeout(asking.ANSWER_SECONDS)
        # Whoever asks finds nothing where this fails, and sees for itself why.
        with suppress(Exception):
            data = bytearray()
            while len(data) < _LONGEST and (piece := link.recv(65536)):
                data += piece
            arguments, told, folder = json.loads(data)
            with answer(arguments, told.encode(), folder) as printed:
                link.sendall(json.dumps(printed).encode())
                link.shutdown(socket.SHUT_WR)
