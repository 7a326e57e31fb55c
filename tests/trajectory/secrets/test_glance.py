"""The quick look must say yes to every text in which the rules find a secret.

The texts are those of two sets of planted secrets, cut and changed at random: pieces gone, signs
put in, letters made small. So secrets get as short, and as broken by signs, as the rules allow.
"""

from __future__ import annotations

import json
import random

import pytest

from deltamem_tui.trajectory.secrets import redaction
from deltamem_tui.trajectory.secrets.glance import may_hold_secrets
from tests.trajectory.secrets.test_independent import planted
from tests.trajectory.secrets.test_places import PLACES

TIMES = 2500
LENGTHS = (1, 1, 2, 4, 8, 16, 40)


def changed(chance: random.Random, text: str) -> str:
    for _ in range(chance.randint(0, 5)):
        at, length = chance.randint(0, len(text)), chance.choice(LENGTHS)
        match chance.choice(("cut", "cut", "put", "lower")):
            case "cut":
                text = text[:at] + text[at + length :]
            case "put":
                text = text[:at] + chance.choice(".~!= \n\"'\\x:-_/#@a") + text[at:]
            case "lower":
                text = text[:at] + text[at : at + length].lower() + text[at + length :]
    return text


def test_no_text_with_a_secret_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    look = may_hold_secrets
    monkeypatch.setattr(redaction, "may_hold_secrets", lambda _: True)
    chance = random.Random(20261122)
    samples = [sample.text for sample in planted()]
    for make, texts in PLACES.values():
        samples += [text.replace("§", make(chance)) for text in texts * 4]
    with_secrets = 0
    for _ in range(TIMES):
        text = changed(chance, chance.choice(samples))
        if kinds := redaction.kinds_of_secrets(text):
            with_secrets += 1
            for form in (text, json.dumps(text), json.dumps(text, ensure_ascii=False).encode()):
                assert look(form), (kinds, form)
    assert with_secrets > TIMES / 2
