"""Domains: a plug-in by the name of a bank's domain, loaded only then; else the general one."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from deltamem_tui.errors import UsageError
from deltamem_tui.memory import domain
from deltamem_tui.memory.domain import GENERAL, domain_for, domain_named, known_domains

RECALL = """
import sys
from deltamem_tui import Outcome, Step, Trajectory, create_bank, learn, recall
bank = create_bank(sys.argv[1], embedder="hashing", domain=sys.argv[2])
steps = (Step("pytest", "1 failed"), Step("edit mailer.py", "done"))
learn(bank, Trajectory("Fix the mailer", steps=steps, outcome=Outcome(True, 1.0, "stated")))
recall(bank, "Fix the mailer")
print(*sorted(name for name in sys.modules if name.startswith("deltamem_tui.lab.games.")))
"""


def test_a_domain_is_a_plug_in_by_any_spelling_of_its_name_else_the_general_one() -> None:
    assert domain_for("ALFWorld") is domain_for("alfworld") is not GENERAL
    assert domain_for("kitchens") is domain_for("generic") is domain_for("") is GENERAL
    assert list(known_domains())[-1] == "generic"
    assert domain_named("AlfWorld") == "alfworld"
    assert domain_named("kitchens") == "kitchens"
    with pytest.raises(UsageError, match="there is no domain 'alfworlds'"):
        domain_named("alfworlds")


def test_a_plug_in_that_cannot_be_loaded_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", "no.such.module:Domain", "deltamem.domains")
    monkeypatch.setattr(domain, "_plugins", lambda: {"broken": broken})
    with pytest.raises(UsageError, match="the domain broken cannot be loaded"):
        domain_for("broken")


@pytest.mark.parametrize(("name", "loaded"), [("coding", set()), ("alfworld", {"alfworld"})])
def test_a_bank_loads_the_plug_in_that_its_domain_names_and_no_other(
    tmp_path: Path, name: str, loaded: set[str]
) -> None:
    command = [sys.executable, "-c", RECALL, str(tmp_path / "bank"), name]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    games = {each.rpartition(".")[2].partition("_")[0] for each in done.stdout.split()}
    assert games == loaded
