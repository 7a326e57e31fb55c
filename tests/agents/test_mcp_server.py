"""The MCP server, asked by the SDK's own client in both eras of the protocol."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import msgspec
import orjson
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from deltamem_tui import create_bank, learn, open_bank, recall
from deltamem_tui.agents.mcp import RECALL_META, server_over
from deltamem_tui.agents.served_banks import ServedBanks
from deltamem_tui.errors import BankNotFoundError, UsageError
from deltamem_tui.memory.episodes.stored_episodes import episode
from tests.places import BANKS, PROMPTS

ERAS = ("legacy", "2026-07-28")
TASK = "put a hot mug in cabinet"
NOTHING = "Nothing in this bank is near enough to this task."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two banks that learnt from the episodes of the shipped one, in different orders."""
    folder = tmp_path_factory.mktemp("banks")
    shipped = open_bank(BANKS / "alfworld")
    ids = list(shipped.episodes.ids())
    for name, order in (("one", ids), ("two", ids[::-1])):
        bank = create_bank(folder / name, embedder="hashing", domain="alfworld")
        for each in order:
            found = episode(shipped, each)
            assert found
            learn(bank, found)
    return folder


@asynccontextmanager
async def client(folder: Path, *names: str, era: str = ERAS[1]) -> AsyncIterator[Client]:
    banks = ServedBanks(folder, tuple(folder / name for name in names))
    async with Client(server_over(banks, [PROMPTS]), mode=era) as connected:
        yield connected


def structure(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content
    return cast("dict[str, Any]", result.structured_content)


def recalled(result: Any) -> tuple[str, dict[str, Any]]:
    """The text that a model gets of a recall, and the bookkeeping that it does not get."""
    assert not result.is_error, result.content
    assert result.structured_content is None
    (content,) = result.content
    return content.text, result.meta[RECALL_META]


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_answers_what_the_library_does(folder: Path, era: str) -> None:
    async def ask() -> None:
        async with client(folder, "one", "two", era=era) as connected:
            tools = (await connected.list_tools()).tools
            assert [tool.name for tool in tools] == ["list_banks", "recall", "search", "show"]
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
            assert all(tool.title and "  " not in (tool.description or "") for tool in tools)
            banks = structure(await connected.call_tool("list_banks", {}))["banks"]
            assert [each["bank"] for each in banks] == ["one", "two"]

            found = await connected.call_tool("recall", {"task": TASK, "bank": "one"})
            expected = recall(open_bank(folder / "one"), TASK, folders=[PROMPTS])
            assert expected.context
            text, facts = recalled(found)
            assert text == expected.context
            assert facts["receipt"] == orjson.loads(msgspec.json.encode(expected.receipt))
            match = expected["task"]
            assert match
            assert facts["matches"][0]["node"] == match.chain[-1].id

            nodes = structure(await connected.call_tool("search", {"text": TASK, "bank": "one"}))
            assert nodes["nodes"][0]["collection"] == "task"
            one = nodes["nodes"][0]["node"]
            shown = structure(await connected.call_tool("show", {"node": one[:8], "bank": "one"}))
            assert shown["node"]["id"] == one == shown["chain"][-1]

    anyio.run(ask)


def test_what_is_not_near_enough_is_answered_so(folder: Path) -> None:
    async def ask() -> None:
        async with client(folder, "one") as connected:
            answer = await connected.call_tool("recall", {"task": "prove the Riemann hypothesis"})
            text, facts = recalled(answer)
            assert text == NOTHING
            assert not facts["matches"]
            assert "entries" not in facts["receipt"]

    anyio.run(ask)


def test_a_bank_that_learns_is_seen_without_a_restart(folder: Path, tmp_path: Path) -> None:
    learnt = open_bank(folder / "one")
    growing = create_bank(tmp_path / "growing", embedder="hashing", domain="alfworld")

    async def ask() -> None:
        async with client(tmp_path) as connected:
            question = {"task": TASK, "bank": "growing"}
            assert recalled(await connected.call_tool("recall", question))[0] == NOTHING
            for each in learnt.episodes.ids():
                learn(growing, cast("Any", episode(learnt, each)))
            assert recalled(await connected.call_tool("recall", question))[0] != NOTHING

    anyio.run(ask)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("recall", {"task": TASK}),  # two banks, none named
        ("recall", {"task": TASK, "bank": "../one"}),
        ("recall", {"task": TASK, "bank": "/etc/passwd"}),
        ("recall", {"task": TASK, "bank": 7}),
        ("recall", {"task": "", "bank": "one"}),
        ("recall", {"task": "x" * 3_000_000, "bank": "one"}),
        ("recall", {"bank": "one"}),
        ("search", {"text": TASK, "bank": "one", "count": 10**9}),
        ("search", {"text": ["a"], "bank": "one"}),
        ("show", {"node": "zzzz", "bank": "one"}),
        ("show", {"node": "", "bank": "one"}),
        ("forget_everything", {}),
    ],
)
def test_a_wrong_request_is_an_error_and_the_next_one_is_answered(
    folder: Path, tool: str, arguments: dict[str, Any]
) -> None:
    async def ask() -> None:
        async with client(folder, "one", "two") as connected:
            answer = await connected.call_tool(tool, arguments)
            assert answer.is_error
            assert "Traceback" not in str(answer.content)
            right = await connected.call_tool("recall", {"task": TASK, "bank": "one"})
            assert recalled(right)[0] != NOTHING

    anyio.run(ask)


# The program itself, on real pipes


def program(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "deltamem_tui", "--banks", str(folder), "serve", *arguments]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("era", ERAS)
def test_a_thousand_requests_at_once_are_all_answered(
    folder: Path, era: Literal["legacy"] | str
) -> None:
    command, *arguments = program(folder, "one")
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))

    async def ask() -> None:
        async with Client(stdio_client(server), mode=era) as connected:
            contexts: set[str] = set()

            async def one(number: int) -> None:
                text = TASK if number % 2 else "x" * 20_001
                answer = await connected.call_tool("recall", {"task": text})
                contexts.add("" if answer.is_error else recalled(answer)[0])

            async with anyio.create_task_group() as group:
                for number in range(1000):
                    group.start_soon(one, number)
            expected = recall(open_bank(folder / "one"), TASK).context
            assert contexts == {"", expected}

    anyio.run(ask)


@pytest.fixture
def served(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        program(folder, "one"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield process
        process.kill()


def asked(process: subprocess.Popen[bytes], line: bytes) -> None:
    assert process.stdin
    process.stdin.write(line + b"\n")
    process.stdin.flush()


def test_noise_and_endless_lines_do_not_end_the_server(served: subprocess.Popen[bytes]) -> None:
    for noise in (b"", b"{", b"\xff\xfe\x00", b"[]", b'{"jsonrpc": "2.0"}', b"x" * 20_000_000):
        asked(served, noise)
    about = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    request = {"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"_meta": about}}
    asked(served, orjson.dumps(request))
    assert served.stdout
    while line := orjson.loads(served.stdout.readline()):
        if line.get("id") == 5:
            break
    assert [tool["name"] for tool in line["result"]["tools"]][1] == "recall"


def test_the_handshake_is_answered_before_what_is_heavy_is_loaded(
    folder: Path, tmp_path: Path
) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}}
    about |= {"clientInfo": {"name": "test", "version": "1"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    command = [sys.executable, "-X", "importtime", *program(folder, "one")[1:]]
    log = tmp_path / "imports"
    pipe = subprocess.PIPE
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors) as process,
    ):
        asked(process, orjson.dumps(request))
        assert process.stdout
        answer = orjson.loads(process.stdout.readline())
        loaded = {line.rpartition("|")[2].strip() for line in log.read_text().splitlines()}
        process.kill()
    assert answer["result"]["serverInfo"]["name"] == "deltamem"
    assert "mcp.server" in loaded
    assert not loaded & {"numpy", "litellm", "onnxruntime", "deltamem_tui.bank.bank"}


def test_it_ends_with_its_client(served: subprocess.Popen[bytes]) -> None:
    assert served.stdin
    served.stdin.close()
    assert served.wait(timeout=60) == 0


def test_banks_are_found_by_name_only(tmp_path: Path) -> None:
    create_bank(tmp_path / "banks" / "one", embedder="hashing")
    create_bank(tmp_path / "elsewhere" / "two", embedder="hashing")
    served = ServedBanks(tmp_path / "banks", (tmp_path / "elsewhere" / "two",))
    assert list(served.places()) == ["two"]
    with served.bank(None) as bank:
        assert bank.name == "two"
    for name in ("one", "", "../banks/one", str(tmp_path / "banks" / "one")):
        with pytest.raises(BankNotFoundError), served.bank(name):
            pass


def test_two_banks_of_one_name_are_refused(tmp_path: Path) -> None:
    places = (tmp_path / "a" / "same", tmp_path / "b" / "same")
    for place in places:
        create_bank(place, embedder="hashing")
    with pytest.raises(UsageError, match="two banks"):
        ServedBanks(tmp_path, places)
