"""Who speaks in a message: the many words that logs have for it, and the four that are meant."""

from __future__ import annotations

from typing import Literal

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.secrets.quoting import quoted

Role = Literal["system", "user", "agent", "tool"]
_ROLES: dict[str, Role] = {
    **dict.fromkeys(("system", "developer", "systemmessage"), "system"),
    **dict.fromkeys(("user", "human", "humanmessage"), "user"),
    **dict.fromkeys(("assistant", "agent", "ai", "bot", "gpt", "model"), "agent"),
    **dict.fromkeys(("aimessage", "aimessagechunk", "function_call"), "agent"),
    **dict.fromkeys(("tool", "toolmessage", "toolresult", "tool_result", "tool_response"), "tool"),
    **dict.fromkeys(("function", "functionmessage", "function_response"), "tool"),
    **dict.fromkeys(("environment", "ipython", "observation"), "tool"),
}


def speaker(name: object) -> Role | None:
    """Who speaks under a name, in whatever letters; None if nobody knows it."""
    return _ROLES.get(name.lower()) if isinstance(name, str) else None


def unknown_speaker(name: str) -> RecordError:
    """Why a message is refused whose speaker is not known: its words are nobody's to give away."""
    if name:
        return RecordError(f"a message of unknown role {quoted(name, 40)}")
    return RecordError("a message without a role")
