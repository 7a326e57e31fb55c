"""Passwords that are told in other languages than English."""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.human_chosen import ENDS, STRONG
from deltamem_tui.trajectory.secrets.rules import PLACEHOLDER, Rule

SPELT_IN_ASCII = "senha"
"""The word for a password that a text of plain letters may have, and no sign of one else."""
SPELT_OTHERWISE = ("contrase", "密码", "密碼", "パスワード", "비밀번호", "ароль", "АРОЛЬ")
"""Words for a password that no text of plain letters has, or what of them is written alike
whether or not they begin with a capital."""
_OTHERWISE = r"(?:contraseña|密码|密碼|パスワード|비밀번호|(?-i:ароль|АРОЛЬ))"

_FOR = r"(?: (?:für|zum|von|para|de|del|da|do|pour|du|для|от) [^\n:=\0]{1,60}?)?"
_IS = (
    r"(?:\s?[:：=＝]|\s[—–-]|\s(?:lautet|ist|es|est|é|is)(?:\s?:)?(?=\s)"
    r"|\s?(?:是|为|為|は|는|은)[:：]?)\s{0,3}"
)
_OPEN = r"[\"'`*<(“„«「『]{0,3}"
# Letters and digits alone, where the word before says enough to `may_hold_secrets`.
_WITH_DIGITS = (
    rf"(?=[!-~]{{0,63}}\d)(?=[!-~]{{0,63}}[A-Za-z])[A-Za-z0-9_!#$%*+=?@^~-]{{6,64}}?{ENDS}"
)

LANGUAGES = (
    Rule(
        "password",
        re.compile(
            rf"(?:passwort|passe){_FOR}{_IS}{_OPEN}(?P<secret>{STRONG}|{_WITH_DIGITS})",
            re.IGNORECASE,
        ),
        ("passwort", "passe"),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            rf"{SPELT_IN_ASCII}{_FOR}{_IS}{_OPEN}(?P<secret>{STRONG})",
            re.IGNORECASE,
        ),
        (SPELT_IN_ASCII,),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            rf"{_OTHERWISE}{_FOR}{_IS}{_OPEN}(?P<secret>{STRONG}|{_WITH_DIGITS})",
            re.IGNORECASE,
        ),
        tuple(dict.fromkeys(map(str.lower, SPELT_OTHERWISE))),
        placeholder=PLACEHOLDER,
    ),
)
