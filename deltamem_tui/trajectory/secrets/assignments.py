"""Secrets known by their names: a name, something between, and a value.

What stands between is an equals sign or a colon in most texts. In others the value has a name
of its own (`name: X`, `value: V`), is an element of XML, a cell of a table, or an argument.
"""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import END_OF_LINE, QUOTED, VALUE, rule
from deltamem_tui.trajectory.secrets.values import (
    has_signs,
    is_class_name,
    is_digest,
    is_hexadecimal,
    is_jumbled,
    is_key,
    is_literal,
    is_mixed,
    is_password,
    is_phrase,
    is_placeholder,
    is_random,
    is_strong,
    is_token_example,
    is_words,
)

_OTHER_WORDS = (
    *("kennwort", "senha", "contraseña", "hasło", "lösenord", "şifre", "пароль", "密码", "密碼"),
    *("口令", "パスワード", "비밀번호", "비번", "wachtwoord", "heslo"),
    *("jelszó", "mật khẩu", "סיסמה", "كلمة المرور"),
)
OTHER_LANGUAGES = tuple(
    dict.fromkeys(form for word in _OTHER_WORDS for form in (word, word.capitalize(), word.upper()))
)
"""Words for a password that do not begin like the English one, as people write them."""
_OTHER = f"(?-i:{'|'.join(OTHER_LANGUAGES)})"
LONG_NAME = (
    r"(?:password|passwd|passphrase|passcode|pass[ _-](?:word|phrase|code)|passwort|passe"
    rf"|{_OTHER})"
)
# `pass` and its like are parts of many words, and of many names of passwords.
_SHORT_NAME = (
    r"(?:(?<![A-Za-z])|(?-i:(?<=[a-z])(?=P))|(?<=db)|(?<=user)|(?<=root)|(?<=admin)|(?<=smtp)"
    r"|(?<=mail)|(?<=key)|(?<=store)|(?<=auth)|(?<=login)|(?<=http)|(?<=sql)|(?<=ssh))"
    r"(?P<short>pwd|pass|pw|psk|clave|mdp)"
)
SHORT_WORDS = ("clave", "mdp")
"""Words for a password, as for other things: what follows has to look like one."""
PASSWORD_HINTS = ("pass", "pw", "psk", *SHORT_WORDS, *_OTHER_WORDS)

# Of keys whose name alone says nothing, since tables, maps and caches have keys too: a word
# that makes one a secret, ...
SECRET_KEY = re.compile(
    r"(?:api|access|account|admin|app|application|auth|bot|cipher|client|consumer|deploy|encryption"
    r"|fernet|functions?|hmac|host|ingest|integration|jwt|license|management|master|personal"
    r"|private|project|secret|security|server|service|session|shared|signing|storage|subscription"
    r"|team|user|webhook|in|nonce|unseal|recovery|write|read|bot|device|jwt:)[ ._-]?$",
    re.IGNORECASE,
)
# ... and, of random values, any word but those of keys that everybody may know.
_OPEN_KEY = re.compile(
    r"(?:cache|composite|foreign|gpg|group|hash|idempotency|index|lookup|map|object|order|partition"
    r"|pass|primary|public|publishable|registry|result|row|s3|shard|site|sort|storage|surrogate"
    r"|unique|websocket|pgp|fingerprint|host|known|trusted)[_-]?$",
    re.IGNORECASE,
)
_PREFIXED = re.compile(r"[A-Za-z0-9][_-]$|api ?$", re.IGNORECASE)
_HEADER = re.compile(
    r"(?<![\w-])x-(?!\w{0,20}(?:idempotency|cache|amz|request|row|sort)-)[\w-]{1,20}-$",
    re.IGNORECASE,
)
_EXPANDED = re.compile(r"\$\{\w*$")
# Lists go on with tokens, and models have tokens of their own.
OPEN_TOKEN = re.compile(
    r"(?<![a-z])(?:next|page|starting|lock|change|pad|eos|bos|mask|unk|sep|cls|stop|max"
    r"|continuation|num)[_ -]?$",
    re.IGNORECASE,
)
_BEFORE = 24

# After the name: of which place, or the how-many-th it is, as in `SECRET_KEY_BASE`.
_WHICH = r"(?:[ _-]?(?:base|string|value|text|prod(?:uction)?|dev|staging|test|live|old|new|\d))?"
_BLANKS = r"[ \t]{0,40}"
# What ends a name: quotation marks, brackets, and the value that a prompt shows: `Key [None]:`.
_NAMED = r"\\{0,8}[\"'`]?(?:\]|\s?\[[^\]\n]{0,30}\]|\s?\([^()\n]{0,30}\))?"
_TYPED = r"(?: string(?= =)|\??:\s?&?(?:'\w{1,10} )?[A-Za-z]{2,12}(?=\s?=\s?[\\bru]?[\"'`]))?"
_ASSIGNED = (
    rf"{_NAMED}{_TYPED}{_BLANKS}(?P<sign>:=|=>|===?|!==?|\|\||\?\?|:-(?=[^}}\n]{{4,80}}\}})"
    rf"|[:=\uff1a\uff1d›»❯→]|%3[Dd]){_BLANKS}"
)
# `- name: KEY`, `value: V` of manifests, also as members of JSON and attributes of XML, and the
# field of a page: `textbox 'Password' required: True, content: V`.
_APART = (
    r"(?:[\w \]*'\"\\)]{0,24}|\([^()\n]{0,60}|\\?\"\s?:\s?\{[^{}]{0,80})(?:,|\s|\\n)"
    r"(?:[^{}<>]{0,80}[,\s])?"
    r"(?:\s|\\n){0,24}\\{0,8}[\"']?(?:(?:parameter|secret)?_?val(?:ue)?|content|text)"
    r"\\{0,8}[\"']?\s{0,3}[:=]\s{0,3}"
)
# `<key>V</key>`, `<property name="key">V</property>`, and `<key>key</key><string>V` of plists.
_ELEMENT = (
    r"(?:\\?[\"']\s{0,3}>|>|</key>\s{0,9}<string>)\s{0,3}(?:<!\[CDATA\[)?"
    r"(?=[^<>\n]{6,1000}(?:<|\]\]>))"
)
_CELL = r"`?(?:\*\*)?\s{0,40}[|\u2502]\s{1,3}"
# The next argument: `setenv("KEY", "V")`, and the only one: `setPassword("V")`, `Fernet(b"V")`.
_NEXT = r"\\{0,8}[\"'],\s{0,20}(?:default\s?=\s?|\"(?=\\\"))?"
_ONLY = r"\(\s{0,3}(?=[bru]?\\{0,8}[\"'])"
_BETWEEN = (
    rf"(?:{_ASSIGNED}|(?P<apart>{_APART})|(?P<element>{_ELEMENT})|(?P<cell>{_CELL})"
    rf"|(?P<next>{_NEXT})|(?P<only>{_ONLY}))"
    r"(?P<wrapped>[A-Za-z_]{1,20}\((?=[bru]?[\"'])|(?:Some|Just|Secret)\(?)?"
)


def before(match: re.Match[str]) -> str:
    """Returns what stands right before a match, where the first words of a name are."""
    return match.string[max(match.start() - _BEFORE, 0) : match.start()]


def _is_alone(match: re.Match[str]) -> bool:
    """Whether nothing but a comment, a bracket or another setting follows a value."""
    rest = match.string[match.end() : match.end() + 24].lstrip(" \t")
    return not rest or rest[0] in "\n\\,;}])|#<\"'`&\0"


def _is_variable(match: re.Match[str]) -> bool:
    """Whether a value is that of a variable of a shell: a name in capitals, an equals sign."""
    name = match.string[match.start() : match.start("sign")]
    return match["sign"] == "=" and name.isupper()


def _is_password(match: re.Match[str]) -> bool:
    value, sign, quoted = match["secret"], match["sign"], bool(match["quote"])
    if match["cell"] and "{{" in match.string[max(match.start() - 60, 0) : match.start()]:
        return False
    if sign and len(sign) > 1 and sign[-2] in "=!":
        return quoted and is_mixed(value) and is_literal(value)
    if _EXPANDED.search(before(match)) and sign != ":-":
        return False
    if (match["short"] or "").lower() == "psk" and sign != "=":
        return False
    if match["wrapped"] in ("Some(", "Just"):
        return is_literal(value)
    if match["only"] or match["next"] or match["wrapped"]:
        return quoted and is_mixed(value) and is_literal(value) and not value.isupper()
    if not sign:
        named = quoted or (match["element"] and "name=" in before(match))
        return (
            is_mixed(value)
            or (is_password(value) and has_signs(value))
            or (bool(named) and is_literal(value))
        )
    if quoted or _is_variable(match):
        return is_literal(value) or (not quoted and is_words(value))
    return _is_bare_password(match, value, sign)


def _is_bare_password(match: re.Match[str], value: str, sign: str) -> bool:
    """Whether a value may be a password where a variable or a message could stand as well."""
    if match["short"] and not _is_short_password(match, value, sign):
        return False
    if len(value) < 6:
        return sign == ":" and value[0].isalpha() and is_literal(value) and _is_alone(match)
    return is_password(value)


def _is_short_password(match: re.Match[str], value: str, sign: str) -> bool:
    """Whether a value may be a password though its name is `pass`, which is a verdict too."""
    if sign == "=":
        return match.string[match.start("sign") - 1] != " " or is_mixed(value)
    if _PREFIXED.search(before(match)):
        return match.string[match.start()].isupper() or is_mixed(value)
    return is_strong(value) or (is_words(value) and any(map(str.isdigit, value)))


def _is_bare_phrase(match: re.Match[str]) -> bool:
    """Whether some words are a passphrase, where a message could stand as well."""
    value, text = match["secret"], match.string
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    numbers = any(map(str.isdigit, value)) and not value.endswith((".", "!", "?", ")"))
    return (
        re.fullmatch(r"[\s\w.+-]{0,60}|.*[\"'][\w.-]{0,60}", line) is not None
        and is_phrase(value)
        and (numbers or (value.islower() and value.count(" ") >= 3))
    )


def _is_token(match: re.Match[str]) -> bool:
    value, name = match["secret"].rstrip(".,:;"), before(match)
    value = re.sub(":(?!//)", "", value)
    if match["key"] and not (SECRET_KEY.search(name) or _HEADER.search(name)):
        if not _is_other_key(match, name, value):
            return False
    elif OPEN_TOKEN.search(name):
        return False
    if is_random(value):
        return True
    if match["rare"] or match["only"] or match["wrapped"]:
        return False
    if match["next"] and not match["quote"]:
        return False
    if any(map(str.isspace, value)):  # the salts of some applications, and phrases
        if match["next"] is not None:
            return len(value) >= 32 and is_mixed(value.replace(" ", ""))
        quoted = bool(match["quote"]) and _is_variable(match)
        return quoted and value.islower() and is_phrase(value)
    return _is_chosen_token(match, name, value)


def _is_chosen_token(match: re.Match[str], name: str, value: str) -> bool:
    """Whether a value that is not random may be a token that a person chose."""
    quoted, prefixed = bool(match["quote"]), bool(_PREFIXED.search(name))
    variable = bool(match["sign"]) and _is_variable(match)
    if variable and (is_words(value) or (not match["key"] and is_literal(value, 6))):
        return True
    if is_placeholder(value) or (is_class_name(value) and not (quoted or variable or prefixed)):
        return False
    if has_signs(value) and is_mixed(value, 8):
        return True
    return (quoted or match["sign"] == "=" or prefixed or _is_alone(match)) and is_key(value)


def _is_other_key(match: re.Match[str], name: str, value: str) -> bool:
    """Whether the value of some key, of which the name says nothing, is as random as secrets."""
    if _OPEN_KEY.search(name) or (is_digest(value) and not match.string[match.start()].isupper()):
        return False
    named = match.string[match.start()].isupper() or _PREFIXED.search(name)
    core = value.rstrip("=")
    least = 20 if named else 32
    return is_jumbled(core, least) or (
        bool(named) and len(core) >= 20 and is_mixed(core) and core.isalnum()
    )


def _is_environment(match: re.Match[str]) -> bool:
    value = match["secret"]
    if match["password"]:
        return is_literal(value)
    named = (
        match[0][:3].lower() == "set" and "_" in match[0][: match.start("secret") - match.start()]
    )
    return is_random(value) or (named and (is_key(value) or is_strong(value)))


ASSIGNMENTS = (
    # The other half of a pair of which the first is known by its shape
    rule("aws secret", r"(?:AKIA|ASIA)[A-Z0-9]{16}(?:[^A-Za-z0-9\0]|(?:secret|key|and)){1,24}"
        r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", "akia|asia",
        lambda value: not is_token_example(value) and not is_hexadecimal(value), flags=0),
    rule("password", rf"(?:{LONG_NAME}|{_SHORT_NAME})\d?{_WHICH}{_BETWEEN}{VALUE}",
        PASSWORD_HINTS, accepts=_is_password),
    rule("token", rf"(?:(?P<key>key)|secret|token|credential|(?P<rare>fernet|(?<=[_-])salt"
        rf"|(?:(?<![A-Za-z])|(?-i:(?<=[a-z])(?=P)))pat(?![A-Za-z])))s?{_WHICH}{_BETWEEN}{VALUE}",
        "key|secret|token|credential|fernet|salt|pat", accepts=_is_token),
    # A phrase without quotation marks, in a line of its own
    rule("password", rf"(?:{LONG_NAME}|(?<=_)pass){_WHICH}[\"']?[ \t]{{0,3}}[:=][ \t]{{1,4}}"
        r"(?P<secret>[A-Za-z][^\s\"'`#]{0,24}(?: [^\s\"'`#]{1,24}){1,7})"
        rf"{END_OF_LINE}", PASSWORD_HINTS, accepts=_is_bare_phrase),
    # Several at once: `"keys": ["V", "V"]`
    rule("token", r"(?<=[\"'])(?P<secret>[A-Za-z0-9+/=_-]{24,200})(?=\\{0,8}[\"'])",
        "keys|tokens|secrets|keys_b",
        lambda value: is_hexadecimal(value) or is_jumbled(re.sub("[+/=_-]", "", value), 24),
        within=r"(?:keys|tokens|secrets)\w{0,10}\\{0,8}[\"']?\s?[:=]\s?\[[^\]{}\0]{0,4000}"),
    # The name of a user that is one half of a key
    rule("token",
        r"user(?:name)?\\?[\"']?\s?[:=]\s?\\?[\"'](?-i:(?P<secret>(?=[A-Z]{0,15}\d)(?=\d{0,15}[A-Z])[A-Z0-9]{16,40}))(?=\\?[\"'])",
        "user"),
    # What shows a user's name beside it, or is asked for by one
    rule("token",
        r"(?:user(?:name)?\\?[\"']\s?:[^{}\n\0]{1,80}|(?<=log)in\([^()\n\0]{0,40})\bkey\\?[\"']?\s?[:=]\s?\\?[\"']"
        r"(?P<secret>[0-9a-f]{32,64})(?=\\?[\"'])", "user|in("),
    # Keys that frameworks make up may have every sign in them.
    rule("token", r"django-insecure-[a-z0-9!@#$%^&*(_=+)-]{20,80}", "django-insecure-",
        lambda value: not is_token_example(value), flags=0),
    # A session is as good as a password while it lasts; those with dashes are ids of other things.
    rule("token",
        r"(?:(?:php|j)?sess(?:ion)?_?id|(?<![A-Za-z-])(?:session|sid|auth|ticket))\\{0,8}[\"']?\s?[:=]\s?\\{0,8}[\"']?"
        r"(?P<secret>[A-Za-z0-9]{24,200}|s(?:%3A|:)[\w.%+/-]{24,200})(?![\w-])",
        "sess|phpsess|jsess|sid|auth|ticket", lambda value: (value[:2] in ("s%", "s:")
        or sum(map(str.isdigit, value)) >= 3 or is_jumbled(value, 24) )),
    # Names of variables with a blank behind: in what images are built of, and in some shells
    rule("token",
        r"(?:env|set(?:x| -[A-Za-z]{1,3}))[ \t]{1,3}\w{0,60}(?:(?P<password>PASSWORD|PASSWD"
        rf"|PASSPHRASE)|KEY|SECRET|TOKEN|CREDENTIALS?|_PAT|KEY_BASE|_PASS|_PW)[ \t]{{1,3}}{VALUE}",
        "env|setx |set -", accepts=_is_environment),
    # `variable "db_password" { default = "V" }` of Terraform
    rule("token", rf"(?P<word>key|token|secret|{LONG_NAME}|_pass)\\?\"\s?\{{[^{{}}\0]{{0,400}}?"
        rf"(?<!\w)default\s{{0,20}}=\s?{QUOTED}", "key|token|secret|pass|_pass",
        accepts=lambda match: (is_literal(match["secret"])
        and ("pass" in match["word"].lower() or is_key(match["secret"])) )),
)  # fmt: skip
