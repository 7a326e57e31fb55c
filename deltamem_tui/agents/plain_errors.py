"""What is wrong with a tool's arguments, in words that a model can act on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from deltamem_tui.text import one_line

_MOST = 5
_PLAIN: Mapping[str, str] = {
    "missing": "is missing",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "string_too_long": "has more than {max_length} characters",
    "string_too_short": "has fewer than {min_length} characters",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
}


class PlainSpokenServer(MCPServer[None]):
    """A server that says of wrong arguments which, and how they are wrong."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> Any:
        """Call a tool; see the SDK's."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(in_plain_words(error.__cause__)) from error
            raise


def in_plain_words(error: ValidationError) -> str:
    """The first of the arguments that are wrong: `task is missing; count must be at most 50`."""
    found = error.errors(include_url=False, include_input=False)[:_MOST]
    return "; ".join(
        f"{one_line('.'.join(map(str, each['loc'])), 60) or 'the call'} "
        + _PLAIN.get(each["type"], f"is wrong: {each['msg']}").format(**each.get("ctx", {}))
        for each in found
    )
