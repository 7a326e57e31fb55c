"""`deltamem hook`: what the entries in an agent's settings call, and how the agents differ.

It never breaks the agent. Whatever fails ends in exit 0 with a line in our own log, and what goes
to stdout is valid for the agent or nothing. So it reads its arguments itself, and loads no more
than the event needs: each prompt waits for it.

The agents agree on most of it: JSON on stdin, JSON on stdout. What an agent is not known to
say is left unread; what it says is a stranger's, and bounded.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from deltamem_tui import paths
from deltamem_tui.agents import helper
from deltamem_tui.agents.sessions import SessionFile, StateFolder
from deltamem_tui.text import count_tokens

Event = str
"""`prompt`, `failure`, `start` or `end`: what happens, whichever agent it happens to."""
PROMPT, FAILURE, START, END = ("prompt", "failure", "start", "end")

_WORDS = {"ok": "success", "bad": "failure"}
_SPOKEN = re.compile(r"\s*/(?:prompts:)?deltamem[ \t]+(ok|bad)[ \t]*(?:\n|\Z)")
_TOLD = re.compile(
    r"\A\s*<hook_context>.*?</hook_context>\s*", re.DOTALL
)  # Gemini CLI puts it in front
_LONGEST = 20_000  # characters that are read of any text
_EXIT_CODE = re.compile(r"(?im)^(?:process )?exit(?:ed with)? code[: ]+(-?\d{1,9})\b")


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


CHARACTERS = 9_000
"""The most that is handed over at once; Claude Code cuts at 10,000."""
TOKENS = 1_500
"""The usual budget; Codex takes 2,500, of four bytes each."""
_COMMAND = re.compile(r"[/?!][\w:-]*")
RULES = "rules"
_LEARNING_SECONDS = 900.0


def run(arguments: Sequence[str], data: bytes) -> int:
    """Answer one event without a helper, which is started; returns the exit code, always 0."""
    state = StateFolder(paths.state_folder())
    if arguments[:1] == ["learn"] or arguments[:1] == ["helper"]:
        with _logged(state, arguments):
            (_learn if arguments[0] == "learn" else _help)(state, *arguments[1:])
        return 0
    sys.stdout.write(answered(state, arguments, data, os.getcwd()))  # noqa: PTH109
    sys.stdout.flush()
    if arguments[1:2] != [END] and "--bank" in arguments[:-1]:
        helper.start(_placed(arguments[[*arguments].index("--bank") + 1]))
    return 0


def answered(state: StateFolder, arguments: Sequence[str], data: bytes, folder: str) -> str:
    """Return what is printed for an event that happens in a working folder."""
    answer = ""
    with _logged(state, arguments):
        protocol, event, bank, tokens, learn = _arguments(arguments)
        bank = _placed(bank)
        answer = protocol.silence
        told = parsed(data)
        if told.transcript:
            told = replace(told, transcript=os.path.join(folder, told.transcript))  # noqa: PTH118
        answer = protocol.output(event, _answer(state, protocol, event, told, bank, tokens))
        if event == END and learn:
            helper.detached(["hook", "learn", bank, learn])
    return answer + "\n" if answer else ""


@contextmanager
def _logged(state: StateFolder, arguments: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - an agent goes on without us
        state.log(f"{' '.join(arguments[:2])}: {type(error).__name__}: {error}")


def _help(state: StateFolder, bank: str) -> None:
    """Be the helper."""

    def prepare() -> None:
        from deltamem_tui.agents.hook_recall import load

        load(bank)

    helper.serve(partial(answered, state), prepare)


def _learn(state: StateFolder, bank: str, how: str) -> None:
    """Take in the sessions of a bank that ended, and learn from them, within limits.

    What weak signs say of an end is learnt too, as long as nobody says otherwise. One that waits
    for another to finish takes in what ended meanwhile, so a third one has nothing to do.
    """
    import subprocess

    os.nice(10)
    writer = ["--extractor", "rules"] if how == RULES else ["--max-cost", how]
    bounds = ["--admit", "coarse-then-strict", "--limit", "20"]
    with ExitStack() as stack:
        try:
            with state.turn("next to learn", bank, 0):
                stack.enter_context(state.turn("learn", bank, _LEARNING_SECONDS))
        except TimeoutError:
            return
        for command in (["import", bank, "--queued"], ["extract", bank, *bounds, *writer]):
            program = [sys.executable, "-P", "-m", "deltamem_tui", *command]
            done = subprocess.run(
                program, capture_output=True, timeout=_LEARNING_SECONDS, check=False
            )
            if done.returncode:
                state.log(f"{command[0]} {bank}: {done.stderr.decode(errors='replace')}")


def _arguments(arguments: Sequence[str]) -> tuple[AgentProtocol, str, str, int, str]:
    """Parse the arguments: agent, event, bank, budget, and how to learn at a session's end."""
    agent, event, *rest = arguments
    options = dict(zip(rest[::2], rest[1::2], strict=True))
    tokens = int(options.pop("--budget", str(TOKENS)))
    bank, learn = options.pop("--bank"), options.pop("--learn", "")
    if options or agent not in PROTOCOLS or event not in PROTOCOLS[agent].handlers:
        raise ValueError("these arguments are not understood")
    return PROTOCOLS[agent], event, bank, tokens, learn


def _placed(bank: str) -> str:
    """Resolve a bank that is just named: the session may be imported from another folder."""
    if os.path.isabs(bank):  # noqa: PTH117 - as below, no more is loaded than is needed
        return bank
    from deltamem_tui import config
    from deltamem_tui.errors import DeltaMemError

    try:
        found = paths.find_bank(bank, paths.banks_folder(config.load().banks))
    except DeltaMemError:
        return bank  # told when it is opened; a session may wait for a bank
    return str(found.resolve())


def _answer(
    state: StateFolder,
    protocol: AgentProtocol,
    event: Event,
    told: HookInput,
    bank: str,
    tokens: int,
) -> str:
    """Return the context for an event; empty for none."""
    agent = protocol.name
    session = state.session(agent, told.session, bank)
    session = replace(session, path=told.transcript or session.path)
    if event == END:
        state.enqueue(session)
        return ""
    if event == START and told.source == "compact":
        return _again(session, tokens)
    if event == PROMPT and (said := outcome_in(told.prompt)):
        # It waits from now on, with what was said: not every agent tells of an end.
        session = replace(session, outcome=said)
        state.keep(session)
        state.enqueue(session)
        return ""
    asks = {PROMPT: _asks(told.prompt), FAILURE: any(told.failure), START: told.source != "resume"}
    if not asks[event] or event in protocol.mute:
        return ""
    from deltamem_tui.agents.hook_recall import digest_for, failures_for, prompt_context

    with state.turn(agent, told.session):
        known = replace(state.session(agent, told.session, bank), path=session.path)
        if event == FAILURE:
            session, text = failures_for(known, *told.failure, CHARACTERS, tokens)
        elif event == START:
            session, text = digest_for(known, told.folder, tokens)
        else:
            session, text = prompt_context(known, told.prompt, told.folder, CHARACTERS, tokens)
        state.keep(session)
    return text


def _asks(prompt: str) -> bool:
    """Tell if a prompt asks for something, and is not just a command of the agent's program."""
    return bool(prompt.strip()) and _COMMAND.fullmatch(prompt.strip()) is None


def _again(session: SessionFile, tokens: int) -> str:
    """Return what a session was given, the latest of it where all is too much."""
    found = ""
    for text in reversed(session.texts):
        more = f"{text}\n\n{found}" if found else text
        if len(more) <= CHARACTERS and count_tokens(more) <= tokens:
            found = more
    return found
