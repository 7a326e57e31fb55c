"""`deltamem hook`: what the entries in an agent's settings call.

It never breaks the agent. Whatever fails ends in exit 0 with a line in our own log, and what goes
to stdout is valid for the agent or nothing. So it reads its arguments itself, and loads no more
than the event needs: each prompt waits for it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace

from deltamem_tui import paths
from deltamem_tui.agents.protocols import (
    END,
    FAILURE,
    PROMPT,
    PROTOCOLS,
    RESUME,
    AgentProtocol,
    HookInput,
    outcome_in,
    parsed,
)
from deltamem_tui.agents.session_files import SessionFile, StateFolder
from deltamem_tui.text import count_tokens

CHARACTERS = 9_000
"""The most that is handed over at once; Claude Code cuts at 10,000."""
TOKENS = 1_500
"""The usual budget; Codex takes 2,500, of four bytes each."""
_COMMAND = re.compile(r"[/?!][\w:-]*")
_LONGEST_INPUT = 8 * 1024 * 1024


def run(arguments: Sequence[str]) -> int:
    """Answer one event; returns the exit code, which is always 0."""
    state = StateFolder(paths.state_folder())
    answer = ""
    try:
        agent, event, bank, tokens = _arguments(arguments)
        bank = _placed(bank)
        protocol = PROTOCOLS[agent]
        answer = protocol.silence
        told = parsed(sys.stdin.buffer.read(_LONGEST_INPUT))
        answer = protocol.output(event, _answer(state, protocol, event, told, bank, tokens))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - an agent goes on without us
        state.log(f"{' '.join(arguments[:2])}: {type(error).__name__}: {error}")
    if answer:
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
    return 0


def _arguments(arguments: Sequence[str]) -> tuple[str, str, str, int]:
    """The agent, the event, the bank and the budget."""
    agent, event, *rest = arguments
    options = dict(zip(rest[::2], rest[1::2], strict=True))
    tokens = int(options.pop("--budget", str(TOKENS)))
    bank = options.pop("--bank")
    if options or agent not in PROTOCOLS or event not in PROTOCOLS[agent].handlers:
        raise ValueError("these arguments are not understood")
    return agent, event, bank, tokens


def _placed(bank: str) -> str:
    """Where a bank lies that is just named: the session may be imported from another folder.

    Settings that lie in the working folder are asked only then.
    """
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
    event: str,
    told: HookInput,
    bank: str,
    tokens: int,
) -> str:
    """What the agent is told now; empty for nothing."""
    session = state.session(protocol.name, told.session, bank)
    if told.transcript:
        session = replace(session, path=os.path.abspath(told.transcript))  # noqa: PTH100
    if event == END:
        state.enqueue(session)
        return ""
    if event == RESUME:
        return _again(session, tokens) if told.anew else ""
    if event == PROMPT and (said := outcome_in(told.prompt)):
        # It waits from now on, with what was said: not every agent tells of an end.
        session = replace(session, outcome=said)
        state.keep(session)
        state.enqueue(session)
        return ""
    if not (_asks(told.prompt) if event == PROMPT else told.failure):
        return ""
    from deltamem_tui.agents.hook_recall import failures_for, prompt_context

    with state.turn(protocol.name, told.session):
        known = replace(state.session(protocol.name, told.session, bank), path=session.path)
        say = failures_for if event == FAILURE else prompt_context
        session, text = say(known, told, CHARACTERS, tokens)
        state.keep(session)
    return text


def _asks(prompt: str) -> bool:
    """Whether a prompt asks for something, and is not a command to the agent's program alone."""
    return bool(prompt.strip()) and _COMMAND.fullmatch(prompt.strip()) is None


def _again(session: SessionFile, tokens: int) -> str:
    """What a session was given, once more: the latest, where all of it is too much."""
    found = ""
    for text in reversed(session.texts):
        more = f"{text}\n\n{found}" if found else text
        if len(more) <= CHARACTERS and count_tokens(more) <= tokens:
            found = more
    return found
