"""Secrets that people tell each other: "the password for staging is …", "use token …".

Prose says far more about passwords than what they are, so a value has to look like one here:
letters and digits at least, and no name of a method, a size, a version or a file.
"""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import (
    CAMEL_CASE,
    JUMBLED,
    PLACEHOLDER,
    RANDOM,
    RANDOM_ENDS,
    RUN,
    SHUFFLED,
    Rule,
)
from deltamem_tui.trajectory.secrets.settings import SECRET_KEY

# What follows `the password is` and has digits: hashed by some method, of some length, of a
# day, in a file, or an address.
_TOLD = re.compile(
    r"(?i:(?:aes|sha|md|rsa|hs|es|rs|ps|utf|base|bcrypt|argon|scrypt|pbkdf|oauth|http|tls|ssl|rfc|python"
    r"|ntlm|crc|level|version|step|v|case)[-_]?\d[\w.+-]*"
    r"|\d+[-\u2013+]?\d*[-_]?(?:bits?|bytes?|chars?|characters?|digits?|letters?|days?|hours?|h|s|ms|x|times)"
    r"[-\w]*|\d{4}-\d\d-\d\d\S*|[\w.-]+\.(?:py|js|ts|txt|json|ya?ml|md|env|go|rs|java|sh|ini|cfg|toml|html?)"
    r"|https?:.*|\w+[=(].*"
    rf"|(?!{SHUFFLED})[\w./-]+/[\w./-]+"
    rf")|{PLACEHOLDER.pattern}"
)
# Up to the full stop, comma or bracket after it; an exclamation mark is part of it.
_ENDS = r"(?=[.,;:?)\"'`*]{0,3}(?:\s|\\n|\Z))"
_LETTERS = r"[^\s\"'`<>{}()\[\]\\,;\0]"
_STRONG = rf"(?=\S{{0,63}}\d)(?=\S{{0,63}}[A-Za-z]){_LETTERS}{{6,64}}?{_ENDS}"
_STRONGER = (
    r"(?-i:(?=\S{0,63}\d)(?=\S{0,63}[a-z])(?=\S{0,63}[A-Z!@#$%^&*]))"
    rf"{_LETTERS}{{8,64}}?{_ENDS}"
)
_FOR = r"(?: (?:for|of|on|to|from|in) [^\n:=\0]{1,60}?)?"
_IS = r"(?: (?:is|was|are|will be|has been (?:re)?set to|(?:re)?set to|changed to)|\s?:)(?: now)?:?"
_OPEN = r"[\"'`*<(]{0,3}"
_LONG_NAMES = r"pass(?:word|phrase|code)s?"

PROSE = (
    Rule(
        "password",
        re.compile(
            rf"{_LONG_NAMES}{_FOR}{_IS}\s{{1,24}}{_OPEN}(?P<secret>{_STRONG})", re.IGNORECASE
        ),
        ("pass",),
        placeholder=_TOLD,
    ),
    # `set the password to V`; of `pass: V`, which is a test's verdict too, and of a password
    # with nothing between, only what nobody would write otherwise.
    Rule(
        "password",
        re.compile(
            rf"(?:{_LONG_NAMES}{_FOR} (?:to|as|=) |(?<![\w-])pass(?:word)?\s?(?:[:-]|->)\s{{1,2}})"
            rf"{_OPEN}(?P<secret>{_STRONGER})",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=_TOLD,
    ),
    Rule(
        "password",
        re.compile(
            rf"{_LONG_NAMES}\s{{1,3}}(?:[\"'`](?P<quoted>)|(?=[A-Za-z0-9]))"
            rf"(?P<secret>(?(quoted)(?=\S{{0,63}}[\d!@#$%^&*]){_LETTERS}{{6,64}}(?=[\"'`])|{_STRONGER}))",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=_TOLD,
    ),
    # `credentials: ann:V`, `the credentials are ann / V`
    Rule(
        "password",
        re.compile(
            rf"credentials?{_FOR}{_IS}\s{{1,24}}{_OPEN}[\w.@+-]{{2,64}}[\"'`]?(?::|\s?/)\s?[\"'`]?"
            rf"(?P<secret>(?:(?=[^\s,;]{{0,60}}[!@#])|{RUN}){_STRONG})",
            re.IGNORECASE,
        ),
        ("credential",),
        placeholder=_TOLD,
    ),
    # `the api key is V`, `an API key for you:` and the key on a line of its own
    Rule(
        "token",
        re.compile(
            rf"(?:(?P<key>key)|secret|token|credential|(?<![A-Za-z])pat(?![A-Za-z]))s?{_FOR}{_IS}"
            rf"(?:[ \t]{{1,3}}{_OPEN}|(?:\s|\\n|[>*`]){{1,24}})(?P<secret>{RANDOM}){RANDOM_ENDS}",
            re.IGNORECASE,
        ),
        ("key", "secret", "token", "credential", "pat"),
        placeholder=_TOLD,
        before=SECRET_KEY,
    ),
    # `my key is V`, `use the key V`
    Rule(
        "token",
        re.compile(
            r"(?:(?<=my )|(?<=your )|(?<=new )|(?<=this )|(?<=use )|(?<=use the )|(?<=with the ))"
            rf"key(?: is|\s?:)?\s{{1,3}}{_OPEN}(?P<secret>{RUN}"
            rf"(?:(?-i:(?=[a-f]{{0,64}}\d)(?=\d{{0,64}}[a-f])[0-9a-f]{{32,128}})|{JUMBLED}[A-Za-z0-9]{{24,256}}))"
            r"(?![A-Za-z0-9(._/-])",
            re.IGNORECASE,
        ),
        ("key",),
        placeholder=CAMEL_CASE,
    ),
    # `use token V`: with nothing between, only what no program is called
    Rule(
        "token",
        re.compile(
            r"(?:(?:(?<=api.)|(?<=access.)|(?<=secret.)|(?<=auth.)|(?<=private.)|(?<=license.))key"
            rf"|(?<!-)(?:token|secret))s?\s{{1,3}}{_OPEN}"
            rf"(?P<secret>(?!0x){RUN}(?-i:(?=[a-z]{{0,64}}\d)(?=\d{{0,64}}[a-f])[0-9a-f]{{32,128}}"
            rf"|{JUMBLED}[A-Za-z0-9]{{24,256}}))(?![A-Za-z0-9(._/-])",
            re.IGNORECASE,
        ),
        ("key", "token", "secret"),
        placeholder=CAMEL_CASE,
    ),
)
