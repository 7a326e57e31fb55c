"""The sessions of coding agents on this machine: found where each agent keeps them, and counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui.text import counted
from deltamem_tui.tui.core.work import BankChange, Progress
from deltamem_tui.tui.jobs import episodes

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 10_000

PLACES: Mapping[str, tuple[str, str]] = {
    "Claude Code": (".claude/projects", "*/*.jsonl"),
    "Codex": (".codex/sessions", "**/rollout-*.jsonl"),
    "Gemini CLI": (".gemini/tmp", "*/chats/session-*.json*"),
    "Copilot CLI": (".copilot/session-state", "*/events.jsonl"),
}
"""Folders of agents' sessions: one of the user's home, and a pattern below it."""

_OPENCODE = ".local/share/opencode/storage/session"
"""opencode keeps a session in many files; its own `opencode export` makes one of them."""


@dataclass(frozen=True, slots=True)
class AgentSessions:
    """The sessions of one agent."""

    agent: str
    count: int
    pattern: str

    def __str__(self) -> str:
        return f"{self.count:,} of {self.agent}"

    @property
    def hint(self) -> str:
        """Their description, or how they can be read."""
        if self.pattern:
            return counted(self.count, "session")
        return f"{counted(self.count, 'session')}: `opencode export ID > log.json` writes one"


def find_sessions(home: Path) -> list[AgentSessions]:
    """Return the agents that have sessions below a home folder; a folder unread has none."""
    found = [
        AgentSessions(agent, _count(home / folder, pattern), str(home / folder / pattern))
        for agent, (folder, pattern) in PLACES.items()
    ]
    found.append(AgentSessions("opencode", _count(home / _OPENCODE, "**/*.json"), ""))
    return [each for each in found if each.count]


def _count(folder: Path, pattern: str) -> int:
    def files() -> Iterator[Path]:
        try:
            yield from folder.glob(pattern)
        except OSError:
            return

    return len(list(islice(files(), _MOST)))


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
