"""What is not a secret stays: names, whole logs, and addresses unless they are asked for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.secrets.redaction import NOTHING
from tests.places import GENERATED, PUBLISHED
from tests.trajectory.secrets.planting import (
    planted,
)


def test_names_that_are_no_secrets_stay() -> None:
    found = replace(
        planted("ok"),
        source=LogSource("runs/2026-01-02T03-04-05/django__django-12345.traj", "record 7", "chat"),
        domain="alfworld",
        agent="claude-sonnet-4-5-20250929",
        metadata={
            "id": "valid_train/pick_and_place_simple-KeyChain-None-Safe-204/trial_T20190906_200520",
            "task_type": "pick_two_obj_and_place",
            "session": "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
            "pass": "3 of 5 tests",
            "secret_level": "2",
            "key": "0",
        },
    )
    assert redact(found, personal=True) == (found, NOTHING)


def test_no_false_alarm_on_the_generated_episodes() -> None:
    if not GENERATED.exists():
        pytest.skip("the sample data are not here")
    count = 0
    for found in read_logs([GENERATED]):
        assert isinstance(found, Trajectory)
        count += 1
        for personal in (False, True):
            clean, redactions = redact(found, personal=personal)
            assert clean is found
            assert redactions == NOTHING
    assert count == 677


def test_what_is_found_in_published_logs_are_passwords() -> None:
    if not PUBLISHED.exists():
        pytest.skip("the sample data are not here")
    files: Counter[str] = Counter()
    for found in read_logs([PUBLISHED]):
        if isinstance(found, Trajectory):
            files[Path(found.source.file).name] += redact(found)[1].total
    # Passwords that a tool made up and one that a user gave, all in one file.
    assert +files == {"glaive_toolcall_en_demo.json": 18}


def test_addresses_go_only_when_asked() -> None:
    found = planted("Mail ada@example.org, not @ada.")
    assert redact(found) == (found, NOTHING)
    clean, redactions = redact(found, personal=True)
    assert clean.steps[0].observation == "Mail [redacted: e-mail address], not @ada."
    assert redactions.counts == {"e-mail address": 1}


@pytest.mark.parametrize(
    "address",
    ["ü@exämple.de", "ana.nuñez+x@correo.example.es", "用户@例子.中国", "git@example.org"],
)
def test_addresses_of_all_scripts_go(address: str) -> None:
    clean, _ = redact(planted(f"Mail <{address}>, or not."), personal=True)
    assert clean.steps[0].observation == "Mail <[redacted: e-mail address]>, or not."


@pytest.mark.parametrize(
    "text",
    [
        "git clone git@github.com:org/repo.git",
        "origin  ssh://git@git.example.org/org/repo.git (fetch)",
        "npm i lodash@4.17.21 and user@host:~$",
    ],
)
def test_the_place_of_a_repository_is_no_address_of_a_person(text: str) -> None:
    found = planted(text)
    assert redact(found, personal=True) == (found, NOTHING)
