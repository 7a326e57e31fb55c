"""Addresses of people go when that is asked for, and those of repositories never."""

from __future__ import annotations

import pytest

from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.secrets.redaction import NOTHING
from tests.trajectory.secrets.planting import (
    planted,
)


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
