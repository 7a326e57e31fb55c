"""What each agent's hooks are told, and what they may answer.

The four agree on most of it: JSON on stdin, JSON on stdout. Here is where they differ. What an
agent is not known to say is left unread; what it says is a stranger's, and bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Event = str
"""`prompt`, `failure`, `resume` or `end`: what happens, whichever agent it happens to."""
PROMPT, FAILURE, RESUME, END = EVENTS = ("prompt", "failure", "resume", "end")

_WORDS = {"ok": "success", "bad": "failure"}
_SPOKEN = re.compile(r"\s*/(?:prompts:)?deltamem[ \t]+(ok|bad)[ \t]*(?:\n|\Z)")
_LONGEST = 20_000  # characters that are read of any text
# How shells' tools put it; `exit 1` alone may stand in a script that was read.
_EXIT_CODE = re.compile(r"\bexit(?:ed with)? code[: ]+(-?\d{1,9})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Handler:
    """How an event of ours is called in an agent's settings.

    Attributes:
        name: The agent's event.
        matcher: Which of them are meant, in the agent's own words; empty for all.
        timeout: The seconds it may take.
    """

    name: str
    matcher: str = ""
    timeout: int = 30


@dataclass(frozen=True, slots=True)
class AgentProtocol:
    """One agent's way.

    Attributes:
        name: What commands call it.
        settings: Where its settings lie, below the home folder or a project's.
        handlers: Its events by ours.
        takes_arguments: Whether a command is a program and a list, and not a line for a shell.
        milliseconds: Whether its timeouts are in milliseconds.
        nested: Whether what is added to the context stands in `hookSpecificOutput`.
        silence: What is printed where there is nothing to say.
        commands: The folder of its slash commands or skills; empty if it has none.
    """

    name: str
    settings: str
    handlers: Mapping[Event, Handler]
    takes_arguments: bool = False
    milliseconds: bool = False
    nested: bool = True
    silence: str = ""
    commands: str = ""

    def output(self, event: Event, context: str) -> str:
        """What the hook prints so that the agent reads `context`."""
        if not context:
            return self.silence
        added: dict[str, Any] = {"additionalContext": context}
        if self.nested:
            added = {"hookSpecificOutput": {"hookEventName": self.handlers[event].name, **added}}
        return json.dumps(added)


_ANEW = "resume|compact"
_PROTOCOLS = (
    AgentProtocol(
        "claude-code",
        ".claude/settings.json",
        {
            PROMPT: Handler("UserPromptSubmit"),
            FAILURE: Handler("PostToolUseFailure"),
            RESUME: Handler("SessionStart", _ANEW),
            END: Handler("SessionEnd", timeout=5),
        },
        takes_arguments=True,
        commands=".claude/skills/deltamem/SKILL.md",
    ),
    AgentProtocol(
        "codex",
        ".codex/hooks.json",
        {
            PROMPT: Handler("UserPromptSubmit"),
            FAILURE: Handler("PostToolUse"),
            RESUME: Handler("SessionStart", _ANEW),
            END: Handler("SessionEnd", timeout=3),
        },
        commands=".codex/prompts/deltamem.md",
    ),
    AgentProtocol(
        "gemini",
        ".gemini/settings.json",
        {
            PROMPT: Handler("BeforeAgent"),
            FAILURE: Handler("AfterTool"),
            RESUME: Handler("SessionStart", "resume"),
            END: Handler("SessionEnd", timeout=5),
        },
        milliseconds=True,
        silence="{}",
        commands=".gemini/commands/deltamem.toml",
    ),
    AgentProtocol(
        "openhands",
        ".openhands/hooks.json",
        {
            PROMPT: Handler("UserPromptSubmit"),
            FAILURE: Handler("PostToolUse"),
            END: Handler("SessionEnd", timeout=5),
        },
        nested=False,
        silence="{}",
    ),
)
PROTOCOLS: Mapping[str, AgentProtocol] = {each.name: each for each in _PROTOCOLS}


@dataclass(frozen=True, slots=True)
class HookInput:
    """What an agent says of an event.

    Attributes:
        transcript: Where the session's log lies; empty if the agent does not say.
        failure: What a tool call was and how it failed; empty if it did not.
        anew: Whether the agent lost what it was told, or was started on an old session.
    """

    session: str
    folder: str
    transcript: str = ""
    prompt: str = ""
    failure: str = ""
    anew: bool = False


def parsed(data: bytes) -> HookInput:
    """What stands on a hook's stdin.

    Raises:
        ValueError: It is not a JSON object.
    """
    record = json.loads(data)
    if not isinstance(record, dict):
        raise ValueError("not an object")
    return HookInput(
        session=_text(record, "session_id")[:200],
        folder=_text(record, "cwd", "working_dir"),
        transcript=_text(record, "transcript_path"),
        prompt=_text(record, "prompt", "message"),
        failure=_failure(record),
        anew=record.get("source") in ("resume", "compact"),
    )


def outcome_in(prompt: str) -> str:
    """`success` or `failure`, if a prompt is the user's `/deltamem ok` or `/deltamem bad`."""
    found = _SPOKEN.match(prompt)
    return _WORDS[found[1]] if found else ""


def _text(record: Mapping[str, Any], *names: str) -> str:
    found = (record.get(name) for name in names)
    return next((each[:_LONGEST] for each in found if isinstance(each, str)), "")


def _failure(record: Mapping[str, Any]) -> str:
    """A tool call that failed, and what came back; an interruption by the user is none."""
    name, answer = _text(record, "tool_name"), record.get("tool_response")
    error = _text(record, "error", "error_message") or _error_of(answer)
    if not name or not error or record.get("is_interrupt") is True:
        return ""
    given = record.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    call = command if isinstance(command, str) else f"{name} {json.dumps(given)}"
    return f"{call[:_LONGEST]}\n{error}"


def _error_of(answer: object) -> str:
    """Why a tool's answer is a failure; empty if it is none, or does not say."""
    if isinstance(answer, str):
        found = _EXIT_CODE.search(answer)
        return answer[:_LONGEST] if found and int(found[1]) else ""
    if not isinstance(answer, dict):
        return ""
    stated = answer.get("error")
    if isinstance(stated, str) and stated:
        return stated[:_LONGEST]
    code = answer.get("exit_code", answer.get("exitCode"))
    failed = answer.get("is_error") is True or answer.get("success") is False or bool(stated)
    if failed or (isinstance(code, int) and code):
        return json.dumps(answer)[:_LONGEST]
    told = answer.get("llmContent")
    return _error_of(told) if isinstance(told, str) else ""
