"""Secrets in files of a known make: keys in armour, what tools keep of clouds and hosts."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from deltamem_tui.trajectory.secrets.rules import rule
from deltamem_tui.trajectory.secrets.values import (
    is_password,
    is_random,
)

_BEGIN = r"-----BEGIN (?P<label>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----"
# A line of base 64, which is long, or the last one, which ends in equals signs.
_LINE = (
    r"(?:(?<=\\[nrt])|(?<![A-Za-z0-9+/\\]))"
    r"(?:[A-Za-z0-9+/]{24,400}={0,2}|[A-Za-z0-9+/]{2,23}={1,2})"
)
# What a viewer, a program or a difference puts before each, and what some keys say of themselves.
_MARGIN = r"(?:\s|\\[nrt]|[\"'+,|\u2192]|\d{1,6}[\t|:\u2192]){1,12}"
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\\0]{1,80}"
# Which of the two keys of an account it is, in the spellings of its tools.
_FIRST_OR_SECOND = "|".join(
    f"(?<={which}{rest})"
    for which in ("primary", "secondary")
    for rest in ("", "_", "_access_", "access", "_master_", "master", "shared")
)
# Between the dashes of an example there is no such line.
_KEY_LINE = re.compile(r"[A-Za-z0-9+/]{24}")


def _is_private(value: str) -> bool:
    return b"PRIVATE" in base64.b64decode(value[:52])


HASHES = tuple(f"${how}$" for how in ("1", "apr1", "2a", "2b", "2x", "2y", "5", "6", "y", "gy"))
"""How the hashes of passwords begin, each by how it was made."""

PRIVATE_KEY = rule(
    "private key",
    rf"{_BEGIN}(?:[^\0-]|-(?!----BEGIN)){{0,20000}}?-----END (?P=label)-----",
    "-----begin",
    lambda value: _KEY_LINE.search(value) is not None,
    flags=0,
)

_HASH = "[./A-Za-z0-9]"
_SALT = rf"{_HASH}{{1,16}}\$"
_ROUNDS = r"(?:rounds=\d{1,9}\$)?"

FILES = (
    # What files of users and of web servers keep of passwords, which can be guessed from it.
    rule("password hash", rf"\$(?:(?:1|apr1)\${_SALT}{_HASH}{{22}}|2[abxy]\$\d\d\${_HASH}{{53}}"
        rf"|5\${_ROUNDS}{_SALT}{_HASH}{{43}}|6\${_ROUNDS}{_SALT}{_HASH}{{86}}"
        rf"|g?y\${_SALT}{_HASH}{{1,86}}\${_HASH}{{43}})(?![A-Za-z0-9/])", HASHES, flags=0),
    # A key of which only the beginning was printed: each of its lines by itself, since no one
    # can tell where it ends.
    rule("private key", _LINE, "-----begin", within=re.compile(
        rf"{_BEGIN}(?:{_MARGIN}(?:{_HEADER}|{_LINE}|=[A-Za-z0-9+/]{{4}})){{1,400}}" ), flags=0),
    rule("private key", _LINE, "private-lines", within=r"private-lines: \d{1,3}"
        r"(?:(?:\s|\\r|\\n)+[A-Za-z0-9+/=]{1,64}(?=\s|\\r|\\n|\Z)){1,60}", flags=0),
    # A private key in base 64, as clusters keep it
    rule("private key", r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,20000}={0,2}", "ls0tls1crudjti",
        _is_private, flags=0),
    # Words that stand for a key
    rule("private key",
        r"(?:mnemonic|(?:seed|recovery|secret) phrase)[^\n\0]{0,40}?"
        r"(?::|=|is|\n)\s{0,9}\\?[\"'`]?"
        r"(?P<secret>[a-z]{3,8}(?: [a-z]{3,8}){11,23})(?![a-z])",
        "mnemonic|seed |recovery |secret "),
    rule("recovery code",
        r"(?<![\w-])(?=[a-z-]{0,20}\d|[A-Z-]{0,20}\d)(?:[a-z0-9]{4,6}|[A-Z0-9]{4,6})(?:-[A-Za-z0-9]{4,6}){1,4}(?![\w-])",
        "recovery code|backup code",
        within=r"(?:recovery|backup) codes?[^\0]{0,300}"),
    # The private members of a JSON web key, which have names of one or two letters.
    rule("private key",
        r"(?<=\")(?:d|p|q|dp|dq|qi|k)\\?\"\s{0,3}:\s{0,3}\\?\"(?![0-9a-f]{40,}\\?\")"
        r"(?P<secret>[A-Za-z0-9_-]{42,700})\\?\"", '"d"|kty"|kty\\', is_random,
        within=re.compile(r"(?:\"d|kty)\\?\"[^{}\0]{0,6000}"), flags=0),
    rule("private key",
        r"(?<=client-)key-data\\?\"?:\s{0,3}\\?\"?(?P<secret>[A-Za-z0-9+/]{40,20000}={0,2})",
        "key", flags=0),
    # `host:port:database:user:V` of .pgpass
    rule("password",
        r"(?:^|(?<=\\n))[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,63}:[\w.*-]{1,63}:(?P<secret>[^\s:\"'\\]{6,200})",
        "pass", is_password,
        within=re.compile(r"(?<=pg)pass[^\n\0]{0,80}?(?:\n|\\n)(?:[^\n\0]{1,400}\n?){1,20}"),
        flags=re.MULTILINE),
    # The keys of storage accounts, in lists and by their rank
    rule("connection string",
        r"(?:keyname\\?\"?\s?[:=][^{}\0]{0,300}?value\\?\"?\s?[:=]\s?\\?\"|key[12]\s{1,20}full\s{1,20}"
        rf"|(?:{_FIRST_OR_SECOND})key\\?[\"']?\s{{0,3}}[:=]\s{{0,3}}\\?[\"']?)"
        r"(?P<secret>[A-Za-z0-9+/]{86}==|[A-Za-z0-9+/]{43}=)", "key"),
    # The state of Terraform holds the passwords that it made up.
    rule("password", r"\"result\\?\"\s{0,3}:\s{0,3}\\?\"(?P<secret>[^\s\"]{6,200}?)\\?\"", "pass",
        is_password, within=re.compile(r"(?<=random_)password[^\0]{0,1500}"), flags=0),
)  # fmt: skip

_ARMOUR = re.compile(
    r"-----(?P<which>BEGIN|END) [A-Z0-9 ]{0,40}?(?P<private>PRIVATE KEY)?(?: BLOCK)?-----|\0"
)
_LINES = re.compile(_LINE)
_BETWEEN = re.compile(_MARGIN)
_FULL_LINE = 40  # only the last one is shorter


def is_between_lines(text: str) -> bool:
    """Whether a text is all that stands between two lines of one private key."""
    return _BETWEEN.fullmatch(text) is not None


def lines_before_an_end(text: str) -> Iterator[str]:
    """The lines of private keys of which only the end was shown.

    That no key begins before them can only be told backwards, which no pattern does.
    """
    begun, start = False, 0
    for mark in _ARMOUR.finditer(text):
        if mark["which"] == "END" and mark["private"] and not begun:
            yield from _last_lines(text, start, mark.start())
        begun, start = mark["which"] == "BEGIN", mark.end()


def _last_lines(text: str, start: int, end: int) -> Iterator[str]:
    """The lines of base 64 that go up to a place, if one of them is a full one."""
    lines = []
    for line in reversed(list(_LINES.finditer(text, start, end))):
        if not _BETWEEN.fullmatch(text, line.end(), end):
            break
        lines.append(line[0])
        end = line.start()
    if any(len(line) >= _FULL_LINE for line in lines):
        yield from lines
