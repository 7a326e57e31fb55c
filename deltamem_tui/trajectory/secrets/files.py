"""Secrets in files of a known make: keys in armour, what tools keep of clouds and hosts."""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import PASSWORD, PLACEHOLDER, RUN, Rule

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
_NO_KEY = re.compile(r"(?s)(?!.*[A-Za-z0-9+/]{24}).*")

PRIVATE_KEY = Rule(
    "private key",
    re.compile(rf"{_BEGIN}(?:[^\0-]|-(?!----BEGIN)){{0,20000}}?-----END (?P=label)-----"),
    ("-----begin",),
    placeholder=_NO_KEY,
)

FILES = (
    # A key of which only the beginning was printed: each of its lines by itself, since nobody
    # can tell where it ends.
    Rule(
        "private key",
        re.compile(_LINE),
        ("-----begin",),
        within=re.compile(
            rf"{_BEGIN}(?:{_MARGIN}(?:{_HEADER}|{_LINE}|=[A-Za-z0-9+/]{{4}})){{1,400}}"
        ),
    ),
    Rule(
        "private key",
        re.compile(_LINE),
        ("private-lines",),
        within=re.compile(
            r"private-lines: \d{1,3}(?:(?:\s|\\r|\\n)+[A-Za-z0-9+/=]{1,64}(?=\s|\\r|\\n|\Z)){1,60}",
            re.IGNORECASE,
        ),
    ),
    # The private members of a JSON web key, which have names of one or two letters.
    Rule(
        "private key",
        re.compile(
            r"(?<=\")(?:d|p|q|dp|dq|qi|k)\\?\"\s{0,3}:\s{0,3}\\?\"(?![0-9a-f]{40,}\\?\")"
            rf"(?P<secret>{RUN}(?=[A-Za-z_-]{{0,60}}\d)[A-Za-z0-9_-]{{42,700}})\\?\""
        ),
        ('"d"', 'kty"', "kty\\"),
        within=re.compile(r"(?:\"d|kty)\\?\"[^{}\0]{0,6000}"),
    ),
    Rule(
        "private key",
        re.compile(
            r"(?<=client-)key-data\\?\"?:\s{0,3}\\?\"?(?P<secret>[A-Za-z0-9+/]{40,20000}={0,2})"
        ),
        ("key",),
    ),
    # The files of docker and of npm
    Rule(
        "authorization header",
        re.compile(
            r"(?:(?<=\")auth\\?\"\s{0,3}:\s{0,3}\\?\"|(?<=_)auth\s?=\s?\"?(?=[A-Za-z+/]{0,80}\d))"
            rf"(?P<secret>{RUN}[A-Za-z0-9+/]{{16,400}}={{0,2}})(?![\w(.])"
        ),
        ("auth",),
        placeholder=PLACEHOLDER,
    ),
    # `machine host login user password V` of .netrc
    Rule(
        "password",
        re.compile(rf"login[ \t]{{1,3}}\S{{1,64}}\s{{1,12}}password[ \t]{{1,3}}{PASSWORD}"),
        ("login",),
        placeholder=PLACEHOLDER,
    ),
    # `host:port:database:user:V` of .pgpass
    Rule(
        "password",
        re.compile(
            r"^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,63}:[\w.*-]{1,63}:(?P<secret>[^\s:\"'\\]{6,200})",
            re.MULTILINE,
        ),
        ("pass",),
        placeholder=PLACEHOLDER,
        within=re.compile(r"(?<=pg)pass[^\n\0]{0,80}\n(?:[^\n\0]{1,400}\n?){1,20}"),
    ),
    # The lists of keys of storage accounts
    Rule(
        "connection string",
        re.compile(
            r"(?:keyname\\?\"?\s?[:=][^{}\0]{0,300}?value\\?\"?\s?[:=]\s?\\?\"|key[12]\s{1,20}full\s{1,20})"
            r"(?P<secret>[A-Za-z0-9+/]{86}==)",
            re.IGNORECASE,
        ),
        ("key",),
    ),
    Rule(
        "connection string",
        re.compile(
            rf"(?:{_FIRST_OR_SECOND})key\\?[\"']?\s{{0,3}}[:=]\s{{0,3}}\\?[\"']?"
            r"(?P<secret>[A-Za-z0-9+/]{86}==|[A-Za-z0-9+/]{43}=)",
            re.IGNORECASE,
        ),
        ("key",),
    ),
    # The state of Terraform holds the passwords that it made up.
    Rule(
        "password",
        re.compile(r"\"result\\?\"\s{0,3}:\s{0,3}\\?\"(?P<secret>[^\s\"]{6,200}?)\\?\""),
        ("pass",),
        placeholder=PLACEHOLDER,
        within=re.compile(r"(?<=random_)password[^\0]{0,1500}"),
    ),
)
