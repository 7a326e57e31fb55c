"""Which domain an episode has, and when two names mean one."""

from __future__ import annotations

import pytest

from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory, chosen_domain, domain_key
from tests.memory.support import extract


@pytest.mark.parametrize(
    ("named", "otherwise", "given", "found"),
    [
        ("", "", "", ""),
        ("", "bank", "", "bank"),
        ("log", "bank", "", "log"),
        ("log", "bank", "user", "user"),
        ("", "", "user", "user"),
        (" Alf \t World ", "bank", "", "Alf World"),
        (" \n", "bank", "", "bank"),
    ],
)
def test_the_user_s_word_goes_before_the_log_s_before_the_bank_s(
    named: str, otherwise: str, given: str, found: str
) -> None:
    assert chosen_domain(named, otherwise=otherwise, given=given) == found


def test_the_rules_read_one_domain_under_all_its_spellings() -> None:
    steps = (
        Step("go to fridge 1", "On the fridge 1, you see an egg 1."),
        Step("take egg 1 from fridge 1", "You pick up the egg 1 from the fridge 1."),
        Step("heat egg 1 with microwave 1", "You heat the egg 1 using the microwave 1."),
        Step("put egg 1 in/on table 1", "You put the egg 1 in/on the table 1."),
    )

    def learnt(domain: str) -> object:
        task = "heat some egg and put it in table."
        told = Trajectory(task, "", steps, Outcome(True, source="stated"), domain=domain)
        return extract(RulesExtractor(), "task", told, ()).payload

    assert domain_key("ALFWorld") == domain_key("alfworld") != domain_key("alfworlds")
    assert learnt("ALFWorld") == learnt("alfworld") != learnt("alfworlds")
