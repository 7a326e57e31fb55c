"""The helper: one process that keeps banks and their model loaded between an agent's hooks.

A hook is a process of its own that spends most of its time on loading. So the first one of a
session starts the helper, and the others ask it, through a socket in the user's state folder that
only the user may write to. The helper ends when it was not asked for some minutes. Where there is
none yet, or none can be, a hook answers for itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from deltamem_tui import paths

OFF = paths.HELPER_VARIABLE
"""The variable of the environment that keeps hooks from starting one."""
IDLE_SECONDS = 600.0
_ANSWER_SECONDS = 4.0  # agents wait for five
_LONGEST_PATH = 100  # of a socket
_LONGEST = 16 * 1024 * 1024


def place(folder: Path) -> Path:
    """Return the path of the socket: another version or environment has another helper."""
    known = {name: text for name, text in os.environ.items() if name.startswith(("XDG_", "DELTA"))}
    facts = [__file__, os.stat(__file__).st_mtime_ns, sorted(known.items())]  # noqa: PTH116
    return folder / f"{hashlib.sha256(repr(facts).encode()).hexdigest()[:8]}.helper"


def ask(folder: Path, question: Any, bank: str) -> str | None:
    """Ask the helper; None if it cannot answer, and then one is started for the next time.

    A new one begins with `bank`.
    """
    path = place(folder)
    if not hasattr(socket, "AF_UNIX") or len(os.fsencode(path)) > _LONGEST_PATH:
        return None
    try:
        with closing(socket.socket(socket.AF_UNIX)) as link:
            link.settimeout(_ANSWER_SECONDS)
            link.connect(os.fspath(path))
            link.sendall(json.dumps(question).encode())
            link.shutdown(socket.SHUT_WR)
            return str(json.loads(_read(link)))
    except ValueError:  # it failed, and so shall we, with a line in our log
        return None
    except OSError:
        if folder.is_dir() and not os.environ.get(OFF):
            detached(["hook", "helper", bank])
        return None


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


def _read(link: socket.socket) -> bytes:
    data = bytearray()
    while len(data) < _LONGEST and (piece := link.recv(65536)):
        data += piece
    return bytes(data)


def serve(
    folder: Path,
    answer: Callable[[Any], str],
    prepare: Callable[[], object],
    idle: float = IDLE_SECONDS,
) -> None:
    """Answer questions until none came for `idle` seconds; at once, if another helper does.

    Questions that come while it prepares wait for it.
    """
    import filelock

    path = place(folder)
    lock = filelock.FileLock(path.with_suffix(".lock"), timeout=0)
    with suppress(filelock.Timeout), lock, closing(socket.socket(socket.AF_UNIX)) as door:
        path.unlink(missing_ok=True)
        door.bind(os.fspath(path))
        try:
            path.chmod(0o600)
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


def _answer_next(door: socket.socket, answer: Callable[[Any], str]) -> None:
    link, _ = door.accept()
    with closing(link):
        link.settimeout(_ANSWER_SECONDS)
        # Whoever asks finds nothing where this fails, and sees for itself why.
        with suppress(Exception):
            link.sendall(json.dumps(answer(json.loads(_read(link)))).encode())
