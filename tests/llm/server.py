"""A model's server on the loopback: it speaks the OpenAI protocol and misbehaves on command.

A test lays out `Reply` objects; each request takes the next one, and the last one is used
again when they run out. Every request is kept, so that a test can say what was sent.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Body = dict[str, Any]


def counted(text: str) -> int:
    """How many words and marks a text has: about as many as a model's tokens."""
    return len(re.findall(r"\w+|[^\w\s]", text))


@dataclass(frozen=True)
class Reply:
    """What the server does with one request.

    `manner` is `whole`; `hang`, which says nothing at all; `drop`, which closes the connection in
    the middle; or `drip`, which sends white space for ever. `raw` is sent in place of an OpenAI
    object, and `tool_arguments` come as tool calls in place of a text. `counts` are the tokens of
    prompt and answer that it states; counted if not given. Nothing is sent before `after`.
    """

    text: str | None = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    finish: str = "stop"
    counts: tuple[int, int] | None = None
    error: tuple[str, str | None] = ("the server says no", None)
    manner: Literal["whole", "hang", "drop", "drip"] = "whole"
    refusal: str | None = None
    tool_arguments: tuple[str, ...] = ()
    raw: bytes | None = None
    delay: float = 0.0
    after: threading.Event | None = None


@dataclass
class Request:
    """What a client sent: the path, the headers, the body."""

    path: str
    headers: dict[str, str]
    body: Body

    @property
    def prompt(self) -> str:
        """The words of the first message that is not the system's."""
        messages = (each for each in self.body["messages"] if each["role"] != "system")
        return str(next(messages)["content"])

    @property
    def words(self) -> int:
        """How many words and marks all messages have."""
        return sum(counted(str(each["content"])) for each in self.body["messages"])


@dataclass
class ModelServer:
    """The running server, its script and its record.

    `tokens` counts the tokens of a text, by words and marks unless a test says better; `template`
    is what a chat template adds to each message.
    """

    base: str = ""
    replies: Callable[[Request], Reply] = lambda _request: Reply()
    requests: list[Request] = field(default_factory=list)
    tokens: Callable[[str], int] = counted
    template: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def script(self, *replies: Reply) -> None:
        """Answer with these in turn, and with the last of them from then on."""
        left = list(replies) or [Reply(status=418)]
        self.requests.clear()
        self.most_in_flight = 0
        self.replies = lambda _request: left.pop(0) if len(left) > 1 else left[0]

    def answer(self, *texts: str) -> None:
        """Answer with these texts in turn."""
        self.script(*[Reply(text) for text in texts])


def prompt_tokens(messages: Sequence[Body], script: ModelServer) -> int:
    """How the server counts a conversation."""
    return sum(script.tokens(str(message["content"])) + script.template for message in messages)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet an answer, or the client's delayed acknowledgement costs 40 ms
    script: ModelServer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        data = self.rfile.read(length)
        if len(data) < length:  # whoever asked was killed meanwhile
            self.close_connection = True
            return
        body = json.loads(data)
        request = Request(self.path, dict(self.headers.items()), body)
        with self.script.lock:
            self.script.requests.append(request)
            self.script.in_flight += 1
            self.script.most_in_flight = max(self.script.most_in_flight, self.script.in_flight)
            reply = self.script.replies(request)
        try:
            self.obey(reply, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with self.script.lock:
                self.script.in_flight -= 1

    def obey(self, reply: Reply, body: Body) -> None:
        if reply.manner == "hang":
            self.script.over.wait()
            self.close_connection = True
            return
        if reply.delay:
            self.script.over.wait(reply.delay)
        if reply.after:
            reply.after.wait(60.0)
        data = payload(reply, body, self.script)
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        for name, value in reply.headers:
            self.send_header(name, value)
        if reply.manner == "drip":
            self.drip()
            return
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data if reply.manner == "whole" else data[: len(data) // 2])
        self.wfile.flush()
        self.close_connection = reply.manner == "drop"

    def drip(self) -> None:
        """Send white space in chunks until the server stops."""
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        while not self.script.over.wait(0.02):
            self.wfile.write(b"1\r\n \r\n")
            self.wfile.flush()


@contextmanager
def serving() -> Iterator[ModelServer]:
    """A server on a free port of the loopback, gone when the block is left."""
    script = ModelServer()
    handler = type("ScriptedHandler", (Handler,), {"script": script})
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.daemon_threads = True
    script.base = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield script
    finally:
        script.over.set()
        http.shutdown()
        http.server_close()
        thread.join()


def payload(reply: Reply, body: Body, script: ModelServer) -> bytes:
    if reply.raw is not None:
        return reply.raw
    if reply.status != 200:
        message, code = reply.error
        return json.dumps({"error": {"message": message, "type": "error", "code": code}}).encode()
    message_out: Body = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.tool_arguments:
        functions = [{"name": "answer", "arguments": each} for each in reply.tool_arguments]
        calls = [{"id": "1", "type": "function", "function": each} for each in functions]
        message_out |= {"content": None, "tool_calls": calls}
    answer: Body = {
        "id": "answer",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": reply.finish, "message": message_out}],
    }
    counted = prompt_tokens(body["messages"], script), script.tokens(reply.text or "")
    asked, said = reply.counts or counted
    usage = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
    answer["usage"] = usage
    return json.dumps(answer).encode()
