"""A tool call as one action: what a person would have typed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from deltamem_tui.trajectory.readers.shapes import Json, as_json, as_text, unfolded

# Agents name the tool that runs a shell command in many ways. Its action is the command
# itself, so that the same work reads the same whichever agent did it.
_SHELLS = frozenset(
    {"bash", "bash_command", "cmd", "exec", "exec_command", "execute_bash", "execute_command"}
    | {"local_shell", "powershell", "run", "run_command", "run_shell_command"}
    | {"run_terminal_cmd", "run_terminal_command", "sh", "shell", "shell_command", "terminal"}
)
_COMMANDS = ("command", "cmd", "keystrokes")
# What agents' own programs put beside a command: where, for how long, why, with whose leave.
# None of it is typed. Whatever else stands there may be, so then the whole call is the action.
_ASIDES = frozenset(
    {"description", "explanation", "justification", "reason", "summary", "thought", "title"}
    | {"cwd", "dir_path", "directory", "workdir", "working_dir", "working_directory"}
    | {"duration", "max_timeout_sec", "timeout", "timeout_ms", "timeout_seconds", "yield_time_ms"}
    | {"background", "blocking", "hidden", "is_background", "is_blocking", "is_input", "login"}
    | {"restart", "reset", "run_in_background", "session_id", "shell", "tty"}
    | {"max_output_chars", "max_output_tokens", "no_change_timeout_seconds"}
    | {"dangerouslydisablesandbox", "prefix_rule", "require_user_approval", "requires_approval"}
    | {"sandbox_permissions", "security_risk", "with_escalated_permissions"}
)


def call_text(name: str, arguments: object) -> str:
    """A tool call as text: `ls -la` for a shell's, `read(path="a.py", limit=20)` for others'.

    Args:
        name: The tool's name.
        arguments: An object, JSON text of one, other text, or None.
    """
    given = parsed_arguments(arguments)
    if not isinstance(given, Mapping):
        text = as_text(given)
        return f"{name}\n{text}" if "\n" in text else f"{name}({text})"
    if name.lower() in _SHELLS and (command := _command(given)):
        return command
    return f"{name}({', '.join(f'{key}={as_json(value)}' for key, value in given.items())})"


def parsed_arguments(arguments: object) -> object:
    """Arguments as an object where they are one, or JSON text of one."""
    if arguments is None or arguments == "":
        return {}
    parsed = unfolded(arguments)
    return arguments if isinstance(parsed, list) and isinstance(arguments, str) else parsed


def _command(arguments: Json) -> str:
    """The command among a shell's arguments, if they hold one and nothing else that matters."""
    named = [key for key in arguments if key.lower() not in _ASIDES]
    found = arguments[named[0]] if len(named) == 1 and named[0] in _COMMANDS else None
    if isinstance(found, list):
        words = [as_text(word) for word in found]
        # `bash -lc "…"` is a wrapper of the agent's program, not the agent's words.
        wrapped = len(words) == 3 and words[1] in ("-c", "-lc")
        return words[2] if wrapped else shlex.join(words)
    return found.rstrip("\n") if isinstance(found, str) else ""
