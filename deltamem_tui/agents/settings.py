"""Our entries in an agent's settings, and its slash command `/deltamem ok|bad`.

Settings are plain JSON. What they were before an install is kept in a backup beside them, and
comes back to the byte if nothing but our entries was changed since. An entry is recognised by what
it calls.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltamem_tui.agents.protocols import END, PROTOCOLS, AgentProtocol, Handler
from deltamem_tui.bank.disk import files
from deltamem_tui.errors import StorageError, UsageError
from deltamem_tui.text import one_line

PROGRAM = "deltamem"
_PLUGIN = Path(__file__).with_name("opencode.js")
_HOOKS = "hooks"
_BACKUP = ".before-deltamem"
_SHELL_COMMAND = re.compile(r"deltamem(?:\.exe)?['\"]? hook [a-z-]+ [a-z]+ --bank ")
_ABOUT = "Note how this session ended, in the user's own word"
_TEXT = (
    "The user says with `ok` that what was asked for is done, and with `bad` that it is not. A "
    "hook of deltamem noted it when it was typed. Answer with one short line and call no tool. If "
    "it is another word, say that only `ok` and `bad` are known; never choose one for the user."
)


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change of a file.

    Attributes:
        before: Its text; None if there is no file.
        after: Its text afterwards; None if it goes.
    """

    path: Path
    before: str | None
    after: str | None

    @property
    def changes(self) -> bool:
        """Tell if there is anything to be done."""
        return self.before != self.after

    def apply(self) -> None:
        """Do it; a file is replaced whole, where a link to it leads.

        Raises:
            StorageError: The disk refused.
        """
        place = self.path.resolve()
        try:
            if self.after is None:
                files.remove(place)
                with suppress(OSError):  # a folder that holds more
                    if place.parent.name == PROGRAM:  # of the skill
                        place.parent.rmdir()
                return
            with files.new_file(place, replace=True) as draft:
                files.write_at(draft, 0, self.after.encode())
                known = place.with_name(place.name.removesuffix(_BACKUP))
                if known.exists():  # a backup is as private as what it is of
                    shutil.copymode(known, draft)
        except (OSError, StorageError) as error:
            reason = error.message if isinstance(error, StorageError) else error.strerror
            source = one_line(str(self.path), 200)
            raise StorageError(f"cannot be written: {reason}", source=source) from error


def protocol_of(agent: str) -> AgentProtocol:
    """Return an agent's protocol.

    Raises:
        UsageError: It is not one that is known.
    """
    if agent not in PROTOCOLS:
        known = ", ".join(PROTOCOLS)
        raise UsageError(f"{one_line(agent, 40)!r} is not an agent with hooks", hint=known)
    return PROTOCOLS[agent]


def planned(
    protocol: AgentProtocol,
    folder: Path,
    bank: str,
    budget: int,
    *,
    portable: bool,
    learn: str = "",
) -> list[FileChange]:
    """Plan an install in a home folder or a project's, in place of an earlier one.

    Nothing is written. The entries have the bank as it is given, and the program's path, or its
    name alone if they are `portable`, for settings that are shared. `budget` is the most tokens
    that are handed over at once; `learn`, how a session's end is learnt from, as the hook is told.

    Raises:
        UsageError: The settings are not what they should be.
        StorageError: They cannot be read.
    """
    path, program = folder / protocol.settings, PROGRAM if portable else _program()
    words = ["--bank", bank, "--budget", str(budget)]
    ending = [*words, "--learn", learn] if learn else words
    if path.suffix == ".js":
        facts = (json.dumps(each) for each in (program, words, ending))
        plugin = _PLUGIN.read_text().replace("[PROGRAM, OPTIONS, ENDING]", f"[{', '.join(facts)}]")
        return [each for each in [FileChange(path, _read(path), plugin)] if each.changes]
    text, before = _read(path), _before(path)
    flat = {"version": 1} if protocol.form in ("flat", "bash") else {}
    record = flat | _parsed(before or "", path)
    hooks = record.setdefault(_HOOKS, {})
    for event, handler in protocol.handlers.items():
        called = ["hook", protocol.name, event, *(ending if event == END else words)]
        hooks.setdefault(handler.name, []).append(_entry(protocol, handler, [program, *called]))
    backup = _backup(path)
    found = [FileChange(path, text, _written(record)), FileChange(backup, _read(backup), before)]
    if protocol.commands and not (portable and protocol.name == "codex"):  # it has none there
        command = folder / protocol.commands
        known = _read(command)
        if known is None or _ABOUT in known:  # a file of this name that others wrote stays
            found.append(FileChange(command, known, _command_text(command)))
    return [each for each in found if each.changes]


def removal(protocol: AgentProtocol, folder: Path) -> list[FileChange]:
    """Plan taking our entries out again; nothing is written."""
    path, command = folder / protocol.settings, folder / protocol.commands
    before = None if path.suffix == ".js" else _before(path)
    found = [FileChange(path, _read(path), before)]
    found.append(FileChange(_backup(path), _read(_backup(path)), None))
    if protocol.commands and _ABOUT in (_read(command) or ""):
        found.append(FileChange(command, _read(command), None))
    return [each for each in found if each.changes]


def installed(protocol: AgentProtocol, folder: Path) -> Mapping[str, Any]:
    """Return our entries in some settings, by the agent's event."""
    path = folder / protocol.settings
    if path.suffix == ".js":
        called = re.search(r"^const .* = (\[.*\])$", _read(path) or "", re.MULTILINE)
        program, _, ending = json.loads(called[1]) if called else ("", [], [])
        entry = {"command": program, "args": ending}
        return dict.fromkeys(protocol.handlers, entry) if called else {}
    hooks = _parsed(_read(path) or "", path).get(_HOOKS, {})
    return {event: each for event, entries in hooks.items() for each in entries if is_ours(each)}


def _before(path: Path) -> str | None:
    """Return settings as they were before an install, with what others changed since."""
    text, kept = _read(path), _read(_backup(path))
    if text is None:
        return None
    record = _parsed(text, path)
    if not any(is_ours(each) for entries in record.get(_HOOKS, {}).values() for each in entries):
        return text
    left = _without_ours(record)
    if kept is not None and _without_ours(_parsed(kept, _backup(path))) == left:
        return kept
    return _written(left) if left.keys() - {"version"} else None


def _without_ours(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without our entries, and without what is empty then."""
    hooks = {
        event: [each for each in entries if not is_ours(each)]
        for event, entries in record.get(_HOOKS, {}).items()
    }
    hooks = {event: entries for event, entries in hooks.items() if entries}
    others = {key: value for key, value in record.items() if key != _HOOKS}
    return others | ({_HOOKS: hooks} if hooks else {})


def _parsed(text: str, path: Path) -> dict[str, Any]:
    """Parse settings; those without anything are empty."""
    source = one_line(str(path), 200)
    try:
        record = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        reason = f"the settings are not plain JSON: {one_line(str(error), 100)}"
        hint = "correct them, and take comments out"
        raise UsageError(reason, source=source, hint=hint) from error
    hooks = record.get(_HOOKS, {}) if isinstance(record, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(each, list) for each in hooks.values()):
        reason = f"{_HOOKS!r} in the settings is not an object of lists"
        raise UsageError(reason, source=source, hint="correct it")
    return record


def _written(record: Mapping[str, Any]) -> str:
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _backup(path: Path) -> Path:
    return path.with_name(f"{path.name}{_BACKUP}")


def option_of(entry: Any, name: str) -> str:
    """Return what an entry of ours says after an option, as `--bank`; empty if it has none."""
    words = _words(_hooks_in(entry)[0])
    return words[words.index(name) + 1] if name in words[:-1] else ""


def program_of(entry: Any) -> str:
    """Return the program that an entry of ours starts; empty if it is not there any more."""
    return shutil.which(_words(_hooks_in(entry)[0])[0]) or ""


def is_ours(entry: Any) -> bool:
    """Tell if an entry in an agent's settings calls us, and nothing else."""
    hooks = _hooks_in(entry)
    return bool(hooks) and all(map(_calls_us, hooks))


def _hooks_in(entry: Any) -> list[Any]:
    """Return the calls of an entry, which some agents have in a list."""
    hooks = entry.get("hooks", [entry]) if isinstance(entry, dict) else []
    return hooks if isinstance(hooks, list) else []


def _words(hook: Mapping[str, Any]) -> list[str]:
    line = str(hook.get("command", hook.get("bash", "")))
    return [line, *map(str, hook["args"])] if "args" in hook else shlex.split(line)


def _calls_us(hook: Any) -> bool:
    line = hook.get("command", hook.get("bash")) if isinstance(hook, dict) else None
    if not isinstance(line, str):
        return False
    if isinstance(hook.get("args"), list):
        return Path(line).stem == PROGRAM and hook["args"][:1] == ["hook"]
    return _SHELL_COMMAND.search(line) is not None


def _entry(protocol: AgentProtocol, handler: Handler, words: Sequence[str]) -> dict[str, Any]:
    """Return an entry that calls a program with arguments."""
    seconds, line = handler.timeout, shlex.join(words)
    if protocol.form == "flat":
        return {"command": line, "timeout": seconds}
    if protocol.form == "bash":
        return {"type": "command", "bash": line, "timeoutSec": seconds}
    called = {"command": words[0], "args": [*words[1:]]}
    hook: dict[str, Any] = called if protocol.form == "list" else {"command": line}
    timeout = seconds * (1000 if protocol.milliseconds else 1)
    entry = {"hooks": [{"type": "command", **hook, "timeout": timeout}]}
    return ({"matcher": handler.matcher} if handler.matcher else {}) | entry


def _program() -> str:
    """Return the program's full path, if it is found: agents may have another search path."""
    own = Path(sys.argv[0])
    if own.stem == PROGRAM and own.is_file():
        return str(own.absolute())
    return shutil.which(PROGRAM) or PROGRAM


def _command_text(path: Path) -> str:
    # The first line is what the hook finds in a prompt where the agent puts the text in its place.
    if path.suffix == ".toml":
        body = f"/deltamem {{{{args}}}}\n\n{_TEXT}"
        return f"description = {json.dumps(_ABOUT)}\nprompt = {json.dumps(body)}\n"
    facts = {"name": "deltamem", "description": _ABOUT, "argument-hint": "ok|bad"}
    front = "".join(f"{key}: {fact}\n" for key, fact in facts.items())
    return f"---\n{front}disable-model-invocation: true\n---\n/deltamem $ARGUMENTS\n\n{_TEXT}\n"


def _read(path: Path) -> str | None:
    source = one_line(str(path), 200)
    try:
        return path.read_bytes().decode() if path.exists() else None
    except OSError as error:
        raise StorageError(f"cannot be read: {error.strerror}", source=source) from error
    except UnicodeDecodeError as error:
        raise UsageError("not a text in UTF-8", source=source) from error
