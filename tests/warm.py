"""Commands that begin warm: each is a fork of one process that has loaded the libraries.

torch and litellm take seconds to load, and the README has a dozen commands that need them. Here
`deltamem` on the PATH only hands over its arguments, folder, environment and streams to that
process, of which a fork then runs the program from its entry point on, as the installed one does.
What is loaded beforehand is of others: the project's own modules are imported by each fork anew.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from tests.places import ROOT

LIBRARIES = ("sentence_transformers", "litellm")

_CALL = """#!{python} -IS
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    socket.send_fds(line, [b"x"], [0, 1, 2])
    call = [sys.argv, os.getcwd(), dict(os.environ)]
    line.sendall(json.dumps(call).encode())
    line.shutdown(socket.SHUT_WR)
    number, code = line.makefile().read().split()
    sys.exit(int(code))
"""


@dataclass(frozen=True)
class Begun:
    """A program that was begun.

    Attributes:
        number: The number of its process, to be sent signals.
        news: What tells how it ended.
    """

    number: int
    news: BinaryIO

    def end(self) -> int:
        """Wait until it has ended; returns how."""
        return int(self.news.readline())


def begin(
    programs: Path,
    arguments: Sequence[str],
    folder: Path,
    environment: dict[str, str],
    out: IO[str],
) -> Begun:
    """Begin `deltamem`, as its script among the `programs` would; it writes to `out` alone."""
    with socket.socket(socket.AF_UNIX) as line, Path(os.devnull).open() as nothing:
        line.connect(str(programs.parent / "line"))
        socket.send_fds(line, [b"x"], [nothing.fileno(), out.fileno(), out.fileno()])
        line.sendall(json.dumps([["deltamem", *arguments], str(folder), environment]).encode())
        line.shutdown(socket.SHUT_WR)
        news = line.makefile("rb")
    return Begun(int(news.readline()), news)


@contextmanager
def warm_programs(
    folder: Path, environment: dict[str, str], libraries: Sequence[str] = LIBRARIES
) -> Iterator[Path]:
    """A folder with a `deltamem` in it, to be put in front of the PATH.

    Args:
        folder: Where that folder is to be made.
        environment: What the libraries are to find when they are loaded.
        libraries: What is loaded beforehand.
    """
    programs = folder / "programs"
    programs.mkdir()
    address = str(folder / "line")
    program = programs / "deltamem"
    program.write_text(_CALL.format(python=sys.executable, address=address))
    program.chmod(0o755)
    script = f"from tests.warm import serve; serve({address!r}, {[*libraries]})"
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"warm\n"
        try:
            yield programs
        finally:
            process.terminate()


def serve(address: str, libraries: Sequence[str]) -> None:
    """Load the libraries, and run one command after another, each in a fork."""
    from importlib import import_module

    # As llm/library.py has it: nothing from the network, and no `.env`.
    os.environ.update({"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"})
    for name in libraries:
        import_module(name)
    sys.path.remove("")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        os.write(1, b"warm\n")
        while True:
            line, _ = door.accept()
            with line:
                _, streams, _, _ = socket.recv_fds(line, 1, 3)
                with line.makefile("rb") as words:
                    arguments, folder, environment = json.load(words)
                child = os.fork()
                if not child:
                    break
                for stream in streams:
                    os.close(stream)
                line.sendall(b"%d\n" % child)
                _, status = os.waitpid(child, 0)
                line.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    _become(arguments, folder, environment, streams)


def _become(arguments: list[str], folder: str, environment: Any, streams: list[int]) -> None:
    """Be the program that was called, to the end of this process."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace")
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments
    from deltamem_tui.__main__ import main

    main()
