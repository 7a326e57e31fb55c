"""A glance that says whether a text could hold a secret. Almost none does.

Every text of every log goes through here, so it consists of the few operations that take the
least time: a table that maps bytes to kinds, and plain searches. stringzilla does both with
vector instructions, three to ten times as fast as Python's own bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from stringzilla import contains, find, translate

from deltamem_tui.trajectory.secrets.assignments import OTHER_LANGUAGES, SHORT_WORDS
from deltamem_tui.trajectory.secrets.commands import (
    LOGIN_COMMANDS,
    LOGIN_PROGRAMS,
    PROGRAMS,
    SHARE_COMMANDS,
)
from deltamem_tui.trajectory.secrets.files import HASHES

RUN_LENGTH = 16
"""How many letters and digits together are worth a closer look."""

_TOKEN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/")
# Signs without one of which few secrets are known.
_SIGNS = frozenset(b'~=>!#@$^&*"')
_CONTROL = frozenset([*range(0x20), 0x7F]) - frozenset(b"\t\n")


def _kind(byte: int) -> bytes:
    if byte in _TOKEN_BYTES:
        return b"a"
    if byte == ord("'"):  # an apostrophe, nearly always
        return b"'"
    return b"!" if byte in _SIGNS else b"\0" if byte in _CONTROL else b" "


# Every byte by its kind: a long run of one kind is then found by a plain search, far faster
# than by a pattern.
_KINDS = b"".join(map(_kind, range(256)))
_LOWERED = bytes(range(256)).lower()
_RUN = b"a" * RUN_LENGTH
_RUNS = bytes(97 if byte in _TOKEN_BYTES else 32 for byte in range(256))
_BLANK_AND_RUN = b" " + _RUN  # few places begin so; within words, any place might begin a run
_NO_RUN = re.compile(b"[^a]")
_SHORTEST_SMALL_TOKEN = 32
# Ids and file names are made of words with dashes, so those count as blanks there.
_NAMES_AS_RUNS = bytes(32 if byte in b"_-/" else kind for byte, kind in enumerate(_KINDS))

# Words of which any makes a text worth a closer look, ...
_WORDS = (
    b"pass",
    b"secret",
    *(b"mnemonic", b"phrase", b"recovery code", b"backup code"),
    *map(str.encode, SHORT_WORDS),
    *(word.encode() for word in OTHER_LANGUAGES if word.isascii() and word.islower()),
)
# ... and such that do so only in some places: not in `keychain`, in `the key of` and in `dialog`.
_BEGINNINGS = (
    (b"key", re.compile(rb"keys?(?! ?[a-z.,?!;)]| \d| $|$)|keys? string ")),
    (b"token", re.compile(rb"tokens?(?! ?[a-z.,?!;)]| \d| $|$)|tokens? string ")),
    (b"log", re.compile(rb"log(?:-?in|ged in|ins?)\b|log in\b")),
    (b"sign", re.compile(rb"sign(?:ed)? ?-?in\b|sign(?:with)?\(")),
    (
        b"auth",
        re.compile(
            rb"auth(?:[ \t\\=:(\[{\"']|[a-z]{0,20}\\?[\"']? ?[=:(\[{]|[-_](?:token|key|secret))"
        ),
    ),
    (b"cred", re.compile(rb"cred(?:s\b|ential)")),
    (b"pw", re.compile(rb"pw(?:d|gen)?\d?(?:[^a-z]|$)")),
)
# The same, of texts that have an underscore, an option, a sign or an argument in them.
_WITH_UNDERSCORE = (b"aws_se", b"setx ", b"set -")
_WITH_OPTION = (b"curl ", b"securestring", *PROGRAMS, *LOGIN_PROGRAMS)
_BEHIND_SLASH = re.compile(rb" / [^\s/]{8}")
_ACCOUNTS = (b"admin", b"root")
_BEHIND_ACCOUNT = re.compile(rb"(?:admin(?:istrator)?|root)[:/]\S{8}")
# Both begin with one byte, which is found far faster than a choice of words. No such password has
# a backslash in it, as `n1:\\tconnect` has in JSON.
_BEHIND_COLON = re.compile(rb":[^\s\\]{8}")
_BEHIND_DOMAIN = re.compile(rb"\\(?<=[\w.-]\\)\\?[a-z][\w.$-]{1,39}:[^\s\\]{8}")
_BEFORE_HOST = re.compile(rb":[^\s:/@\"'`<>(){}]{6,100}@")
_WITH_QUOTE = (b"identified", b"-securestring ")
_OPTION = re.compile(rb" -(?!\d)")
_WITH_SIGN = (b"psk", b"ftp> ", b"jdbc:oracle", b"sql", b"cookie", b"assword")
_WITH_ARGUMENT = (
    *(b"create_", b"connect", b"bind", b"pdo", b"mysqli", b"fill(", b"type(", b"keys(", b"ftp("),
    *(b"redis(", b"begin(", b"client(", b"handler(", b"initialize(", b"jwt.", b"hmac", b"encrypt"),
    *(b"aes.new", b"getbytes"),
)
_ENDS_OF_ARGUMENTS = (b"')", b"',", b'")', b'",')
_HASHED = re.compile(b"|".join(re.escape(how.encode()) for how in HASHES))
# The sign of kelvin is a k to every pattern that minds no capitals, and to no table of bytes.
_SPELT_OTHERWISE = ("\N{KELVIN SIGN}", *(word for word in OTHER_LANGUAGES if not word.isascii()))
_OTHER_SCRIPTS = tuple(word.encode() for word in _SPELT_OTHERWISE)
# The same in JSON that writes all letters in ASCII.
_ESCAPED = tuple(json.dumps(word)[1:-1].lower().encode() for word in _SPELT_OTHERWISE)
# Letters, in lower case, of the secrets that dashes and points may cut into short pieces. In
# file names and ids, where dashes are everywhere, these are what makes one worth a closer look.
_SIGNS_IN_NAMES = (
    *("k-lf-", "aiza", "ya29.", "gocspx-", "1//0", "github_pat_", "nvapi-", "pcsk_"),
    *("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glptt-", "glagent-", "tvly-"),
    *("lsv2_", "ls__", "xox", "xapp-", "k_live_", "k_test_", "whsec_", "sg.", "pypi-", "dckr_"),
    *("figd_", "sntry", "sbp_", "sb_secret_", "hvs.", "hvb.", "hvr.", ":aa", "eyj", "sq0"),
    *("-----begin", "secret", "token", "bearer ", "credential", "curl ", "hook", "sig=", "auth"),
    *("hrku-", "atatt3", "cfpat-", "jina_", "eaaa", "pscale_", "atlasv1"),
    *("q~", "xkeysib-", "sl.b", "dp.", "fm1", "fm2", "fo1_", "nrak-", "pa-"),
    *("cookie", "signature", "identified", "django-insecure", "v1.0-", "kty", '"d'),
)
_SIGNS_OF_TOKENS = tuple(map(str.encode, _SIGNS_IN_NAMES))
# So many letters follow in every token that begins like `Desk-307`; and none in `ACME_PAT`,
# in `api key` and in an address, as they do in a path, in `KeyChain` and in `exit_code=0`.
_NAMED = re.compile(rb"sk-[a-z0-9_-]{16}|(?:key|pat)s?(?![a-z])|[?&,; 6]code=")
_LONG_NOTE = 500


def may_hold_secrets(text: str | bytes) -> bool:
    """Returns whether a text, or its bytes in UTF-8, is worth a closer look.

    One that holds a secret always is; so is its JSON. One with control characters of ASCII is
    too: clean text has none. It takes about as long as copying the text twice.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    kinds = translate(data, _KINDS)
    if b"\0" in kinds:
        return True
    lowered = translate(data, _LOWERED)
    runs = translate(b" " + data, _RUNS)
    # There is one key of small letters only.
    if (run := find(runs, _BLANK_AND_RUN)) >= 0 and (
        not _are_words(data, runs, run) or b"cloudant" in lowered
    ):
        return True
    return _may_hold_passwords(data, kinds, lowered)


def _may_hold_passwords(data: bytes, kinds: bytes, lowered: bytes) -> bool:
    """Whether a text may hold a secret that is known without a long run."""
    if _contains_any(lowered, _WORDS):
        return True
    for beginning, pattern in _BEGINNINGS:
        if contains(lowered, beginning) and _matches(pattern, beginning, lowered):
            return True
    return _places_indicate(data, kinds, lowered)


def _places_indicate(data: bytes, kinds: bytes, lowered: bytes) -> bool:
    """Whether a text has a command, a call or signs in it that secrets stand beside."""
    # One byte is found far faster than a word.
    if b"_" in data and _contains_any(lowered, _WITH_UNDERSCORE):
        return True
    if (b"/" in data or b"\\" in data) and _contains_any(lowered, SHARE_COMMANDS):
        return True
    if b"-" in data and _options_indicate(data, lowered):
        return True
    if _pairs_indicate(lowered):
        return True
    if not data.isascii() and _contains_any(data, _OTHER_SCRIPTS):
        return True
    if b"'" in kinds or b'"' in data:
        if _contains_any(lowered, _WITH_QUOTE):
            return True
        ends = _ENDS_OF_ARGUMENTS if b'"' in data else _ENDS_OF_ARGUMENTS[:2]
        if _contains_any(data, ends) and _contains_any(lowered, _WITH_ARGUMENT):
            return True
    return b"!" in kinds and _signs_indicate(data, lowered)


def _options_indicate(data: bytes, lowered: bytes) -> bool:
    """Whether a text has a command line in it that may hold a secret."""
    if _contains_any(lowered, LOGIN_COMMANDS):
        return True
    # A number below zero is not an option.
    if _matches(_OPTION, b" -", lowered) or contains(data, b'"-'):
        return _contains_any(lowered, _WITH_OPTION)
    return False


def _pairs_indicate(lowered: bytes) -> bool:
    """Whether what may be a password stands right beside an account."""
    if contains(lowered, b" / ") and _matches(_BEHIND_SLASH, b" / ", lowered):
        return True
    if b"/" in lowered and _accounts_indicate(lowered):
        return True
    return _BEHIND_COLON.search(lowered) is not None and (
        _accounts_indicate(lowered) or _BEHIND_DOMAIN.search(lowered) is not None
    )


def _accounts_indicate(lowered: bytes) -> bool:
    return any(
        contains(lowered, account) and _matches(_BEHIND_ACCOUNT, account, lowered)
        for account in _ACCOUNTS
    )


def _signs_indicate(data: bytes, lowered: bytes) -> bool:
    """Whether a text with signs in it is worth a closer look for what stands beside them."""
    if b"@" in data and (b"://" in data or _BEFORE_HOST.search(data)):
        return True
    if b"$" in data and _HASHED.search(data):
        return True
    # Points and tildes may cut this one into short pieces.
    if b"~" in data and contains(lowered, b"q~"):
        return True
    return _contains_any(lowered, _WITH_SIGN) or (
        b"\\u" in data and _contains_any(lowered, _ESCAPED)
    )


def _matches(pattern: re.Pattern[bytes], beginning: bytes, data: bytes) -> bool:
    """Whether a pattern matches anywhere. All it matches begins alike, which few texts have often.

    The pattern would look at all that is between, which takes far longer.
    """
    place = find(data, beginning)
    while place >= 0:
        if pattern.match(data, place):
            return True
        place = find(data, beginning, place + len(beginning))
    return False


def _are_words(data: bytes, runs: bytes, start: int) -> bool:
    """Whether all long runs, of which the first begins at `start`, are words.

    Args:
        data: The text.
        runs: A blank and the text, its letters and digits as `a`, all else as blanks.
        start: Where the first long run begins in the text, and the blank before it in `runs`.
    """
    while start >= 0:
        behind = _NO_RUN.search(runs, start + 1)
        end = behind.start() if behind else len(runs)
        if not _is_word(data[start : end - 1]):
            return False
        start = find(runs, _BLANK_AND_RUN, end)
    return True


def _is_word(run: bytes) -> bool:
    """Whether a long run is a word such as `toiletpaperhanger`: no token has small letters only."""
    return run.isalpha() and run.islower() and len(run) < _SHORTEST_SMALL_TOKEN


def names_may_hold_secrets(notes: Iterable[str]) -> bool:
    """Returns the same of file names, ids and other short notes.

    Those are made of words with dashes, which look like tokens to `may_hold_secrets`. Of what
    has no long run in it, both say the same.
    """
    return any(map(_name_may_hold_secrets, notes))


def _name_may_hold_secrets(note: str) -> bool:
    # `line 1234`: what is known without a sign is a long run, or stands behind a long name.
    name, blank, last = note.rpartition(" ")
    plain = note.isascii() and (name + last).replace(" ", "").isalnum()
    if plain and len(note) < RUN_LENGTH and (last.isdigit() or not blank):
        return False
    if len(note) > _LONG_NOTE or "@" in note:
        return may_hold_secrets(note)
    data = note.encode("utf-8", "surrogatepass")
    kinds, lowered = translate(data, _NAMES_AS_RUNS), translate(data, _LOWERED)
    if b"\0" in kinds or _RUN in kinds or _may_hold_passwords(data, kinds, lowered):
        return True
    return _contains_any(lowered, _SIGNS_OF_TOKENS) or _NAMED.search(lowered) is not None


def _contains_any(data: bytes, words: Iterable[bytes]) -> bool:
    for word in words:  # noqa: SIM110 -- half as long as a generator takes
        if contains(data, word):
            return True
    return False
