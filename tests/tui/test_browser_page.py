"""The web form in a real web browser: headless Chromium draws it and its keys reach the program."""

from __future__ import annotations

import asyncio
import base64
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("textual_serve")

import aiohttp

from tests.tui.test_web import served

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
_SECONDS = 20

_HARMLESS = ("Loading the stylesheet 'https://fonts.", "Failed to load resource")
"""A font from elsewhere, which the page's policy keeps out, and a picture for the tab."""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


@contextmanager
def chromium(folder: Path) -> Iterator[str]:
    """Headless Chromium; gives the address at which it takes orders."""
    words = [str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    words += ["--window-size=1000,600", "--remote-debugging-port=0", f"--user-data-dir={folder}"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if found := re.search(r"DevTools listening on ws://([^/]+)/", line):
                    yield f"http://{found.group(1)}"
                    return
            pytest.fail("Chromium did not start")
        finally:
            process.kill()


class Page:
    """A page of the web browser, driven by its own protocol.

    Args:
        socket: Where it takes orders.

    Attributes:
        drawn: What the page got over its websocket so far.
        complaints: What the web browser says is wrong with the page.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self.drawn = ""
        self.complaints: list[str] = []

    async def do(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give an order, and its result."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        while (answer := await self._hear()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    async def until(self, words: str) -> None:
        """Wait until the page got some words to draw."""
        async with asyncio.timeout(_SECONDS):
            while words not in self.drawn:
                await self._hear()

    async def click(self, x: int, y: int) -> None:
        """Click on a point of the page, which gives the terminal the focus as well."""
        self.drawn = ""
        for kind in ("mousePressed", "mouseReleased"):
            await self.do(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
            )

    async def press(self, key: str) -> None:
        """Type a letter."""
        self.drawn = ""
        place = {"code": f"Key{key.upper()}", "windowsVirtualKeyCode": ord(key.upper())}
        await self.do("Input.dispatchKeyEvent", type="keyDown", key=key, text=key, **place)
        await self.do("Input.dispatchKeyEvent", type="keyUp", key=key, **place)

    async def _hear(self) -> dict[str, Any]:
        async with asyncio.timeout(_SECONDS):
            said: dict[str, Any] = await self._socket.receive_json()
        what = said.get("params", {})
        if said.get("method") == "Network.webSocketFrameReceived":
            frame = what["response"]
            text = frame["payloadData"]
            if frame["opcode"] == 2:
                text = base64.b64decode(text).decode(errors="replace")
            self.drawn += text
        elif said.get("method") == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.complaints.append(what["entry"]["text"])
        elif said.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(what["exceptionDetails"]))
        return said


async def visit(orders: str, address: str, picture: Path) -> None:
    async with aiohttp.ClientSession() as visitor:
        async with visitor.put(f"{orders}/json/new?about:blank") as answer:
            where = (await answer.json())["webSocketDebuggerUrl"]
        async with visitor.ws_connect(where, max_msg_size=0) as socket:
            page = Page(socket)
            for domain in ("Page", "Network", "Log", "Runtime"):
                await page.do(f"{domain}.enable")
            await page.do("Page.navigate", url=address)
            await page.until("heat some object and put it in a place")
            await page.click(200, 60)
            await page.until("1. find it")
            await page.press("f")
            await page.until("[FAILED] look")
            await page.press("e")
            await page.until("f2 or ctrl+o saves it")
            shot = await page.do("Page.captureScreenshot", format="png")
            picture.write_bytes(base64.b64decode(shot["data"]))
            assert not [each for each in page.complaints if not each.startswith(_HARMLESS)]


def test_chromium_draws_the_program_and_takes_its_keys(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    with served(folder, "kitchen") as address, chromium(tmp_path / "profile") as orders:
        asyncio.run(visit(orders, address, picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
