"""The browser as a web page: the same program over a websocket, for its own page only."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("textual_serve")

import aiohttp

from deltamem_tui.cli.web_server import is_loopback

_SECONDS = 60


@contextmanager
def served(folder: Path, *words: str) -> Iterator[str]:
    """The program's web form on a free port; gives its address."""
    command = [sys.executable, "-m", "deltamem_tui", "--banks", str(folder), "browse", *words]
    command += ["--web", "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stderr is not None
            assert process.stdout is not None
            said = process.stderr.readline()
            found = re.search(r"http://\S+", said)
            assert found, said
            yield found.group()
            process.send_signal(signal.SIGINT)
            assert process.wait(_SECONDS) == 0
            assert process.stdout.read() == ""
        finally:
            process.kill()


async def until(socket: aiohttp.ClientWebSocketResponse, words: str) -> str:
    """Read what the program draws until it has drawn some words."""
    drawn = b""
    async with asyncio.timeout(_SECONDS):
        while words.encode() not in drawn:
            message = await socket.receive()
            assert message.type in {aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT}, drawn
            drawn += message.data if isinstance(message.data, bytes) else message.data.encode()
    return drawn.decode(errors="replace")


def test_the_program_runs_in_a_page_unchanged(folder: Path) -> None:
    async def visit(address: str) -> None:
        async with aiohttp.ClientSession() as visitor:
            async with visitor.get(address) as page:
                assert page.status == 200
                here = urlsplit(address).netloc
                policy = page.headers["Content-Security-Policy"]
                assert policy.endswith(f"connect-src 'self' ws://{here} wss://{here}")
                found = re.search(r'websocket-url="([^"]+)"', await page.text())
                assert found
                assert found.group(1) == address.replace("http", "ws") + "/ws"
            url = f"{found.group(1)}?width=100&height=30"
            async with visitor.ws_connect(url, headers={"Origin": address}) as socket:
                await until(socket, "1. find it")  # the pane shows it: a node is chosen
                await socket.send_json(["stdin", "f"])
                await until(socket, "FAILURE, a warning")
                await socket.send_json(["resize", {"width": 60, "height": 20}])
                await until(socket, "help")
                await socket.send_json(["stdin", "e"])
                await until(socket, "f2 or ctrl+o saves it")
                await socket.send_json(["stdin", "\x1b"])
                await until(socket, "FAILURE")
                await socket.send_json(["stdin", "q"])
                async with asyncio.timeout(_SECONDS):
                    while (await socket.receive()).type != aiohttp.WSMsgType.CLOSE:
                        pass

    with served(folder, "kitchen") as address:
        assert address.startswith("http://127.0.0.1:")
        asyncio.run(visit(address))


def test_other_sites_and_other_names_are_turned_away(folder: Path) -> None:
    async def visit(address: str) -> None:
        async with aiohttp.ClientSession() as visitor:
            for headers in (
                {"Host": "elsewhere.example"},
                {"Origin": "http://elsewhere.example"},
                {"Origin": "http://[elsewhere.example"},
            ):
                for place in ("/", "/ws"):
                    async with visitor.get(address + place, headers=headers) as answer:
                        assert answer.status == 403, (headers, place)

    with served(folder) as address:
        asyncio.run(visit(address))


def test_a_name_that_no_server_has_is_in_no_policy(folder: Path) -> None:
    async def visit(address: str) -> None:
        async with aiohttp.ClientSession() as visitor:
            for host in ("localhost; script-src http://elsewhere.example", "[localhost"):
                async with visitor.get(address, headers={"Host": host}) as answer:
                    assert answer.status == 400, host
                    assert "Content-Security-Policy" not in answer.headers

    with served(folder) as address:
        asyncio.run(visit(address))


def refused(*words: str, **environment: str) -> str:
    """What the program says on stderr as it refuses to serve."""
    done = subprocess.run(
        [sys.executable, "-m", "deltamem_tui", "browse", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=_SECONDS,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    return done.stderr


def test_what_cannot_be_served_is_told_in_one_line(tmp_path: Path) -> None:
    assert "--host and --port go with --web" in refused("--port", "1")
    said = refused("--web", "--host", "256.0.0.1")
    assert "nothing can listen on 256.0.0.1" in said
    (tmp_path / "textual_serve.py").write_text("raise ImportError")
    said = refused("--web", PYTHONPATH=str(tmp_path))
    assert "pip install 'deltamem-tui[web]'" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("a.b", False)],
)
def test_which_addresses_only_this_machine_reaches(host: str, loopback: bool) -> None:
    assert is_loopback(host) == loopback
