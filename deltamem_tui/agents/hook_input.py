"""What an agent tells a hook, as JSON on stdin.

The agents agree on most of it. What one is not known to say is left unread; what it says is a
stranger's, and bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_WORDS = {"ok": "success", "bad": "failure"}
_SPOKEN = re.compile(r"\s*/(?:prompts:)?deltamem[ \t]+(ok|bad)[ \t]*(?:\n|\Z)")
# Gemini CLI puts it in front.
_TOLD = re.compile(r"\A\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)
_LONGEST = 20_000  # characters that are read of any text
_EXIT_CODE = re.compile(r"(?im)^(?:process )?exit(?:ed with)? code[: ]+(-?\d{1,9})\b")


@dataclass(frozen=True, slots=True)
class HookInput:
    """An event as an agent reports it.

    Attributes:
        transcript: Where the session's log lies; empty if the agent does not say.
        failure: A tool call that failed and its error; both empty if it did not.
        source: Why a session starts: `startup`, `resume`, `clear` or `compact`.
    """

    session: str
    folder: str
    transcript: str = ""
    prompt: str = ""
    failure: tuple[str, str] = ("", "")
    source: str = ""


def parsed(data: bytes) -> HookInput:
    """Parse hook input.

    Raises:
        ValueError: It is not a JSON object.
    """
    record = json.loads(data)
    if not isinstance(record, dict):
        raise ValueError("not an object")
    return HookInput(
        session=_text(record, "session_id", "conversation_id")[:200],
        folder=_text(record, "cwd", "working_dir"),
        transcript=_text(record, "transcript_path"),
        prompt=_TOLD.sub("", _text(record, "prompt", "message")),
        failure=_failure(record),
        source=_text(record, "source"),
    )


def outcome_in(prompt: str) -> str:
    """`success` or `failure`, if a prompt is the user's `/deltamem ok` or `/deltamem bad`."""
    found = _SPOKEN.match(prompt)
    return _WORDS[found[1]] if found else ""


def _text(record: Mapping[str, Any], *names: str) -> str:
    found = (record.get(name) for name in names)
    return next((each[:_LONGEST] for each in found if isinstance(each, str)), "")


def _failure(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return a failed tool call and its answer; an interruption by the user is none."""
    name = _text(record, "tool_name")
    answers = (record.get(key) for key in ("tool_response", "tool_result", "tool_output"))
    answer = next((each for each in answers if each is not None), None)
    error = _text(record, "error", "error_message") or _error_of(answer)
    if not name or not error or record.get("is_interrupt") is True:
        return "", ""
    given = record.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    if isinstance(command, list) and len(command) == 3 and command[1] in ("-c", "-lc"):
        command = command[2]  # a shell and its line
    call = command if isinstance(command, str) else f"{name} {json.dumps(given)}"
    return call[:_LONGEST], error


def _error_of(answer: object) -> str:
    """Return a tool's error; empty if its answer states none."""
    if isinstance(answer, str):
        found = _EXIT_CODE.search(answer)
        if found:
            return answer[:_LONGEST] if int(found[1]) else ""
        from deltamem_tui.memory.work.acts import has_failed

        # Codex says only what was printed. What is wrongly taken for an error meets no known one.
        return answer[:_LONGEST] if has_failed(answer[:_LONGEST]) else ""
    if not isinstance(answer, dict):
        return ""
    stated = answer.get("error")
    if isinstance(stated, str) and stated:
        return stated[:_LONGEST]
    code = answer.get("exit_code", answer.get("exitCode"))
    failed = answer.get("is_error") is True or answer.get("success") is False or bool(stated)
    if failed or (isinstance(code, int) and code):
        return json.dumps(answer)[:_LONGEST]
    told = _text(answer, "llmContent", "text_result_for_llm")
    return _error_of(told) if told else ""
