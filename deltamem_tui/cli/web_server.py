"""The browser as a web page: a server that runs the same program for every page that is open.

The program is started anew for each page and its terminal carried over a websocket, by the
library `textual-serve`. What is added here keeps other sites out. A page of theirs can
reach a server on the loopback device through the person's own web browser, so a request must
name this server as the one it wants, and a websocket must come from this server's own page.
The page may load nothing from elsewhere.
"""

from __future__ import annotations

import ipaddress
import re
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from aiohttp import web

_PAGE_POLICY = (
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "frame-ancestors 'none'",
)
_HOST = re.compile(r"[\w.:\[\]-]+")
_LOOPBACK_NAMES = ("localhost",)


def serve(command: Sequence[str], host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve the program until Ctrl+C; port 0 takes any that is free.

    `ready` is called with the page's address once it can be opened.

    Raises:
        UsageError: The library is not installed, or nothing can listen on that address.
    """
    try:
        from aiohttp import web
        from textual_serve.server import Server
    except ImportError as error:
        raise UsageError(
            "the web form needs the package textual-serve",
            hint="install it with the extra `web`: pip install 'deltamem-tui[web]'",
        ) from error

    class OwnPages(Server):
        """A server for this program's own pages only, which prints nothing by itself."""

        async def _make_app(self) -> web.Application:
            application = await super()._make_app()
            application.middlewares.append(_guard(loopback=is_loopback(host)))
            return application

        async def on_startup(self, app: web.Application) -> None:  # noqa: ARG002 - its signature
            ready(self.public_url)

        async def handle_index(self, request: web.Request) -> Any:
            """The page, with addresses as the visitor's own browser wrote them."""
            here = copy(self)
            here.public_url = f"{request.scheme}://{request.host}"
            return await Server.handle_index(here, request)

    with _listening(host, port) as door:
        name = f"[{host}]" if ":" in host else host
        url = f"http://{name}:{door.getsockname()[1]}"
        server = OwnPages(shlex.join(command), host, port, title="DeltaMem", public_url=url)
        web.run_app(server._make_app(), sock=door, print=None)  # noqa: SLF001 - there is no other


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on this address."""
    if host in _LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def page_policy(host: str) -> str:
    """What a page that was asked for under a host's name may load: what comes from there.

    Its own socket is named, for browsers to which `'self'` does not cover it.
    """
    return "; ".join((*_PAGE_POLICY, f"connect-src 'self' ws://{host} wss://{host}"))


def program(arguments: Sequence[str]) -> list[str]:
    """The command that runs this program with these arguments."""
    return [sys.executable, "-m", "deltamem_tui", *arguments]


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"nothing can listen on {one_line(host, 100)} port {port}: {one_line(str(reason))}",
            hint="choose another with --host and --port",
        ) from error


def _address(text: str) -> SplitResult | None:
    """An address in its parts; None if it is not one."""
    try:
        return urlsplit(text)
    except ValueError:
        return None


def _guard(*, loopback: bool) -> Any:
    """Lets through only what this server's own page asks for."""
    from aiohttp import web

    @web.middleware
    async def guard(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        asked = _address(f"//{request.host}")
        if not asked or not _HOST.fullmatch(request.host):  # it goes into the page's policy
            raise web.HTTPBadRequest(text="no server can be called so")
        if loopback and not is_loopback(asked.hostname or ""):
            raise web.HTTPForbidden(text="this server answers to its own address only")
        origin = request.headers.get("Origin")
        page = None if origin is None else _address(origin)
        if origin is not None and (not page or page.netloc != request.host):
            raise web.HTTPForbidden(text="this server answers to its own page only")
        response = await handler(request)
        if not response.prepared:
            response.headers["Content-Security-Policy"] = page_policy(request.host)
        return response

    return guard
