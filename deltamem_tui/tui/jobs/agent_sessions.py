"""The sessions of coding agents on this machine: found where each agent keeps them, and counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.tui.core.work import BankChange, Progress
from deltamem_tui.tui.jobs import episodes

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 10_000

PLACES: Mapping[str, tuple[str, str]] = {
    "Claude Code": (".claude/projects", "*/*.jsonl"),
    "Codex": (".codex/sessions", "**/rollout-*.jsonl"),
    "Gemini CLI": (".gemini/tmp", "*/chats/session-*.json*"),
    "Qwen Code": (".qwen/projects", "*/chats/*.jsonl"),
    "Copilot CLI": (".copilot/session-state", "*/events.jsonl"),
    "opencode": (".local/share/opencode", "opencode*.db"),
    "goose": (".local/share/goose/sessions", "sessions.db"),
}
"""Folders of agents' sessions: one of the user's home, and a pattern below it."""


@dataclass(frozen=True, slots=True)
class AgentSessions:
    """The sessions of one agent."""

    agent: str
    count: int
    pattern: str


def find_sessions(home: Path) -> list[AgentSessions]:
    """Return the agents that have sessions below a home folder; a folder unread has none."""
    found = [
        AgentSessions(agent, _count(home / folder, pattern), str(home / folder / pattern))
        for agent, (folder, pattern) in PLACES.items()
    ]
    return [each for each in found if each.count]


def _count(folder: Path, pattern: str) -> int:
    def files() -> Iterator[Path]:
        try:
            yield from folder.glob(pattern)
        except OSError:
            return

    return sum(_sessions_in(path) for path in islice(files(), _MOST))


def _sessions_in(path: Path) -> int:
    """Return how many sessions a file holds: a database has some, any other is one."""
    if path.suffix != ".db":
        return 1
    from deltamem_tui.trajectory.logs.record import DEFAULT_LIMITS, Record
    from deltamem_tui.trajectory.logs.tables import StoredTable, columns_in, rows_in

    names = {"session", "sessions"} & {*columns_in(path, DEFAULT_LIMITS)}
    rows = (row for name in names for row in rows_in(path, {name: StoredTable()}, DEFAULT_LIMITS))
    return sum(isinstance(row, Record) for row in islice(rows, _MOST))


def import_sessions(
    path: Path, sessions: AgentSessions, embedder: str, progress: Progress
) -> BankChange:
    """Make a bank at `path`, and import an agent's sessions into it."""
    from deltamem_tui.memory.banks import create_bank
    from deltamem_tui.trajectory.model import GENERIC

    about = f"sessions of {sessions.agent}"
    create_bank(path, embedder=embedder, domain=GENERIC, description=about)
    done = episodes.import_logs(path, sessions.pattern, "", progress)
    return BankChange(path, done.summary, opens=True)
