"""A glance that tells whether a text could hold a secret. Almost none does.

Every text of every log goes through here, so it is made of the few things that take the
least time: a table that tells bytes apart by kind, and plain searches. stringzilla does both
with vector instructions, three to ten times as fast as Python's own bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache

from stringzilla import contains, find, translate

from deltamem_tui.trajectory.secrets.commands import PROGRAMS
from deltamem_tui.trajectory.secrets.files import HASHES
from deltamem_tui.trajectory.secrets.languages import SPELT_IN_ASCII, SPELT_OTHERWISE
from deltamem_tui.trajectory.secrets.rules import SIGNS_IN_NAMES
from deltamem_tui.trajectory.secrets.settings import SHORT_NAME

RUN_LENGTH = 16
"""How many letters and digits on end are worth a closer look."""

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
_NO_RUN = re.compile(b"[^a]")
_SHORTEST_SMALL_TOKEN = 32
# Ids and file names are made of words with dashes, so those count as blanks there.
_NAMES_AS_RUNS = bytes(32 if byte in b"_-/" else kind for byte, kind in enumerate(_KINDS))
# So many letters follow in every token that begins like `Desk-307`; and none in `ACME_PAT`,
# in `api key` and in an address, as they do in a path, in `KeyChain` and in `exit_code=0`.
_NAMED = re.compile(rb"sk-[a-z0-9_-]{16}|(?:key|pat)s?(?![a-z])|[?&,; 6]code=")
_SIGNS_OF_TOKENS = tuple(map(str.encode, SIGNS_IN_NAMES))
_LONG_NOTE = 500
_OPTION = re.compile(rb" -(?!\d)")
# Behind a word that names a secret stands what is between it and the value; not so in `keychain`
# and in `the secret of`.
_NAMES = tuple((word, re.compile(word + rb"(?! ?[a-z])")) for word in (b"secret", b"token", b"key"))
# Headers and settings, of which the value may be short and have no sign beside it.
_AUTH = re.compile(
    rb"auth(?:orization\\?[\"']?[ \t]{0,3}[:=]|[ \t\\]|[a-z]{0,20}(?: ?= ?)?\("
    rb"|[-_](?:token|key|secret))"
)
_HEADER = re.compile(rb"(?:key|token|secret)\\?[\"']?\s?:")
# As a line of prose or of a setting, with no sign beside it.
_API_KEY = re.compile(rb"(?:(?<=api)|(?<=api ))key:")
_SET = re.compile(rb"set(?:x| -[a-z]{1,3})[ \t\\]")
_CALLS = (b"login", b"sign", b"credential", b"getconnection(")
_ENDS_OF_ARGUMENTS = (b"')", b"',", b'")', b'",')
_AFTER_SHORT_NAMES = (b"=", b"'", b'"', b">")
_HASHED = re.compile(b"|".join(re.escape(how.encode()) for how in HASHES))
# The sign of kelvin is a k to every pattern that minds no capitals, and to no table of bytes.
_OTHER_SCRIPTS = ("\N{KELVIN SIGN}".encode(), *(word.encode() for word in SPELT_OTHERWISE))
# The same in JSON that writes all letters in ASCII.
_ESCAPED = tuple(json.dumps(word)[1:-1].encode() for word in SPELT_OTHERWISE)
_ASCII_WORD = SPELT_IN_ASCII.encode()


def may_hold_secrets(text: str | bytes) -> bool:
    """Whether a text, or its bytes in UTF-8, is worth a closer look.

    One that holds a secret always is; so is its JSON. One with control characters is too, of
    those in ASCII: no clean text has any. It takes about as long as writing the text into
    memory twice.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    kinds = translate(data, _KINDS)
    if b"\0" in kinds:
        return True
    lowered = translate(data, _LOWERED)
    # There is one key of small letters only.
    if (run := find(kinds, _RUN)) >= 0 and (
        not _are_words(data, kinds, run) or b"cloudant" in lowered
    ):
        return True
    return _may_hold_passwords(data, kinds, lowered)


def _may_hold_passwords(data: bytes, kinds: bytes, lowered: bytes) -> bool:
    """Whether a text may hold a secret that is known without a long run."""
    if contains(lowered, b"pass") or contains(lowered, b"ndpw"):
        return True
    if _matches(_AUTH, b"auth", lowered) or _matches(_API_KEY, b"key:", lowered):
        return True
    # One byte is found far faster than a word.
    if b"_" in data and _underscores_tell(lowered):
        return True
    if b"/" in data and _slashes_tell(lowered):
        return True
    if not data.isascii() and _contains_any(lowered, _OTHER_SCRIPTS):
        return True
    if b"-" in data and _dashes_tell(lowered):
        return True
    if b"!" in kinds:
        return _signs_tell(data, lowered)
    if b"'" not in kinds:
        return False
    return _tells_of_passwords(data, lowered) or _calls_tell(data, lowered)


def _slashes_tell(lowered: bytes) -> bool:
    """Whether a text with slashes tells of a secret on the command line of something afar."""
    return _contains_any(lowered, (b"curl ", b"net use ", b"alias set "))


def _underscores_tell(lowered: bytes) -> bool:
    """Whether a text with underscores tells of a secret that may have no sign beside it."""
    if _contains_any(lowered, (b"aws_se", b"rabbitmqctl ", b"_pw")):
        return True
    return _names_stand_alone(lowered)


def _dashes_tell(lowered: bytes) -> bool:
    """The same of a text with dashes: of a header, or of an option of a program."""
    # A number below zero is no option.
    if _matches(_OPTION, b" -", lowered) and _contains_any(lowered, PROGRAMS):
        return True
    return contains(lowered, b"-securestring ") or _names_stand_alone(lowered)


def _names_stand_alone(lowered: bytes) -> bool:
    """Whether a name of a secret has a value with nothing else beside it."""
    if not _contains_any(lowered, (b"key", b"token", b"secret")):
        return False
    return _HEADER.search(lowered) is not None or _SET.search(lowered) is not None


def _calls_tell(data: bytes, lowered: bytes) -> bool:
    """Whether something that is called may be given a password, as its last argument or before."""
    ends = _ENDS_OF_ARGUMENTS if b'"' in data else _ENDS_OF_ARGUMENTS[:2]
    return _contains_any(data, ends) and _contains_any(lowered, _CALLS)


def _signs_tell(data: bytes, lowered: bytes) -> bool:
    """Whether a text with signs in it is worth a closer look for what stands beside them."""
    if b"@" in data and b"://" in data:
        return True
    if b"$" in data and _HASHED.search(data):
        return True
    # Points and tildes may cut this one into short pieces.
    if contains(lowered, b"q~"):
        return True
    if b"@" in data and (contains(lowered, b"jdbc:oracle") or contains(lowered, b"sql")):
        return True
    if b"=" in data and _contains_any(lowered, (b"authorization", b"psk", b"secrets set ")):
        return True
    if contains(lowered, b"credential") and (b"@" in data or b"!" in data or b"#" in data):
        return True
    if (b'"' in data and _quotes_tell(lowered)) or _calls_tell(data, lowered):
        return True
    return _names_a_value(lowered) or _tells_of_passwords(data, lowered)


def _quotes_tell(lowered: bytes) -> bool:
    """The same, for what is told by what stands beside quotation marks, or within those of JSON."""
    if b"assword" in lowered or b" string = " in lowered:
        return True
    if contains(lowered, b"identified by"):
        return True
    return contains(lowered, b"\\u") and _contains_any(lowered, _ESCAPED)


def _names_a_value(lowered: bytes) -> bool:
    """Whether a name of a secret stands where names do that have a value."""
    for word, named in _NAMES:
        if contains(lowered, word) and named.search(lowered):
            return True
    return bool(contains(lowered, _ASCII_WORD))


def _tells_of_passwords(data: bytes, lowered: bytes) -> bool:
    """Whether a text has a short name of a password, or says whom one identifies."""
    single = b"'" in data
    if single and contains(lowered, b"identified") and (b"@" in data or b";" in data):
        return True
    if not contains(lowered, b"pw") or not _contains_any(data, _AFTER_SHORT_NAMES):
        return False
    return _matches(SHORT_NAME, b"pw", lowered)


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


def _are_words(data: bytes, kinds: bytes, start: int) -> bool:
    """Whether all long runs, of which the first begins at `start`, are words."""
    while start >= 0:
        behind = _NO_RUN.search(kinds, start)
        end = behind.start() if behind else len(kinds)
        if not _is_word(data[start:end]):
            return False
        start = find(kinds, _RUN, end)
    return True


def _is_word(run: bytes) -> bool:
    """Whether a long run is a word such as `toiletpaperhanger`: no token has small letters only."""
    return run.isalpha() and run.islower() and len(run) < _SHORTEST_SMALL_TOKEN


def names_may_hold_secrets(notes: Iterable[str]) -> bool:
    """The same of file names, ids and other short notes.

    Those are made of words with dashes, which look like tokens to `may_hold_secrets`. Of what
    has no long run in it, both say the same.
    """
    return any(map(_name_may_hold_secrets, notes))


# The episodes of a log have most of their notes in common.
@lru_cache(maxsize=4096)
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
