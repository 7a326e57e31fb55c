"""How the agents differ in their hooks: their settings, their events, what they read of us."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Event = str
"""`prompt`, `failure`, `start` or `end`: what happens, whichever agent it happens to."""
PROMPT, FAILURE, START, END = ("prompt", "failure", "start", "end")


@dataclass(frozen=True, slots=True)
class Handler:
    """An event of ours in an agent's settings.

    Attributes:
        name: The agent's event.
        matcher: Which of them are meant, in the agent's own words; empty for all.
        timeout: The seconds it may take.
    """

    name: str
    matcher: str = ""
    timeout: int = 5


@dataclass(frozen=True, slots=True)
class AgentProtocol:
    """One agent's way.

    Attributes:
        name: What commands call it.
        settings: Where its settings lie, below the home folder or a project's.
        handlers: Its events by ours.
        form: Its entries: a program and its arguments (`list`) or a line for a shell (`line`) in a
            list of hooks; a line alone (`flat`), or alone under the shell's name (`bash`).
        milliseconds: Whether its timeouts are in milliseconds.
        context: The key of what is added to the context; empty if it is `additionalContext` within
            `hookSpecificOutput`.
        mute: Events at which it reads nothing.
        silence: What is printed where there is nothing to say.
        commands: The folder of its slash commands or skills; empty if it has none.
        trust: What its user has to do before it runs a hook; empty if nothing.
        in_projects: Whether it reads these settings in a project's folder, too.
    """

    name: str
    settings: str
    handlers: Mapping[Event, Handler]
    form: Literal["list", "line", "flat", "bash"] = "line"
    milliseconds: bool = False
    context: str = ""
    mute: tuple[Event, ...] = ()
    silence: str = ""
    commands: str = ""
    trust: str = ""
    in_projects: bool = True

    def output(self, event: Event, context: str) -> str:
        """Return the output of a hook from which the agent reads `context`."""
        if not context:
            return self.silence
        if self.context:
            return json.dumps({self.context: context})
        named = {"hookEventName": self.handlers[event].name, "additionalContext": context}
        return json.dumps({"hookSpecificOutput": named})


_USUAL = {
    PROMPT: Handler("UserPromptSubmit"),
    FAILURE: Handler("PostToolUse"),
    START: Handler("SessionStart", "startup|clear|compact"),
    END: Handler("SessionEnd", timeout=3),
}
_PROTOCOLS = (
    AgentProtocol(
        "claude-code",
        ".claude/settings.json",
        _USUAL | {FAILURE: Handler("PostToolUseFailure")},
        form="list",
        commands=".claude/skills/deltamem/SKILL.md",
    ),
    AgentProtocol(
        "codex",
        ".codex/hooks.json",
        _USUAL,
        commands=".codex/prompts/deltamem.md",
        trust="start `codex` once and trust the hooks: until then it leaves them out, silently",
    ),
    AgentProtocol(
        "gemini",
        ".gemini/settings.json",
        {
            PROMPT: Handler("BeforeAgent"),
            FAILURE: Handler("AfterTool"),
            START: Handler("SessionStart", "startup"),
            END: Handler("SessionEnd"),
        },
        milliseconds=True,
        silence="{}",
        commands=".gemini/commands/deltamem.toml",
    ),
    AgentProtocol(
        "qwen",
        ".qwen/settings.json",
        _USUAL | {END: Handler("Stop")},  # without a screen it tells of no other end
        milliseconds=True,
        silence="{}",
        commands=".qwen/commands/deltamem.toml",
    ),
    AgentProtocol(
        "openhands",
        ".openhands/hooks.json",
        {event: handler for event, handler in _USUAL.items() if event != START},
        context="additionalContext",
        silence="{}",
    ),
    AgentProtocol(
        "copilot",
        ".copilot/hooks/deltamem.json",
        _USUAL | {START: Handler("SessionStart")},
        form="bash",
        context="additionalContext",
        in_projects=False,
    ),
    AgentProtocol(
        "cursor",
        ".cursor/hooks.json",
        {
            PROMPT: Handler("beforeSubmitPrompt"),
            FAILURE: Handler("postToolUse"),
            START: Handler("sessionStart"),
            END: Handler("sessionEnd"),
        },
        form="flat",
        context="additional_context",
        mute=(PROMPT,),
        silence="{}",
    ),
    AgentProtocol(
        "opencode",
        ".config/opencode/plugins/deltamem.js",
        {event: Handler(event) for event in (PROMPT, FAILURE, END)},
        context="additionalContext",
        in_projects=False,
    ),
)
PROTOCOLS: Mapping[str, AgentProtocol] = {each.name: each for each in _PROTOCOLS}
