"""Secrets: tokens of a form of their own (`tokens.toml`), and values that a name gives away.

Both are found by plain searches first; patterns are tried only where those find something.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

_RUN_LENGTH = 16
_RUN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_RUNS = bytes(97 if byte in _RUN_BYTES else 32 for byte in range(256))
_RUN = b"a" * _RUN_LENGTH
_BEFORE, _AFTER = 80, 6_000  # of a word, around the run in it
_WORD_END = re.compile(rb"[^A-Za-z0-9_+/=.:~-]")
_ESCAPE = re.compile(rb"\A(?:[abfnrtv]|x[0-9A-Fa-f]{2}|u00[0-9A-Fa-f]{2})")
_EXAMPLE = re.compile(rb"(?i)your[_-]|example|placeholder|x{8}|\*{4}|(?:0123456789|abcdefghij){2}")

_TOKENS = Path(__file__).with_name("tokens.toml")


@cache
def _token() -> tuple[re.Pattern[bytes], list[str]]:
    """Return the pattern of all tokens, and the kind that each of its groups is of.

    It takes long to compile, and a recall does without.
    """
    listed: dict[str, str | list[str]] = tomllib.loads(_TOKENS.read_text("utf-8"))
    rows = [
        (kind, form)
        for kind, forms in listed.items()
        for form in ([forms] if isinstance(forms, str) else forms)
    ]
    forms = (rf"(?<![A-Za-z0-9])({form})(?![A-Za-z0-9])" for _, form in rows)
    return re.compile("|".join(forms).encode()), [kind for kind, _ in rows]


def tokens_in(data: bytes) -> Iterator[tuple[bytes, str]]:
    """Yield the tokens in a text in UTF-8, each with its kind, as often as they occur."""
    for word in _long_words(data):
        pattern, kinds = _token()
        for match in pattern.finditer(word):
            token = match[0]
            if not _EXAMPLE.search(token) and len(set(token)) > 8:
                yield token, kinds[(match.lastindex or 1) - 1]


def _long_words(data: bytes) -> set[bytes]:
    runs = data.translate(_RUNS)
    words: set[bytes] = set()
    end, place = 0, runs.find(_RUN)
    while place >= 0:
        end = runs.find(b" ", place)
        end = len(data) if end < 0 else end
        run = data[place:end]
        if _may_be_token(run):
            words.add(_around(data, place, end))
        place = runs.find(_RUN, end)
    return words


_ID = re.compile(rb"[0-9a-f-]*|[0-9TZ_-]*|[a-z]*")
_BEHIND_PREFIX = re.compile(rb"_.*[A-Z]")


def _may_be_token(run: bytes) -> bool:
    """Return True if a run has letters, and digits or a capital behind a prefix."""
    if _ID.fullmatch(run) and len(run) < 100:  # a UUID, a digest, a date
        return False
    is_mixed = _DIGIT.search(run) is not None or _BEHIND_PREFIX.search(run) is not None
    return is_mixed and _LETTER.search(run) is not None


def _around(data: bytes, start: int, end: int) -> bytes:
    """Return the word around a run, without a line break that is written out before it."""
    before = data[max(start - _BEFORE, 0) : start]
    cut = max((match.end() for match in _WORD_END.finditer(before)), default=0)
    glued = before[cut - 1 : cut] == b"\\"
    stop = _WORD_END.search(data, end, end + _AFTER)
    word = before[cut:] + data[start : stop.start() if stop else end + _AFTER]
    return _ESCAPE.sub(b"", word, count=1) if glued else word


_LOWERED = bytes(range(256)).lower()
PRIVATE_KEY = "private key"


class Found(NamedTuple):
    """A secret in a text in UTF-8, and where the pattern begins that found it."""

    kind: str
    begin: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    stem: bytes
    pattern: re.Pattern[bytes]
    accepts: Callable[[re.Match[bytes]], bool]


_VALUE = (
    r"(?:[bBrRuUfF@]{0,2}\\{0,4}(?P<q>[\"'`])(?P<quoted>[^\n\0]{4,400}?)\\{0,4}(?P=q)"
    r"|(?P<bare>[^\s\"'`<>{}()\[\],;\\\0]{4,400}+)(?![(\[{]))"
)
_SIGN = (
    r"\\{0,3}[\"'`]?\]?[ \t]{0,8}+"
    r"(?P<sign>:=|=>|={1,3}|:|>|(?<=[\"'])[ ]?,(?=[ ]*[\"'])|value=(?=[\"']))[ \t]{0,12}+"
)
_APART = r"(?P<apart>[ \t]{1,4}+)"
# Between a name and its value: a sign, or a blank behind an option (`--token x`).
_BETWEEN = rf"(?:{_SIGN}|{_APART})"
_NAME_END = r"(?>(?:[_-]?[A-Za-z0-9]{1,20}){0,4})"

_MARKS = re.compile(rb"[x*.#_=<>$%\[\]{}?-]+", re.IGNORECASE)
_TEMPLATE = re.compile(
    rb"(?i)\$\{|\{\{|\$\(|%\(|<[\w -]+>|^[$%&]\w|\.\.\.|x{4}|\*{3}|example|placeholder|your[_-]"
    rb"|change[_-]?me|replace|redacted|dummy|insert[_-]|^my[_-]|process\.env|os\.(?:environ|getenv)"
    rb"|secrets?\.|env\.|self\.|config[.\[]|settings\.|\bTODO\b|%[sd]|123456|^(?:fake|test|mock|sample|some)[_-]"
)
_FLAG = re.compile(rb"\w{0,20}\{[^}]*\}?")  # the answer of a game, not a password
_NOT_VALUES = frozenset(
    b"password passwd pass pwd secret token key none null nil true false undefined required"
    b" optional string str text int bool bytes object any list dict value default empty hidden"
    b" input env"
    b" test foo bar baz invalid valid incorrect wrong correct missing expired changed reset mypass"
    b" user username admin root auth api bearer basic description type name field number"
    b" password1 mypassword mysecret secretkey apikey accesskey public private file yes prompt"
    .split()
)  # fmt: skip
_CODE = re.compile(
    rb"(?i)(?:[a-z]:?[\\/].*|[~.]{0,2}/[\w./@-]*|\w+://.*"
    rb"|[\w./-]+\.(?:py|js|ts|txt|json|ya?ml|md|env|go|rs|java|sh|ini|cfg|toml|html?|pem|key|crt|php|com"
    rb"|org|net|io)|[\w.+-]+@[\w.-]+|v?\d+(?:\.\d+)+\S*|\d{4}-\d\d-\d\d\S*|(?:sha|md|aes|utf|base|hs|rs)[-_]?\d+\w*"
    rb"|\d+[a-z%]{0,5}|-?[\d.,:/+-]+|0x[0-9a-f]{1,8}|@\w+|&\w+|\w+=\w.*)"
)
_ENV_NAME = re.compile(rb"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]+(?:_[a-z]+)+\d?")


# Of what stands without quotation marks: members of modules, and paths made of words.
_CLASS = re.compile(rb"(?:[A-Z][a-z]{1,20}+){2,7}\d?")
_BARE_CODE = re.compile(
    rb"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+|[\w.-]{1,24}(?:/[\w.-]{1,24})+"
)
_DIGIT, _LETTER, _CAPITAL, _SMALL, _PUNCTUATION = (
    re.compile(each) for each in (rb"\d", rb"[A-Za-z]", rb"[A-Z]", rb"[a-z]", rb"[\d!@#$%^&*+~?]")
)


def _is_code(match: re.Match[bytes], value: bytes) -> bool:
    if _CODE.fullmatch(value) or _CLASS.fullmatch(value):
        return True
    is_bare = match["quoted"] is None
    return is_bare and _BARE_CODE.fullmatch(value) is not None and not _is_random(value)


def _is_random(value: bytes) -> bool:
    """Return True if a value is as long and mixed as only a program makes it."""
    mixed = (_DIGIT.search(value), _CAPITAL.search(value), _SMALL.search(value))
    return len(value) >= 20 and all(mixed) and _entropy(value) >= 4.0


def _entropy(value: bytes) -> float:
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_placeholder(value: bytes) -> bool:
    word = value.strip(b"0123456789!@#$%^&*()-_+=?.,:;<>[]{}'\" ").lower()
    return (
        word in _NOT_VALUES
        or _MARKS.fullmatch(value) is not None
        or _TEMPLATE.search(value) is not None
        or _FLAG.fullmatch(value) is not None
        or _ENV_NAME.fullmatch(value) is not None
        or len(set(value)) < 4
    )


def _is_password(match: re.Match[bytes]) -> bool:
    """Return True if the value beside a password's name is one: few plain words are."""
    value = _value(match)
    if not _is_value(match, value):
        return False
    quoted = match["quoted"] is not None
    if not value.isascii() or b" " in value:
        return quoted and _DIGIT.search(value) is not None and len(value) < 60
    if _PUNCTUATION.search(value):
        return len(value) >= 6 or quoted
    is_setting = _name(match).strip(b"\"' ").isupper() and match["sign"] == b"="
    return (is_setting or match["apart"] is not None) and value.isalpha() and len(value) >= 5


def _is_key(match: re.Match[bytes]) -> bool:
    """Return True if the value beside a key's name is random: letters and digits as by chance."""
    value = _value(match)
    if len(value) < 12 or b" " in value or not _is_value(match, value):
        return False
    if (
        _name(match)
        .strip(b"\"' \t\\")
        .lower()
        .endswith((b"id", b"name", b"path", b"hash", b"size"))
    ):
        return False
    if match.string[max(match.start() - 6, 0) : match.start()].lower().endswith((b"cache_", b":")):
        return False
    has_both = _DIGIT.search(value) and _LETTER.search(value)
    return bool(has_both) and _entropy(value) >= 3.0


def _is_value(match: re.Match[bytes], value: bytes) -> bool:
    return not (_is_placeholder(value) or _is_code(match, value)) and _is_named(match)


def _name(match: re.Match[bytes]) -> bytes:
    return match[0][: match.start("sign") - match.start()] if match["sign"] else b""


def _is_named(match: re.Match[bytes]) -> bool:
    """Return True if a name is followed by a sign, or is an option's and followed by a blank."""
    if match["apart"] is None:
        return match["sign"] != b">" or match.string[match.end() : match.end() + 2] == b"</"
    word = match.string[max(match.start() - 40, 0) : match.start("apart")]
    if match["quoted"] is not None and word.lower().endswith(b"password"):
        return True  # `WITH PASSWORD 'x'`
    last = re.split(rb"[\s\"',]", word)[-1]
    if _is_random(_value(match)):
        return True
    is_login = re.search(rb"login[ \t]+\S+[ \t\n]+pass\w*\Z", word) is not None
    return is_login or last.startswith(b"--")


def _value(match: re.Match[bytes]) -> bytes:
    return match["quoted"] if match["quoted"] is not None else match["bare"].rstrip(b".,:&")


def _any(match: re.Match[bytes]) -> bool:
    value = _value(match)
    return not _is_placeholder(value) and not value.startswith((b"$", b"<", b"{"))


def _rule(
    kind: str, stem: str, pattern: str, accepts: Callable[[re.Match[bytes]], bool] = _any
) -> _Rule:
    return _Rule(kind, stem.encode(), re.compile(pattern.encode(), re.IGNORECASE), accepts)


def _named(kind: str, stem: str, name: str, accepts: Callable[[re.Match[bytes]], bool]) -> _Rule:
    return _rule(kind, stem, rf"(?:{name}){_NAME_END}{_BETWEEN}{_VALUE}", accepts)


_WORD_VALUE = (
    r"(?:[\"'](?P<quoted>[^\"'\n\0]{4,80})[\"']|(?P<bare>[^\s\"'`<>|;$\\\0][^\s\"'|;\\\0]{3,80}))"
)
_RULES = (
    _named(
        "password", "pass",
        r"pass(?:word|wd|phrase|code)|(?<=_)pass(?![a-z])|pass(?=\s?=|[\"'])", _is_password,
    ),
    _named("password", "pw", "(?<![a-z])pwd?(?![a-z])", _is_password),
    _named("secret", "secret", "secret", _is_key),
    _named("token", "token", "token", _is_key),
    _named(
        "key", "key",
        r"(?:(?<=[a-z\d][_-])|(?<=api)|(?<=api )|(?<=access)|(?<=account)|(?<=shared)|(?<=auth)"
        r"|(?<=private))key", _is_key,
    ),
    _named("credential", "credential", "credentials?", _is_key),
    _rule(
        "authorization", "authorization",
        r"authorization\\{0,3}[\"']?\]?\s{0,3}[:=,]\s{0,3}\\{0,3}[\"']?"
        r"(?:(?:bearer|basic|token|digest|bot|apikey|key)\s{1,3})?"
        r"(?P<quoted>(?!bearer|basic)[\w.~+/=:-]{12,4000})",
    ),
    _rule(
        "authorization", "bearer ",
        r"bearer\s{1,3}(?P<quoted>(?=[\w.~+/-]{0,80}\d)[\w.~+/-]{16,4000}=*)",
    ),
    _rule(
        "cookie", "cookie",
        r"cookies?[\"']?\s{0,2}[:=]\s{0,2}[\"']?[^\n\0]{0,200}?"
        r"(?:sess\w*|sid|auth\w*|token|jwt|csrf\w*|remember\w*|id)="
        r"(?P<quoted>[^;\s\"'\\\0]{12,2000})",
    ),
    _rule("signature", "sig", r"sig(?:nature)?=(?P<quoted>[A-Za-z0-9%+/_-]{20,1000})"),
    _rule(
        "url password", "://",
        r"://[^\s/@:\"'<>\\\0]{0,80}:(?P<quoted>[^\s/@\"'<>\\\0{}]{3,200})@(?=[\w\[-])",
    ),
    _rule(
        "password", "curl ",
        rf"curl [^\n\0]{{0,400}}?(?:-u|--user)[ =]?[\"']?[\w.@-]{{1,60}}:{_WORD_VALUE}",
    ),
    _rule("password", "sshpass", rf"sshpass -p ?{_WORD_VALUE}"),
    _rule("password", "mysql", rf"mysql(?:dump|admin)? [^\n\0|;]{{0,80}}?(?<= )-p{_WORD_VALUE}"),
    _rule("password", "redis-cli", rf"redis-cli [^\n\0|;]{{0,80}}?-a ?{_WORD_VALUE}"),
    _rule("password", " login", rf" login [^\n\0|;]{{0,120}}?(?:-p|--password)[ =]{_WORD_VALUE}"),
    _rule("password", "identified by", rf"identified by {_WORD_VALUE}"),
)  # fmt: skip

_KEY_BEGIN = re.compile(rb"-----BEGIN[ A-Z]{0,20}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(rb"-----END[ A-Z]{0,20}PRIVATE KEY(?: BLOCK)?-----")
_GAP = rb"(?:\s|\\[nrt]|[|>]|(?<![\w+/=])\d{1,4}(?=[\s:|]))"
_KEY_LINE = re.compile(rb"[A-Za-z0-9+/=]{24}")
# Atomic groups: Python before 3.11.5 misreads a possessive repeat of a group (gh-106052).
_KEY_LINES = re.compile(rb"(?>(?:(?>" + _GAP + rb"{0,20})[A-Za-z0-9+/=]{20,90}+(?![\w-]))*)")
_KEY_LINES_BEFORE = re.compile(rb"(?>(?:[A-Za-z0-9+/=]{16,90}+(?>" + _GAP + rb"{1,20})){1,400})\Z")


def values_in(data: bytes) -> Iterator[Found]:
    """Yield the secrets in a text in UTF-8 that a name or a place gives away."""
    lowered = data.translate(_LOWERED)
    if lowered.find(b"-----") >= 0:
        yield from _private_keys(data)
    for rule in _RULES:
        place = lowered.find(rule.stem)
        while place >= 0:
            match = rule.pattern.match(data, place)
            if match and rule.accepts(match):
                group = "quoted" if match["quoted"] is not None else "bare"
                start = match.start(group)
                yield Found(rule.kind, match.start(), start, start + len(_value(match)))
            place = lowered.find(rule.stem, place + len(rule.stem))


def _private_keys(data: bytes) -> Iterator[Found]:
    """Yield private keys: whole ones, and the lines behind a beginning or before an end alone."""
    end = 0
    for begin in _KEY_BEGIN.finditer(data):
        if begin.start() < end:
            continue
        closing = _KEY_END.search(data, begin.end(), begin.end() + 20_000)
        lines = _KEY_LINES.match(data, begin.end())
        end = lines.end() if lines else begin.end()
        if closing and b"\0" not in data[begin.end() : closing.start()]:
            end = closing.end()
        if _KEY_LINE.search(data, begin.end(), end):
            yield Found(PRIVATE_KEY, begin.start(), begin.start(), end)
    for closing in _KEY_END.finditer(data):
        if closing.start() >= end or not end:
            before = max(closing.start() - 8_000, 0)
            if lines := _KEY_LINES_BEFORE.search(data, before, closing.start()):
                yield Found(PRIVATE_KEY, lines.start(), lines.start(), closing.end())
