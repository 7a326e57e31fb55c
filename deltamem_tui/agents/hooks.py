"""`deltamem hook`: what the entries in an agent's settings call.

It never breaks the agent. Whatever fails ends in exit 0 with a line in our own log, and what goes
to stdout is valid for the agent or nothing. So it reads its arguments itself, and loads no more
than the event needs: each prompt waits for it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from deltamem_tui import paths
from deltamem_tui.agents import helper
from deltamem_tui.agents.hook_input import HookInput, outcome_in, parsed
from deltamem_tui.agents.protocols import END, FAILURE, PROMPT, PROTOCOLS, START, AgentProtocol
from deltamem_tui.agents.sessions import SessionFile, StateFolder
from deltamem_tui.text import count_tokens

CHARACTERS = 9_000
"""The most that is handed over at once; Claude Code cuts at 10,000."""
TOKENS = 1_500
"""The usual budget; Codex takes 2,500, of four bytes each."""
_COMMAND = re.compile(r"[/?!][\w:-]*")  # of the agent's program
RULES = "rules"
WORKED = ": it worked"
_LEARNING_SECONDS = 900.0


def run(arguments: Sequence[str], data: bytes) -> int:
    """Answer one event without a helper, which is started; returns the exit code, always 0."""
    state = StateFolder(paths.state_folder())
    if arguments[:1] in (["learn"], ["helper"]):
        with _logged(state, arguments):
            if arguments[0] == "learn":
                _learn(state, *arguments[1:])
            else:
                helper.serve(partial(answered, state), partial(_load, *arguments[1:]))
        return 0
    with answered(state, arguments, data, os.getcwd()) as printed:  # noqa: PTH109
        sys.stdout.write(printed)
        sys.stdout.flush()
    if arguments[1:2] != [END] and "--bank" in arguments[:-1]:
        helper.start(_placed(arguments[[*arguments].index("--bank") + 1]))
    return 0


@contextmanager
def answered(
    state: StateFolder, arguments: Sequence[str], data: bytes, folder: str
) -> Iterator[str]:
    """Yield what is printed for an event that happens in a working folder.

    What is told counts as told when the block is left, and not at all if it fails.
    """
    answer, session = "", None
    with ExitStack() as turn:
        with _logged(state, arguments):
            protocol, event, bank, tokens, learn = _arguments(arguments)
            bank = _placed(bank)
            answer = protocol.silence
            told = parsed(data)
            if told.transcript:
                place = os.path.join(folder, told.transcript)  # noqa: PTH118
                told = replace(told, transcript=place)
            session, text = _answer(state, protocol, event, told, bank, tokens, turn)
            answer = protocol.output(event, text)
            if event == END and learn:
                helper.detached(["hook", "learn", bank, learn])
        yield answer + "\n" if answer else ""
        if session:
            with _logged(state, arguments):
                state.keep(session)


@contextmanager
def _logged(state: StateFolder, arguments: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - an agent goes on without us
        state.log(f"{' '.join(arguments[:2])}: {type(error).__name__}: {error}")


def _load(bank: str) -> None:
    """Load a bank, and what recalls from it need, ahead of the first."""
    from deltamem_tui.agents.hook_recall import prompt_context

    prompt_context(SessionFile("", "", bank), "warm", "", 0, 0)


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
            failure = f": {done.stderr.decode(errors='replace')}"
            state.log(f"{command[0]} {bank}{failure if done.returncode else WORKED}")


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
    event: str,
    told: HookInput,
    bank: str,
    tokens: int,
    turn: ExitStack,
) -> tuple[SessionFile | None, str]:
    """Return a session as it is once it was told the context for an event, and the context."""
    agent = protocol.name
    session = state.session(agent, told.session, bank)
    session = replace(session, path=told.transcript or session.path)
    if event == END:
        state.enqueue(session)
        return None, ""
    if event == START and told.source == "compact":
        return None, _again(session, tokens)
    if event == PROMPT and (said := outcome_in(told.prompt)):
        # It waits from now on, with what was said: not every agent tells of an end.
        session = replace(session, outcome=said)
        state.keep(session)
        state.enqueue(session)
        return None, ""
    prompt = told.prompt.strip()
    asks = {
        PROMPT: bool(prompt) and _COMMAND.fullmatch(prompt) is None,
        FAILURE: any(told.failure),
        START: told.source != "resume",
    }
    if not asks[event] or event in protocol.mute:
        return None, ""
    from deltamem_tui.agents.hook_recall import digest_for, failures_for, prompt_context

    turn.enter_context(state.turn(agent, told.session))
    known = replace(state.session(agent, told.session, bank), path=session.path)
    if event == FAILURE:
        return failures_for(known, *told.failure, CHARACTERS, tokens)
    if event == START:
        return digest_for(known, told.folder, tokens)
    return prompt_context(known, told.prompt, told.folder, CHARACTERS, tokens)


def _again(session: SessionFile, tokens: int) -> str:
    """Return what a session was given, the latest of it where all is too much."""
    found = ""
    for text in reversed(session.texts):
        more = f"{text}\n\n{found}" if found else text
        if len(more) <= CHARACTERS and count_tokens(more) <= tokens:
            found = more
    return found
