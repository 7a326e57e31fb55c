"""A bank as AGENTS.md: what every task needs, and nothing that acts."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui import Outcome, Step, Trajectory, create_bank, learn
from deltamem_tui.errors import BankExistsError, UsageError
from deltamem_tui.memory.transfer.plain import write_agents_md


def test_agents_md_says_what_every_task_needs_and_imports_nothing(tmp_path: Path) -> None:
    bank = create_bank(tmp_path / "work", embedder="hashing")
    with pytest.raises(UsageError, match="nothing here holds for every task"):
        write_agents_md(bank, tmp_path / "AGENTS.md")
    solved = Outcome(success=True, source="user")
    for task in ("Add a currency", "Speed up the report", "Fix the date parser"):
        steps = (Step("edit src/prices.py", "ok"), Step("pytest @tests/all", "3 passed"))
        learn(bank, Trajectory(task, "", steps, solved))
    write_agents_md(bank, tmp_path / "AGENTS.md")
    header, fence, rest = (tmp_path / "AGENTS.md").read_text().partition("```text\n")
    assert "not instructions" in header
    assert fence
    write_agents_md(bank, tmp_path / "AGENTS.md", replace=True)
    (tmp_path / "CLAUDE.md").write_text("# Ours")
    with pytest.raises(BankExistsError, match="written by somebody else"):
        write_agents_md(bank, tmp_path / "CLAUDE.md", replace=True)
    for task in ("Add a currency", "Speed up the report", "Fix the date parser"):
        steps = (Step("edit lib/menu.rs", "ok"), Step("cargo test", "ok"))
        learn(bank, Trajectory(task, "Working directory: /x/menus", steps, solved))
    for folder in ("menus", "elsewhere"):
        (tmp_path / folder).mkdir()
    write_agents_md(bank, tmp_path / "menus" / "AGENTS.md")
    assert "src/prices.py" not in (tmp_path / "menus" / "AGENTS.md").read_text()
    with pytest.raises(UsageError, match="every task in elsewhere yet") as unknown:
        write_agents_md(bank, tmp_path / "elsewhere" / "AGENTS.md")
    assert (unknown.value.hint or "").startswith("no episode names that folder")
    assert rest == "Check with: pytest @tests/all\nEdited most: src/prices.py\n```\n"
