"""A language model on the loopback address that calls the tools it was told to.

It speaks what the agents' programs speak: Anthropic's messages, OpenAI's responses and chat
completions, and Gemini's contents, each as a stream. A request that offers no shell is one of a
program's own, for a title or a summary, and gets a short text.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

SHELLS = ("Bash", "exec_command", "shell_command", "shell", "run_shell_command", "bash")
"""The programs' names of the tool that runs a command."""
_DONE = "Done."


@dataclass(slots=True)
class Script:
    """The commands that the model calls, and the requests that came.

    Attributes:
        commands: What is called, one in each answer; then it says that it is done.
        requests: The bodies of the requests that offered a shell, as text.
        first: When the first of them came, on the clock of `time.perf_counter`.
    """

    commands: Sequence[str] = ()
    requests: list[str] = field(default_factory=list)
    first: float | None = None


class ScriptedServer:
    """The server; it runs while the context is open."""

    def __init__(self) -> None:
        self.script = Script()
        self._lock = Lock()
        handler = type("Handler", (_Handler,), {"scripted": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def begin(self, commands: Sequence[str] = ()) -> Script:
        """Begin a session; returns its script."""
        self.script = Script(commands)
        return self.script

    def next_call(self, body: str) -> tuple[str, dict[str, Any]] | None:
        """Return the tool and its arguments that answer a request; None if only a text does."""
        shell = next((each for each in _tools(json.loads(body)) if each["name"] in SHELLS), None)
        if shell is None:
            return None
        with self._lock:
            script = self.script
            script.first = script.first or time.perf_counter()
            script.requests.append(body)
            if len(script.requests) > len(script.commands):
                return None
            command = script.commands[len(script.requests) - 1]
        return shell["name"], _arguments(shell["schema"], command)


def _tools(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tools that a request offers, in whichever form."""
    for each in body.get("tools") or ():
        for tool in each.get("functionDeclarations") or [each.get("function") or each]:
            keys = ("input_schema", "parameters", "parametersJsonSchema")
            schema: dict[str, Any] = next((tool[key] for key in keys if key in tool), {})
            yield {"name": tool.get("name", ""), "schema": schema}


def _arguments(schema: dict[str, Any], command: str) -> dict[str, Any]:
    known = schema.get("properties", {})
    name = "cmd" if "cmd" in known else "command"
    is_list = known.get(name, {}).get("type") in ("array", "ARRAY")
    found: dict[str, Any] = {name: ["bash", "-lc", command] if is_list else command}
    texts = [key for key in schema.get("required", ()) if known[key].get("type") == "string"]
    others = {key: "Run it" for key in texts if key not in found}
    flags = {"is_background": False} if "is_background" in known else {}
    return found | others | flags


class _Handler(BaseHTTPRequestHandler):
    scripted: ScriptedServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send("application/json", b'{"data":[],"models":[]}')

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if "count_tokens" in self.path.lower() or "counttokens" in self.path.lower():
            self._send("application/json", b'{"input_tokens":10,"totalTokens":10}')
            return
        for path, (stream, whole) in _FORMS.items():
            if path in self.path:
                call = self.scripted.next_call(body)
                streams = path == "treamGenerateContent" or json.loads(body).get("stream")
                if streams:
                    self._send("text/event-stream", "".join(stream(call)).encode())
                else:
                    self._send("application/json", json.dumps(whole(call)).encode())
                return
        self._send("application/json", b"{}")

    def do_HEAD(self) -> None:
        self._send("application/json", b"")

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


_Call = tuple[str, dict[str, Any]] | None


def _event(record: dict[str, Any], name: str = "") -> str:
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(record)}\n\n"


def _id() -> str:
    return f"call_{time.monotonic_ns()}"


def _anthropic_whole(call: _Call) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": _DONE}
    if call:
        block = {"type": "tool_use", "id": _id(), "name": call[0], "input": call[1]}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [block],
        "stop_reason": "tool_use" if call else "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def _anthropic(call: _Call) -> Iterator[str]:
    whole = _anthropic_whole(call)
    (block,), reason = whole["content"], whole["stop_reason"]
    start = {**whole, "content": [], "stop_reason": None}
    yield _event({"type": "message_start", "message": start}, "message_start")
    empty = {**block, "input": {}} if call else {"type": "text", "text": ""}
    name = "content_block_start"
    yield _event({"type": name, "index": 0, "content_block": empty}, name)
    delta = {"type": "text_delta", "text": _DONE}
    if call:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    name = "content_block_delta"
    yield _event({"type": name, "index": 0, "delta": delta}, name)
    yield _event({"type": "content_block_stop", "index": 0}, "content_block_stop")
    end = {"stop_reason": reason, "stop_sequence": None}
    usage = {"output_tokens": 5}
    yield _event({"type": "message_delta", "delta": end, "usage": usage}, "message_delta")
    yield _event({"type": "message_stop"}, "message_stop")


def _response_whole(call: _Call) -> dict[str, Any]:
    text = {"type": "output_text", "text": _DONE, "annotations": []}
    item: dict[str, Any] = {"type": "message", "id": _id(), "role": "assistant", "content": [text]}
    if call:
        named = {"name": call[0], "arguments": json.dumps(call[1])}
        item = {"type": "function_call", "id": _id(), "call_id": _id(), **named}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return {"id": "resp_1", "object": "response", "output": [item], "usage": usage}


def _responses(call: _Call) -> Iterator[str]:
    whole = _response_whole(call)
    started = {"type": "response.created", "response": {"id": whole["id"]}}
    yield _event(started, "response.created")
    name = "response.output_item.done"
    yield _event({"type": name, "output_index": 0, "item": whole["output"][0]}, name)
    yield _event({"type": "response.completed", "response": whole}, "response.completed")


def _chat_message(call: _Call) -> tuple[dict[str, Any], str]:
    if call is None:
        return {"role": "assistant", "content": _DONE}, "stop"
    function = {"name": call[0], "arguments": json.dumps(call[1])}
    tool = {"index": 0, "id": _id(), "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [tool]}, "tool_calls"


def _chat_whole(call: _Call) -> dict[str, Any]:
    message, reason = _chat_message(call)
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    facts = {"id": "chat_1", "object": "chat.completion", "created": 1, "model": "scripted"}
    return {**facts, "choices": [choice], "usage": usage}


def _chat(call: _Call) -> Iterator[str]:
    whole = _chat_whole(call) | {"object": "chat.completion.chunk"}
    message, reason = _chat_message(call)
    for delta, end in ((message, None), ({}, reason)):
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        yield _event({**whole, "choices": [choice], **({} if end else {"usage": None})})
    yield "data: [DONE]\n\n"


def _gemini_whole(call: _Call) -> dict[str, Any]:
    part: dict[str, Any] = {"text": _DONE}
    if call:
        part = {"functionCall": {"id": _id(), "name": call[0], "args": call[1]}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage}


def _gemini(call: _Call) -> Iterator[str]:
    yield _event(_gemini_whole(call))


_FORMS = {
    "/messages": (_anthropic, _anthropic_whole),
    "/responses": (_responses, _response_whole),
    "/chat/completions": (_chat, _chat_whole),
    "treamGenerateContent": (_gemini, _gemini_whole),
    "generateContent": (_gemini, _gemini_whole),
}
