"""Secrets that people made up, which look like nothing but what their names say they are.

A provider's key is long and random. `Winter2024!!` is neither, so it takes more: a name that
says secret, token or key, and a value that nobody would write for a name, a number or a file.
Every one of them has a sign in it or beside it: that is what `may_hold_secrets` sees.
"""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import CAMEL_CASE, PLACEHOLDER, Rule
from deltamem_tui.trajectory.secrets.settings import (
    APART,
    ELEMENT,
    IN_A_TABLE,
    LONG_NAMES,
    SECRET_KEY,
)

# An ampersand goes before the next parameter of an address, and before names of signs.
_LETTER = r"(?:[A-Za-z0-9_!#$%*+./:=?@^~-]|&(?!\w{1,30}[=;]))"
# Not counted are dollars that begin variables, and percent signs, which most texts have.
_SIGN = r"(?:[!@#^&*]|\$(?![A-Za-z_({]))"
ENDS = r"(?=[.:?]{0,2}(?:[\s\"'`,;)\]}|<\\]|[^\x00-\x7f]|&\w{1,30}[=;]|\Z))"
"""Behind a value that was made up: what ends it, after the full stop of a sentence."""

STRONG = (
    rf"(?={_LETTER}{{0,63}}?\d)(?={_LETTER}{{0,63}}?[A-Za-z])(?={_LETTER}{{0,63}}?{_SIGN})"
    rf"[A-Za-z0-9!@#^_]{_LETTER}{{6,63}}?{_LETTER}{ENDS}"
)
"""Letters, digits and signs, as forms ask for."""
# Digits among letters, as in `a1b2c3d4e5f6`: nearly as good, where a sign stands beside it.
LEET = (
    r"(?!0x)(?=[A-Za-z]{0,20}(?:%(?=[A-Z])|\d{1,6})[A-Za-z]{1,20}\d)"
    rf"[A-Za-z0-9%]{{8,64}}\??{ENDS}"
)
_BESIDE_A_SIGN = r"(?:(?<=[=\"])|(?<==[ '])|(?<== '))"
_QUOTE = r"(?:\\?(?P<quote>[\"'`]))?"
_MADE_UP = rf"{_QUOTE}(?P<secret>{STRONG}|{_BESIDE_A_SIGN}{LEET})(?(quote)\\?(?P=quote))"

# Also a version, an address, a colour, the number of an issue, a member of a record.
_NAME = re.compile(
    r"(?i:.*://.*|[^@]+@[\w-]+(?:\.[\w-]+)+|[\w./-]+@v?\d[\w.]*|#[0-9a-f]{3,8}|.*\*\*.*"
    rf"|[a-z_./-]+#\d+)|{PLACEHOLDER.pattern}|{CAMEL_CASE.pattern}"
)
# Words with dashes tell what should stand there, more often than not.
_TOLD = re.compile(
    r"(?:your|the|some|an?|test|fake|dummy|mock|sample|insert|replace|change|put|enter|add|set|use"
    r"|paste|any|not|no|none|todo|default)-.*"
    r"|.*-(?:here|me|example|placeholder|goes|value|name|id|file|path)(?:-.*)?"
    r"|my(?:-[a-z]+){1,3}|x+(?:-x+)+"
)

_NAMES = r"(?:(?P<key>key)|secret|token)(?:[_-](?:base|prod|dev|staging|test)|_?\d)?"
# `var token string = "V"`, `secret: str = "V"`
_TYPE = r"(?: string(?= = \\?\")|:\s?str(?:ing)?(?=\s))?"
_ASSIGNED = (
    r"(?:\\?[\"']?(?:\]|\s?\[[^\]\n]{0,30}\])?"
    rf"{_TYPE}\s{{0,3}}(?::=|=>|[:=\uff1a\uff1d])\s{{0,3}})"
)

MADE_UP = (
    Rule(
        "token",
        re.compile(
            rf"{_NAMES}(?:{_ASSIGNED}|{APART}|{ELEMENT}|{IN_A_TABLE}){_MADE_UP}", re.IGNORECASE
        ),
        ("key", "secret", "token"),
        placeholder=_NAME,
        before=SECRET_KEY,
    ),
    # `set -x APP_SECRET "V"`, `setx APP_TOKEN "V"`
    Rule(
        "token",
        re.compile(
            rf"(?-i:(?P<key>KEY)|SECRET|TOKEN|PASSWORD)[ \t]{{1,3}}(?=\\?[\"']){_MADE_UP}",
            re.IGNORECASE,
        ),
        ("key", "secret", "token", "password"),
        placeholder=_NAME,
        before=SECRET_KEY,
    ),
    # `JWT_SECRET=copper-staple-window`: words, as the value of a variable of a shell only
    Rule(
        "token",
        re.compile(
            r"(?:(?P<key>KEY)|SECRET|TOKEN|PASSWORD|PASSWD|PASS)(?:_BASE)?=(?P<quote>[\"'])?"
            r"(?P<secret>[a-z]{2,20}\d{0,4}(?:-[a-z]{2,20}\d{0,4}){2,7})(?(quote)(?P=quote)|(?![\w(./:=-]))"
        ),
        ("key", "secret", "token", "pass"),
        placeholder=_TOLD,
        before=SECRET_KEY,
    ),
    Rule(
        "password",
        re.compile(
            rf"(?:{LONG_NAMES}|(?<![a-z])pass){IN_A_TABLE}`?(?P<secret>{STRONG}|{LEET})",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=_NAME,
    ),
    # What is typed into a field: `fill("#password", "V")`, `type(selector="…password]", text="V")`
    Rule(
        "password",
        re.compile(
            rf"{LONG_NAMES}[\w\\\"'\])]{{0,20}},\s{{0,3}}(?:\\?[\"']?(?:text|value|keys)\\?[\"']?\s?[:=]\s?)?"
            rf"\\?(?P<quote>[\"'])(?P<secret>{STRONG}|{LEET})\\?(?P=quote)",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=_NAME,
    ),
)
