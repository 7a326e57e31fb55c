"""The quick way of a hook: the helper answers, and nothing is loaded here that it does without.

An agent waits for each of its hooks, and most of a hook's time would go into loading. So the first
hook answers for itself and starts a helper (`helper.py`), and those after it hand over what they
were told, through a socket in a folder that is the user's alone.
"""

from __future__ import annotations

import json
import os
import sys
from zlib import crc32

ANSWER_SECONDS = 4.0  # agents wait for five
_LONGEST_INPUT = 8 * 1024 * 1024
_LONGEST_PATH = 100  # of a socket


def quick_answer(arguments: list[str]) -> tuple[str | None, bytes]:
    """Return what a hook prints, None if no helper answers; and what it was told on its stdin."""
    if arguments[:1] in (["helper"], ["learn"]):  # which are told nothing
        return None, b""
    data = sys.stdin.buffer.read(_LONGEST_INPUT)
    return ask(arguments, data), data


def place() -> str:
    """Return the path of the socket; empty if there can be none.

    Another version of the program and another environment have another helper.
    """
    if not hasattr(os, "getuid"):
        return ""
    known = sorted(
        pair for pair in os.environ.items() if pair[0].startswith(("XDG_", "DELTAMEM_", "HOME"))
    )
    with os.scandir(os.path.dirname(__file__)) as found:  # noqa: PTH120 - see above
        files = sorted((each.path, each.stat()) for each in found if each.name.endswith(".py"))
    facts = repr((known, [(path, each.st_size, each.st_mtime_ns) for path, each in files]))
    room = os.environ.get("XDG_RUNTIME_DIR") or os.environ.get("TMPDIR") or "/tmp"  # noqa: S108
    path = f"{room}/deltamem-{os.getuid()}/{crc32(facts.encode()):08x}"
    return path if len(os.fsencode(path)) <= _LONGEST_PATH else ""


def is_ours(folder: str) -> bool:
    """Tell if a folder is the user's, and nobody else may enter it."""
    try:
        found = os.lstat(folder)  # a link would be someone's
    except OSError:
        return False
    return found.st_uid == os.getuid() and found.st_mode & 0o170077 == 0o040000


def ask(arguments: list[str], data: bytes) -> str | None:
    """Ask the helper what to print; None if none answers."""
    path = place()
    if not path or not is_ours(path.rpartition("/")[0]):
        return None
    import socket

    question = [arguments, data.decode(errors="replace"), os.getcwd()]  # noqa: PTH109
    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(ANSWER_SECONDS)
            link.connect(path)
            link.sendall(json.dumps(question).encode())
            link.shutdown(socket.SHUT_WR)
            found = json.loads(b"".join(iter(lambda: link.recv(65536), b"")))
    except TimeoutError:
        return ""  # there is no time left to find it out here
    except (OSError, ValueError):
        return None
    return found if isinstance(found, str) else None
