"""Secrets that people tell each other: "the password for staging is …", "use token …".

Prose says far more about passwords than what they are, so a value has to look like one here:
letters and digits at least, and not the name of a method, a size, a version or a file.
"""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.assignments import (
    LONG_NAME,
    OPEN_TOKEN,
    PASSWORD_HINTS,
    SECRET_KEY,
    SHORT_WORDS,
    before,
)
from deltamem_tui.trajectory.secrets.rules import END_OF_LINE, rule
from deltamem_tui.trajectory.secrets.values import (
    is_brand,
    is_class_name,
    is_digest,
    is_hexadecimal,
    is_jumbled,
    is_literal,
    is_measure,
    is_mixed,
    is_phrase,
    is_random,
    is_scrambled,
    is_strong,
    is_unmistakable,
    is_words,
)

_LETTER = r"[^\s\"'`<>{}()\[\]\\,;\0«»„“”「」『』]"
# Up to the full stop, comma or bracket after it; an exclamation mark is part of it.
_ENDS = r"(?=[.,;:?)\"'`*»”“」』]{0,3}(?:\s|\\n|[^\x00-\x7f]|\Z))"
_AT_THE_END = r"[^\s\"'`<>]{8,64}(?=[ \t]{0,9}(?:\n|\\n|\Z))"
_FOR = (
    r"(?: wifi| wi-fi| wlan)?"
    r"(?:['’]s|(?: |\s?\()(?:for|of|on|to|from|in|für|zum|zur|von|para|de|del|da|do|pour|du|di|per"
    r"|voor|van|для|от)\b[^\n:=\0]{1,60}?)?"
)
_IS = (
    r"(?:[?!,.]? (?:it|that)['’]?s|\s?['’]s| (?:is|was|are|will be|has been (?:re)?set to"
    r"|(?:re)?set to|changed to|lautet|ist|es|est|é|è)|(?: \w{1,30})? = |\s?[:：=＝]|\s[—–-]"
    r"|\s?(?:是|为|為|は|는|은))(?: now| jetzt| ahora)?[:：]?"
)
_OPEN = r"[\"'`*<(«“„「『]{0,3}"
_SHORT_NAME = rf"(?<![A-Za-z])(?:pass|pwd?|{'|'.join(SHORT_WORDS)})(?![A-Za-z])"
# In other languages a key is often part of a longer word.
_KEYS = "schlüssel|clé|clave|chiave|chave|sleutel|ключ|密钥|キー"
_ACCOUNTS = "zugangsdaten|identifiants|credenciales|credenziali"
_ACCOUNT = re.compile(
    rf"(?i)\b(?:{_ACCOUNTS}|credentials?|creds|log-?ins?|accounts?|users?|admin\w*|root)\b|\w@\w"
)
# A word of prose with capitals, small letters and digits or signs
_UNLIKE_WORDS = (
    r"(?<=[\s\"'`(\[:«“„「])(?=[^\s\"'`]{0,63}[\d!#$%^*&])"
    r"(?-i:(?=[^\s\"'`]{0,63}[A-Z])(?=[^\s\"'`]{0,63}[a-z]))"
    rf"(?P<secret>{_LETTER}{{8,64}}?)"
    r"(?=[.,;:?)\]\"'`*»”“」』]{0,3}(?:\s|\\n|[^\x00-\x7f]|\Z)|[\"'`)\]])"
)
_MEMBER = re.compile(
    r"[\w.-]+(?:[\"']\s?[:=]|=)\s?[\"'\[(]{0,2}$"
    r"|(?i:id|name|user|host|version|agent|type|time|date|file|path|url)[\"']?\s?[:=]\s?[\"'\[(]?$"
)
_WORDS_FOR_IT = re.compile(rf"{LONG_NAME}|{_SHORT_NAME}", re.IGNORECASE)
_NEAR = re.compile(rf"(?:{LONG_NAME}|{_SHORT_NAME})[^\n]{{0,30}}$", re.IGNORECASE)
_SIGN_AND_NUMBER = re.compile(r"(?=.*[A-Za-z0-9][!@#$%^&*+]+)(?=.*\d)[A-Za-z0-9]")
# Commands that show what is in a file, a store or a variable
_SHOWS = re.compile(
    r"(?i)(?<!\w)(?:cat|printenv|echo|show|get|print\w*|read|view|decode|base64|find-\w+|retrieve"
    r"|fetch|reveal|create|generate\w*|initial)(?!\w)"
)


def _is_stated(match: re.Match[str]) -> bool:
    value = match["secret"]
    if match["short"]:
        return is_strong(value)
    quoted = match.string[match.start("secret") - 1] in "\"'`“„«「"
    return is_mixed(value) or is_words(value) or (quoted and is_literal(value))


def _is_mentioned(match: re.Match[str]) -> bool:
    """Whether what stands near the name of a secret is one, and not the value of another name."""
    start = match.start("secret")
    if _MEMBER.search(match.string, max(start - 40, 0), start):
        return False
    value = match["secret"]
    if is_brand(value) and not _NEAR.search(match.string, max(start - 40, 0), start):
        return False
    return is_unmistakable(value)


def _is_far_off(match: re.Match[str]) -> bool:
    """Whether what stands some lines from the word for it is a password all the same."""
    value, start = match["secret"], match.start("secret")
    return (
        is_unmistakable(value)
        and _SIGN_AND_NUMBER.search(value) is not None
        and not _MEMBER.search(match.string, max(start - 40, 0), start)
    )


def _is_beside_account(match: re.Match[str]) -> bool:
    """Whether what stands behind a stroke is the password of the account before it."""
    before_it = match.string[max(match.start() - 60, 0) : match.start()].rpartition("\n")[2]
    return _ACCOUNT.search(before_it) is not None and is_unmistakable(match["secret"])


def _is_typed(match: re.Match[str]) -> bool:
    """Whether a text that is typed in is a password: the field or a remark says so."""
    around = match.string[max(match.start() - 300, 0) : match.end() + 300]
    return _WORDS_FOR_IT.search(around) is not None and is_unmistakable(match["secret"])


def _is_near_token(match: re.Match[str]) -> bool:
    """Whether a random word in a sentence about keys is one."""
    value, start = match["secret"], match.start("secret")
    return (
        is_jumbled(value, 20)
        and is_scrambled(value)
        and not _MEMBER.search(match.string, max(start - 40, 0), start)
    )


def _is_token(match: re.Match[str]) -> bool:
    value, name = match["secret"], before(match)
    if OPEN_TOKEN.search(name) or (match["key"] and not SECRET_KEY.search(name)):
        return False
    if match["bare"] and value == value.lower() and not is_hexadecimal(value):
        return False
    return (
        is_random(value) and not is_measure(value) and not value.startswith(("0x", "AAAA", "ssh-"))
    )


def _is_on_its_own(match: re.Match[str]) -> bool:
    """Whether a line of one word is the secret that the line before is about."""
    value, text = match["secret"], match.string
    if is_class_name(value) or value.startswith("AAAA") or value[-1] in ":,{(":
        return False
    if "/" in value and not is_random(value):
        return False
    start = text.rfind("\n", max(match.start() - 200, 0), match.start()) + 1
    if match["made"] or _SHOWS.search(text[start : match.start() + 40].partition("\n")[0]):
        named = match["password"] and is_mixed(value, 8)
        return is_random(value) or is_hexadecimal(value) or bool(named)
    if is_digest(value) and len(value) != 36:
        return False
    if match["password"]:
        return is_unmistakable(value) or is_random(value)
    return is_random(value) and is_jumbled(value.strip("-_=+."), 16)


PROSE = (
    # `the password is V`, `password: V`
    rule("password",
        rf"(?:{LONG_NAME}s?(?: (?:is|was|has been) (?:generated|created|set|reset|changed))?"
        rf"|(?P<short>{_SHORT_NAME})){_FOR}{_IS}\s{{0,24}}{_OPEN}"
        r"(?P<secret>(?<=[\"'`“„«])[A-Za-z]+(?: [A-Za-z0-9]+){2,7}(?=[\"'`”“»])|"
        rf"{_AT_THE_END}|{_LETTER}{{6,64}}?){_ENDS}", PASSWORD_HINTS, accepts=_is_stated),
    # A line of a setting with a blank between: `password V`, `#define WIFI_PASSWORD "V"`
    rule("password",
        rf"(?:{LONG_NAME}|(?<=root)pw|(?<=auth_)pass|(?<=wifi_)pass)"
        rf"(?: \d)?[ \t]{{1,40}}(?P<quote>[\"'`])?"
        rf"(?P<secret>(?(quote)[^\n\"'`\\]{{6,64}}|[^\s\"'`\\{{]{{6,64}}))(?(quote)(?P=quote))"
        rf"(?:{END_OF_LINE}|(?=[ \t]{{0,9}}\}}))",
        PASSWORD_HINTS, lambda value: is_phrase(value) if " " in value else is_mixed(value)),
    # Behind the word for it, with whatever between, or before it
    rule("password", _UNLIKE_WORDS,
        (*PASSWORD_HINTS, "secret", "log", "sign", "cred", *_ACCOUNTS.split("|")),
        accepts=_is_mentioned,
        within=rf"(?:{LONG_NAME}s?|{_SHORT_NAME}|secret|log-?in|(?:logg|sign)ed in|(?:log|sign) in"
        rf"|credentials?|creds|{_ACCOUNTS})(?![A-Za-z])[^\n\0]{{0,120}}"),
    rule("password", rf"[\"'`\[«“„「](?P<secret>{_LETTER}{{8,64}})[\"'`\]»”“」]\)?"
        r"[^\n\0={}\"'`,<>]{0,40}?pass(?:word|phrase|code)",
        ('"', "'", "`", "[", "«", "“", "„", "「"), is_unmistakable),
    # Some lines from the word for it, with capitals, digits and signs
    rule("password", _UNLIKE_WORDS, PASSWORD_HINTS, accepts=_is_far_off,
        within=rf"(?:{LONG_NAME}s?|{_SHORT_NAME})(?![A-Za-z])[^\0]{{0,400}}"),
    # A table with a column for them
    rule("password",
        rf"(?<=[|,\t;])[ \t]{{0,40}}(?P<secret>{_LETTER}{{6,64}})(?=[ \t]{{0,40}}[|,\t;\n]|\Z)",
        PASSWORD_HINTS, is_strong,
        within=rf"(?:{LONG_NAME}|{_SHORT_NAME})[ \t]{{0,40}}(?:[|,\t;][^\n\0]{{0,200}})?"
        rf"\n(?:[^\n\0]{{0,300}}[|,\t;][^\n\0]{{0,300}}(?:\n|\Z)){{1,30}}"),
    # `grafana admin / V`
    rule("password", rf" / {_OPEN}(?P<secret>{_LETTER}{{8,64}}?){_ENDS}", " / ",
        accepts=_is_beside_account),
    # `admin:V`, `corp\\ann:V`
    rule("password",
        rf"(?:(?<![\w/.-])(?:admin|root|administrator)[:/]|(?<=[\w.-])\\{{1,2}}[a-z][\w.$-]{{1,39}}:)"
        rf"(?P<secret>{_LETTER}{{8,64}}?){_ENDS}", "admin|root|\\", is_unmistakable),
    # `the password "V"`
    rule("password", rf"{LONG_NAME}s? \\?[\"'`“„«](?P<secret>{_LETTER}{{6,64}})\\?[\"'`”“»]",
        PASSWORD_HINTS, is_mixed),
    # `user 'ann' and password 'V'`
    rule("password",
        rf"user(?:name)?:? \\?[\"'`][^\s\"'`]{{1,64}}[\"'`][^\n\0\"'`=]{{1,40}}?"
        rf"{LONG_NAME}:? \\?[\"'`]"
        rf"(?P<secret>{_LETTER}{{4,64}})\\?[\"'`]", "user", is_literal),
    # What is typed in: `text: "V"`, `type [3] [V]`
    rule("password",
        rf"(?:(?:text|content|value|keys)\\{{0,8}}[\"']?\s?[:=]\s?|(?:write|type|fill|input\w{{0,12}}|press)\(\s?)\\{{0,8}}[\"'](?P<secret>{_LETTER}{{8,64}})\\{{0,8}}[\"']",
        "text|content|value|keys|write(|type(|fill(|input|press(", accepts=_is_typed),
    rule("password", rf"type \[\w{{1,12}}\] \[(?P<secret>{_LETTER}{{8,64}})\]", "type [",
        accepts=_is_typed),
    # A random word in a sentence about keys
    rule("token", r"(?<=[\s\"'`(\[«“„「])(?P<secret>(?!0x)[A-Za-z0-9]{20,100})(?![\w=/+(.:-]\w)",
        ("key", "token", "secret", "credential", *_KEYS.split("|")), accepts=_is_near_token,
        within=rf"(?:key|token|secret|credential|{_KEYS})s?\b(?!\\?[\"']?\s?[=:])[^\n\0]{{0,120}}(?:\s{{2,12}}\S{{20,100}})?"),
    # `the api key is V`, `an API key for you:` and the key on a line of its own
    rule("token",
        rf"(?:(?P<key>key)|secret|token|credential|{_KEYS}|(?<![A-Za-z])pat(?![A-Za-z]))s?"
        rf"{_FOR}(?:{_IS}|(?P<bare>(?: (?:to|as|of|with|named))?(?= [^\s]{{16}})))"
        rf"(?:[ \t]{{0,3}}{_OPEN}|(?:\s|\\n|[>*`]){{1,24}})"
        r"(?P<secret>[A-Za-z0-9_/+.~=-]{15,1000}[A-Za-z0-9_/+~=-])(?![A-Za-z0-9(])",
        ("key", "secret", "token", "credential", "pat", *_KEYS.split("|")), accepts=_is_token),
    # What a command that is about a secret shows on a line of its own, or what is announced
    rule("password", r"(?:(?P<password>pass(?:word|wd|phrase|code)?|pw)|token|secret|api[_-]?key"
        r"|(?<=[\w-])\.key|access[_-]?key|credential|(?P<made>openssl rand|urandom|genkey))s?"
        r"[^\n\0]{0,120}(?:\n|\\n)(?:\0\n)?(?:[^\n\0]{0,120}\n){0,2}?(?:[ \t]|\n){0,8}"
        r"(?:[\w.-]{1,40}[ \t]{1,4}\|[ \t]{0,4})?"
        rf"(?P<secret>[!-~]{{8,200}}){END_OF_LINE}",
        "pass|pw|token|secret|api|.key|access|credential|openssl rand|urandom|genkey",
        accepts=_is_on_its_own),
)  # fmt: skip
