"""A bank's skills over MCP: the extension `io.modelcontextprotocol/skills` (SEP-2640).

The skills are those of `export --as skills`, so a client reads the very files that a folder of
them would hold. They are written when the first client asks, and again when the bank has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from threading import Lock
from typing import Any
from urllib.parse import quote

import yaml
from mcp.server.context import ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams, RequestParams

from deltamem_tui.agents.served_banks import ServedBanks
from deltamem_tui.errors import BankError, BankNotFoundError
from deltamem_tui.memory.skills.export import KNOWLEDGE, SKILL_FILE, skill_texts
from deltamem_tui.text import one_line

_IDENTIFIER = "io.modelcontextprotocol/skills"
_PAGE = 200
"""Skills of one answer."""


class GetSkillParams(RequestParams):
    """Which skill is asked for: the URI of its SKILL.md."""

    uri: str


class ServedSkills:
    """The skills of all banks that are served."""

    def __init__(self, banks: ServedBanks) -> None:
        self._banks = banks
        self._written: dict[str, tuple[int, dict[str, bytes]]] = {}  # with the commit
        self._writing = Lock()

    def extension(self) -> Extension:
        """Return the extension that lists them and describes one."""
        skills = self

        class SkillsExtension(Extension):
            identifier = _IDENTIFIER

            def methods(self) -> list[MethodBinding]:
                return [
                    MethodBinding("skills/list", PaginatedRequestParams, skills.list_skills),
                    MethodBinding("skills/get", GetSkillParams, skills.get_skill),
                ]

        return SkillsExtension()

    async def list_skills(
        self, _: ServerRequestContext[Any], params: PaginatedRequestParams
    ) -> dict[str, Any]:
        """`skills/list`: the entries in order of their URIs, some at a time."""
        from anyio.to_thread import run_sync

        entries = await run_sync(lambda: list(self._entries()))
        start = _page_start(params.cursor, len(entries))
        page: dict[str, Any] = {
            "skills": entries[start : start + _PAGE],
            "ttlMs": 0,
            "cacheScope": "private",
            "resultType": "complete",
        }
        return page | ({"nextCursor": str(start + _PAGE)} if start + _PAGE < len(entries) else {})

    async def get_skill(
        self, _: ServerRequestContext[Any], params: GetSkillParams
    ) -> dict[str, Any]:
        """`skills/get`: the entry of one skill."""
        from anyio.to_thread import run_sync

        entries = await run_sync(lambda: list(self._entries()))
        for entry in entries:
            if entry["uri"] == params.uri:
                return {"skill": entry, "resultType": "complete"}
        raise MCPError(INVALID_PARAMS, f"there is no skill {one_line(params.uri, 200)!r}")

    def text(self, bank: str, path: str) -> str:
        """Return a file of a bank's skills.

        Raises:
            BankNotFoundError: There is no such bank, or no such file.
            BankError: The bank cannot be read.
        """
        files = self._files(bank)
        if path not in files:
            raise BankNotFoundError(f"the skills of {bank!r} have no file {one_line(path, 100)!r}")
        return files[path].decode()

    def _entries(self) -> Iterator[dict[str, Any]]:
        for bank in self._banks.places():
            try:
                files = self._files(bank)
            except BankError:
                continue  # `list_banks` says why
            for path in sorted(files):
                skill, _, name = path.rpartition("/")
                if name == SKILL_FILE:
                    yield _entry(bank, skill, files)

    def _files(self, name: str) -> dict[str, bytes]:
        with self._writing, self._banks.bank(name) as bank:
            commit, known = self._written.get(name, (None, {}))
            if commit != bank.commit.sequence:
                known = {path: text.encode() for path, text in skill_texts(bank).items()}
                self._written[name] = (bank.commit.sequence, known)
            return known


def _entry(bank: str, skill: str, files: dict[str, bytes]) -> dict[str, Any]:
    front_matter = files[f"{skill}/{SKILL_FILE}"].decode().split("---\n", 2)[1]
    own = sorted(path for path in files if path.startswith((f"{skill}/", f"{KNOWLEDGE}/")))
    return {
        "uri": _uri(bank, f"{skill}/{SKILL_FILE}"),
        "frontmatter": yaml.safe_load(front_matter),
        "resources": [
            {
                "uri": _uri(bank, path),
                "digest": f"sha256:{hashlib.sha256(files[path]).hexdigest()}",
                "size": len(files[path]),
            }
            for path in own
        ],
    }


def _uri(bank: str, path: str) -> str:
    return f"skill://{quote(bank, safe='')}/{path}"


def _page_start(cursor: str | None, most: int) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and int(cursor) < most):
        raise MCPError(INVALID_PARAMS, "invalid cursor")
    return int(cursor)
