from __future__ import annotations

import pytest

from deltamem_tui.trajectory.readers.coding import call_text


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("Bash", {"command": "ls -la\n", "timeout": 3}, "ls -la"),
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, "ls | wc"),
        ("exec", '{"cmd": ["git", "log", "a b"]}', "git log 'a b'"),
        ("bash_command", {"keystrokes": "ls\n", "duration": 0.1}, "ls"),
        ("Bash", {"command": "ls", "description": "Look.", "run_in_background": False}, "ls"),
        ("bash", {"cmd": "ls", "token": "t"}, 'bash(cmd="ls", token="t")'),
        ("run", {"command": "ls", "cmd": "rm a"}, 'run(command="ls", cmd="rm a")'),
        ("bash", {"restart": True}, "bash(restart=true)"),
        ("bash", {"command": ""}, 'bash(command="")'),
        ("read", {"path": "a\n", "lines": [1, 2]}, 'read(path="a\\n", lines=[1,2])'),
        ("read", '{"path": "气"}', 'read(path="气")'),
        ("read", "{broken", "read({broken)"),
        ("look", None, "look()"),
        ("look", {}, "look()"),
        ("look", "", "look()"),
        ("say", "hello", "say(hello)"),
        ("apply_patch", "*** Begin\n+x", "apply_patch\n*** Begin\n+x"),
        ("sum", [1, 2], "sum([1,2])"),
    ],
)
def test_a_call_as_text(name: str, arguments: object, text: str) -> None:
    assert call_text(name, arguments) == text
